"""The public data and its manifest (facts from independent readers): what is admitted, refused, measured and run."""

import json
import math
import pathlib
import re
import unittest

import numpy as np

import places

DATA = places.shared_data()


def tables(text):
    """The rows of every table of a Markdown file that has a column `file`, as dictionaries."""
    header = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")] if line.startswith("|") else None
        if cells is None:
            header = None
        elif header is None:
            header = cells
        elif not set(line) <= set("|-: ") and header[0] == "file":
            yield dict(zip(header, (cell.strip("`") for cell in cells)))


def joined(text):
    """A table row may hold a line break in a cell: joins it with the next line."""
    return re.sub(r"(?m)^(\|(?:(?!\|$).)*)\n(?!\||\n|#)", r"\1 ", text)


class Entry:
    """A row of the manifest."""

    def __init__(self, row):
        self.row = row
        self.name = row["file"]
        self.path = DATA / self.name
        self.expect = row["expect"]
        if "shape" in row:
            self.shape = tuple(int(n) for n in row["shape"].split("x")) if row["shape"] else ()
        else:
            self.shape = (int(row["rows"]), int(row["cols"])) if row.get("rows") else ()

    def number(self, column):
        return float(self.row.get(column) or 0)

    def has_duplicates(self):
        return self.number("dups") > 0

    def is_weights(self):
        """Does section 7 admit it as a target (a stack: with a slice)?"""
        return self.expect == "ok" and self.number("negatives") == 0 and len(self.shape) in (2, 3) \
            and not self.has_duplicates() and self.path.suffix in (".mtx", ".npy", ".npz")


ENTRIES = [Entry(row) for row in tables(joined((DATA / "MANIFEST.md").read_text()))] if DATA else []
TARGETS = [e for e in ENTRIES if e.is_weights()]
MATRICES = [e for e in TARGETS if len(e.shape) == 2]
STACKS = [e for e in TARGETS if len(e.shape) == 3]

# Where and why the others are refused: the place behind the name, and words of the reason. The lines come from grep
# (the first negative weight) and from the eye.
REFUSED = {
    "mtx/west0067.mtx": (r":15:\d+", "not negative"),
    "mtx/lp_afiro.mtx": (r":85:\d+", "not negative"),
    "mtx/nist_ex1_more_freeformat.mtx": (r":14:\d+", "not negative"),
    "mtx/skew_fp64.mtx": (r":1:\d+", "skew-symmetric"),
    "mtx/coordinate_hermitian_row.mtx": (r":1:\d+", "complex"),
    "mtx/dup_real_general.mtx": (r":9:\d+", r"\(3, 3\).*line 8"),
    "mtx/invalid_truncated_line_1.mtx": (r":5:\d+", "cut short|missing"),
    "mtx/invalid_indices_out_of_range_1.mtx": (r":5:\d+", "5000.* 1 to 7"),
    "mtx/mangled1.mtx": (r":1:\d+", "mangled"),
    "npy/py2_long_shape.npy": (r"", r"shape \(2,\)"),
    "npy/object_array.npy": (r"", "never unpickled"),
    "graphs/cora.cites": (r"", "npy.*Matrix Market"),
}


@unittest.skipUnless(DATA, "the shared data is not here (ATTNSPAN_SHARED_DATA)")
class SharedDataTest(places.InFolder):
    def assert_close(self, got, expected, relative, what):
        self.assertLessEqual(abs(got - expected), relative * abs(expected), f"{what}: {got}, expected {expected}")


class Files(SharedDataTest):
    def test_the_manifest_names_every_file_of_the_folder(self):
        found = {str(p.relative_to(DATA)) for p in DATA.rglob("*") if p.is_file() and p.suffix != ".md"}
        self.assertEqual(found, {e.name for e in ENTRIES})
        self.assertGreaterEqual(len(TARGETS), 30)

    def test_matrices_have_the_manifests_shape_count_and_sum(self):
        for entry in MATRICES:
            with self.subTest(file=entry.name):
                out = self.run_json("target", entry.path)
                self.assertEqual((out["rows"], out["cols"], out["nonzeros"]),
                                 (*entry.shape, int(entry.row["nnz"])))
                expected = entry.number("sum") if entry.row.get("sum") else entry.number("nnz")  # masks are patterns
                self.assert_close(out["sum"], expected, 1e-14, entry.name)
                if "empty rows" in entry.row:
                    self.assertEqual(out["empty_rows"], int(entry.row["empty rows"]))
                if "explicit zeros" in entry.row and "coordinate" in entry.row["format"]:
                    self.assertEqual(out["explicit_zeros"], int(entry.row["explicit zeros"]))

    def test_arrays_are_read_entry_for_entry_as_numpy_reads_them(self):
        for entry in MATRICES:
            if entry.path.suffix == ".npy":
                with self.subTest(file=entry.name):
                    expected = np.load(entry.path).astype(np.float64)
                    self.run_ok("target", entry.path, "--write", self.folder / "A.npy")
                    np.testing.assert_array_equal(np.load(self.folder / "A.npy"), expected)
                    self.assertEqual(self.run_json("target", entry.path)["max_col_nonzeros"],
                                     int((expected > 0).sum(0).max()))

    def test_slices_of_stacks_add_up_to_the_manifests_count_and_sum(self):
        self.assertGreaterEqual(len(STACKS), 6)
        for entry in STACKS:
            with self.subTest(file=entry.name):
                stack = np.load(entry.path).astype(np.float64)
                count, total = 0, []
                for h in range(entry.shape[0]):
                    out = self.run_json("target", entry.path, "--slice", h, "--write", self.folder / "A.npy")
                    self.assertEqual((out["rows"], out["cols"]), entry.shape[1:])
                    np.testing.assert_array_equal(np.load(self.folder / "A.npy"), stack[h])
                    count += out["nonzeros"]
                    total.append(out["sum"])
                self.assertEqual(count, int(entry.row["nnz"]))
                self.assert_close(math.fsum(total), entry.number("sum"), 1e-14, entry.name)

    def test_a_stack_is_refused_without_a_slice_and_beyond_its_end(self):
        for entry in STACKS:
            for more in ([], ["--slice", entry.shape[0]]):
                with self.subTest(file=entry.name, more=more):
                    done = self.run_program("target", entry.path, *more)
                    self.assert_refused(done, 4, re.escape(entry.name), "slice", rf"\b{entry.shape[0]}\b")

    def test_everything_else_is_refused_with_file_place_and_reason(self):
        others = [e for e in ENTRIES if not e.is_weights() and "_q.npy" not in e.name and "_k.npy" not in e.name]
        self.assertEqual({e.name for e in others}, set(REFUSED))
        for entry in others:
            with self.subTest(file=entry.name):
                place, reason = REFUSED[entry.name]
                done = self.run_program("target", entry.path, "--write", self.folder / "A.npy", "--json")
                self.assert_refused(done, 4, re.escape(str(entry.path)) + place + ": .*" + f"(?:{reason})")
                self.assertEqual(len(done.err.strip().splitlines()), 1, done.err)
                self.assertFalse((self.folder / "A.npy").exists())

    def test_queries_and_keys_are_no_targets_and_the_first_negative_entry_is_named(self):
        for entry in ENTRIES:
            if "_q.npy" in entry.name or "_k.npy" in entry.name:
                with self.subTest(file=entry.name):
                    i, j = np.argwhere(np.load(entry.path) < 0)[0]
                    done = self.run_program("target", entry.path)
                    self.assert_refused(done, 4, re.escape(f"{entry.path}: entry ({i}, {j}) is -"))

    def test_duplicates_are_added_on_request(self):
        for entry in ENTRIES:
            if entry.has_duplicates():
                out = self.run_json("target", entry.path, "--set", "target.duplicates=sum")
                self.assertEqual((out["nonzeros"], out["sum"], out["duplicates"]),
                                 (int(entry.row["nnz"]), entry.number("sum"), int(entry.row["dups"])))

    def test_a_matrix_market_file_written_again_holds_the_same_matrix(self):
        for entry in MATRICES:
            if entry.path.suffix == ".mtx" and entry.shape[0] <= 300:
                with self.subTest(file=entry.name):
                    self.run_ok("target", entry.path, "--write", "A.npy")
                    self.run_ok("target", entry.path, "--write", "A.mtx")
                    self.run_ok("target", "A.mtx", "--write", "B.npy")
                    self.assertEqual((self.folder / "A.npy").read_bytes(), (self.folder / "B.npy").read_bytes())
                    a = np.load(self.folder / "A.npy")
                    self.assertEqual((int((a > 0).sum()), a.shape), (int(entry.row["nnz"]), entry.shape))
                    if entry.row["symmetric"] == "True":
                        np.testing.assert_array_equal(a, a.T)


class TrainedHeads(SharedDataTest):
    """Queries and keys of the model reproduce its maps; the manifest says to which precision."""

    def verified(self, name, head, scale, mode, *more):
        attention = DATA / "attention"
        return self.run_json("verify", "--target", attention / name, "--q", attention / f"{head}_q.npy", "--k",
                             attention / f"{head}_k.npy", "--scale", repr(scale), "--mode", mode, *more)["measures"]

    def test_queries_and_keys_reproduce_their_maps(self):
        for name, head, scale, mode, limit in (
                ("s260k_L128_l2h3.npy", "s260k_L128_l2h3", 1 / math.sqrt(8), "causal", 1e-6),  # float64, then float32
                ("gpt2_L9_l5h1.npy", "gpt2_L9_l5h1", 1 / 8, "causal", 1e-4),
                ("ppocr4_L96_b1h5.npy", "ppocr4_L96_b1h5", 1.0, "bidirectional", 1e-4),
        ):
            for backend in ("eigen", "armadillo"):
                with self.subTest(file=name, backend=backend):
                    got = self.verified(name, head, scale, mode, "--backend", backend)
                    self.assertLess(got["ratio"], limit)
                    self.assertLess(got["total_variation_max"], 1e-6)
                    self.assertEqual(got["support_mass_min"], 1.0)
                    self.assertEqual(got["leakage"], 0)

    def test_a_masked_map_is_reproduced_on_the_kept_keys(self):
        got = self.verified("s260k_L128_l2h3_streaming_4_32.mtx", "s260k_L128_l2h3", 1 / math.sqrt(8), "causal")
        self.assertLess(got["ratio"], 1e-6)  # float32
        self.assertGreater(got["leakage"], 0)  # the masked keys have finite scores

    def test_a_half_precision_copy_is_reproduced_to_its_rounding(self):
        got = self.verified("ppocr4_L96_b1_allheads_f16.npy", "ppocr4_L96_b1h5", 1.0, "bidirectional", "--slice", 5)
        self.assertLess(got["total_variation_max"], 2.0**-11)

    def test_another_scale_another_head_and_another_slice_do_not_fit(self):
        for name, head, scale, mode, more in (
                ("s260k_L128_l2h3.npy", "s260k_L128_l2h3", 1.0, "causal", []),
                ("s260k_L128_l4h6.npy", "s260k_L128_l2h3", 1 / math.sqrt(8), "causal", []),
                ("ppocr4_L96_b1_allheads_f16.npy", "ppocr4_L96_b1h5", 1.0, "bidirectional", ["--slice", 4]),
        ):
            with self.subTest(file=name, scale=scale):
                self.assertGreater(self.verified(name, head, scale, mode, *more)["total_variation_max"], 0.05)


class Rules(SharedDataTest):
    """Section 2's rules for targets from files."""

    def run_on(self, name, *more):
        return self.run_program("run", places.SOURCE / "configs" / "attention-map.toml", "--out", self.folder / "run",
                                "--set", f"target.path={DATA / name}", *more)

    def test_empty_rows_are_refused_unless_allowed(self):
        name = "mtx/matrix_uint8.mtx"
        self.assertEqual(self.run_on(name).code, 4)
        self.assertFalse((self.folder / "run").exists())
        self.assertEqual(self.run_on(name, "--set", "target.empty_rows=allow").code, 0)
        self.assertTrue((self.folder / "run" / "X.npy").exists())

    UPPER = "mtx/full_symmetric.mtx"  # every entry positive, 6 of 16 above the diagonal

    def test_entries_above_the_diagonal_are_refused_or_dropped_and_counted(self):
        causal = ["--set", "mode.plugin=causal", "--json"]
        done = self.run_on(self.UPPER, *causal)
        self.assert_refused(done, 4, r"\(0, 1\)")
        self.assertFalse((self.folder / "run").exists())
        done = self.run_on(self.UPPER, *causal, "--set", "target.keep.top=4", "--set", "target.invisible=drop")
        self.assertEqual(done.code, 0, done.err)
        target = json.loads(done.out)["targets"][0]
        self.assertEqual((target["nonzeros"], target["invisible_entries_dropped"]), (10, 6))

    def test_verify_refuses_entries_above_the_diagonal_or_drops_and_counts_them(self):
        np.save(self.folder / "Q.npy", np.ones((4, 1)))
        causal = ["verify", "--target", DATA / self.UPPER, "--mode", "causal", "--q", "Q.npy", "--k", "Q.npy"]
        done = self.run_program(*causal)
        self.assert_refused(done, 4, r"\(0, 1\)")
        out = self.run_json(*causal, "--set", "target.invisible=drop")
        self.assertEqual((out["nonzeros"], out.get("invisible_entries_dropped")), (10, 6))

    def test_a_rectangle_is_described_but_not_run(self):
        name = "npy/npyz_c_order_i8.npy"
        self.run_json("target", DATA / name, "--slice", 0)
        done = self.run_on(name, "--set", "target.slice=0")
        self.assert_refused(done, 4, "3 x 4")
        self.assertFalse((self.folder / "run").exists())


def top_two(array, mode):
    """The two largest visible weights of each row; among equal ones the lower key."""
    kept = np.zeros(array.shape)
    for i, row in enumerate(array):
        seen = row[: i + 1] if mode == "causal" else row
        best = np.lexsort((np.arange(seen.size), -seen))[:2]
        kept[i, best] = seen[best]
    return kept


class Runs(SharedDataTest):
    """`run` on maps of trained models: an answer that holds, whoever measures it."""

    MAPS = [
        ("s260k_L128_l0h0.npy", "causal", None),
        ("s260k_L128_l2h3.npy", "causal", None),
        ("s260k_L128_l4h6.npy", "causal", None),
        ("ppocr4_L96_b0h2.npy", "bidirectional", None),
        ("ppocr4_L96_b1h5.npy", "bidirectional", None),
        ("ppocr4_L96_b1_allheads_f16.npy", "bidirectional", 3),
        ("bert_sst2_0006_l0h0.npy", "bidirectional", None),
        ("bert_sst2_0006_l4h7.npy", "bidirectional", None),
        ("bert_sst2_0006_l9h2.npy", "bidirectional", None),
    ]

    def run_map(self, name, mode, piece, *more, code=0):
        out = self.folder / "run"
        words = ["run", places.SOURCE / "configs" / "attention-map.toml", "--out", out, "--set",
                 f"target.path={DATA / 'attention' / name}", "--set", f"mode.plugin={mode}", "--set",
                 "target.keep={ top = 2 }", "--set", "criterion.ratio=0.5", "--set", "criterion.leakage=0.5", *more]
        if piece is not None:
            words += ["--set", f"target.slice={piece}"]
        printed = self.run_json(*words, code=code)
        self.assertEqual(printed, json.loads((out / "result.json").read_text(), parse_constant=self.fail))
        return out, printed

    def assert_schema(self, result, passed):
        """The fields of section 6 and their kinds."""
        self.assertEqual(result["schema"], "attnspan.result/1")
        self.assertIs(result["passed"], passed)
        whole = (lambda v: isinstance(v, int) and not isinstance(v, bool)) if passed else (lambda v: v is None)
        for field in ("query_dim", "hidden_dim", "sample"):
            self.assertTrue(whole(result[field]), field)
        self.assertEqual(set(result["bound"]) & {"query_dim", "hidden_dim", "failure_probability"},
                         {"query_dim", "hidden_dim", "failure_probability"})
        self.assertIsInstance(result["trivial_query_dim"], int)
        self.assertEqual(len(result["targets"]), 1)
        target = result["targets"][0]
        self.assertIsInstance(target["name"], str)
        for field in ("rows", "cols", "nonzeros", "max_row_nonzeros", "max_col_nonzeros"):
            self.assertIsInstance(target[field], int, field)
        for field in ("sum", "variation"):
            self.assertIsInstance(target[field], float, field)
        for field in ("search", "seconds", "config", "provenance"):
            self.assertIsInstance(result[field], dict, field)
        for field in ("version", "commit", "compiler", "backend", "threads", "host"):
            self.assertIn(field, result["provenance"])
        self.assertTrue(all(s >= 0 for s in result["seconds"].values()) and result["seconds"])
        self.assertTrue(result["search"]["attempts"])
        for attempt in result["search"]["attempts"]:
            self.assertIsInstance(attempt["query_dim"], int)
            self.assertIsInstance(attempt["sample"], int)
            self.assertTrue(attempt["passed"] or attempt["failed"] in ("ratio", "leakage", "total_variation"))

    def assert_measures_schema(self, measures):
        for field in ("ratio", "log_ratio", "leakage", "log_leakage", "total_variation_max", "total_variation_mean",
                      "support_mass_min"):
            self.assertIsInstance(measures[field], float, field)
        for field in ("ratio_row", "leakage_row", "leakage_key"):
            self.assertIsInstance(measures[field], int, field)

    def check_weights(self, out, result, length):
        m = result["query_dim"]
        x, wq, wk = (np.load(out / name) for name in ("X.npy", "W_Q.npy", "W_K.npy"))
        for array in (x, wq, wk):
            self.assertEqual(array.dtype, np.dtype("<f8"))
        self.assertEqual((x.shape, result["hidden_dim"]), ((length, 2 * m), 2 * m))
        one, none = np.eye(m), np.zeros((m, m))
        np.testing.assert_array_equal(wq, np.vstack([one, none]))
        np.testing.assert_array_equal(wk, np.vstack([none, one]))
        return x[:, :m], x[:, m:]

    def test_answers_are_verified_by_the_program_and_by_numpy(self):
        for name, mode, piece in self.MAPS:
            with self.subTest(file=name), self.subfolder(name):
                out, result = self.run_map(name, mode, piece)
                self.assert_schema(result, passed=True)
                array = np.load(DATA / "attention" / name).astype(np.float64)
                a = top_two(array if piece is None else array[piece], mode)
                target, measured = result["targets"][0], result["targets"][0]["measures"]
                self.assert_measures_schema(measured)
                self.assertEqual((target["rows"], target["cols"], target["nonzeros"], target["max_row_nonzeros"],
                                  target["max_col_nonzeros"]),
                                 (*a.shape, (a > 0).sum(), (a > 0).sum(1).max(), (a > 0).sum(0).max()))
                self.assert_close(target["sum"], math.fsum(a.ravel()), 1e-14, "sum")

                # numpy's view of the written files
                x1, x2 = self.check_weights(out, result, a.shape[0])
                logits = x1 @ x2.T
                seen = np.tril(np.ones(a.shape, dtype=bool)) if mode == "causal" else np.ones(a.shape, dtype=bool)
                on, off = (a > 0) & seen, ~(a > 0) & seen
                error = logits - np.log(np.where(on, a, 1))
                log_ratio = (np.where(on, error, -np.inf).max(1) - np.where(on, error, np.inf).min(1)).max()
                log_leakage = (np.where(off, logits, -np.inf).max(1) - np.where(on, logits, np.inf).min(1)).max()
                self.assertAlmostEqual(measured["log_ratio"], log_ratio, delta=1e-9)
                self.assertAlmostEqual(measured["log_leakage"], log_leakage, delta=1e-9)
                self.assertLessEqual(math.expm1(log_ratio), 0.5)
                self.assertLessEqual(math.exp(log_leakage), 0.5)

                # X1 = B X2 with B of section 3.1, margin_scale 1
                least = np.where(a > 0, a, np.inf).min(1, keepdims=True)
                b = np.where(a > 0, math.log(1.5 / 0.5) + np.log(np.where(a > 0, a, 1) / least), 0)
                np.testing.assert_allclose(x1, b @ x2, rtol=0, atol=1e-9 * np.abs(x1).max())

                # the program's view of the written files
                for backend in ("eigen", "armadillo"):
                    again = self.run_json("verify", "--target", out / "config.toml", "--x", out / "X.npy", "--wq",
                                          out / "W_Q.npy", "--wk", out / "W_K.npy", "--ratio", 0.5, "--leakage", 0.5,
                                          "--backend", backend)
                    self.assertIs(again["passed"], True)
                    for field in ("log_ratio", "log_leakage", "total_variation_max", "total_variation_mean",
                                  "support_mass_min"):
                        self.assertAlmostEqual(again["measures"][field], measured[field], delta=1e-9, msg=field)
                    for field in ("rows", "cols", "nonzeros", "sum", "max_row_nonzeros", "variation"):
                        self.assertEqual(again[field], target[field], field)

    def test_the_resolved_configuration_runs_again_to_the_same_bytes(self):
        for name, mode, piece in (self.MAPS[1], self.MAPS[5], self.MAPS[8]):
            with self.subTest(file=name), self.subfolder(name):
                out, result = self.run_map(name, mode, piece)
                again = self.run_json("run", out / "config.toml", "--out", "again")
                self.assertEqual([again[f] for f in ("query_dim", "sample", "targets", "search", "config")],
                                 [result[f] for f in ("query_dim", "sample", "targets", "search", "config")])
                for file in ("X.npy", "W_Q.npy", "W_K.npy", "config.toml"):
                    self.assertEqual((out / file).read_bytes(), (self.folder / "again" / file).read_bytes(), file)

    def test_nothing_found_is_a_result_with_the_best_attempt(self):
        out, result = self.run_map("ppocr4_L96_b1h5.npy", "bidirectional", None, "--set", "search.stop=3", code=1)
        self.assert_schema(result, passed=False)
        self.assertNotIn("measures", result["targets"][0])
        self.assertFalse((out / "X.npy").exists())
        best = result["search"]["best_attempt"]
        self.assert_measures_schema(best["measures"])
        self.assertEqual(best["hidden_dim"], 2 * best["query_dim"])
        tried = [(a["query_dim"], a["sample"]) for a in result["search"]["attempts"]]
        self.assertEqual({m for m, _ in tried}, {1, 2, 3})
        self.assertIn((best["query_dim"], best["sample"]), tried)
        self.assertTrue(best["measures"]["ratio"] > 0.5 or best["measures"]["leakage"] > 0.5)

    def subfolder(self, name):
        return Subfolder(self, name)


class Subfolder:
    """A folder of its own for a part of a test."""

    def __init__(self, test, name):
        self.test = test
        self.outer = test.folder
        self.inner = self.outer / pathlib.Path(name).stem

    def __enter__(self):
        self.inner.mkdir()
        self.test.folder = self.inner

    def __exit__(self, *_):
        self.test.folder = self.outer


if __name__ == "__main__":
    unittest.main()

"""Arrays in .npz archives and .safetensors files, and SciPy's sparse matrices: read, written, refused."""

import importlib.util
import io
import json
import struct
import unittest
import warnings
import zipfile

import numpy as np

import places

DENSE = np.array([[0, 1, 0.5, 0], [2, 0, 0, 0], [0, 0, 3, 0.25]])


def csr(a, **replaced):
    """The members that scipy.sparse.save_npz writes for this matrix; None leaves one out."""
    rows, cols = np.nonzero(a)
    members = {"format": np.array(b"csr"), "shape": np.array(a.shape), "data": a[rows, cols],
               "indices": cols.astype("i4"), "indptr": np.searchsorted(rows, np.arange(len(a) + 1)).astype("i4")}
    members.update(replaced)
    return {k: v for k, v in members.items() if v is not None}


def csc(a):
    t = csr(a.T)
    return dict(t, format=np.array(b"csc"), shape=np.array(a.shape))


def coo(a, order=None):
    rows, cols = np.nonzero(a)
    order = np.arange(len(rows)) if order is None else order
    return {"format": np.array(b"coo"), "shape": np.array(a.shape), "data": a[rows, cols][order],
            "row": rows[order], "col": cols[order]}


def safetensors(tensors, metadata=None):
    """The bytes of a safetensors file, made as its format is described."""
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    names = {"f8": "F64", "f4": "F32", "f2": "F16", "i8": "I64", "i4": "I32", "u1": "U8", "b1": "BOOL"}
    for name, a in tensors.items():
        dtype, raw = a if isinstance(a, tuple) else (names[a.dtype.str[1:]], a)
        header[name] = {"dtype": dtype, "shape": list(raw.shape), "data_offsets": [len(data), len(data) + raw.nbytes]}
        data += raw.tobytes()
    return with_header(header, data)


def with_header(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def npz(members):
    out = io.BytesIO()
    np.savez(out, **members)
    return out.getvalue()


class Files(places.InFolder):
    def put(self, name, content):
        (self.folder / name).write_bytes(content)

    def read(self, name, *words):
        """What `target` says of a file, and the weights that it read."""
        out = self.run_json("target", name, *words, "--write", "read.npy")
        return out, np.load(self.folder / "read.npy")


class Reading(Files):
    def test_sparse_matrices_of_scipy_in_three_formats(self):
        shuffled = np.random.default_rng(1).permutation(np.count_nonzero(DENSE))
        for what, members in (("csr", csr(DENSE)), ("csc", csc(DENSE)), ("coo", coo(DENSE)), ("shuffled", coo(DENSE, shuffled))):
            with self.subTest(what):
                self.put("a.npz", npz(members))
                out, read = self.read("a.npz")
                np.testing.assert_array_equal(read, DENSE)
                self.assertEqual((out["rows"], out["cols"], out["nonzeros"], out["explicit_zeros"]), (3, 4, 5, 0))

    def test_columns_of_a_row_in_any_order_and_zeros_that_are_stored(self):
        members = csr(DENSE, data=np.array([0.5, 1, 0, 0.25, 3]), indices=np.array([2, 1, 3, 3, 2]))
        self.put("a.npz", npz(members))
        out, read = self.read("a.npz")
        np.testing.assert_array_equal(read, [[0, 1, 0.5, 0], [0, 0, 0, 0], [0, 0, 3, 0.25]])
        self.assertEqual(out["explicit_zeros"], 1)

    def test_duplicates_are_added_when_that_is_asked_for(self):
        self.put("a.npz", npz(csr(DENSE, indices=np.array([1, 1, 0, 2, 3]))))
        out, read = self.read("a.npz", "--set", "target.duplicates=sum")
        self.assertEqual((read[0, 1], out["duplicates"]), (1.5, 1))

    def test_members_stored_and_compressed(self):
        for save in (np.savez, np.savez_compressed):
            with self.subTest(save.__name__):
                out = io.BytesIO()
                save(out, first=DENSE, second=DENSE.astype("f2") * 2, stack=np.stack([DENSE, 3 * DENSE]))
                self.put("a.npz", out.getvalue())
                np.testing.assert_array_equal(self.read("a.npz", "--member", "first")[1], DENSE)
                np.testing.assert_array_equal(self.read("a.npz", "--set", "target.member=second")[1], 2 * DENSE)
                np.testing.assert_array_equal(self.read("a.npz", "--member", "stack", "--slice", 1)[1], 3 * DENSE)

    def test_the_only_array_needs_no_name(self):
        self.put("a.npz", npz({"anything": DENSE}))
        np.testing.assert_array_equal(self.read("a.npz")[1], DENSE)
        self.put("a.safetensors", safetensors({"anything": DENSE}))
        np.testing.assert_array_equal(self.read("a.safetensors")[1], DENSE)

    def test_parts_of_a_sparse_matrix_can_be_read_by_name(self):
        self.put("a.npz", npz(csr(DENSE, data=DENSE)))
        np.testing.assert_array_equal(self.read("a.npz", "--member", "data")[1], DENSE)

    def test_tensors_of_every_type(self):
        whole = np.array([[1, 2, 0], [0, 4, 5]])
        bf16 = (whole.astype("f4").view("u4") >> 16).astype("u2")
        cases = {"f8": DENSE, "f4": DENSE.astype("f4"), "f2": DENSE.astype("f2"), "i8": whole, "i4": whole.astype("i4"),
                 "u1": whole.astype("u1"), "b1": whole > 0, "bf16": ("BF16", bf16)}
        self.put("a.safetensors", safetensors(cases, {"format": "pt"}))
        for name, tensor in cases.items():
            with self.subTest(name):
                expected = whole if isinstance(tensor, tuple) else tensor
                np.testing.assert_array_equal(self.read("a.safetensors", "--member", name)[1], expected)

    def test_graphs_are_read_from_archives(self):
        square = np.array([[0, 1, 0], [0, 0, 2], [3, 0, 0.0]])
        (self.folder / "g.toml").write_text('[target]\nplugin = "graph"\npath = "g.npz"\n')
        self.put("g.npz", npz(csr(square)))
        np.testing.assert_array_equal(self.read("g.toml")[1], square)
        self.put("g.npz", npz({"a": DENSE, "b": square}))
        np.testing.assert_array_equal(self.read("g.toml", "--set", "target.member=b")[1], square)

    def test_embeddings_for_verify(self):
        draw = np.random.default_rng(2)
        x, w_q, w_k = draw.normal(size=(5, 4)), draw.normal(size=(4, 3)), draw.normal(size=(4, 3))
        np.save(self.folder / "A.npy", np.eye(5))
        arrays = {"X": x, "W_Q": w_q, "W_K": w_k}
        for name, a in arrays.items():
            np.save(self.folder / f"{name}.npy", a)
        self.put("all.npz", npz(arrays))
        self.put("all.safetensors", safetensors(arrays))
        self.put("other.npz", npz({"input": x, "W_Q": w_q, "W_K": w_k}))
        self.put("with:colon.npy", (self.folder / "X.npy").read_bytes())
        verify = ["verify", "--target", "A.npy"]
        expected = self.run_json(*verify, "--x", "X.npy", "--wq", "W_Q.npy", "--wk", "W_K.npy")
        for x_file, file in (("all.npz", "all.npz"), ("all.safetensors", "all.safetensors"), ("other.npz:input", "other.npz"),
                             ("with:colon.npy", "all.npz")):
            with self.subTest(x_file):
                self.assertEqual(self.run_json(*verify, "--x", x_file, "--wq", file, "--wk", file), expected)
        self.put("qk.npz", npz({"Q": x @ w_q, "K": x @ w_k}))
        seen = self.run_json(*verify, "--q", "qk.npz", "--k", "qk.npz")
        self.assertAlmostEqual(seen["measures"]["log_leakage"], expected["measures"]["log_leakage"], places=12)


class Writing(Files):
    def test_npz_holds_what_scipy_saves(self):
        np.save(self.folder / "a.npy", DENSE)
        self.run_ok("target", "a.npy", "--write", "a.npz")
        with np.load(self.folder / "a.npz") as members:
            expected = csr(DENSE)
            self.assertEqual(set(members), set(expected))
            for name, value in expected.items():
                np.testing.assert_array_equal(members[name], value)
                self.assertEqual(members[name].dtype, value.dtype, name)
        np.testing.assert_array_equal(self.read("a.npz")[1], DENSE)

    @unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy here")
    def test_scipy_reads_it_and_its_files_are_read(self):
        import scipy.sparse
        np.save(self.folder / "a.npy", DENSE)
        self.run_ok("target", "a.npy", "--write", "a.npz")
        np.testing.assert_array_equal(scipy.sparse.load_npz(self.folder / "a.npz").toarray(), DENSE)
        for kind in ("csr", "csc", "coo"):
            for compressed in (False, True):
                scipy.sparse.save_npz(self.folder / "s.npz", scipy.sparse.csr_matrix(DENSE).asformat(kind), compressed)
                np.testing.assert_array_equal(self.read("s.npz")[1], DENSE)

    def test_equal_targets_give_equal_bytes(self):
        words = ["target", places.SOURCE / "configs/causal.toml", "--write"]
        self.run_ok(*words, "a.npz")
        self.run_ok(*words, "b.npz")
        self.assertEqual((self.folder / "a.npz").read_bytes(), (self.folder / "b.npz").read_bytes())

    def test_a_run_in_safetensors_holds_the_arrays_of_one_in_npy(self):
        words = ["run", places.SOURCE / "configs/quickstart.toml", "--set", "target.length=96"]
        plain = self.run_json(*words, "--out", "plain")
        one = self.run_json(*words, "--out", "one", "--set", "export.weights=safetensors")
        self.assertFalse(list((self.folder / "one").glob("*.npy")))
        data = (self.folder / "one/weights.safetensors").read_bytes()
        begin = 8 + struct.unpack("<Q", data[:8])[0]
        self.assertEqual(begin % 8, 0)
        header = json.loads(data[8:begin])
        self.assertEqual(set(header), {"X", "W_Q", "W_K"})
        for name, entry in header.items():
            self.assertEqual(entry["dtype"], "F64")
            first, last = entry["data_offsets"]
            tensor = np.frombuffer(data[begin + first:begin + last]).reshape(entry["shape"])
            np.testing.assert_array_equal(tensor, np.load(self.folder / f"plain/{name}.npy"))
        self.assertEqual(one["targets"][0]["files"]["X"], "weights.safetensors:X")
        self.assertEqual(one["targets"][0]["measures"], plain["targets"][0]["measures"])
        seen = self.run_json("verify", "--target", "one/config.toml", *(w for o, n in (("--x", "X"), ("--wq", "W_Q"),
                             ("--wk", "W_K")) for w in (o, f"one/weights.safetensors:{n}")))
        for measure in ("leakage", "total_variation_max"):
            self.assertAlmostEqual(seen["measures"][measure], one["targets"][0]["measures"][measure], places=9)

    def test_several_inputs_stand_beside_weights_whose_digest_does_not_depend_on_them(self):
        words = ["run", places.SOURCE / "configs/same-weights.toml", "--set", "export.weights=safetensors"]
        first = self.run_json(*words, "--out", "first")
        second = self.run_json(*words, "--out", "second", "--set", "target.0.stride=2")
        self.assertEqual(first["weights"], second["weights"])
        self.assertEqual(first["weights"]["W_Q"]["file"], "weights.safetensors:W_Q")
        self.assertEqual(first["targets"][1]["files"]["X"], "weights.safetensors:X-bigbird")
        self.assertNotEqual((self.folder / "first/weights.safetensors").read_bytes(),
                            (self.folder / "second/weights.safetensors").read_bytes())


def zip_of(members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def array_bytes(a):
    out = io.BytesIO()
    np.save(out, a)
    return out.getvalue()


def flipped(content, at):
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1:]


def lying_about_its_size(content):
    """The size of the only member, in both headers, a hundred bytes too small."""
    size = struct.pack("<I", len(array_bytes(DENSE)))
    return content.replace(size, struct.pack("<I", len(array_bytes(DENSE)) - 100))


def twice():
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as archive:
        warnings.simplefilter("ignore")
        for a in (DENSE, 2 * DENSE):
            archive.writestr("a.npy", array_bytes(a))
    return out.getvalue()


class Refused(Files):
    ONE = npz({"a": DENSE})
    CASES = (
        ("two arrays and no name", npz({"a": DENSE, "b": DENSE}), [], r"holds \"a\", \"b\"; choose one with member"),
        ("a name that is not there", ONE, ["--member", "A"], r"no array \"A\" in it; it holds \"a\""),
        ("a stack without a slice", npz({"a": np.ones((2, 3, 3))}), [], r"bad\.npz:a: .*stack of 2"),
        ("a sparse matrix with a slice", npz(csr(DENSE)), ["--slice", 0], r"slice = 0 has no meaning"),
        ("another sparse format", npz(csr(DENSE, format=np.array(b"bsr"))), [], r"\"bsr\".*csr, csc and coo.*tocsr"),
        ("a format that is no text", npz(csr(DENSE, format=np.array(3.0))), [], r"bad\.npz:format: a single text"),
        ("a shape that is no pair", npz(csr(DENSE, shape=np.array([3]))), [], r"1 dimensions"),
        ("a negative size", npz(csr(DENSE, shape=np.array([-3, 4]))), [], r"bad\.npz:shape: element 0 is -3"),
        ("indices out of range", npz(csr(DENSE, indices=np.array([1, 2, 0, 2, 4]))), [], r":indices: element 4 is 4, expected 0 to 3"),
        ("indices that are fractions", npz(csr(DENSE, indices=np.array([1, 2, 0.5, 2, 3]))), [], r":indices: element 2 is 0.5"),
        ("indices of nan", npz(csr(DENSE, indices=np.array([1, 2, np.nan, 2, 3]))), [], r":indices: element 2 is nan"),
        ("too few indices", npz(csr(DENSE, indices=np.array([1, 2]))), [], r":indices: it has 2 elements, expected 5"),
        ("indices in a square", npz(csr(DENSE, indices=np.zeros((1, 5)))), [], r":indices: .*one dimension"),
        ("too few offsets", npz(csr(DENSE, indptr=np.array([0, 2, 5]))), [], r":indptr: it has 3 elements, expected 4"),
        ("offsets that go back", npz(csr(DENSE, indptr=np.array([0, 3, 2, 5]))), [], r":indptr: element 2 is 2 after 3"),
        ("offsets that begin late", npz(csr(DENSE, indptr=np.array([1, 2, 3, 5]))), [], r":indptr: .*begin at 0"),
        ("offsets that end early", npz(csr(DENSE, indptr=np.array([0, 2, 3, 4]))), [], r":data: it has 5 elements, expected 4"),
        ("offsets beyond the end", npz(csr(DENSE, indptr=np.array([0, 2, 3, 9]))), [], r":indptr: element 3 is 9, expected 0 to 5"),
        ("no offsets", npz(csr(DENSE, indptr=None)), [], r"\"indptr\.npy\" cannot be read"),
        ("a negative weight", npz(csr(DENSE, data=np.array([1, 1, -2, 1, 1.0]))), [], r"entry \(1, 0\) is -2"),
        ("a weight that is not finite", npz(csr(DENSE, data=np.array([1, 1, np.inf, 1, 1]))), [], r"entry \(1, 0\) is inf"),
        ("an entry twice", npz(csr(DENSE, indices=np.array([1, 1, 0, 2, 3]))), [], r"entry \(0, 1\) is stored twice.*duplicates"),
        ("a million rows of nothing", npz(csr(DENSE, shape=np.array([2**60, 4]), indptr=np.zeros(4))), [], r"shape: element 0"),
        ("objects", npz({"a": np.array([{}], dtype=object)}), [], r"bad\.npz:a: .*never unpickled"),
        ("a member cut short", zip_of({"a.npy": array_bytes(DENSE)[:-9]}), [], r"bad\.npz:a: .*cut short"),
        ("a member twice", twice(), [], r"\"a\" stands in the archive twice"),
        ("SciPy's format dia", npz({"format": np.array(b"dia"), "shape": np.array([3, 3]), "data": np.ones((1, 3)),
                                    "offsets": np.array([0])}), [], r"\"dia\".*tocsr"),
        ("rows without a key", npz({"a": np.zeros((5, 0))}), [], r"5 x 0: at least one query"),
        ("no array", zip_of({"readme.txt": b"x"}), [], r"holds no array"),
        ("an empty archive", zip_of({}), [], r"holds no array"),
        ("an archive cut short", ONE[:-30], [], r"damaged or cut short"),
        ("a flipped bit", flipped(ONE, 200), [], r"CRC error; the file is damaged"),
        ("a size that lies", lying_about_its_size(zip_of({"a.npy": array_bytes(DENSE)}, zipfile.ZIP_DEFLATED)), [],
         r"damaged"),
    )

    def test_bad_archives_are_refused_with_the_place(self):
        for what, content, words, says in self.CASES:
            with self.subTest(what):
                self.put("bad.npz", content)
                self.assert_refused(self.run_program("target", "bad.npz", *words), 4, says)

    def test_a_bomb_is_refused_by_its_announced_size_before_it_goes_off(self):
        one = zip_of({"a.npy": b"\0" * 1000}, zipfile.ZIP_DEFLATED)
        self.put("bad.npz", one.replace(struct.pack("<I", 1000), struct.pack("<I", 0xfffffff0)))
        answer = self.run_program("target", "bad.npz")
        self.assertIn(answer.code, (4, 5), answer.err)
        self.assertLess(answer.peak_bytes, 1 << 30)

    GOOD = {"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}
    DATA = np.ones(4, "f4").tobytes()
    TENSORS = (
        ("cut short inside the header", with_header(GOOD, DATA)[:40], r"ends inside the safetensors header"),
        ("cut short inside the data", with_header(GOOD, DATA[:-1]), r"\"a\" claims the bytes 0 to 16 of 15"),
        ("bytes at the end", with_header(GOOD, DATA + b"xyz"), r"3 bytes follow the last tensor"),
        ("no JSON", with_header(b'{"a": }', b""), r"no JSON at its byte"),
        ("deeply nested", with_header(b'{"a":' + b"[" * 200000, b""), r"nested deeper"),
        ("deeply nested and whole", with_header(b'{"__metadata__":' + b"[" * 160000 + b"]" * 160000 + b"}", b""),
         r"nested deeper"),
        ("no tensor", with_header(b'{"__metadata__":{}}', b""), r"holds no tensor"),
        ("a key twice", with_header(b'{"a":{},"a":{}}', b""), r"\"a\" stands twice"),
        ("no shape", with_header({"a": {"dtype": "F32", "data_offsets": [0, 16]}}, DATA), r"needs a dtype, a shape"),
        ("a negative size", with_header({"a": dict(GOOD["a"], shape=[-2, -2])}, DATA), r"needs a dtype, a shape"),
        ("a size of 2^70", with_header(b'{"a":{"dtype":"F32","shape":[1180591620717411303424],"data_offsets":[0,16]}}', DATA),
         r"needs a dtype, a shape"),
        ("sizes whose product overflows", with_header({"a": dict(GOOD["a"], shape=[2**40, 2**40])}, DATA), r"does not take the 16 bytes"),
        ("a shape that does not fit", with_header({"a": dict(GOOD["a"], shape=[2, 3])}, DATA), r"bad\.safetensors:a: .*does not take"),
        ("an unknown type", with_header({"a": dict(GOOD["a"], dtype="F8_E4M3")}, DATA), r"\"F8_E4M3\".*convert"),
        ("a hole", with_header({"a": dict(GOOD["a"], shape=[3, 1], data_offsets=[4, 16])}, DATA), r"begins at byte 4, where 0"),
        ("an overlap", with_header({"a": dict(GOOD["a"], data_offsets=[0, 16]), "b": dict(GOOD["a"], data_offsets=[0, 16])}, DATA),
         r"begins at byte 0, where 16"),
        ("offsets that go back", with_header({"a": dict(GOOD["a"], data_offsets=[16, 0])}, DATA), r"claims the bytes 16 to 0"),
        ("a negative weight", safetensors({"a": -np.ones((2, 2))}), r"bad\.safetensors:a: entry \(0, 0\) is -1"),
    )

    def test_bad_tensors_are_refused_with_the_place(self):
        for what, content, says in self.TENSORS:
            with self.subTest(what):
                self.put("bad.safetensors", content)
                self.assert_refused(self.run_program("target", "bad.safetensors"), 4, says)

    def test_arrays_of_nothing_and_of_impossible_sizes_are_refused_before_memory_is_taken(self):
        np.save(self.folder / "A.npy", np.eye(2))
        for name, shape in (("x", "(2, 0)"), ("w", "(0, 4611686018427387904)"), ("rows", "(1099511627776, 0)")):
            header = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }"
            self.put(f"{name}.npy", b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode())
        self.assert_refused(self.run_program("verify", "--target", "A.npy", "--x", "x.npy", "--wq", "w.npy", "--wk", "w.npy"),
                            4, r"x\.npy: .*at least one row")
        answer = self.run_program("target", "rows.npy")
        self.assert_refused(answer, 4, r"1099511627776 x 0: at least one query")
        self.assertLess(answer.peak_bytes, 1 << 30)
        (self.folder / "wide.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 9223372036854775807 1\n1 1 1\n")
        self.assert_refused(self.run_program("target", "wide.mtx"), 5, r"9223372036854775807 .* needs about")

    def test_names_where_there_are_none_are_refused(self):
        np.save(self.folder / "a.npy", DENSE)
        self.assert_refused(self.run_program("target", "a.npy", "--member", "a"), 4, r"a\.npy: .*no arrays with names")
        self.assert_refused(self.run_program("verify", "--target", "a.npy", "--q", "a.npy:Q", "--k", "a.npy"), 4,
                            r"a\.npy: .*no arrays with names")
        self.put("qk.npz", npz({"q": DENSE, "k": DENSE}))
        self.assert_refused(self.run_program("verify", "--target", "a.npy", "--q", "qk.npz", "--k", "qk.npz:k"), 4,
                            r"qk\.npz: it holds \"q\", \"k\"; choose one as qk\.npz:NAME")
        (self.folder / "g.txt").write_text("1 2\n")
        (self.folder / "g.toml").write_text('[target]\nplugin = "graph"\npath = "g.txt"\nmember = "x"\n')
        self.assert_refused(self.run_program("target", "g.toml"), 4, r"edge list has no member")

    def test_a_failed_write_leaves_nothing(self):
        np.save(self.folder / "a.npy", DENSE)
        before = sorted(p.name for p in self.folder.iterdir())
        self.assert_refused(self.run_program("target", "a.npy", "--write", "nowhere/a.npz"), 5, "nowhere")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), before)


if __name__ == "__main__":
    unittest.main()

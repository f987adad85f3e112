"""One seed, one answer: whatever the number of threads and the back end; another seed, another answer."""

import json
import math
import os
import unittest

import numpy as np

import places

PROJECTIONS = ("orthogonal", "gaussian", "structured", "sparse")
MACHINES = tuple((threads, backend) for threads in (1, 2) for backend in ("armadillo", "eigen"))
LENGTH = 96  # not a power of two: structured pads
POINTS = ((1, 1.0, "bidirectional"), (2, 2.0, "causal"), (3, 5.0, "bidirectional"))
RESAMPLED = ("start = 8", "step = 8", "samples = 3", "resample = true")
SEEDS = (-2**63, -1, 0, 1, 2**63 - 1)


class DeterminismTest(places.InFolder):
    def write_config(self, projection="orthogonal", nonzeros=2, variation=2.0, mode="bidirectional", seed=42,
                     length=LENGTH, ratio=3.0, leakage=0.9,
                     search=('method = "grid"', "start = 8", "step = 8", "samples = 3")):
        lines = "\n".join(search)
        (self.folder / "config.toml").write_text(f"""
[run]
seed = {seed}
[target]
plugin = "random-sparse"
length = {length}
nonzeros = {nonzeros}
variation = {variation}
[mode]
plugin = "{mode}"
[criterion]
ratio = {ratio}
leakage = {leakage}
[construction]
factorization = "direct"
[construction.projection]
plugin = "{projection}"
[search]
{lines}
""")

    def target_bytes(self, *more, processors=None):
        """The target of config.toml, written as .npy; the program may use `processors` only."""
        file = self.folder / "A.npy"
        restrict = (lambda: os.sched_setaffinity(0, processors)) if processors else None
        self.run_ok("target", "config.toml", "--write", file, *more, prepare=restrict)
        return file.read_bytes()

    def answer(self, threads=1, backend="armadillo"):
        """The result of a run of config.toml, and X = [X1 X2]."""
        out = self.folder / "run"
        result = self.run_json("run", "config.toml", "--threads", threads, "--set", f"backend.plugin={backend}",
                               "--out", out, "--force")
        self.assertTrue(result["provenance"]["backend"])
        x = np.load(out / "X.npy")
        m = result["query_dim"]
        self.assertEqual(x.shape, (result["targets"][0]["rows"], 2 * m))
        return result, np.ascontiguousarray(x[:, :m]), np.ascontiguousarray(x[:, m:])

    def assert_one_answer(self):
        """All machines give the same target, m, sample, attempts and Y; with direct X2 is Y."""
        answers = [self.answer(*machine) for machine in MACHINES]
        first, x1, x2 = answers[0]
        for machine, (result, other_x1, other_x2) in zip(MACHINES[1:], answers[1:]):
            for field in ("query_dim", "sample", "bound", "trivial_query_dim"):
                self.assertEqual(result[field], first[field], (machine, field))
            self.assertEqual([(a["query_dim"], a["sample"], a["passed"]) for a in result["search"]["attempts"]],
                             [(a["query_dim"], a["sample"], a["passed"]) for a in first["search"]["attempts"]], machine)
            self.assertEqual(other_x2.tobytes(), x2.tobytes(), machine)
            np.testing.assert_allclose(other_x1, x1, rtol=0, atol=1e-12 * np.abs(x1).max())
            target, measures = dict(result["targets"][0]), dict(first["targets"][0])
            got, expected = target.pop("measures"), measures.pop("measures")
            self.assertEqual(target, measures)
            for field in ("log_ratio", "log_leakage", "total_variation_max", "support_mass_min"):
                self.assertAlmostEqual(got[field], expected[field], delta=1e-9)
        return first, x2


class OneSeed(DeterminismTest):
    def test_gives_the_same_target_byte_for_byte(self):
        for nonzeros, variation, mode in POINTS:
            with self.subTest(nonzeros=nonzeros, mode=mode):
                self.write_config(nonzeros=nonzeros, variation=variation, mode=mode)
                expected = self.target_bytes()
                self.assertEqual(self.target_bytes(processors={min(os.sched_getaffinity(0))}), expected)
                for threads, backend in MACHINES:
                    self.run_ok("run", "config.toml", "--threads", threads, "--set", f"backend.plugin={backend}",
                                "--out", "again", "--force")
                    self.assertEqual((self.folder / "again" / "config.toml").read_text().count(f'"{backend}"'), 1)
                    (self.folder / "config.toml").write_text((self.folder / "again" / "config.toml").read_text())
                    self.assertEqual(self.target_bytes(), expected, (threads, backend))

    def test_gives_the_same_y_and_the_same_m_on_every_machine(self):
        for projection in PROJECTIONS:
            for nonzeros, variation, mode in POINTS:
                with self.subTest(projection=projection, nonzeros=nonzeros, mode=mode):
                    self.write_config(projection, nonzeros, variation, mode)
                    self.assert_one_answer()

    def test_gives_the_same_y_and_the_same_m_when_every_dimension_is_drawn_anew(self):
        for projection in PROJECTIONS:
            with self.subTest(projection=projection):
                self.write_config(projection, search=RESAMPLED)
                _, fresh = self.assert_one_answer()
                self.write_config(projection)
                _, nested = self.assert_one_answer()
                self.assertNotEqual(fresh.tobytes(), nested.tobytes())

    def test_gives_the_same_y_at_a_length_that_takes_several_blocks(self):
        for projection in PROJECTIONS:
            with self.subTest(projection=projection):
                # one dimension, no multiple of a block
                self.write_config(projection, length=700, ratio=100.0, search=("start = 301", "stop = 301"))
                self.assert_one_answer()

    def test_gives_one_verdict_where_rounding_decides(self):
        """With epsilon_1 = 0 and one entry a row the logits at m = n are tau on the support and 0 off it, so that the
        leakage is epsilon_2 itself, up to rounding."""
        for projection, length in (("orthogonal", 60), ("structured", 64)):
            for leakage in (0.5, 0.3, 0.9):
                with self.subTest(projection=projection, leakage=leakage):
                    self.write_config(projection, nonzeros=1, variation=1.0, ratio=0.0, leakage=leakage, length=length,
                                      search=('method = "fixed"', f"query_dim = {length}", "samples = 12"))
                    verdicts = set()
                    for threads, backend in MACHINES:
                        done = self.run_program("run", "config.toml", "--threads", threads, "--set",
                                                f"backend.plugin={backend}", "--out", "run", "--force", "--json")
                        self.assertIn(done.code, (0, 1), done.err)
                        result = json.loads(done.out)
                        shown = result["targets"][0].get("measures") or result["search"]["best_attempt"]["measures"]
                        self.assertAlmostEqual(shown["log_leakage"], math.log(leakage), delta=1e-12)
                        verdicts.add(tuple((a["sample"], a["passed"]) for a in result["search"]["attempts"]))
                    self.assertEqual(len(verdicts), 1, verdicts)


class TheDraw(DeterminismTest):
    """X2 is a projection of the law of section 3.3, and not a constant: the tests above would hold for one."""

    def test_orthogonal_columns_are_orthogonal_and_scaled(self):
        self.write_config("orthogonal")
        _, _, y = self.answer()
        np.testing.assert_allclose(y.T @ y, LENGTH / y.shape[1] * np.eye(y.shape[1]), atol=1e-12)

    def test_structured_entries_have_one_absolute_value_with_one_block(self):
        self.write_config("structured")
        _, _, y = self.answer()
        np.testing.assert_allclose(np.abs(y), 1 / np.sqrt(y.shape[1]), rtol=1e-12)

    def test_gaussian_entries_have_variance_one_over_m(self):
        self.write_config("gaussian")
        _, _, y = self.answer()
        # the mean square of n m normals has standard deviation sqrt(2 / (n m)); 5 of them: false alarm 6e-7, fixed seed
        self.assertLess(abs(np.mean(y**2) * y.shape[1] - 1), 5 * np.sqrt(2 / y.size))
        self.assertEqual(np.unique(y).size, y.size)


class Seeds(DeterminismTest):
    def test_every_64_bit_seed_works_and_has_targets_and_y_of_its_own(self):
        for projection in PROJECTIONS:
            with self.subTest(projection=projection):
                targets, projections = set(), set()
                for seed in SEEDS:
                    self.write_config(projection, seed=seed)
                    targets.add(self.target_bytes())
                    result, _, y = self.answer()
                    self.assertEqual(result["config"]["run"]["seed"], seed)
                    projections.add(y[:, :8].tobytes())
                self.assertEqual((len(targets), len(projections)), (len(SEEDS), len(SEEDS)))

    def test_extreme_seeds_give_one_answer_on_every_machine(self):
        for seed in (-2**63, 2**63 - 1):
            with self.subTest(seed=seed):
                self.write_config(seed=seed)
                self.assert_one_answer()

    def test_a_seed_on_the_command_line_is_the_seed_of_the_file(self):
        for seed in SEEDS:
            self.write_config(seed=seed)
            expected = self.target_bytes()
            self.write_config(seed=7)
            self.assertEqual(self.target_bytes("--set", f"run.seed={seed}"), expected)

    def test_a_seed_beyond_64_bits_is_refused(self):
        for seed in (2**63, -2**63 - 1):
            self.write_config(seed=seed)
            for words in (["target", "config.toml"], ["run", "config.toml", "--out", "run"]):
                done = self.run_program(*words)
                self.assert_refused(done, 2)
        self.write_config()
        self.assert_refused(self.run_program("target", "config.toml", "--set", f"run.seed={2**63}"), 2, "seed")

    def test_the_target_does_not_depend_on_what_comes_after_it(self):
        self.write_config()
        expected = self.target_bytes()
        self.write_config("gaussian", search=RESAMPLED)
        self.assertEqual(self.target_bytes(), expected)


if __name__ == "__main__":
    unittest.main()

"""`attnspan verify` against numbers made elsewhere: by the reference program, and by the formulas in numpy."""

import json
import math
import subprocess
import sys
import unittest

import numpy as np

import places

BACKENDS = ("eigen", "armadillo")


def visible(shape, mode):
    every = np.ones(shape, dtype=bool)
    return np.tril(every) if mode == "causal" else every


def log_uniform(rng, low, high, count):
    return np.exp(rng.uniform(math.log(low), math.log(high), count))


def random_target(rng, shape, most, mode, low, high):
    """Rows of 1 to `most` visible entries, log-uniform between `low` and `high`; one row of a single entry and, where
    it fits, one row with no visible zero."""
    seen = visible(shape, mode)
    a = np.zeros(shape)
    for i in range(shape[0]):
        keys = np.flatnonzero(seen[i])
        count = rng.integers(1, min(most, keys.size) + 1)
        a[i, rng.choice(keys, count, replace=False)] = log_uniform(rng, low, high, count)
    full = [i for i in range(shape[0]) if 1 < seen[i].sum() <= most]
    if full:
        a[full[-1], seen[full[-1]]] = log_uniform(rng, low, high, int(seen[full[-1]].sum()))
    one = shape[0] - 1 if not full or full[-1] != shape[0] - 1 else shape[0] - 2
    keep = rng.choice(np.flatnonzero(a[one]))
    a[one, np.arange(shape[1]) != keep] = 0
    widest = int(np.argmax((a > 0).sum(axis=1)))
    ends = np.flatnonzero(a[widest])[[0, -1]]
    if ends[0] != ends[1]:
        a[widest, ends] = low, high
    return a


def measures(logits, a, mode):
    """The measures by their definitions, all in log space; per row where a row attains them."""
    seen = visible(a.shape, mode)
    on = (a > 0) & seen
    off = ~(a > 0) & seen
    log_a = np.log(np.where(on, a, 1.0))
    error = logits - log_a
    log_ratio = np.where(on, error, -np.inf).max(1) - np.where(on, error, np.inf).min(1)
    log_leakage = np.where(off, logits, -np.inf).max(1) - np.where(on, logits, np.inf).min(1)

    def log_softmax(values, where):
        values = np.where(where, values, -np.inf)
        top = values.max(1, keepdims=True)
        return values - top - np.log(np.exp(values - top).sum(1, keepdims=True))

    p = np.exp(log_softmax(logits, seen))
    total_variation = np.abs(p - np.exp(log_softmax(log_a, on))).sum(1) / 2
    return {
        "log_ratio": log_ratio,
        "log_leakage": log_leakage,
        "total_variation": total_variation,
        "support_mass": np.where(on, p, 0).sum(1),
    }


class Case:
    """A target with an embedding, from a seed."""

    def __init__(self, seed, mode):
        rng = np.random.default_rng([seed, mode == "causal"])
        self.mode = mode
        length = int([4, 9, 12, 16, 17, 24, 33, 40, 64, 130][seed])
        self.most = int([1, 4, 12, 16, 16, 2, 8, 5, 1, 16][seed])
        low, high = [(1, 1), (1e-300, 1e300), (1e-3, 1e3), (0.01, 0.9), (1e-300, 1e300)][seed % 5]
        self.a = random_target(rng, (length, length), self.most, mode, low, high)
        if seed % 2 == 0:
            d, m = int(rng.integers(1, 3 * length)), int(rng.integers(1, 2 * length))
            self.x = rng.standard_normal((length, d)) * (3 / (d * m) ** 0.25)
            self.wq = rng.standard_normal((d, m)) / math.sqrt(d)
            self.wk = rng.standard_normal((d, m)) / math.sqrt(d)
        else:
            # Logits near ln A on the support and near its least value, minus 3, off it.
            least = np.where(self.a > 0, self.a, np.inf).min(1, keepdims=True)
            wanted = np.log(np.where(self.a > 0, self.a, least / 20)) + rng.uniform(-0.2, 0.2, self.a.shape)
            keys = np.linalg.qr(rng.standard_normal((length, length)))[0]
            self.x = np.hstack([wanted @ keys, keys])
            self.wq = np.vstack([np.eye(length), np.zeros((length, length))])
            self.wk = np.vstack([np.zeros((length, length)), np.eye(length)])

    def save(self, folder):
        files = [folder / name for name in ("A.npy", "X.npy", "W_Q.npy", "W_K.npy")]
        for file, array in zip(files, (self.a, self.x, self.wq, self.wk)):
            np.save(file, array)
        return files

    def logits(self):
        return (self.x @ self.wq) @ (self.x @ self.wk).T


class VerifyTest(places.InFolder):
    def assert_near(self, got, expected, what):
        self.assertIsNotNone(got, what)
        self.assertLessEqual(abs(got - expected), 1e-9 * max(1.0, abs(expected)), f"{what}: {got}, expected {expected}")

    def assert_log(self, measured, name, expected, what):
        if expected == -math.inf:
            self.assertIsNone(measured[name], what)
            self.assertEqual(measured[name + "_status"], "minus_infinity", what)
        else:
            self.assert_near(measured[name], expected, f"{what}: {name}")

    def assert_measures(self, measured, expected, what):
        """Every number of the measures, and that the rows it names attain them."""
        self.assert_log(measured, "log_ratio", expected["log_ratio"].max(), what)
        self.assert_log(measured, "log_leakage", expected["log_leakage"].max(), what)
        self.assert_near(measured["total_variation_max"], expected["total_variation"].max(), what)
        self.assert_near(measured["total_variation_mean"], expected["total_variation"].mean(), what)
        self.assert_near(measured["support_mass_min"], expected["support_mass"].min(), what)
        self.assert_log(measured, "log_ratio", expected["log_ratio"][measured["ratio_row"]], what)
        self.assert_near(measured["total_variation_max"],
                         expected["total_variation"][measured["total_variation_row"]], what)
        self.assert_near(measured["support_mass_min"], expected["support_mass"][measured["support_mass_row"]], what)
        if expected["log_leakage"].max() > -math.inf:
            self.assert_log(measured, "log_leakage", expected["log_leakage"][measured["leakage_row"]], what)
        else:
            self.assertIsNone(measured["leakage_row"], what)
        for name, value in (("ratio", lambda m: math.expm1(m["log_ratio"])),
                            ("leakage", lambda m: math.exp(m["log_leakage"]))):
            log = measured["log_" + name]
            if log is None:
                self.assertEqual(measured[name], 0, what)
            elif log > math.log(sys.float_info.max):
                self.assertIsNone(measured[name], what)
                self.assertEqual(measured[name + "_status"], "overflow", what)
            else:
                self.assert_near(measured[name], value(measured), f"{what}: {name}")

    def verified(self, files, mode, *more, **options):
        a, x, wq, wk = files
        return self.run_json("verify", "--target", a, "--x", x, "--wq", wq, "--wk", wk, "--mode", mode, *more,
                             **options)["measures"]


@unittest.skipUnless(places.reference(), "the reference program is not here (ATTNSPAN_REFERENCE)")
class AgainstTheReferenceProgram(VerifyTest):
    def reference(self, files, mode, scale=1.0):
        words = [sys.executable, places.reference(), "--verify", *files, "--mode", mode, "--scale", repr(scale)]
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def assert_agrees(self, mode, seed, scale=1.0):
        case = Case(seed, mode)
        files = case.save(self.folder)
        nonzeros = (case.a > 0).sum(1)
        self.assertTrue(1 == nonzeros.min() <= nonzeros.max() <= 16)
        expected = self.reference(files, mode, scale)
        for backend in BACKENDS:
            what = f"{mode}, case {seed}, scale {scale}, {backend}"
            measured = self.verified(files, mode, "--backend", backend, "--scale", repr(scale))
            self.assert_log(measured, "log_ratio", expected["log_ratio"], what)
            self.assert_log(measured, "log_leakage", expected["log_leak"], what)
            self.assert_measures(measured, measures(scale * case.logits(), case.a, mode), what)

    def test_bidirectional_measures_agree_in_ten_cases(self):
        for seed in range(10):
            with self.subTest(seed=seed):
                self.assert_agrees("bidirectional", seed)

    def test_causal_measures_agree_in_ten_cases(self):
        for seed in range(10):
            with self.subTest(seed=seed):
                self.assert_agrees("causal", seed)

    def test_scaled_logits_agree(self):
        for mode, seed, scale in (("bidirectional", 3, 0.125), ("causal", 7, 1 / math.sqrt(8)),
                                  ("bidirectional", 6, -2.5), ("causal", 2, 0.0)):
            with self.subTest(mode=mode, seed=seed, scale=scale):
                self.assert_agrees(mode, seed, scale)

    def test_a_target_without_a_zero_has_no_leakage(self):
        rng = np.random.default_rng(5)
        case = Case(0, "bidirectional")
        case.a = log_uniform(rng, 1e-300, 1e300, case.a.size).reshape(case.a.shape)
        files = case.save(self.folder)
        expected = self.reference(files, "bidirectional")
        self.assertEqual(expected["log_leak"], -math.inf)
        for backend in BACKENDS:
            measured = self.verified(files, "bidirectional", "--backend", backend)
            self.assert_log(measured, "log_ratio", expected["log_ratio"], backend)
            self.assert_measures(measured, measures(case.logits(), case.a, "bidirectional"), backend)


class AgainstTheFormulas(VerifyTest):
    def test_rectangles_of_queries_and_keys(self):
        for seed, (shape, m, most, mode, scale, (low, high)) in enumerate([
                ((7, 20), 3, 5, "bidirectional", 1.0, (0.1, 1)),
                ((30, 5), 8, 4, "bidirectional", 0.25, (1e-300, 1e300)),
                ((1, 9), 2, 9, "bidirectional", 2.0, (1, 5)),
                ((40, 1), 1, 1, "bidirectional", 1.0, (0.5, 2)),
                ((25, 12), 6, 12, "causal", 0.7, (1e-5, 1e5)),
                ((12, 25), 6, 3, "causal", -1.3, (1e-5, 1e5)),
                ((150, 1100), 16, 16, "bidirectional", 1.0, (1e-3, 1)),
                ((300, 2100), 4, 2, "causal", 3.0, (1, 2)),
        ]):
            rng = np.random.default_rng([9, seed])
            a = random_target(rng, shape, most, mode, low, high) if shape[0] > 1 else \
                log_uniform(rng, low, high, shape[1]).reshape(shape)
            q, k = rng.standard_normal((shape[0], m)), rng.standard_normal((shape[1], m))
            for name, array in (("A", a), ("Q", q), ("K", k)):
                np.save(self.folder / f"{name}.npy", array)
            expected = measures(scale * (q @ k.T), a, mode)
            for backend in BACKENDS:
                with self.subTest(shape=shape, mode=mode, backend=backend):
                    out = self.run_json("verify", "--target", "A.npy", "--q", "Q.npy", "--k", "K.npy", "--mode", mode,
                                        "--scale", repr(scale), "--backend", backend)
                    self.assertEqual((out["rows"], out["cols"], out["nonzeros"], out["query_dim"], out["passed"]),
                                     (*shape, int((a > 0).sum()), m, None))
                    self.assert_measures(out["measures"], expected, f"{shape}, {mode}, {backend}")

    def test_a_limit_decides_the_exit_code_on_either_side_of_the_measure(self):
        rng = np.random.default_rng(11)
        a = random_target(rng, (20, 20), 3, "bidirectional", 0.5, 2)
        q, k = rng.standard_normal((20, 4)) / 4, rng.standard_normal((20, 4))
        for name, array in (("A", a), ("Q", q), ("K", k)):
            np.save(self.folder / f"{name}.npy", array)
        found = measures(q @ k.T, a, "bidirectional")
        values = {
            "--ratio": math.expm1(found["log_ratio"].max()),
            "--leakage": math.exp(found["log_leakage"].max()),
            "--total-variation": found["total_variation"].max(),
        }
        for backend in BACKENDS:
            for option, value in values.items():
                for factor, code in ((1 + 1e-9, 0), (1 - 1e-9, 1)):
                    with self.subTest(backend=backend, option=option, factor=factor):
                        out = self.run_json("verify", "--target", "A.npy", "--q", "Q.npy", "--k", "K.npy",
                                            "--backend", backend, option, repr(factor * value), code=code)
                        self.assertEqual(out["passed"], code == 0)


if __name__ == "__main__":
    unittest.main()

"""One pair of weights for several targets: configs/same-weights.toml, and what [[target]] promises."""

import hashlib
import json
import unittest

import numpy as np

import places

CONFIG = places.SOURCE / "configs/same-weights.toml"
NAMES = ["causal-window", "bigbird", "random-map"]
# For what does not depend on the size: the shipped lengths take a sanitized program half a minute a run.
SHORTER = [f"target.{place}.length=512" for place in range(3)]


def set_words(settings):
    return [word for setting in settings for word in ("--set", setting)]


class SameWeights(places.InFolder):
    def run_it(self, out, *settings):
        return self.run_json("run", CONFIG, "--out", out, *set_words(SHORTER), *set_words(settings))

    def digest(self, path):
        return hashlib.sha256((self.folder / path).read_bytes()).hexdigest()

    def test_the_shipped_configuration_finds_one_head_for_all(self):
        out = self.run_json("run", CONFIG, "--out", "all")
        alone = [t["query_dim_alone"] for t in out["targets"]]
        self.assertEqual([t["name"] for t in out["targets"]], NAMES)
        self.assertEqual(out["query_dim"], max(alone))
        self.assertLess(out["query_dim"], 512)
        m = out["query_dim"]
        identity, zero = np.eye(m), np.zeros((m, m))
        np.testing.assert_array_equal(np.load(self.folder / "all/W_Q.npy"), np.vstack([identity, zero]))
        np.testing.assert_array_equal(np.load(self.folder / "all/W_K.npy"), np.vstack([zero, identity]))
        for name in ("W_Q", "W_K"):
            self.assertEqual(out["weights"][name], {"file": f"{name}.npy", "sha256": self.digest(f"all/{name}.npy")})
        for target in out["targets"]:
            self.assertEqual(target["weights_sha256"], {n: out["weights"][n]["sha256"] for n in ("W_Q", "W_K")})
            self.assertEqual(np.load(self.folder / "all" / target["files"]["X"]).shape, (target["rows"], 2 * m))

    def test_each_input_meets_its_target_with_the_written_weights(self):
        out = self.run_it("all")
        for target in out["targets"]:
            with self.subTest(target["name"]):
                seen = self.run_json("verify", "--target", "all/config.toml", "--name", target["name"], "--x",
                                     f"all/{target['files']['X']}", "--wq", "all/W_Q.npy", "--wk", "all/W_K.npy")
                for measure in ("ratio", "leakage", "total_variation_max"):
                    self.assertAlmostEqual(seen["measures"][measure], target["measures"][measure], places=9)

    def test_what_a_target_needs_alone_does_not_depend_on_the_others(self):
        together = self.run_it("all")
        for place, target in enumerate(together["targets"]):
            single = self.folder / "single.toml"
            text = CONFIG.read_text()
            head, *tables = text.split("[[target]]")
            tables[-1], rest = tables[-1].split("[mode]")
            # Random numbers depend on the place: those before it stay, made trivial to pass.
            easy = '\nplugin = "permutation"\nlength = 512\n'
            single.write_text(head + "".join(f"[[target]]{t}" for t in [easy] * place + [tables[place]]) + "[mode]" + rest)
            alone = self.run_json("run", single.name, "--out", f"alone-{place}", *set_words(SHORTER[: place + 1]))
            self.assertEqual(alone["targets"][place]["query_dim_alone"], target["query_dim_alone"])
            self.assertEqual(alone["query_dim"], target["query_dim_alone"])

    def test_another_input_of_a_target_that_does_not_decide_changes_no_other_byte(self):
        first = self.run_it("first")
        second = self.run_it("second", "target.0.stride=2")
        self.assertEqual(second["query_dim"], first["query_dim"])
        for name in ("W_Q.npy", "W_K.npy", "X-bigbird.npy", "X-random-map.npy", "attention-bigbird.png"):
            self.assertEqual(self.digest(f"first/{name}"), self.digest(f"second/{name}"), name)
        self.assertNotEqual(self.digest("first/X-causal-window.npy"), self.digest("second/X-causal-window.npy"))

    def test_the_table_says_that_the_weights_never_changed(self):
        out = self.run_ok("run", CONFIG, "--out", "all", *set_words(SHORTER))
        result = json.loads((self.folder / "all/result.json").read_text())
        begin = result["weights"]["W_Q"]["sha256"][:8]
        rows = [line for line in out.splitlines() if line.strip().split(" ")[0] in NAMES]
        self.assertEqual(len(rows), 3)
        for row in rows:
            self.assertIn(begin, row)
        self.assertRegex(out, r"The weights never changed: the same W_Q and W_K meet all 3 targets")

    def test_targets_of_other_lengths_share_the_weights(self):
        out = self.run_it("all", "target.2.length=384")
        self.assertEqual([t["rows"] for t in out["targets"]], [512, 512, 384])
        self.assertTrue(out["passed"])

    def test_a_short_target_beside_a_long_one_is_embedded_where_its_scheme_ends(self):
        (self.folder / "c.toml").write_text('[[target]]\nplugin = "random-sparse"\nlength = 5\n'
                                            '[[target]]\nplugin = "random-sparse"\nlength = 128\n')
        for words in ([], ["--set", "export.scale=sqrt-dim"]):
            with self.subTest(words=words):
                out = self.run_json("run", "c.toml", "--out", "short", "--force", *words)
                m = out["query_dim"]
                self.assertGreater(m, 5)
                self.assertLessEqual(out["targets"][0]["query_dim_alone"], 5)
                x = np.load(self.folder / "short/X-random-sparse.npy")
                self.assertEqual(x.shape, (5, 2 * m))
                self.assertEqual(np.abs(x[:, 5:m]).max(), 0)
                seen = self.run_json("verify", "--target", "short/config.toml", "--name", "random-sparse", "--x",
                                     "short/X-random-sparse.npy", "--wq", "short/W_Q.npy", "--wk", "short/W_K.npy", "--scale",
                                     str(out["targets"][0]["logit_scale"]))
                self.assertAlmostEqual(seen["measures"]["leakage"], out["targets"][0]["measures"]["leakage"], places=9)

    def test_when_one_fails_nothing_is_found_and_the_others_are_told(self):
        words = set_words([*SHORTER, "search.stop=224", "export.heat_maps=none"])
        out = self.run_json("run", CONFIG, "--out", "none", *words, code=1)
        self.assertFalse(out["passed"])
        self.assertIsNone(out["query_dim"])
        alone = {t["name"]: t["query_dim_alone"] for t in out["targets"]}
        self.assertIsNone(alone["bigbird"])
        self.assertLessEqual(alone["causal-window"], 224)
        self.assertFalse((self.folder / "none/W_Q.npy").exists())


if __name__ == "__main__":
    unittest.main()

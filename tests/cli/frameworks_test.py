"""The scripts of docs/use-in-pytorch.md give the attention matrix back that the program measured."""

import importlib.util
import os
import subprocess
import sys
import unittest

import numpy as np

import places

DOCS = places.SOURCE / "docs"
RUNS = {"causal": ["configs/causal.toml"], "bidirectional": ["configs/quickstart.toml"],
        "several": ["configs/same-weights.toml"]}


class Frameworks(places.InFolder):
    def script(self, name, *words, code=0):
        done = subprocess.run([sys.executable, DOCS / name, *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, timeout=120, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def export(self, name, *words):
        """A run for a head that divides by sqrt(m), and its result."""
        return self.run_json("run", *(places.SOURCE / w for w in RUNS[name]), "--set", "export.scale=sqrt-dim", "--out",
                             name, *words)

    def total_variation(self, name, target):
        """Of the P that the NumPy script writes, against the target that the program writes."""
        words = ["--target", target] if target else []
        self.script("use_in_numpy.py", name, "--write", "P.npy", *words)
        self.run_ok("target", self.folder / name / "config.toml", *(["--name", target] if target else []), "--write",
                    "A.npy")
        a, p = np.load(self.folder / "A.npy"), np.load(self.folder / "P.npy")
        return 0.5 * np.abs(p - a / a.sum(axis=1, keepdims=True)).sum(axis=1).max()

    def test_numpy_finds_the_total_variation_that_the_program_reports(self):
        for name in ("causal", "bidirectional"):
            for words in ([], ["--set", "export.weights=safetensors"]):
                with self.subTest(name, words=words):
                    result = self.export(name, *words, "--force")
                    self.assertAlmostEqual(self.total_variation(name, None),
                                           result["targets"][0]["measures"]["total_variation_max"], places=9)

    def test_numpy_knows_the_modes_that_hide_keys(self):
        for name, words in (("prefix", ["mode.prefix=9"]), ("sliding-window", ["mode.radius=20"]),
                            ("sliding-window", ["mode.radius=20", "mode.causal=true"])):
            with self.subTest(name, words=words):
                settings = ["target.length=48", "search.step=1", f"mode.plugin={name}", *words]
                result = self.export("causal", "--force", *(w for s in settings for w in ("--set", s)))
                self.assertAlmostEqual(self.total_variation("causal", None),
                                       result["targets"][0]["measures"]["total_variation_max"], places=9)

    def test_numpy_finds_it_for_each_of_several_targets_with_the_same_weights(self):
        for target in self.export("several")["targets"]:
            with self.subTest(target["name"]):
                self.assertAlmostEqual(self.total_variation("several", target["name"]),
                                       target["measures"]["total_variation_max"], places=9)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "there is no PyTorch here")
    def test_multihead_attention_of_pytorch_gives_p_in_single_precision(self):
        for name in ("causal", "bidirectional"):
            with self.subTest(name):
                self.export(name)
                self.assertIn("largest difference", self.script("use_in_pytorch.py", name))
        self.export("several")
        self.assertIn("choose one with --target", self.script("use_in_pytorch.py", "several", code=1))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "there is no PyTorch here")
    def test_a_run_that_was_not_scaled_for_it_is_refused(self):
        self.run_ok("run", places.SOURCE / "configs/quickstart.toml", "--out", "plain")
        self.assertIn("export.scale=sqrt-dim", self.script("use_in_pytorch.py", "plain", code=1))


if __name__ == "__main__":
    unittest.main()

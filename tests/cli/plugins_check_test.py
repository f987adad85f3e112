"""`plugins check`: every deliberately broken plugin is named with what is wrong, and the project's own pass."""

import json
import os
import pathlib
import unittest

import places

BUILD = pathlib.Path(os.environ["ATTNSPAN_BUILD"])

# By plugin of tests/plugins/broken: the check that finds it, and what it says.
BROKEN = {
    "bad-name": ("file and entry", "stage entry"),
    "bad-parameters": ("loading", "stage register"),
    "build-tag": ("file and entry", "stage build"),
    "crash": ("empty and odd sizes", "ended the process: Killed"),
    "endless-loop": ("empty and odd sizes", "has not ended after 1 s"),
    "function-entry": ("file and entry", "something else than a variable"),
    "newer-abi": ("file and entry", "stage abi"),
    "no-entry": ("file and entry", "exports no attnspan_plugin"),
    "not-deterministic": ("equal results for equal parameters", "asked twice"),
    "null-register": ("loading", "no register function"),
    "objects-differ": ("equal results for equal parameters", "two objects of equal parameters"),
    "older-abi": ("file and entry", "stage abi"),
    "other-exports": ("exported symbols", r"exports helper\(long\)"),
    "registers-nothing": ("loading", "registered nothing"),
    "registers-null": ("loading", "null function"),
    "registers-other-kind": ("loading", "registered a .* but its entry says"),
    "registers-others": ("loading", "registered 3 times"),
    "small-entry": ("file and entry", "stage entry: has an attnspan_plugin of 4 bytes"),
    "struct-size": ("file and entry", "stage abi"),
    "throwing-constructor": ("parameter width = 64", "^threw while being made: table::at$"),
    "throwing-initialiser": ("loading", "ended the process: Aborted"),
    "throwing-register": ("loading", "stage register: its register function: threw"),
    "undefined-symbol": ("loading", "undefined symbol.*defined_nowhere"),
    "zero-entry": ("file and entry", "stage format: .* no part of the library that the file holds"),
}
# What plugins refuse to be tried with: no file was named, and a permutation fits only where every key is visible.
REFUSE = {
    "file": ["parameters"],
    "graph": ["parameters"],
    "permutation": ["empty and odd sizes"],
    "bigbird": [f'parameter direction = "{d}"' for d in ("bidirectional", "unidirectional")],
    "fixed": [f'parameter direction = "{d}"' for d in ("bidirectional", "unidirectional")]
             + [f"parameter horizontal = {h}" for h in ("false", "true")],
}
NOT_BROKEN = {"good", "makers"}  # fit to be loaded, which is what they are for


class PluginsCheck(places.InFolder):
    def test_every_broken_plugin_is_named_with_what_is_wrong_and_how_to_mend_it(self):
        built = {file.name.removeprefix("mode-test.").removesuffix(".so")
                 for file in (BUILD / "tests/broken-plugins").glob("*.so")}
        self.assertEqual(built - NOT_BROKEN, set(BROKEN))
        for name, (check, says) in BROKEN.items():
            with self.subTest(name):
                file = BUILD / f"tests/broken-plugins/mode-test.{name}.so"
                report = self.run_json("plugins", "check", file, "--seconds", "1", code=3)
                self.assertFalse(report["passed"])
                found = [(c["check"], problem) for c in report["checks"] for problem in c["problems"]]
                self.assertEqual([where for where, _ in found], [check])
                self.assertRegex(found[0][1]["problem"], says)
                self.assertTrue(found[0][1]["remedy"])

    def test_the_report_for_people_says_what_is_wrong_and_how_to_mend_it(self):
        file = BUILD / "tests/broken-plugins/mode-test.throwing-constructor.so"
        report = self.run_ok("plugins", "check", file, code=3)
        self.assertRegex(report, r"ok      parameter width = 0\n")
        self.assertRegex(report, r"wrong   parameter width = 64: .*table::at\n        mend it: ")
        self.assertIn("problems: 1", report)

    def test_the_projects_own_plugins_pass(self):
        for plugin in self.run_json("plugins", "list")["plugins"]:
            with self.subTest(plugin["name"]):
                report = self.run_json("plugins", "check", plugin["file"])
                self.assertEqual([c for c in report["checks"] if c["problems"]], [])
                skipped = [c["check"] for c in report["checks"] if "skipped" in c]
                self.assertEqual(skipped, REFUSE.get(plugin["name"], []))

    def test_a_required_path_can_be_given(self):
        (self.folder / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 3\n")
        report = self.run_json("plugins", "check", BUILD / "lib/attnspan/plugins/target-file.so",
                               "--set", "target.path=a.mtx")
        self.assertEqual(report["checks"][-1]["check"], "empty and odd sizes")

    def test_what_is_no_library_is_said_to_be_none(self):
        (self.folder / "a.so").write_text("text")
        self.assertRegex(self.run_ok("plugins", "check", "a.so", code=3), "wrong   file and entry: stage format")
        self.assertRegex(self.run_ok("plugins", "check", "b.so", code=3), "stage file: does not exist")
        self.assert_refused(self.run_program("plugins", "check", "a.so", "--seconds", "0"), 2, "--seconds 0")


if __name__ == "__main__":
    unittest.main()

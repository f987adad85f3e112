"""What makes the program easy to use: completion in three shells, manual pages, init, and the nearest key on a typo."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import places
import support

BASH = r"""
source ./attnspan.sh
COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
_attnspan 2>/dev/null
[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\n' "${COMPREPLY[@]}"
"""

# A terminal in which somebody types the line, TAB, and then looks at the line.
ZSH = r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1='> '; autoload -Uz compinit; compinit -u -D; source ./attnspan.sh; bindkey '^I' complete-word"
zpty -w z "dump() { print -r -- \"\$BUFFER\" > line; zle -I; exit }; zle -N dump; bindkey '^T' dump"
sleep 0.5
zpty -w -n z "$1"$'\t'
for ((i = 0; i < 100; ++i)); do
    sleep 0.2
    zpty -w -n z $'\C-t' 2>/dev/null
    [[ -s line ]] && break
done
cat line
"""


class Completion(places.InFolder):
    def setUp(self):
        super().setUp()
        self.run_ok("init", "my.toml")

    def candidates(self, *words):
        """What the program answers: the kind of the answer, and the words."""
        lines = self.run_ok("complete", "--", *words).splitlines()
        return lines[0], [line.split("\t")[0] for line in lines[1:]]

    def in_shell(self, shell, *words):
        if not shutil.which(shell):
            self.skipTest(f"there is no {shell} here")
        (self.folder / "attnspan.sh").write_text(self.run_ok("completion", shell))
        path = f"{pathlib.Path(shutil.which(support.PROGRAM)).resolve().parent}:{os.environ['PATH']}"
        done = subprocess.run([shell, *words], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, PATH=path, HOME=str(self.folder), TERM="xterm"))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    def test_commands_options_plugins_and_keys_are_known(self):
        what, commands = self.candidates("")
        self.assertEqual(what, "words")
        self.assertEqual(set(commands), {"run", "init", "target", "verify", "bound", "plugins", "config", "completion", "man"})
        self.assertEqual(self.candidates("plugins", "")[1], ["list", "describe", "check"])
        self.assertIn("--out", self.candidates("run", "my.toml", "-")[1])
        self.assertNotIn("--out", self.candidates("run", "my.toml", "--out", "x", "-")[1])
        self.assertIn("--set", self.candidates("run", "my.toml", "--set", "a=b", "-")[1])
        self.assertIn("longformer", self.candidates("plugins", "describe", "")[1])
        self.assertEqual(self.candidates("verify", "--backend", "")[1], ["armadillo", "eigen"])
        self.assertEqual(self.candidates("target", "my.toml", "--mode=")[1][0], "--mode=bidirectional")
        for words in (["run", ""], ["run", "my.toml", "--out", ""], ["verify", "--x", "a"]):
            self.assertEqual(self.candidates(*words), ("files", []))

    def test_keys_are_those_of_the_plugins_that_are_named(self):
        what, keys = self.candidates("run", "my.toml", "--set", "")
        self.assertEqual(what, "open")
        self.assertIn("target.nonzeros=", keys)
        self.assertNotIn("target.stride=", keys)
        # Every key that the resolved configuration has, and no other but those without a default.
        known = {f"{table}.{key}=" for table, keys in json.loads(self.run_ok("run", "my.toml", "--out", "r", "--json"))
                 ["config"].items() for key in keys} - {"construction.projection="}
        self.assertLessEqual(known, set(keys))
        other = self.candidates("run", "my.toml", "--set", "target.plugin=strided", "--set", "")[1]
        self.assertIn("target.stride=", other)
        self.assertNotIn("target.nonzeros=", other)
        several = self.candidates("run", places.SOURCE / "configs/same-weights.toml", "--set", "")[1]
        self.assertLessEqual({"target.0.stride=", "target.1.block=", "target.2.nonzeros="}, set(several))

    def test_values_of_choices_and_names_of_targets(self):
        self.assertEqual(self.candidates("run", "my.toml", "--set", "search.method="),
                         ("words", ["search.method=grid", "search.method=bisect", "search.method=fixed"]))
        self.assertEqual(self.candidates("run", "my.toml", "--set=search.resample=")[1],
                         ["--set=search.resample=true", "--set=search.resample=false"])
        self.assertIn("construction.projection.plugin=structured",
                      self.candidates("run", "my.toml", "--set", "construction.projection.plugin=")[1])
        self.assertEqual(self.candidates("target", places.SOURCE / "configs/same-weights.toml", "--name", "")[1],
                         ["causal-window", "bigbird", "random-map"])

    def test_a_line_that_is_not_right_yet_is_no_error(self):
        (self.folder / "broken.toml").write_text("[target\n")
        (self.folder / "number.toml").write_text("target = 3\n")
        for words in (["target", "number.toml", "--name", ""], ["run", "--", ""], ["run", "--=", "x"],
                      ["run", "broken.toml", "--set", "sea"], ["run", "missing.toml", "--set", "sea"], ["nonsense", "x", ""],
                      ["run", "my.toml", "--nonsense", ""], ["run", "my.toml", "--set", "target.plugin=nothing", "--set", ""],
                      ["run", "my.toml", "--set", "=", "--set", ""], ["plugins", "list", "--plugin-path", "nowhere", ""]):
            self.run_ok("complete", "--", *words)

    def test_bash(self):
        for line, expected in (("attnspan ru", ["run"]), ("attnspan run my.toml --se", ["--set"]),
                               ("attnspan run my.toml --set search.me", ["search.method="]),
                               ("attnspan run my.toml --set search.method=g", ["grid"]), ("attnspan run my", ["my.toml"]),
                               ("attnspan run my.toml --threads ", [])):
            with self.subTest(line):
                self.assertEqual(self.in_shell("bash", "-c", BASH, "bash", line), expected)

    def test_fish(self):
        for line, expected in (("attnspan ru", ["run"]), ("attnspan run my.toml --set search.me", ["search.method="]),
                               ("attnspan run my.toml --set search.method=g", ["search.method=grid"]),
                               ("attnspan run my", ["my.toml"])):
            with self.subTest(line):
                self.assertEqual(self.in_shell("fish", "-c", "source attnspan.sh; complete -C $argv[1]", line), expected)

    def test_zsh(self):
        for line, expected in (("attnspan ru", "attnspan run "), ("attnspan run my", "attnspan run my.toml "),
                               ("attnspan run my.toml --set search.meth", "attnspan run my.toml --set search.method="),
                               ("attnspan run my.toml --set search.method=gr", "attnspan run my.toml --set search.method=grid ")):
            with self.subTest(line):
                (self.folder / "line").unlink(missing_ok=True)
                self.assertEqual(self.in_shell("zsh", "-fc", ZSH, "zsh", line), [expected])

    def test_another_shell_is_refused(self):
        self.assert_refused(self.run_program("completion", "csh"), 2, r"\"csh\"; they are bash, zsh and fish")


class Manual(places.InFolder):
    def test_every_command_has_a_page_with_its_options(self):
        self.run_ok("man", "--out", "man")
        pages = {p.stem: p.read_text() for p in (self.folder / "man").glob("*.1")}
        self.assertLessEqual({"attnspan", "attnspan-run", "attnspan-plugins-check", "attnspan-config-print"}, set(pages))
        for name, text in pages.items():
            for section in ("NAME", "SYNOPSIS", "EXIT STATUS", "SEE ALSO"):
                self.assertIn(f".SH {section}\n", text, name)
            if ".SH OPTIONS" in text:
                words = name.split("-")[1:]
                shown = self.run_ok(*words, "--help")
                for option in [w for w in shown.split() if w.startswith("--") and w.strip("-").replace("-", "").isalpha()]:
                    self.assertIn(option.replace("-", "\\-"), text, name)
        self.assertEqual(self.run_ok("man", "run"), pages["attnspan-run"])
        self.assertEqual(self.run_ok("man"), pages["attnspan"])
        self.assert_refused(self.run_program("man", "plugins-chekc"), 2, r"did you mean plugins-check")

    @unittest.skipUnless(shutil.which("groff"), "there is no groff here")
    def test_groff_has_nothing_to_say_against_them(self):
        self.run_ok("man", "--out", "man")
        for page in (self.folder / "man").glob("*.1"):
            done = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-cbou", page], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)
            self.assertIn("SYNOPSIS", done.stdout)


FAR = r"""
#include <attnspan/plugin.hpp>
using namespace attnspan;
struct Far final : Mode {
    static ParameterSpecs parameters() {
        using namespace parameter;
        return {integer("high", "-").required().at_least(1000), integer("low", "-").required().at_most(-1000),
                integer("only", "-").required().at_least(5).at_most(5), real("part", "-").required().above(0).below(1),
                real("high_real", "-").required().above(1e9), real("low_real", "-").required().below(-1e9),
                integers("list", "-").required().at_least(200)};
    }
    explicit Far(const Parameters&) {}
    KeyRange do_visible(Index, Index, Index keys) const override { return {.begin = 0, .end = keys}; }
};
ATTNSPAN_PLUGIN(Far, "far", "1.0.0", "wants numbers far from the usual");
"""


class Init(places.InFolder):
    def plugins(self, kind):
        return [p["name"] for p in self.run_json("plugins", "list")["plugins"] if p["kind"] == kind]

    def test_what_it_writes_is_right_for_every_plugin(self):
        for kind in ("target", "mode", "projection", "backend", "construction"):
            for name in self.plugins(kind):
                with self.subTest(kind, name=name):
                    out = self.run_ok("init", "a.toml", f"--{kind}", name, "--force")
                    self.assertIn("a.toml is written", out)
                    self.run_ok("config", "check", "a.toml")
                    text = (self.folder / "a.toml").read_text()
                    self.assertIn(f'plugin = "{name}"', text)
                    # What stands in comments is the default: taking the comments away changes nothing.
                    resolved = self.run_ok("config", "print", "a.toml")
                    (self.folder / "a.toml").write_text(re.sub(r"(?m)^# ([a-z_.]+ = )", r"\1", text))
                    self.assertNotEqual((self.folder / "a.toml").read_text(), text)
                    self.assertEqual(self.run_ok("config", "print", "a.toml"), resolved)

    def test_it_runs_as_it_is_where_nothing_but_numbers_is_required(self):
        for name in set(self.plugins("target")) - {"file", "graph"}:
            with self.subTest(name):
                self.run_ok("init", f"{name}.toml", "--target", name)
                answer = self.run_program("run", f"{name}.toml", "--out", name)
                self.assertIn(answer.code, (0, 1), answer.err)

    def test_the_next_command_has_the_plugin_path_that_this_one_had(self):
        (self.folder / "plugins").mkdir()
        out = self.run_ok("init", "a.toml", "--plugin-path", "plugins")
        self.assertIn("then: attnspan run a.toml --plugin-path plugins\n", out)
        self.assertIn("#   attnspan run a.toml --plugin-path plugins\n", (self.folder / "a.toml").read_text())

    def test_examples_lie_in_the_ranges_of_what_must_be_given(self):
        if os.environ.get("ATTNSPAN_SANITIZED"):
            self.skipTest("a plugin built without the program's sanitizer is refused")
        (self.folder / "far.cpp").write_text(FAR)
        subprocess.run([os.environ["ATTNSPAN_COMPILER"], "-std=c++20", "-fPIC", "-shared", "-fvisibility=hidden", "-I",
                        places.SOURCE / "framework/sdk/include", "far.cpp", "-o", "far.so"], cwd=self.folder, check=True)
        self.run_ok("init", "a.toml", "--mode", "far", "--plugin-path", "far.so")
        self.run_ok("config", "check", "a.toml", "--plugin-path", "far.so")

    def test_what_must_be_replaced_is_said(self):
        self.assertIn('set to your case: target.path = "REPLACE-ME"', self.run_ok("init", "a.toml", "--target", "file"))
        self.assert_refused(self.run_program("run", "a.toml"), 5, "REPLACE-ME")

    def test_what_cannot_be_written_is_refused(self):
        self.run_ok("init", "a.toml")
        before = (self.folder / "a.toml").read_bytes()
        self.assert_refused(self.run_program("init", "a.toml"), 5, "a.toml exists.*--force")
        self.assert_refused(self.run_program("init", "a.txt"), 2, "ends in .toml")
        self.assert_refused(self.run_program("init", "nowhere/a.toml"), 5, "nowhere")
        self.assert_refused(self.run_program("init", "b.toml", "--target", "longformr"), 2, '--target.*did you mean "longformer"')
        self.assertEqual((self.folder / "a.toml").read_bytes(), before)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["a.toml"])


class NearestKey(places.InFolder):
    def test_keys_deeper_than_any_table_are_refused(self):
        (self.folder / "deep.toml").write_text("[" + ".".join(["a"] * 20000) + "]\nx = 1\n")
        self.assert_refused(self.run_program("config", "check", "deep.toml"), 2, r"deep\.toml:1:1: .*256 parts")
        self.run_ok("init", "a.toml")
        self.assert_refused(self.run_program("config", "check", "a.toml", "--set", ".".join(["a"] * 20000) + "=1"), 2,
                            r"256 parts")

    def test_a_typo_of_set_is_answered_with_the_nearest_key(self):
        self.run_ok("init", "a.toml")
        several = places.SOURCE / "configs/same-weights.toml"
        for config, typo, meant in (("a.toml", "serach.samples=4", "search"), ("a.toml", "search.smaples=4", "search.samples"),
                                    ("a.toml", "target.lenght=4", "target.length"), ("a.toml", "length=4", "target.length"),
                                    ("a.toml", "lenght=4", "target.length"), ("a.toml", "target.plugn=x", "target.plugin"),
                                    ("a.toml", "construction.projection.plugn=x", "construction.projection.plugin"),
                                    ("a.toml", "export.scael=none", "export.scale"),
                                    (several, "target.0.strid=4", "target.0.stride")):
            with self.subTest(typo):
                self.assert_refused(self.run_program("config", "check", config, "--set", typo), 2,
                                    rf"did you mean {meant.replace('.', '[.]')}\?")


if __name__ == "__main__":
    unittest.main()

"""Every command that README.md and docs/ show runs, in the order in which they show them, and every example configuration."""

import importlib.util
import os
import re
import struct
import subprocess
import sys
import unittest
import zlib

import numpy

import places
import support


def pixels(path):
    """The palette's indices of a picture that the program wrote: 8 bits each, rows not filtered."""
    data, at, parts = path.read_bytes(), 8, {}
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        parts[kind] = parts.get(kind, b"") + data[at + 8:at + 8 + length]
        at += length + 12
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    rows = numpy.frombuffer(zlib.decompress(parts[b"IDAT"]), "u1").reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:]


HAS_TORCH = importlib.util.find_spec("torch") is not None


def commands(document):
    """The indented command lines of a document, continuation lines joined."""
    text = (places.SOURCE / document).read_text().replace("\\\n", " ")
    return [line.strip() for line in text.splitlines()
            if re.match(r"    (attnspan [a-z]|\./bootstrap run |g\+\+ -std|cmake -|python3 docs/)", line)]


def listings():
    """The files that the guide for plugin authors shows whole, by name."""
    text = (places.SOURCE / "docs/plugin-authors.md").read_text()
    toml = re.search(r"`ring\.toml`:\n\n((?:    .*\n|\n)+)", text).group(1)
    return {"CMakeLists.txt": re.search(r"```cmake\n(.*?)```", text, re.S).group(1),
            "ring.cpp": re.search(r"```cpp\n(.*?)```", text, re.S).group(1),
            "ring.toml": re.sub(r"^    ", "", toml, flags=re.M).rstrip("\n") + "\n"}


def fixtures(folder):
    """The files that commands of the guide take for given: a map, its queries and keys, and a stack of such maps."""
    random = numpy.random.default_rng(1)
    queries, keys = random.standard_normal((2, 24, 8))
    logits = numpy.where(numpy.tri(24) > 0, 0.125 * queries @ keys.T, -numpy.inf)
    weights = numpy.exp(logits) / numpy.exp(logits).sum(axis=1, keepdims=True)
    for name, array in (("q", queries), ("k", keys), ("map", weights), ("heads", numpy.stack([weights] * 4))):
        numpy.save(folder / f"{name}.npy", array)


class Documents(places.InFolder):
    def shell(self, line):
        """Runs a shown line as a shell would, with the program on the path."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        if not (tools / "attnspan").exists():
            (tools / "attnspan").symlink_to(support.PROGRAM)
        environment = dict(os.environ, PATH=f"{self.folder}/.local/bin:{tools}:{os.environ['PATH']}",
                           HOME=str(self.folder), CXX=os.environ["ATTNSPAN_COMPILER"])
        return subprocess.run(["bash", "-o", "pipefail", "-c", line.replace("./bootstrap run", "attnspan run").replace("python3 ", f"{sys.executable} ")],
                              cwd=self.folder, env=environment, capture_output=True, text=True, timeout=200)

    def run_all(self, document, least):
        lines = [line for line in commands(document) if HAS_TORCH or "torch.py" not in line]
        self.assertGreaterEqual(len(lines), least, "the commands are not where the test looks for them")
        for line in lines:
            with self.subTest(line):
                done = self.shell(line)
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def setUp(self):
        super().setUp()
        (self.folder / "configs").symlink_to(places.SOURCE / "configs")
        (self.folder / "framework").symlink_to(places.SOURCE / "framework")
        (self.folder / "docs").symlink_to(places.SOURCE / "docs")
        (self.folder / "build").mkdir()
        (self.folder / "build/release").symlink_to(os.environ["ATTNSPAN_BUILD"])
        fixtures(self.folder)

    def test_the_commands_of_the_readme_run(self):
        self.run_all("README.md", 7)

    def test_the_readme_shows_what_the_quick_start_prints(self):
        done = self.shell("attnspan run configs/quickstart.toml")
        shown = (places.SOURCE / "README.md").read_text()
        for line in done.stdout.splitlines():
            if line and not line.startswith("  search"):  # the time differs
                self.assertIn("    " + line, shown)

    def test_the_commands_of_the_guide_run(self):
        self.run_all("docs/guide.md", 6)

    def test_the_commands_of_the_page_on_pytorch_run(self):
        self.run_all("docs/use-in-pytorch.md", 3)

    def test_the_pictures_of_the_guide_are_what_their_commands_make(self):
        lines = re.sub(r" \\\n#  ", "", (places.SOURCE / "docs/images/layouts.toml").read_text()).splitlines()
        shown = [line.removeprefix("#   ") for line in lines if line.startswith("#   attnspan run ")]
        self.assertEqual(len(shown), 6)
        for number, line in enumerate(shown):
            name = re.search(r'plugin="([a-z]+)"', line).group(1) + ("-64-least" if number == 5 else "-64")
            with self.subTest(name):
                done = self.shell(f"{line} --out {name}")
                self.assertEqual(done.returncode, 0, done.stderr)
                made, kept = (pixels(p) for p in (self.folder / name / "attention.png",
                                                  places.SOURCE / f"docs/images/{name}.png"))
                self.assertEqual(made.shape, kept.shape)
                # A last digit that another processor rounds otherwise may move a pixel to the next colour.
                self.assertGreater(numpy.mean(made == kept), 0.98)

    @unittest.skipIf(os.environ.get("ATTNSPAN_SANITIZED"), "a plugin built without the program's sanitizer is refused")
    def test_the_plugin_of_the_authors_guide_builds_and_runs(self):
        for name, text in listings().items():
            (self.folder / name).write_text(text)
        self.run_all("docs/plugin-authors.md", 8)

    def test_the_listings_of_the_authors_guide_are_files_of_the_template(self):
        template = places.SOURCE / "docs/template"
        for name, text in listings().items():
            expected = (template / name).read_text().splitlines()
            self.assertEqual(text.splitlines(), [line for line in expected if "signs.cpp" not in line], name)


    def test_the_scripts_that_measure_run(self):
        for script, *words in (("whole_runs.py", "--small", "startup", "stages", "scaling", "threads", "large"),
                               ("against_reference.py", "--reference", places.reference(), "--length", "96", "--step", "8",
                                "--repeat", "1")):
            with self.subTest(script):
                if None in words:
                    self.skipTest("the reference program is not here")
                done = subprocess.run([sys.executable, places.SOURCE / "tests" / "bench" / script, *words],
                                      env=dict(os.environ, ATTNSPAN=str(support.PROGRAM)), capture_output=True, text=True,
                                      timeout=200)
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout)


class Configurations(places.InFolder):
    def test_every_example_runs(self):
        fixtures(self.folder)
        examples = sorted((places.SOURCE / "configs").glob("*.toml"))
        self.assertGreaterEqual(len(examples), 4)
        for example in examples:
            with self.subTest(example.name):
                path = ["--set", "target.path=map.npy", "--set", "mode.plugin=causal"]
                extra = path if example.stem == "attention-map" else []
                self.run_ok("run", example, *extra, seconds=max(200, support.SECONDS))
                self.assertTrue((self.folder / "runs" / example.stem / "result.json").is_file())

    def test_every_example_opens_with_its_question(self):
        for example in (places.SOURCE / "configs").glob("*.toml"):
            first = example.read_text().split("\n\n")[0].split("#\n")[0]
            self.assertTrue(first.startswith("# "), example.name)
            self.assertIn("?", first, example.name)


if __name__ == "__main__":
    unittest.main()

"""Bad input is refused: the exit code, one message that says what, where and what to do, and nothing left behind."""

import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import numpy

from bad_input import configuration, matrices, options, plugins, resources
from bad_input.case import npy
from support import PROGRAM, Answer, run, snapshot

SHARED = pathlib.Path(os.environ.get("ATTNSPAN_SHARED_DATA", "/nonexistent"))
TARGET = configuration.TARGET


def is_sanitized():
    """Sanitizers reserve terabytes of addresses and keep shadow memory, so neither can be limited or measured."""
    with open(shutil.which(PROGRAM) or PROGRAM, "rb") as file:
        return re.search(rb"__(asan|tsan|msan)_init", file.read()) is not None


class InFolder(unittest.TestCase):
    """A folder for each test, and what holds for every refusal."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def write(self, files):
        for name, content in files.items():
            path = self.folder / name
            (path if content is None else path.parent).mkdir(parents=True, exist_ok=True)
            if callable(content):
                content = content()
            if content is not None:
                path.write_bytes(content.encode() if isinstance(content, str) else content)

    def run_unprivileged(self, words):
        """Permissions hold for nobody, not for root."""
        self.folder.chmod(0o755)
        try:
            return run(words, self.folder, prepare=(lambda: os.setuid(65534)) if os.geteuid() == 0 else None)
        except PermissionError:
            self.skipTest("only root may run this program")

    def assert_refused(self, answer: Answer, code, *says):
        message = answer.err
        self.assertEqual(code, answer.code, message)
        self.assertEqual("", answer.out)
        lines = message.splitlines()
        self.assertTrue(message.startswith("attnspan: ") and message.endswith("\n"), message)
        self.assertEqual(1, sum(line.startswith("attnspan: ") for line in lines), message)
        usage = lines[1:] if code == 2 else []
        self.assertTrue(not lines[1:] or len(usage) == 1 and usage[0].startswith("usage: attnspan "), message)
        self.assertNotRegex(message, r"(^|\s)(\S+): \2: ", "says a thing twice")
        self.assertNotRegex(message, "[\x00-\x09\x0b-\x1f\x7f]", "may steer a terminal")
        self.assertNotRegex(message, r"\d{40}", "spells a number out")
        self.assertNotRegex(message, r"std::|terminate|_M_|basic_string|vector::", "is no message for people")
        for fragment in says:
            self.assertIn(fragment, message)


class BadInput(InFolder):
    """The tables of bad_input/, a test for each row."""

    def check(self, case):
        limited = case.address_space or case.peak
        if limited and is_sanitized():
            self.skipTest("a sanitizer needs more memory than the limit")

        def prepare():
            if case.address_space:
                resource.setrlimit(resource.RLIMIT_AS, (case.address_space, case.address_space))

        top = self.folder
        for number, words in enumerate(case.words):
            with self.subTest(" ".join(words)):
                self.folder = top / str(number)
                self.folder.mkdir()
                self.write(case.files)
                before = snapshot(self.folder)
                answer = run(words, self.folder, case.environment, prepare)
                self.assert_refused(answer, case.code, *case.says)
                for fragment in case.silent_on:
                    self.assertNotIn(fragment, answer.err)
                self.assertEqual(before, snapshot(self.folder), "left something behind")
                if case.peak:
                    self.assertLess(answer.peak_bytes, case.peak, "allocated much before it refused")


def add_rows():
    rows = {}
    for module in (configuration, matrices, options, plugins, resources):
        for row in module.CASES:
            name = "test_" + re.sub(r"\W+", "_", f"{module.__name__.split('.')[-1]} {row.holds}").strip("_")
            assert name not in rows, name
            rows[name] = row
            setattr(BadInput, name, lambda self, row=row: self.check(row))
    return rows


ROWS = add_rows()


class TableOfCases(unittest.TestCase):
    def test_holds_what_was_promised(self):
        self.assertGreaterEqual(len(ROWS), 80)
        self.assertTrue(all(row.says for row in ROWS.values()))


class PluginsThatCannotBeUsed(InFolder):
    def test_list_names_file_stage_and_reason_of_each(self):
        garbage = self.folder / "mode-ring.so"
        self.write({"mode-ring.so": "not a library\n", "two.so": plugins.CAUSAL})
        words = ["plugins", "list", "--plugin-path", garbage, "--plugin-path", self.folder / "two.so"]
        answer = run(words, self.folder, {"ATTNSPAN_PLUGIN_PATH": "relative:" + str(self.folder / "absent")})
        self.assertEqual((0, ""), (answer.code, answer.err))
        for fragment in (f"{garbage}: format: ", "two.so: ambiguous: 2 files", "relative: path: ", "a relative path",
                         "absent: path: ", "what does not exist"):
            self.assertIn(fragment, answer.out)


class FilesThatCannotBeUsed(InFolder):
    def test_configuration_that_may_not_be_read_is_refused(self):
        self.write({"run.toml": TARGET})
        (self.folder / "run.toml").chmod(0)
        for words in (["run", "run.toml"], ["target", "run.toml"]):
            self.assert_refused(self.run_unprivileged(words), 5, "run.toml", "Permission denied")

    def test_weights_that_may_not_be_read_are_refused(self):
        self.write({"a.npy": npy(numpy.eye(2))})
        (self.folder / "a.npy").chmod(0)
        self.assert_refused(self.run_unprivileged(["target", "a.npy"]), 5, "a.npy", "Permission denied")

    def test_weights_in_a_loop_of_links_are_refused(self):
        os.symlink("a.npy", self.folder / "a.npy")
        self.assert_refused(run(["target", "a.npy"], self.folder), 5, "a.npy", "symbolic link")

    def test_missing_weights_are_refused_where_the_configuration_names_them(self):
        self.write({"run.toml": '[target]\nplugin = "file"\npath = "no.npy"\n'})
        self.assert_refused(run(["run", "run.toml"], self.folder), 5, "no.npy", "No such file")

    def test_public_files_known_to_be_bad_are_refused(self):
        expected = {
            "mtx/west0067.mtx": "not negative",
            "mtx/lp_afiro.mtx": "not negative",
            "mtx/nist_ex1_more_freeformat.mtx": "not negative",
            "mtx/skew_fp64.mtx": "skew-symmetric",
            "mtx/coordinate_hermitian_row.mtx": "complex",
            "mtx/dup_real_general.mtx": 'duplicates = "sum"',
            "mtx/invalid_truncated_line_1.mtx": "missing",
            "mtx/invalid_indices_out_of_range_1.mtx": "expected 1 to",
            "mtx/mangled1.mtx": "banner",
            "npy/object_array.npy": "never unpickled",
            "npy/py2_long_shape.npy": "shape (2,)",
            "npy/npyz_c_order_i8.npy": "slice",
            "graphs/cora.cites": "Matrix Market",
        }
        for name, fragment in expected.items():
            with self.subTest(name):
                if not (SHARED / name).exists():
                    self.skipTest(f"{name} is absent")
                self.assert_refused(run(["target", SHARED / name], self.folder), 4, name, fragment)


class OutputThatCannotBeWritten(InFolder):
    def assert_only(self, *names):
        self.assertEqual(sorted(names), sorted(snapshot(self.folder)))

    def test_full_standard_output_is_an_error(self):
        self.write({"a.npy": npy(numpy.eye(2)), "run.toml": TARGET})
        for words in (["target", "a.npy"], ["target", "a.npy", "--json"], ["bound", "--length", "8"],
                      ["plugins", "list"], ["config", "print", "run.toml"], ["--version"], ["--help"],
                      ["run", "--help"]):
            with self.subTest(" ".join(words)), open("/dev/full", "wb") as full:
                self.assert_refused(run(words, self.folder, stdout=full), 5, "standard output")

    def test_closed_standard_output_is_an_error(self):
        self.write({"a.npy": npy(numpy.eye(2))})
        for words in (["target", "a.npy"], ["bound", "--length", "8"]):
            with self.subTest(" ".join(words)):
                self.assert_refused(run(words, self.folder, prepare=lambda: os.close(1)), 5, "standard output")

    def test_closed_standard_output_never_ends_up_in_a_file(self):
        self.write({"a.npy": npy(numpy.eye(2)), "run.toml": TARGET})
        self.assertEqual(0, run(["target", "a.npy", "--write", "good.mtx"], self.folder).code)
        run(["target", "a.npy", "--write", "b.mtx"], self.folder, prepare=lambda: os.close(1))
        self.assertEqual((self.folder / "good.mtx").read_bytes(), (self.folder / "b.mtx").read_bytes())

    def test_reader_that_went_away_is_an_error_and_no_signal(self):
        self.write({"a.npy": npy(numpy.eye(2))})
        for words in (["target", "a.npy"], ["plugins", "list", "--json"], ["bound", "--length", "8"]):
            with self.subTest(" ".join(words)):
                there, here = os.pipe()
                os.close(there)
                with open(here, "wb") as pipe:
                    self.assert_refused(run(words, self.folder, stdout=pipe), 5, "standard output")

    def test_reader_that_went_away_leaves_the_run_complete(self):
        self.write({"run.toml": TARGET})
        there, here = os.pipe()
        os.close(there)
        with open(here, "wb") as pipe:
            self.assert_refused(run(["run", "run.toml", "--out", "r"], self.folder, stdout=pipe), 5, "standard output")
        self.assertEqual({"result.json", "config.toml", "X.npy", "W_Q.npy", "W_K.npy", "attention.png"},
                         set(os.listdir(self.folder / "r")))

    def limit_file_size(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    def test_file_size_limit_is_an_error_and_leaves_nothing(self):
        text = TARGET.replace("8", "64")
        self.write({"run.toml": text})
        for words in (["run", "run.toml"], ["target", "run.toml", "--write", "a.npy"]):
            with self.subTest(" ".join(words)):
                self.assert_refused(run(words, self.folder, prepare=self.limit_file_size), 5, "File too large")
                self.assertFalse(any(name.endswith((".npy", ".json", ".tmp")) for name in snapshot(self.folder)))

    def test_file_size_limit_leaves_the_run_that_was_to_be_replaced(self):
        self.write({"run.toml": TARGET.replace("8", "64"), "r/result.json": "{}", "r/X.npy": "mine"})
        before = snapshot(self.folder)
        run(["run", "run.toml", "--out", "r", "--force"], self.folder, prepare=self.limit_file_size)
        self.assertEqual(before, snapshot(self.folder))

    def test_full_disk_is_an_error_and_leaves_nothing(self):
        if shutil.which("unshare") is None:
            self.skipTest("unshare is absent")
        disk = self.folder / "disk"
        disk.mkdir()
        self.write({"run.toml": TARGET.replace("8", "128")})
        # A file system of its own, which ends with the shell; what stands on it afterwards is listed from inside.
        script = ('mount -t tmpfs -o size=64k none disk || exit 77; "$@" >out 2>err; code=$?; '
                  'ls -A disk >left; exit $code')
        for words in (["run", "run.toml", "--out", "disk/r"], ["target", "run.toml", "--write", "disk/a.npy"]):
            with self.subTest(" ".join(words)):
                apart = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
                done = subprocess.run([*apart, PROGRAM, *words], cwd=self.folder, check=False, capture_output=True)
                if done.returncode == 77 or b"unshare" in done.stderr:
                    self.skipTest("no file system can be mounted here")
                texts = [(self.folder / name).read_text() for name in ("out", "err", "left")]
                self.assert_refused(Answer(done.returncode, texts[0], texts[1], 0), 5, "disk/", "No space left")
                self.assertEqual("", texts[2])

    def test_folder_that_may_not_be_written_is_refused(self):
        self.write({"run.toml": TARGET, "locked": None})
        (self.folder / "locked").chmod(0o555)
        answer = self.run_unprivileged(["run", "run.toml", "--out", "locked/r"])
        self.assert_refused(answer, 5, "locked/r", "Permission denied")
        self.assert_only("run.toml", "locked")


class SuddenEnd(InFolder):
    """Nothing incomplete ever has the final name."""

    LONG = ('[target]\nplugin = "random-sparse"\nlength = 1024\n[criterion]\nratio = 0.0\nleakage = 1e-9\n'
            "[construction.projection]\nplugin = \"gaussian\"\n")

    def start(self, words):
        child = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def test_kill_during_the_search_leaves_no_run(self):
        self.write({"run.toml": self.LONG + "[search]\nstep = 1\nsamples = 1000\n"})
        child = self.start(["run", "run.toml"])
        time.sleep(0.5)
        self.assertIsNone(child.poll(), "the run was to be longer")
        child.send_signal(signal.SIGKILL)
        child.wait()
        self.assertEqual(["run.toml"], os.listdir(self.folder))

    def test_kill_during_the_writing_leaves_no_run(self):
        # 48 MB take long enough to write to be seen.
        self.write({"run.toml": TARGET.replace("8", "1024") + '[search]\nmethod = "fixed"\nquery_dim = 1024\n'})
        child = self.start(["run", "run.toml", "--out", "r"])
        while child.poll() is None and not list(self.folder.glob(".attnspan-*.tmp/*")):
            time.sleep(0.0005)
        self.assertIsNone(child.poll(), "the writing was to be seen")
        child.send_signal(signal.SIGKILL)
        child.wait()
        if (self.folder / "r").exists():  # it was faster than the kill
            numpy.load(self.folder / "r" / "X.npy")
            self.assertEqual(6, len(os.listdir(self.folder / "r")))
        else:
            self.assertEqual([], [name for name in os.listdir(self.folder) if name[0] != "." and name != "run.toml"])

    def test_what_a_killed_run_left_does_not_disturb_the_next(self):
        self.write({"run.toml": TARGET, ".attnspan-1-0.tmp/X.npy": "half"})
        self.assertEqual(0, run(["run", "run.toml", "--out", "r"], self.folder).code)
        self.assertEqual(6, len(os.listdir(self.folder / "r")))


if __name__ == "__main__":
    unittest.main()

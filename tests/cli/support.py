"""What the tests of the program share: where it is, how to run it, where to find public data and the reference program."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["ATTNSPAN"]
SOURCE = pathlib.Path(os.environ.get("ATTNSPAN_SOURCE", pathlib.Path(__file__).resolve().parents[2]))


def shared_data():
    """The folder of public data, or None."""
    folder = os.environ.get("ATTNSPAN_SHARED_DATA")
    return pathlib.Path(folder) if folder and pathlib.Path(folder).is_dir() else None


def reference():
    """The reference program (Python), or None."""
    places = [os.environ.get("ATTNSPAN_REFERENCE")]
    if shared_data():
        places.append(shared_data().resolve().parent / "reference" / "paper_reference.py")
    return next((pathlib.Path(p) for p in places if p and pathlib.Path(p).is_file()), None)


def attnspan(*arguments, cwd=None, timeout=300):
    """Runs the program; gives returncode, stdout and stderr (text)."""
    words = [PROGRAM, *(str(a) for a in arguments)]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False)


class CliTest(unittest.TestCase):
    """A test with a temporary folder, `self.folder`."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="attnspan-test-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_ok(self, *arguments, code=0):
        """Runs the program and gives what it printed; fails unless it ends with `code`."""
        done = attnspan(*arguments, cwd=self.folder)
        self.assertEqual(done.returncode, code, f"{' '.join(map(str, done.args))}\n{done.stdout}{done.stderr}")
        return done.stdout

    def run_json(self, *arguments, code=0):
        return json.loads(self.run_ok(*arguments, "--json", code=code))

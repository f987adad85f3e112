"""Where the source, the public data and the reference program are, and a test with a folder that runs the program."""

import json
import os
import pathlib
import tempfile
import unittest

import support

SOURCE = pathlib.Path(os.environ.get("ATTNSPAN_SOURCE", pathlib.Path(__file__).resolve().parents[2]))


def shared_data():
    """The folder of public data, or None."""
    folder = os.environ.get("ATTNSPAN_SHARED_DATA")
    return pathlib.Path(folder).resolve() if folder and pathlib.Path(folder).is_dir() else None


def reference():
    """The reference program (Python): ATTNSPAN_REFERENCE, else beside the public data; or None."""
    places = [os.environ.get("ATTNSPAN_REFERENCE")]
    if shared_data():
        places.append(shared_data().resolve().parent / "reference" / "paper_reference.py")
    return next((pathlib.Path(p).resolve() for p in places if p and pathlib.Path(p).is_file()), None)


class InFolder(unittest.TestCase):
    """A test with a folder of its own, in which the program runs."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="attnspan-test-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_program(self, *words, **options):
        return support.run(words, self.folder, **options)

    def run_ok(self, *words, code=0, **options):
        """Runs the program and gives what it printed; fails unless it ends with `code`."""
        answer = self.run_program(*words, **options)
        self.assertEqual(answer.code, code, f"attnspan {' '.join(map(str, words))}\n{answer.out}{answer.err}")
        return answer.out

    def run_json(self, *words, code=0):
        return json.loads(self.run_ok(*words, "--json", code=code), parse_constant=self.fail)

    def assert_refused(self, answer, code, *patterns):
        """It ended with the code, printed no result, and its one message matches the patterns."""
        self.assertEqual((answer.code, answer.out), (code, ""), answer.err)
        for pattern in patterns:
            self.assertRegex(answer.err, pattern)

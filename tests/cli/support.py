"""Running the program in a test: a folder of its own, the exit code, and what it printed."""

import dataclasses
import os
import subprocess
import tempfile
import threading

PROGRAM = os.environ.get("ATTNSPAN", "attnspan")
# A run that takes longer hangs. Sanitizers make it many times slower.
SECONDS = 600 if os.environ.get("ATTNSPAN_SANITIZED") else 60


@dataclasses.dataclass
class Answer:
    code: int  # negative: the number of the signal that ended it
    out: str
    err: str
    peak_bytes: int  # largest resident set


def run(words, folder, environment=None, prepare=None, stdout=None, seconds=SECONDS, program=PROGRAM):
    """Runs the program with these words, in this folder.

    environment: variables beside the test's own (ATTNSPAN_PLUGIN_PATH is never inherited)
    prepare: called in the child before the program starts, as preexec_fn
    stdout: a file to write to instead of keeping the text
    program: another one than the one that was built
    """
    variables = {k: v for k, v in os.environ.items() if k != "ATTNSPAN_PLUGIN_PATH"}
    variables.update(environment or {})
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([str(program), *map(str, words)], cwd=folder, env=variables, preexec_fn=prepare,
                                 stdin=subprocess.DEVNULL, stdout=out if stdout is None else stdout, stderr=err)
        clock = threading.Timer(seconds, child.kill)
        clock.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        finally:
            clock.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Answer(child.returncode, out.read().decode(errors="replace"), err.read().decode(errors="replace"),
                      usage.ru_maxrss * 1024)


def snapshot(folder):
    """Every path below a folder, with the bytes of files: two are equal when nothing was left or changed."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in folders:
            found[os.path.relpath(os.path.join(root, name), folder)] = None
        for name in files:
            path = os.path.join(root, name)
            readable = os.path.isfile(path) and os.access(path, os.R_OK)
            with open(path if readable else os.devnull, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found

#!/usr/bin/env python3
"""Times whole runs of attnspan: where the time goes, how it grows with L, what threads bring, and how large one can go.

    ATTNSPAN=build/release/bin/attnspan python3 tests/bench/whole_runs.py startup stages scaling threads large

Names of sections choose; none means all but `large`. `--small` shrinks every length 32 times, to see that it all works.
Repetitions of what is compared alternate, and medians are shown.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

BASE = {"run.seed": 1, "target.plugin": "random-sparse", "target.nonzeros": 2, "target.variation": 2.0,
        "criterion.ratio": 0.5, "criterion.leakage": 0.5, "construction.projection.plugin": "orthogonal",
        "search.start": 32, "search.step": 32}


def text_of(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


class Program:
    def __init__(self, path, folder):
        self.path = path
        self.folder = pathlib.Path(folder)
        (self.folder / "empty.toml").write_text("")

    def process(self, words):
        """Standard output, wall seconds, processor seconds and peak MiB of a process."""
        start = time.perf_counter()
        with subprocess.Popen([self.path, *map(str, words)], stdout=subprocess.PIPE, cwd=self.folder, text=True) as child:
            out = child.stdout.read()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        if child.returncode not in (0, 1):
            sys.exit(f"{' '.join(map(str, words))}: exit code {child.returncode}")
        return out, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def run(self, settings, threads=None):
        """The result of a run, wall seconds and peak MiB."""
        words = ["run", "empty.toml", "--json", "--force", "--out", "run"]
        for key, value in settings.items():
            words += ["--set", f"{key}={text_of(value)}"]
        out, seconds, _, peak = self.process(words + (["--threads", threads] if threads else []))
        return json.loads(out), seconds, peak


def searching(result):
    return sum(s for stage, s in result["seconds"].items() if stage != "target")


def startup(program, _):
    """Whole processes."""
    for words in (["--version"], ["plugins", "list"]):
        seconds = [program.process(words)[1] for _ in range(21)]
        print(f"  {' '.join(words):<24} {1000 * statistics.median(seconds):7.1f} ms")
    settings = {"target.plugin": "random-sparse", "target.length": 512, "criterion.leakage": 0.1,
                "construction.projection.plugin": "orthogonal", "search.start": 16, "search.step": 16}
    seconds = [program.run(settings)[1] for _ in range(5)]
    print(f"  {'a search at L = 512':<24} {1000 * statistics.median(seconds):7.1f} ms")


def stages(program, shrink):
    """L = 3072, k = 2: what making X1 and X2 takes of the search."""
    for projection in ("gaussian", "structured", "sparse", "orthogonal"):
        for threads in (1, 2):
            settings = {**BASE, "target.length": 3072 // shrink, "construction.projection.plugin": projection}
            results = [program.run(settings, threads)[0] for _ in range(3)]
            total = statistics.median(searching(r) for r in results)
            share = statistics.median(r["seconds"]["embedding"] / searching(r) for r in results)
            print(f"  {projection:<11} {threads} threads   m {results[0]['query_dim']!s:>5}   {total:7.3f} s   "
                  f"embedding {100 * share:5.1f} %")


def scaling(program, shrink):
    """One test at m = 128 with limits that hold, so that every logit is looked at; gaussian, k = 2."""
    before = None
    for length in (2048, 4096, 8192, 16384, 32768):
        settings = {**BASE, "target.length": length // shrink, "construction.projection.plugin": "gaussian",
                    "criterion.ratio": 1e6, "criterion.leakage": 1e5, "search.method": "fixed", "search.query_dim": 128}
        for key in ("search.start", "search.step"):
            del settings[key]
        runs = [program.run(settings) for _ in range(3)]
        seconds = statistics.median(searching(r) for r, _, _ in runs)
        peak = max(peak for _, _, peak in runs)
        growth = f"   exponents: time {math.log2(seconds / before[0]):5.2f}, memory {math.log2(peak / before[1]):5.2f}" \
            if before else ""
        print(f"  L {length // shrink:>6}   {seconds:8.3f} s   {peak:8.0f} MiB{growth}", flush=True)
        before = (seconds, peak)


def threads(program, shrink):
    """One thread against two, L = 8192, k = 2, a whole search."""
    settings = {**BASE, "target.length": 8192 // shrink}
    pairs = [[searching(program.run(settings, count)[0]) for count in (1, 2)] for _ in range(3)]
    print(f"  {statistics.median(one / two for one, two in pairs):.2f} times as fast")


def large(program, shrink):
    """Full searches at large L."""
    for length, more in ((65536, {"target.nonzeros": 1, "target.variation": 1.0, "construction.margin_scale": 3.0}),
                         (65536, {"target.nonzeros": 1, "target.variation": 1.0, "construction.margin_scale": 3.0,
                                  "construction.projection.plugin": "structured"}),
                         (16384, {})):
        settings = {**BASE, **more, "target.length": length // shrink}
        result, seconds, peak = program.run(settings)
        print(f"  L {length // shrink:>6}   k {settings['target.nonzeros']}   "
              f"{settings['construction.projection.plugin']:<10}   m {result['query_dim']!s:>5}   {seconds:7.1f} s   "
              f"{peak:6.0f} MiB", flush=True)


def main():
    sections = {f.__name__: f for f in (startup, stages, scaling, threads, large)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(sections))
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    unknown = [name for name in options.sections if name not in sections]
    if unknown:
        parser.error(f"no section {unknown[0]}; there are {', '.join(sections)}")
    path = pathlib.Path(os.environ.get("ATTNSPAN", "attnspan")).resolve()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(path, folder)
        for name in options.sections or [s for s in sections if s != "large"]:
            print(f"{name}: {sections[name].__doc__}")
            sections[name](program, 32 if options.small else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times a search of attnspan against the plain NumPy reference program, the two in turn, on the same target.

    ATTNSPAN=build/release/bin/attnspan python3 tests/bench/against_reference.py --reference paper_reference.py \
        --length 3072 --nonzeros 2 --variation 2 --step 32 --repeat 3

Prints, for each repetition and as a median: each program's own clock (the target in memory), the whole process, and the
ratios reference / attnspan within the repetition. Ratios are what counts: both halves of one see the same machine.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def timed(words, folder):
    """Standard output and wall seconds of a whole process."""
    start = time.perf_counter()
    done = subprocess.run([str(w) for w in words], cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):  # 1: nothing found
        sys.exit(f"{words[0]} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout), seconds


def configuration(options):
    return f"""
[target]
plugin = "file"
path = "A.npy"

[criterion]
ratio = {options.epsilon}
leakage = {options.epsilon}

[construction]
factorization = "{options.factorization}"

[construction.projection]
plugin = "{options.projection}"

[backend]
plugin = "{options.backend}"

[search]
start = {options.step}
step = {options.step}
resample = {"true" if options.resample else "false"}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", required=True, type=pathlib.Path, help="paper_reference.py")
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--nonzeros", type=int, default=2)
    parser.add_argument("--variation", type=float, default=2.0)
    parser.add_argument("--epsilon", type=float, default=0.5)
    parser.add_argument("--step", type=int, default=32)
    parser.add_argument("--factorization", default="direct", choices=["direct", "svd"])
    parser.add_argument("--projection", default="orthogonal", choices=["orthogonal", "gaussian"])
    parser.add_argument("--backend", default="eigen")
    parser.add_argument("--resample", action="store_true", help="the paper's procedure instead of nested samples")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    program = pathlib.Path(os.environ.get("ATTNSPAN", "attnspan")).resolve()
    reference = options.reference.resolve()

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        target = ["--set", 'target.plugin="random-sparse"', "--set", f"target.length={options.length}",
                  "--set", f"target.nonzeros={options.nonzeros}", "--set", f"target.variation={options.variation}"]
        (pathlib.Path(folder) / "target.toml").write_text("[run]\nseed = 1\n")
        subprocess.run([program, "target", "target.toml", *target, "--write", "A.npy"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        (pathlib.Path(folder) / "run.toml").write_text(configuration(options))
        print(f"{'m ours':>7} {'m ref':>7} {'ours s':>9} {'ref s':>9} {'ratio':>7} {'process s':>10} {'ref s':>9} {'ratio':>7}")
        for repetition in range(options.repeat):
            ours, our_process = timed([program, "run", "run.toml", "--json", "--force", "--out", "run"], folder)
            theirs, their_process = timed(
                [sys.executable, reference, "--target", "A.npy", "--grid-step", options.step, "--eps-ratio",
                 options.epsilon, "--eps-leak", options.epsilon, "--scheme", options.projection, "--seed", repetition,
                 "--json"], folder)
            own = sum(seconds for stage, seconds in ours["seconds"].items() if stage != "target")
            rows.append((own, theirs["seconds"], theirs["seconds"] / own, our_process, their_process,
                         their_process / our_process))
            print(f"{ours['query_dim'] or '-':>7} {theirs['query_dim'] or '-':>7} " + "{:9.3f} {:9.3f} {:7.1f} {:10.3f} "
                  "{:9.3f} {:7.1f}".format(*rows[-1]), flush=True)
    print(" " * 15 + " {:9.3f} {:9.3f} {:7.1f} {:10.3f} {:9.3f} {:7.1f}   median".format(
        *(statistics.median(column) for column in zip(*rows))))


if __name__ == "__main__":
    main()

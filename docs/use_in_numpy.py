"""Reads a run directory of attnspan and computes the attention matrix P of its arrays in NumPy.

    python3 use_in_numpy.py RUN_DIRECTORY [--target NAME] [--write P.npy]

Prints how far P is from the target as result.json says it is: the total variation, computed here from the arrays alone.
"""

import argparse
import json
import pathlib
import sys

import numpy as np


class Run:
    """The arrays of one target of a run: X (L x 2m), W_Q and W_K (2m x m), and which pairs are visible (L x L)."""

    def __init__(self, directory, target=None):
        directory = pathlib.Path(directory)
        self.result = json.loads((directory / "result.json").read_text())
        if not self.result["passed"]:
            sys.exit(f"{directory}: nothing was found in this run, so there is nothing to load")
        names = [t["name"] for t in self.result["targets"]]
        if target is None and len(names) > 1:
            sys.exit(f"{directory}: this run has several targets; choose one with --target: {', '.join(names)}")
        if target is not None and target not in names:
            sys.exit(f"{directory}: there is no target {target}; it has {', '.join(names)}")
        self.target = self.result["targets"][names.index(target or names[0])]
        self.query_dim = self.result["query_dim"]
        self.logit_scale = self.target["logit_scale"]  # 1, or 1/sqrt(m) with export.scale = "sqrt-dim"
        self.x, self.w_q, self.w_k = (array(directory, place) for place in (
            self.target["files"]["X"], self.result["weights"]["W_Q"]["file"], self.result["weights"]["W_K"]["file"]))
        self.visible = visible_pairs(self.result["config"]["mode"], len(self.x))

    def attention(self):
        """P: the softmax of the scaled logits over the visible keys of each row."""
        logits = self.logit_scale * (self.x @ self.w_q) @ (self.x @ self.w_k).T
        logits = np.where(self.visible, logits, -np.inf)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)


def array(directory, place):
    """An array by its place in result.json: "X.npy", or "weights.safetensors:X"."""
    file, _, name = place.partition(":")
    return tensor((directory / file).read_bytes(), name) if name else np.load(directory / file)


def tensor(data, name):
    """One tensor of a safetensors file: 8 bytes with the length of a JSON header, the header, the numbers."""
    begin = 8 + int.from_bytes(data[:8], "little")
    entry = json.loads(data[8:begin])[name]
    numbers = data[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]]
    return np.frombuffer(numbers, {"F64": "<f8", "F32": "<f4"}[entry["dtype"]]).reshape(entry["shape"])


def visible_pairs(mode, length):
    """Which key (column) each query (row) sees, for the modes that come with attnspan."""
    i, j = np.indices((length, length))
    plugin = mode["plugin"]
    if plugin == "bidirectional":
        return np.ones((length, length), dtype=bool)
    if plugin == "causal":
        return j <= i
    if plugin == "prefix":
        return (j <= i) | (j < mode["prefix"])
    if plugin == "sliding-window":
        return (abs(i - j) <= mode["radius"]) & ((j <= i) | (not mode["causal"]))
    sys.exit(f"the mode {plugin} is not known here; add it to visible_pairs in {__file__}")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("directory")
    options.add_argument("--target", help="which one, where the run has several")
    options.add_argument("--write", metavar="FILE", help="save P as .npy")
    given = options.parse_args()
    run = Run(given.directory, given.target)
    p = run.attention()
    print(f"m = {run.query_dim}: P is {p.shape[0]} x {p.shape[1]}, rows sum to 1 within {np.abs(p.sum(axis=1) - 1).max():.1e}")
    print(f"total variation, largest over the rows, by result.json: {run.target['measures']['total_variation_max']:.6g}")
    if given.write:
        np.save(given.write, p)


if __name__ == "__main__":
    main()

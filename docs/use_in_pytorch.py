"""Loads a run directory of attnspan into torch.nn.MultiheadAttention and compares its attention weights with P.

    python3 use_in_pytorch.py RUN_DIRECTORY [--target NAME]

The run needs export.scale = "sqrt-dim", because the module divides logits by the square root of the head size. Exits with 1
when the largest difference to P, computed in double precision, exceeds 1e-5.
"""

import argparse
import math
import sys

import numpy as np
import torch

from use_in_numpy import Run


def attention_module(run):
    """A module of embedding size d = 2m with two heads of size m; the first is the head of the run.

    Its weights come from W_Q and W_K alone, which do not depend on the target. The second head has weights 0, and so
    attends evenly to whatever it sees; values are passed through unchanged.
    """
    m = run.query_dim
    module = torch.nn.MultiheadAttention(embed_dim=2 * m, num_heads=2, bias=False, batch_first=True)
    weights = torch.zeros(6 * m, 2 * m)  # torch keeps the transposed weights of queries, keys and values, one below the other
    weights[:m] = torch.from_numpy(run.w_q.T.copy())
    weights[2 * m:3 * m] = torch.from_numpy(run.w_k.T.copy())
    weights[4 * m:] = torch.eye(2 * m)
    with torch.no_grad():
        module.in_proj_weight.copy_(weights)
        module.out_proj.weight.copy_(torch.eye(2 * m))
    return module


def attention_weights(module, run):
    """What the module's first head does with the run's X, in single precision."""
    x = torch.from_numpy(run.x).float().unsqueeze(0)
    hidden = torch.from_numpy(~run.visible)
    with torch.no_grad():
        _, weights = module(x, x, x, attn_mask=hidden if hidden.any() else None, average_attn_weights=False)
    return weights[0, 0].double().numpy()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("directory")
    options.add_argument("--target", help="which one, where the run has several")
    given = options.parse_args()
    run = Run(given.directory, given.target)
    if not math.isclose(run.logit_scale, 1 / math.sqrt(run.query_dim)):
        sys.exit(f"{given.directory}: X is not scaled for a head that divides by sqrt(m); "
                 'run it again with --set export.scale=sqrt-dim')
    difference = np.abs(attention_weights(attention_module(run), run) - run.attention()).max()
    print(f"m = {run.query_dim}, {len(run.x)} tokens: largest difference to P {difference:.2e}")
    return 0 if difference <= 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())

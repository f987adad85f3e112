"""Published attention layouts as dense predicates, written from their definitions: row i is the query, column j the key.

A second opinion on the plugins: nothing is shared with them, and nothing here is fast.
"""

import numpy as np


def grid(length):
    return np.indices((length, length))


def whole_blocks(layout, block, length):
    """A layout of blocks as one of tokens, the last block cut where the tokens end."""
    return np.kron(layout, np.ones((block, block), dtype=bool))[:length, :length]


def sliding_window(length, radius):
    i, j = grid(length)
    return abs(i - j) <= radius


def streaming(length, sinks, recent):
    i, j = grid(length)
    return (j <= i) & ((j < sinks) | (i - j < recent))


def a_shape(length, vertical, slash):
    i, j = grid(length)
    return (j <= i) & ((i - j <= slash) | (j < vertical))


def longformer(length, window, dilation=1, tokens=()):
    i, j = grid(length)
    kept = (abs(i - j) <= window * dilation) & ((i - j) % dilation == 0)
    return kept | np.isin(i, tokens) | np.isin(j, tokens)


def strided(length, stride, head):
    i, j = grid(length)
    heads = {"local": (j <= i) & (i - j < stride), "strided": (j <= i) & ((i - j) % stride == 0)}
    return heads["local"] | heads["strided"] if head == "union" else heads[head]


def blocks(length, block):
    i, j = grid(length)
    return i // block == j // block


def fixed_original(length, block, local_blocks, global_blocks, head):
    i, j = grid(length)
    groups = np.arange(local_blocks)[::-1].reshape(-1, global_blocks)  # [s-1, s-2, ..., 0] cut into groups
    own = i // (block * local_blocks) == j // (block * local_blocks)
    return (j <= i) & (own | np.isin(j // block % local_blocks, groups[head]))


def fixed_deepspeed(length, block, local_blocks, global_blocks, head, unidirectional=False, horizontal=False):
    count = -(-length // block)
    q, k = grid(count)
    kept = q // local_blocks == k // local_blocks
    if unidirectional:
        kept &= k <= q
    first = local_blocks - (1 + head) * global_blocks
    for window in range(0, count, local_blocks):
        start = window + first
        if window + local_blocks > count:  # a last window that is short: the last blocks there are
            start = min(start, count - global_blocks)
        columns = (start <= k) & (k < start + global_blocks)
        kept |= columns & (q >= start) if unidirectional else columns
        if horizontal:
            kept |= (start <= q) & (q < start + global_blocks)
    return whole_blocks(kept, block, length)


def bigbird_without_random(count, window, original, unidirectional=False):
    """In blocks."""
    q, k = grid(count)
    kept = (abs(q - k) <= window // 2) | (q == 0) | (k == 0)
    if original:
        kept |= (q == count - 1) | (k == count - 1)
    return kept & (k <= q) if unidirectional else kept


def bigbird_may_draw(count, window):
    """In blocks: what the original's rows may draw."""
    q, k = grid(count)
    last = count - 1
    may = (abs(q - k) > window // 2) & (q > 0) & (q < last) & (k > 0) & (k < last)
    return may & ~((q == 1) & (k == last - 1)) & ~((q == last - 1) & (k == 1))


def decaying(kept, variation):
    """Weights that fall geometrically with the distance, from `variation` at a row's nearest key to 1 at its farthest."""
    weights = np.zeros(kept.shape)
    for i, row in enumerate(kept):
        keys = np.flatnonzero(row)
        if keys.size:
            distance = abs(i - keys)
            span = distance.max() - distance.min()
            weights[i, keys] = variation ** ((distance.max() - distance) / span) if span else 1.0
    return weights


MODES = {
    "bidirectional": lambda i, j, **_: j >= 0,
    "causal": lambda i, j, **_: j <= i,
    "sliding-window": lambda i, j, radius, causal=False: (abs(i - j) <= radius) & (~np.asarray(causal) | (j <= i)),
    "prefix": lambda i, j, prefix: (j < prefix) | (j <= i),
}


def visible(mode, queries, keys, **parameters):
    i, j = np.indices((queries, keys))
    return MODES[mode](i, j, **parameters)

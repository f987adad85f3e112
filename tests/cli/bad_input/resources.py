"""What does not fit: refused with an estimate before anything is allocated."""

import numpy

from .case import GIB, case, npy
from .configuration import TARGET

SMALL = 256 << 20  # more than the program needs to say no, less than what it must not allocate


def large(holds, text, *says, words="run run.toml", address_space=8 * GIB, peak=SMALL, files=None, code=5):
    return case(holds, words, code, *says, files={"run.toml": text, **(files or {})}, address_space=address_space,
                peak=peak)


def target(plugin, length, more=""):
    return f'[target]\nplugin = "{plugin}"\nlength = {length}\n{more}'


RUN_AND_TARGET = ["run run.toml", "target run.toml"]
ESTIMATE = ("needs about", "GiB", "available", "smaller")
CASES = [
    large(f"target {plugin} of length {length}", target(plugin, length), str(length), *ESTIMATE,
          words=RUN_AND_TARGET)
    for plugin in ("random-sparse", "permutation", "sliding-window")
    for length in (10**9, 10**12, 1 << 62, (1 << 63) - 1)
] + [
    large("target of many nonzeros", target("random-sparse", 200000, "nonzeros = 200000\n"), "200000 x 200000",
          "40000000000 entries", *ESTIMATE, words=RUN_AND_TARGET),
    large("target of a wide window", target("sliding-window", 10**6, "radius = 500000\n"), "1000000 x 1000000",
          *ESTIMATE, words=RUN_AND_TARGET),
    large("target whose number of entries overflows",
          target("random-sparse", 4 * 10**9, "nonzeros = 4000000000\n"), "4000000000", *ESTIMATE,
          words=RUN_AND_TARGET),
    large("target beyond ulimit -v", target("random-sparse", 10**7, "nonzeros = 8\n"), "10000000 x 10000000", *ESTIMATE,
          words=RUN_AND_TARGET, address_space=2 * GIB),
    large("singular value decomposition of a large matrix",
          target("permutation", 50000) + '[construction]\nfactorization = "svd"\n', '"svd"', "50000 x 50000",
          '"direct"', *ESTIMATE),
    large("singular value decomposition beyond ulimit -v",
          target("permutation", 6000) + '[construction]\nfactorization = "svd"\n', "6000 x 6000", *ESTIMATE,
          address_space=2 * GIB),
    large("embedding of a huge dimension",
          target("permutation", 8) + '[construction.projection]\nplugin = "gaussian"\n[search]\nmethod = "fixed"\n'
          "query_dim = 1000000000000\n", "1000000000000", *ESTIMATE),
    large("embedding whose size overflows 64 bits",
          target("permutation", 8) + '[construction.projection]\nplugin = "gaussian"\n[search]\nmethod = "fixed"\n'
          "query_dim = 1152921504606846976\n", "1152921504606846976", *ESTIMATE),
    large("resampled embedding of a huge dimension",
          target("permutation", 8) + '[construction.projection]\nplugin = "gaussian"\n[search]\nmethod = "fixed"\n'
          "query_dim = 1000000000000\nresample = true\n", "1000000000000", *ESTIMATE),
    large("orthogonal projection of a large matrix",
          target("permutation", 100000) + '[search]\nmethod = "fixed"\nquery_dim = 100000\n', "100000", *ESTIMATE),
    large("dense copy of a large target", target("permutation", 10**5), "100000 x 100000", "a.npy", ".mtx", *ESTIMATE,
          words="target run.toml --write a.npy"),
    large("Matrix Market file that announces more rows than memory holds", "", "1000000000000 rows", *ESTIMATE,
          words="target a.mtx",
          files={"a.mtx": "%%MatrixMarket matrix coordinate real general\n1000000000000 1000000000000 1\n1 1 1\n"}),
    # 64 MB of bytes would become 512 MB of doubles.
    large("array larger than memory", "", *ESTIMATE, words="target a.npy", address_space=GIB // 2,
          files={"a.npy": lambda: npy(numpy.zeros((1 << 13, 1 << 13), "u1"))}),
]

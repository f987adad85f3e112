"""What can be wrong in a file of weights, or in embeddings. A bad file gets the same answer wherever it is read."""

import numpy

from .case import case, npy, npy_header
from .configuration import TARGET

SVD = '[construction]\nfactorization = "svd"\n'
PAIR = {"q.npy": npy(numpy.eye(2)), "k.npy": npy(numpy.eye(2))}
EYE = npy(numpy.eye(2))


def weights(holds, name, content, *says, code=4, more="", words=""):
    """Read by `target`, by a run that would pass it to an SVD, and by `verify`."""
    config = f'[target]\nplugin = "file"\npath = "{name}"\n{more}{SVD}'
    lines = ["target run.toml", "run run.toml", "verify --target run.toml --q q.npy --k k.npy"]
    if not more:
        lines += [f"target {name}", f"verify --target {name} --q q.npy --k k.npy"]
    return case(holds, [line + words for line in lines], code, *says,
                files={name: content, "run.toml": config, **PAIR})


def mtx(holds, body, *says, kind="coordinate real general", **more):
    """A § marks the place that the message must name; the body begins in line 2."""
    return weights(holds, "a.mtx", f"%%MatrixMarket matrix {kind}\n{body}", *says, **more)


MATRIX_MARKET = [
    mtx("weight of nan", "2 2 2\n1 1 1\n2 2 §nan\n", '"nan"', "finite and not negative"),
    mtx("weight of inf", "2 2 2\n1 1 §inf\n2 2 1\n", '"inf"', "finite and not negative"),
    mtx("weight of minus inf", "2 2 2\n1 1 §-inf\n2 2 1\n", '"-inf"', "finite and not negative"),
    mtx("negative weight", "2 2 2\n1 1 1\n2 2 §-0.5\n", '"-0.5"', "not negative"),
    mtx("weight beyond double precision", "2 2 2\n1 1 1\n2 2 §1e999\n", '"1e999"', "out of the range"),
    mtx("weight that is a word", "2 2 2\n1 1 1\n2 2 §one\n", '"one"', "expected a number"),
    mtx("line without its weight", "2 2 2\n1 1 1\n2 2§\n", "weight is missing"),
    mtx("word too many", "2 2 2\n1 1 1 §0\n2 2 1\n", '"0"', "line should end"),
    mtx("row beyond the size", "2 2 2\n1 1 1\n§3 2 1\n", "row is 3", "1 to 2"),
    mtx("column of zero", "2 2 2\n1 §0 1\n2 2 1\n", "column is 0", "1 to 2"),
    mtx("index that is a number", "2 2 2\n§1.5 1 1\n2 2 1\n", '"1.5"', "64-bit integer"),
    mtx("too few entries", "2 2 3\n1 1 1\n2 2 1\n", "a.mtx:", "2 entries", "line 2", "announces 3"),
    mtx("too many entries", "2 2 1\n1 1 1\n§2 2 1\n", "one entry more than the 1", "line 2"),
    mtx("duplicate entry names both lines", "2 2 3\n1 1 1\n2 2 1\n§1 1 2\n", "entry (1, 1)", "line 3",
        'duplicates = "sum"'),
    mtx("sum of duplicates that overflows", "2 2 3\n1 1 1.7e308\n2 2 1\n§1 1 1.7e308\n", "overflows",
        more='duplicates = "sum"\n'),
    mtx("no size line", "% nothing\n", "a.mtx:", "size"),
    mtx("negative size", "§-2 2 1\n1 1 1\n", "number of rows is -2", "at least 0"),
    mtx("size beyond 64 bits", "§99999999999999999999 2 1\n1 1 1\n", "out of the range"),
    mtx("no rows", "0 0 0\n", "a.mtx", "0 x 0", "at least one query"),
    mtx("count that no file could hold", "2 2 9000000000000000000\n1 1 1\n2 2 1\n", "announces 9000000000000000000"),
    weights("complex field", "a.mtx", "%%MatrixMarket matrix coordinate §complex general\n1 1 1\n1 1 1 0\n",
            '"complex"', "real or integer or pattern"),
    weights("skew symmetry", "a.mtx", "%%MatrixMarket matrix coordinate real §skew-symmetric\n2 2 1\n2 1 1\n",
            '"skew-symmetric"', "general or symmetric"),
    weights("array of a pattern", "a.mtx", "%%MatrixMarket matrix array §pattern general\n1 1\n1\n",
            "coordinate format"),
    weights("misspelt banner", "a.mtx", "%%MatrixMarkt matrix coordinate real general\n1 1 1\n1 1 1\n", "a.mtx: ",
            "%%MatrixMarket"),
    weights("banner cut short", "a.mtx", "%%MatrixMarket matrix\n", "a.mtx:1:", "format"),
    mtx("symmetric file that is no square", "2 §3 1\n2 1 1\n", "symmetric", "2 x 3", kind="coordinate real symmetric"),
    mtx("symmetric file with an upper entry", "2 2 1\n1 §2 1\n", "(1, 2)", "above the diagonal",
        kind="coordinate real symmetric"),
    mtx("array with nan", "2 2\n1\n0\n§NaN\n1\n", '"NaN"', kind="array real general"),
    mtx("array with a value too few", "2 2\n1\n0\n0\n", "a.mtx:", "3 entries", "announces 4",
        kind="array real general"),
    mtx("integer that double precision cannot hold", "2 2 2\n1 1 1\n2 2 §9007199254740993\n", '"9007199254740993"',
        "scale", kind="coordinate integer general"),
    weights("empty file", "a.mtx", b"", "a.mtx: ", "an empty file"),
    weights("plain text", "a.mtx", "1 0\n0 1\n", "a.mtx: ", "Matrix Market", '"1 0"'),
    weights("gzip file", "a.mtx", b"\x1f\x8b\x08\x00" + bytes(20), "a.mtx: ", "gunzip"),
    weights("web page", "a.mtx", "<!DOCTYPE html>\n<html></html>\n", "a.mtx: ", "HTML"),
]


def with_entry(value):
    a = numpy.eye(2)
    a[1, 0] = value
    return npy(a)


WRONG_HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }\n"
NPY = [
    weights("entry of nan in an array", "a.npy", with_entry(numpy.nan), "a.npy: ", "entry (1, 0)", "nan",
            "finite and not negative"),
    weights("entry of inf in an array", "a.npy", with_entry(numpy.inf), "a.npy: ", "entry (1, 0)", "inf",
            "finite and not negative"),
    weights("negative entry in an array", "a.npy", with_entry(-0.25), "a.npy: ", "entry (1, 0)", "-0.25"),
    weights("entry of half-precision inf", "a.npy", npy(numpy.array([[1, numpy.inf], [0, 1]], "f2")), "entry (0, 1)"),
    weights("nan in a big-endian Fortran array", "a.npy",
            npy(numpy.asfortranarray([[1, 0], [numpy.nan, 1]]).astype(">f8")), "entry (1, 0)"),
    weights("array cut short", "a.npy", EYE[:-1], "a.npy: ", "32 bytes", "31", "cut short"),
    weights("bytes too many", "a.npy", EYE + b"\0", "a.npy: ", "32 bytes", "33", "too much"),
    weights("header cut short", "a.npy", EYE[:40], "a.npy: ", "40 bytes", "cut short"),
    weights("magic word only", "a.npy", EYE[:6], "a.npy: ", "cut short"),
    weights("format version 9", "a.npy", npy_header("{}", version=b"\x09\x00"), "version 9.0", "1.0, 2.0 and 3.0"),
    weights("array of objects is never unpickled", "a.npy", npy(numpy.array([[None]], object)), "|O",
            "never unpickled"),
    weights("complex array", "a.npy", npy(numpy.eye(2, dtype=complex)), "<c16", "complex"),
    weights("structured array", "a.npy", npy(numpy.zeros((2, 2), [("a", "f8"), ("b", "f8")])), "structured", "field"),
    weights("array of text", "a.npy", npy(numpy.array([["a"]])), "<U1", "text"),
    weights("long double array", "a.npy", npy(numpy.eye(2, dtype=numpy.longdouble)), "f16", "astype"),
    weights("header that is no dictionary", "a.npy", npy_header("[1, 2]\n"), "a.npy: ", "byte 0", "{"),
    weights("header without a shape", "a.npy", npy_header("{'descr': '<f8', 'fortran_order': False}\n"), "shape"),
    weights("negative size in a header", "a.npy", npy_header(WRONG_HEADER % "(-2, 2)"), "-2", "negative"),
    weights("size in a header beyond 64 bits", "a.npy", npy_header(WRONG_HEADER % "(99999999999999999999, 2)"),
            "64 bits"),
    weights("sizes in a header whose product overflows", "a.npy",
            npy_header(WRONG_HEADER % "(4611686018427387904, 4611686018427387904)"), "cannot be stored"),
    weights("sizes in a header beyond the file", "a.npy", npy_header(WRONG_HEADER % "(1000000, 1000000)"),
            "8000000000000 bytes", "cut short"),
    weights("vector", "a.npy", npy(numpy.ones(4)), "shape (4,)", "queries x keys"),
    weights("array of four dimensions", "a.npy", npy(numpy.ones((2, 2, 2, 2))), "(2, 2, 2, 2)",
            "heads x queries x keys"),
    weights("array without rows", "a.npy", npy(numpy.ones((0, 4))), "0 x 4", "at least one query"),
    weights("stack without a slice", "a.npy", npy(numpy.ones((3, 2, 2))), "(3, 2, 2)", "stack of 3", "slice = h"),
    weights("slice beyond the stack", "a.npy", npy(numpy.ones((3, 2, 2))), "slice = 3", "0 to 2", more="slice = 3\n"),
    weights("slice of an empty stack", "a.npy", npy(numpy.ones((0, 2, 2))), "slice = 0", "empty", more="slice = 0\n"),
    weights("slice of one matrix", "a.npy", EYE, "slice = 0", "leave it out", more="slice = 0\n"),
    weights("slice of a Matrix Market file", "a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n",
            "slice = 1", "leave it out", more="slice = 1\n"),
    case("slice on the command line beyond the stack",
         ["target a.npy --slice 7", "verify --target a.npy --slice 7 --q q.npy --k k.npy"], 4, "a.npy: ", "slice = 7",
         "0 to 2", files={"a.npy": npy(numpy.ones((3, 2, 2))), **PAIR}),
    weights("npz archive cut short", "a.npz", b"PK\x03\x04" + bytes(40), "a.npz: ", "zip archive", "cut short"),
    weights("safetensors file", "a.safetensors", (13).to_bytes(8, "little") + b'{"a":{"x":1}}', "a.safetensors: ",
            "the tensor \"a\"", "dtype"),
    case("file of weights that is not there", ["target no.npy", "verify --target no.npy --q q.npy --k k.npy"], 5,
         "no.npy: ", "No such file", files=PAIR),
    case("folder of weights", ["target d.npy", "verify --target d.npy --q q.npy --k k.npy"], 5, "d.npy: ",
         "directory", files={"d.npy": None, **PAIR}),
]


def problem(holds, array, *says, more="", also_verify=True, mode=""):
    """A well-formed file that a run cannot use."""
    config = f'[target]\nplugin = "file"\npath = "a.npy"\n{more}{SVD}{mode}'
    lines = ["run run.toml"] + (["verify --target run.toml --q q.npy --k k.npy"] if also_verify else [])
    return case(holds, lines, 4, *says, files={"a.npy": npy(array), "run.toml": config, **PAIR})


RULES = [
    problem("rectangular target in a run", numpy.ones((2, 3)), "2 x 3", "as many queries as keys", "attnspan verify",
            also_verify=False),
    problem("empty row", [[1.0, 0], [0, 0]], "row 1", "no visible entry", 'empty_rows = "allow"'),
    problem("row whose every entry is below keep.above", [[0.9, 0.1], [0.1, 0.2]], "row 1", "no visible entry",
            more="keep = { above = 0.5 }\n"),
    problem("entry at an invisible pair", [[1.0, 0.5], [0, 1]], "entry (0, 1) = 0.5", "invisible", 'invisible = "drop"',
            mode='[mode]\nplugin = "causal"\n'),
    problem("row left empty by dropping invisible entries", [[0.0, 0.5], [0, 1]], "row 0", "no visible entry",
            more='invisible = "drop"\n', mode='[mode]\nplugin = "causal"\n'),
    case("file target, entry at an invisible pair by --mode", "verify --target a.npy --mode causal --q q.npy --k k.npy",
         4, "entry (0, 1) = 0.5", "invisible", files={"a.npy": npy([[1.0, 0.5], [0, 1]]), **PAIR}),
]


def verify(holds, *says, target=EYE, q=None, k=None, x=None, wq=None, wk=None, code=4, words=""):
    given = {name: array for name, array in {"q": q, "k": k, "x": x, "wq": wq, "wk": wk}.items() if array is not None}
    files = {f"{name}.npy": array if isinstance(array, bytes) else npy(array) for name, array in given.items()}
    options = " ".join(f"--{name} {name}.npy" for name in given)
    return case(holds, f"verify --target a.npy {options}{words}", code, *says, files={"a.npy": target, **files})


I2 = numpy.eye(2)
NAN2 = numpy.array([[1, 0], [0, numpy.nan]])
EMBEDDINGS = [
    verify("queries and keys of different dimension", "2", "3", "equal", q=I2, k=numpy.ones((2, 3))),
    verify("queries that do not fit the target", "3 queries", "2 x 2", q=numpy.ones((3, 2)), k=I2),
    verify("keys that do not fit the target", "3 keys", "2 x 2", q=I2, k=numpy.ones((3, 2))),
    verify("W_Q that does not fit X", "--wq wq.npy", "3 x 2", "X with 2 columns", x=I2, wq=numpy.ones((3, 2)), wk=I2),
    verify("W_K that does not fit X", "--wk wk.npy", "3 x 2", "X with 2 columns", x=I2, wq=I2, wk=numpy.ones((3, 2))),
    verify("W_Q and W_K of different dimension", "dimension", x=I2, wq=numpy.ones((2, 3)), wk=I2),
    verify("X with nan names the entry", "x.npy", "(1, 1)", "nan", "finite", x=NAN2, wq=I2, wk=I2),
    verify("W_Q with inf names the entry", "wq.npy", "(1, 1)", "inf", "finite", x=I2,
           wq=numpy.array([[1, 0], [0, numpy.inf]]), wk=I2),
    verify("queries with nan name the entry", "q.npy", "(1, 1)", "nan", "finite", q=NAN2, k=I2),
    verify("keys with inf name the entry", "k.npy", "(0, 1)", "inf", "finite", q=I2,
           k=numpy.array([[1, numpy.inf], [0, 1]])),
    verify("logits beyond double precision", "query", "key", "finite", q=1e200 * I2, k=1e200 * I2),
    verify("products with W beyond double precision", "finite", x=1e200 * I2, wq=1e200 * I2, wk=I2),
    verify("scale that carries logits beyond double precision", "finite", q=1e10 * I2, k=I2, words=" --scale 1e300"),
    verify("vector as queries", "q.npy: ", "(4,)", "two dimensions", q=numpy.ones(4), k=I2),
    verify("stack as keys", "k.npy: ", "(2, 2, 2)", "two dimensions", q=I2, k=numpy.ones((2, 2, 2))),
    verify("keys cut short", "k.npy: ", "cut short", q=I2, k=EYE[:-3]),
    verify("complex queries", "q.npy: ", "complex", q=I2 * 1j, k=I2),
    verify("Matrix Market file as queries", "q.npy: ", "no .npy file", "Matrix Market",
           q=b"%%MatrixMarket matrix array real general\n1 1\n1\n", k=I2),
    case("queries that are not there", "verify --target a.npy --q no.npy --k a.npy", 5, "no.npy: ", "No such file",
         files={"a.npy": EYE}),
]

CASES = MATRIX_MARKET + NPY + RULES + EMBEDDINGS

"""What can be wrong in a configuration file or a --set. `config check` finds it as `run` does."""

from .case import case

TARGET = '[target]\nplugin = "random-sparse"\nlength = 8\n'
BOTH = ["config check run.toml", "run run.toml"]


def config(holds, text, *says, code=2, target=TARGET, words=None):
    """The text stands behind a target that is right."""
    return case(holds, words or BOTH, code, *says, files={"run.toml": target + text})


def alone(holds, text, *says, **more):
    return config(holds, text, *says, target="", **more)


def setting(holds, words, *says, code=2):
    return case(holds, [f"config check run.toml {words}", f"run run.toml {words}", f"target run.toml {words}"], code,
                *says, files={"run.toml": TARGET})


UNKNOWN = [
    config("unknown table is refused with the nearest", "[§serach]\nstep = 1\n", "unknown key serach",
           "did you mean search?"),
    config("unknown table far from all is refused with the known ones", "[§zzz]\n", "unknown key zzz", "run, target"),
    config("key outside every table is refused", "", "unknown key sed", target="§sed = 3\n" + TARGET),
    config("unknown key of run", "[run]\n§sede = 1\n", "unknown key run.sede", "did you mean run.seed?"),
    config("unknown key of the target", "§lenght = 9\n", "unknown key target.lenght", "did you mean target.length?"),
    config("unknown key of the mode", '[mode]\nplugin = "causal"\n§window = 4\n', "unknown key mode.window",
           "known here: plugin"),
    config("unknown key of the criterion", "[criterion]\n§ratoi = 0.5\n", "unknown key criterion.ratoi",
           "did you mean criterion.ratio?"),
    config("unknown key of the construction", "[construction]\n§factorisation = \"svd\"\n",
           "unknown key construction.factorisation", "did you mean construction.factorization?"),
    config("unknown key of the projection", '[construction.projection]\nplugin = "structured"\n§block = 2\n',
           "unknown key construction.projection.block", "did you mean construction.projection.blocks?"),
    config("unknown key of the back end", "[backend]\n§threads = 2\n", "unknown key backend.threads",
           "known here: plugin"),
    config("unknown key of the search", "[search]\n§sample = 2\n", "unknown key search.sample",
           "did you mean search.samples?"),
    alone("unknown key of an inner table", '[target]\nplugin = "file"\npath = "a.npy"\nkeep = { §tpo = 2 }\n',
          "unknown key target.keep.tpo", "did you mean target.keep.top?"),
    alone("misspelt target plugin", '[target]\n§plugin = "random-spars"\nlength = 8\n',
          'no target plugin "random-spars"', 'did you mean "random-sparse"?'),
    config("misspelt mode plugin", '[mode]\n§plugin = "casual"\n', 'no mode plugin "casual"', 'did you mean "causal"?'),
    config("misspelt construction plugin", '[construction]\n§plugin = "random-projections"\n',
           'did you mean "random-projection"?'),
    config("misspelt projection plugin", '[construction.projection]\n§plugin = "gausian"\n',
           'no projection plugin "gausian"', 'did you mean "gaussian"?'),
    config("misspelt back end plugin", '[backend]\n§plugin = "armadilo"\n', 'no backend plugin "armadilo"',
           'did you mean "armadillo"?'),
    config("plugin name near no other lists what is there", '[backend]\n§plugin = "cuda"\n', "armadillo", "eigen"),
    config("name of a plugin of another kind is refused", '[mode]\n§plugin = "gaussian"\n',
           'no mode plugin "gaussian"', "bidirectional, causal"),
    config("empty plugin name is refused where it stands", '[mode]\n§plugin = ""\n', "mode.plugin"),
]

TYPES = [
    config("boolean from text", '[search]\n§resample = "yes"\n', "search.resample", "true or false", '"yes"'),
    config("boolean from an integer", "[search]\n§resample = 17\n", "search.resample", "an integer", "true or false", "17"),
    config("integer from text", '[search]\n§samples = "many"\n', "search.samples", "an integer", '"many"'),
    config("integer from a number", "[search]\n§samples = 1.75\n", "search.samples", "an integer", "1.75"),
    config("integer from a boolean", "[search]\n§samples = true\n", "search.samples", "an integer", "true"),
    config("integer from a list", "[search]\n§samples = [1, 2]\n", "search.samples must be an integer, not a list"),
    config("integer from a table", "[search]\n§samples = { a = 1 }\n",
           "search.samples must be an integer, not a table"),
    config("number from text", '[criterion]\n§ratio = "0.75"\n', "criterion.ratio", "a number", '"0.75"'),
    config("number from a boolean", "[criterion]\n§ratio = false\n", "criterion.ratio", "a number", "false"),
    config("number from a list", "[criterion]\n§leakage = []\n", "criterion.leakage must be a number, not a list"),
    config("text from an integer", "[run]\n§name = 77\n", "run.name", "a string", "an integer", "77"),
    config("text from a table", "[run]\n§name = { first = 1 }\n", "run.name must be a string, not a table"),
    config("misspelt choice", '[search]\n§method = "gird"\n', 'search.method is "gird"', "grid", "bisect", "fixed",
           'did you mean "grid"?'),
    config("choice from an integer", "[search]\n§method = 77\n", "search.method", "grid", "bisect", "77"),
    config("choice from a list", '[search]\n§method = ["grid"]\n', "search.method", "grid", "bisect", "not a list"),
    config("choice in capitals", '[construction]\n§factorization = "SVD"\n', 'factorization is "SVD"', "direct", "svd"),
    alone("path from an integer", '[target]\nplugin = "file"\n§path = 77\n', "target.path", "a path", "an integer",
          "77"),
    alone("empty path", '[target]\nplugin = "file"\n§path = ""\n', "target.path", "empty"),
    config("plugin name from an integer", "[mode]\n§plugin = 3\n", "mode.plugin must be a string, not an integer"),
    config("plugin name from a list", '[mode]\n§plugin = ["causal"]\n', "mode.plugin must be a string, not a list"),
    config("table from a string", "", "mode must be a table, not a string", target='§mode = "causal"\n' + TARGET),
    config("table from an integer", "", "search must be a table, not an integer", target="§search = 4\n" + TARGET),
    config("inner table from a string", '[construction]\n§projection = "gaussian"\n',
           "construction.projection must be a table, not a string"),
    alone("inner table of a plugin from an integer", '[target]\nplugin = "file"\npath = "a.npy"\n§keep = 2\n',
          "target.keep must be a table with top or above, not an integer"),
    alone("key missing in the second target",
          '[[target]]\nplugin = "random-sparse"\nlength = 8\n[[target]]\n§plugin = "permutation"\n',
          "target.1.length is missing"),
    alone("unknown key in the second target",
          '[[target]]\nplugin = "random-sparse"\nlength = 8\n[[target]]\nplugin = "permutation"\nlength = 8\n§lenght = 3\n',
          "unknown key target.1.lenght", "did you mean target.1.length"),
    alone("two targets of one name",
          '[[target]]\nname = "a"\nplugin = "random-sparse"\nlength = 8\n'
          '[[target]]\nplugin = "permutation"\nlength = 8\n§name = "a"\n',
          "target.1.name", 'another target "a"'),
    alone("target name that is no file name", '[target]\nplugin = "random-sparse"\nlength = 8\n§name = "a/b"\n',
          'target.name: "a/b"', "letters, digits"),
    alone("target name from an integer", '[target]\nplugin = "random-sparse"\nlength = 8\n§name = 3\n',
          "target.name must be a string, not an integer"),
    alone("empty list of targets", "§target = []\n", "target is an empty list"),
    alone("list of targets that are no tables", "target = [§1, 2]\n", "target.0 must be a table, not an integer"),
    config("misspelt export", "[§exprt]\nscale = \"none\"\n", "unknown key exprt", "did you mean export"),
    config("misspelt scale", '[export]\n§scale = "sqrt-dims"\n', 'did you mean "sqrt-dim"'),
    config("two searches", "[[§search]]\nstep = 1\n[[search]]\nstep = 2\n", "one [search] table"),
    config("date", "[run]\n§name = 2024-01-02\n", "dates and times", "string"),
    config("integer beyond 64 bits", "[run]\nseed = 18446744073709551616\n", "run.toml:5:", "18446744073709551616"),
]

RANGES = [
    config("samples start at 1", "[search]\n§samples = 0\n", "search.samples is 0, must be at least 1"),
    config("samples end at a million", "[search]\n§samples = 1000001\n", "1000001", "at most 1000000"),
    config("negative step", "[search]\n§step = -16\n", "search.step is -16, must be at least 1"),
    config("start of zero", "[search]\n§start = 0\n", "search.start is 0, must be at least 1"),
    config("stop of zero", "[search]\n§stop = 0\n", "search.stop is 0, must be at least 1"),
    config("negative ratio", "[criterion]\n§ratio = -0.1\n", "criterion.ratio is -0.1, must be at least 0"),
    config("ratio of nan", "[criterion]\n§ratio = nan\n", "criterion.ratio is nan"),
    config("ratio of inf", "[criterion]\n§ratio = inf\n", "criterion.ratio is inf, must be finite"),
    config("leakage of zero lies on an excluded bound", "[criterion]\n§leakage = 0\n",
           "criterion.leakage is 0, must be above 0"),
    config("leakage of minus inf", "[criterion]\n§leakage = -inf\n", "criterion.leakage is -inf, must be finite"),
    config("total variation beyond 1", "[criterion]\n§total_variation = 1.5\n", "is 1.5, must be at most 1"),
    config("failure probability of 1 promises nothing", "[criterion]\n§failure_probability = 1\n",
           "criterion.failure_probability is 1"),
    config("failure probability of nan", "[criterion]\n§failure_probability = nan\n",
           "criterion.failure_probability is nan"),
    config("margin scale of zero", "[construction]\n§margin_scale = 0.0\n", "margin_scale is 0, must be above 0"),
    config("margin scale of inf", "[construction]\n§margin_scale = +inf\n", "margin_scale is inf, must be finite"),
    config("variation below 1", "§variation = 0.5\n", "target.variation is 0.5, must be at least 1"),
    config("variation of nan", "§variation = nan\n", "target.variation is nan"),
    config("variation of inf", "§variation = inf\n", "target.variation is inf, must be finite"),
    config("nonzeros of zero", "§nonzeros = 0\n", "target.nonzeros is 0, must be at least 1"),
    config("blocks of the structured scheme end at 3",
           '[construction.projection]\nplugin = "structured"\n§blocks = 4\n',
           "blocks is 4, must be at most 3"),
    alone("length of zero", '[target]\nplugin = "permutation"\n§length = 0\n',
          "target.length is 0, must be at least 1"),
    alone("negative length", '[target]\nplugin = "permutation"\n§length = -5\n', "target.length is -5"),
    alone("length written as a number", '[target]\nplugin = "permutation"\n§length = 1e3\n',
          "target.length", "a number", "an integer"),
    alone("length beyond 64 bits", '[target]\nplugin = "permutation"\nlength = 9223372036854775808\n', "run.toml:3:",
          "9223372036854775808"),
    alone("negative radius", '[target]\nplugin = "sliding-window"\nlength = 8\n§radius = -1\n',
          "target.radius is -1, must be at least 0"),
    alone("keep.top of zero", '[target]\nplugin = "file"\npath = "a.npy"\nkeep = { §top = 0 }\n',
          "target.keep.top is 0, must be at least 1"),
    alone("keep.above of nan", '[target]\nplugin = "file"\npath = "a.npy"\n[target.keep]\n§above = nan\n',
          "target.keep.above is nan"),
    alone("negative slice", '[target]\nplugin = "file"\npath = "a.npy"\n§slice = -1\n',
          "target.slice is -1, must be at least 0"),
]

SYNTAX = [
    config("string without an end", '[run]\nname = "abc\n', "run.toml:5:", "not valid TOML"),
    config("key twice", "[run]\nseed = 1\nseed = 2\n", "run.toml:6:", "not valid TOML", "seed"),
    config("table twice", "[run]\nseed = 1\n[run]\nname = \"a\"\n", "run.toml:6:", "not valid TOML", "run"),
    config("key without a value", "[run]\nseed =\n", "run.toml:5:", "not valid TOML"),
    config("value without quotes", "[mode]\nplugin = causal\n", "run.toml:5:", "not valid TOML"),
    config("bracket without an end", "[search\nstep = 1\n", "run.toml:4:", "not valid TOML"),
    config("bad escape", '[run]\nname = "\\q"\n', "run.toml:5:", "not valid TOML"),
    config("two values on a line", "[run]\nseed = 1 2\n", "run.toml:5:", "not valid TOML"),
    case("invalid UTF-8", BOTH, 2, "run.toml:2:", "not valid TOML", files={"run.toml": b'[run]\nname = "\xff\xfe"\n'}),
    case("zero byte", BOTH, 2, "run.toml:1:", "not valid TOML", files={"run.toml": b"[run\x00]\nseed = 1\n"}),
    case("binary file as configuration", BOTH, 2, "run.toml:1:", "not valid TOML",
         files={"run.toml": bytes(range(256)) * 16}),
    case("matrix as configuration", ["run m.mtx", "config check m.mtx"], 2, "m.mtx:", "not valid TOML",
         files={"m.mtx": "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n"}),
    alone("tables nested a thousand deep", "a = " + "[" * 5000 + "]" * 5000 + "\n", "run.toml:1:", "not valid TOML"),
]

MISSING = [
    alone("empty file", "", "run.toml", "target.plugin is missing", "random-sparse", words=[*BOTH, "target run.toml"]),
    alone("target without a plugin", "[§target]\nlength = 8\n", "target.plugin is missing", '"random-sparse"'),
    alone("target without its length", '[target]\n§plugin = "random-sparse"\n', "target.length is missing",
          "an integer"),
    alone("file target without a path", '[target]\n§plugin = "file"\n', "target.path is missing", "a path"),
    config("fixed search without its dimension", '[search]\n§method = "fixed"\n', "search.query_dim"),
]

COMBINED = [
    config("query_dim without the fixed method", "[search]\n§query_dim = 8\n", 'search.method = "fixed"'),
    config("start beyond stop", "[search]\n§start = 8\nstop = 4\n", "search.start", "8", "search.stop = 4"),
    config("more nonzeros than keys", "§nonzeros = 9\n", "target.nonzeros", "9", "rows of 8", "at most the length",
           words=["run run.toml", "target run.toml"]),
    alone("keep.top and keep.above", '[target]\nplugin = "file"\npath = "a.npy"\nkeep = { top = 2, §above = 0.1 }\n',
          "keep.above", "keep.top", "one of the two", words=["run run.toml", "target run.toml"]),
    config("leakage that leaves no margin", "[criterion]\nratio = 0.5\n§leakage = 1.5\n", "leakage of 1.5 ",
           "below 1 + ratio = 1.5", words="run run.toml"),
    config("large leakage that leaves no margin", "[criterion]\nratio = 1e300\n§leakage = 1e300\n", "leakage of 1e+300",
           "below 1 + ratio", words="run run.toml"),
    config("query_dim beyond what an orthogonal projection has", '[search]\nmethod = "fixed"\n§query_dim = 9\n',
           "search.query_dim", "9", "beyond 8", words="run run.toml"),
    config("stop beyond what an orthogonal projection has", "[search]\n§stop = 9\n", "search.stop", "9", "beyond 8",
           words="run run.toml"),
    config("start beyond the default stop", "[search]\n§start = 9\n", "search", "9", "8", words="run run.toml"),
    alone("permutation under a causal mode",
          '[target]\nplugin = "permutation"\n§length = 8\n[mode]\nplugin = "causal"\n', "every key visible",
          "bidirectional", words=["run run.toml", "target run.toml"]),
] + [
    config(f"run name {what}", f"[run]\n§name = {name}\n", "run.name", *says)
    for what, name, *says in [
        ("with a slash", '"a/b"', '"a/b"', "letters, digits"),
        ("of two dots", '".."', '".."', "begin"),
        ("of one dot", '"."', '"."', "begin"),
        ("that is empty", '""', '""', "letters, digits"),
        ("with a space", '"a b"', '"a b"', "letters, digits"),
        ("like an option", '"-x"', '"-x"', "begin"),
        ("with a line feed", '"a\\nb"', "letters, digits"),
        ("with an escape character", '"a\\u001b[31m"', "letters, digits"),
        ("that is absolute", '"/etc"', '"/etc"', "letters, digits"),
        ("longer than file systems allow", '"' + "x" * 300 + '"', "200"),
    ]
]

SETTINGS = [
    setting("set without an equals sign", "--set search.samples", "--set search.samples", "no '='",
            "--set table.key=value"),
    setting("set without a key", "--set =3", "--set =3", "not a dotted key"),
    setting("set with an empty part", "--set target..length=3", "target..length", "not a dotted key"),
    setting("set with a space in the key", "--set 'target length=3'", "target length", "not a dotted key"),
    setting("set through a scalar", "--set target.length.x=3", "--set target.length.x=3", "target.length is an integer",
            "run.toml:3:1"),
    setting("set of a key that smuggles a second one", "--set 'run.seed=1\n[mode]\nplugin=\"causal\"'", "run.seed",
            "an integer"),
    setting("set of a key with a comment", "--set 'run.seed#=1'", "not a dotted key"),
    setting("set of a table header", "--set '[run]\nseed=1'", "not a dotted key"),
    setting("set of an unknown key", "--set target.lenght=3", "--set target.lenght=3: ", "did you mean target.length?"),
    setting("set of a wrong type", "--set target.length=many", "--set target.length=many: ", "an integer", '"many"'),
    setting("set out of range", "--set target.length=0", "--set target.length=0: ", "must be at least 1"),
    setting("set of text in unbalanced quotes", "--set 'run.name=\"a'", "run.name", "letters, digits"),
    setting("set of a date", "--set run.name=2024-01-02", "--set run.name=2024-01-02: ", "dates and times"),
    setting("set of a table to a value", "--set target=3", "target"),
    setting("set that is empty", "--set ''", "--set", "no '='"),
    setting("set of nothing", "--set", "--set", "argument"),
]

UNREADABLE = [
    case("configuration that is not there", ["run no.toml", "config check no.toml", "target no.toml",
                                             "verify --target no.toml --q a.npy --k a.npy"], 5,
         "no.toml", "No such file"),
    case("folder as configuration", ["run d.toml", "config check d.toml", "target d.toml"], 5, "d.toml", "folder",
         files={"d.toml": None}),
]

CASES = UNKNOWN + TYPES + RANGES + SYNTAX + MISSING + COMBINED + SETTINGS + UNREADABLE

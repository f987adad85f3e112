"""What can be wrong on the command line."""

import numpy

from .case import case, npy
from .configuration import TARGET

GIVEN = {"run.toml": TARGET, "a.npy": npy(numpy.eye(2)), "notes.txt": "mine\n"}
VERIFY = "verify --target a.npy --q a.npy --k a.npy"


def usage(holds, words, *says, code=2, **more):
    return case(holds, words, code, *says, files=GIVEN, **more)


WORDS = [
    usage("no command", "", "command is missing", "run, init, target, verify"),
    usage("misspelt command", "rnu run.toml", '"rnu"', 'did you mean "run"?'),
    usage("command near no other", "frobnicate", '"frobnicate"', "run, init, target, verify"),
    usage("option before the command", "--json run run.toml", "--json"),
    usage("no command of plugins", "plugins", "command is missing", "list, describe"),
    usage("misspelt command of plugins", "plugins lsit", '"lsit"', 'did you mean "list"?'),
    usage("misspelt command of config", "config chekc run.toml", '"chekc"', 'did you mean "check"?'),
    usage("run without a configuration", "run", "CONFIG is missing", "usage: attnspan run CONFIG"),
    usage("target without a file", "target", "CONFIG|FILE is missing", "usage: attnspan target"),
    usage("config check without a file", "config check", "CONFIG is missing"),
    usage("plugins describe without a name", "plugins describe", "PLUGIN is missing"),
    usage("word too many for run", "run run.toml again", '"again"', "one word too many"),
    usage("word too many for bound", "bound 3", '"3"', "one word too many"),
    usage("word too many for plugins list", "plugins list all", '"all"', "one word too many"),
]

OPTIONS = [
    usage("misspelt option", "run run.toml --sett run.seed=1", "unknown option --sett", "did you mean --set?"),
    usage("misspelt option with a value", "run run.toml --thread=2", "unknown option --thread",
          "did you mean --threads?"),
    usage("shortened option", "run run.toml --forc", "unknown option --forc", "did you mean --force?"),
    usage("option near no other", "bound --zzzzzz", "unknown option --zzzzzz"),
    usage("unknown short option", "run run.toml -q", "unknown option -q"),
    usage("option of another command", "run run.toml --slice 2", "unknown option --slice"),
    usage("option without its value", "run run.toml --out", "--out", "argument"),
    usage("option twice", "run run.toml --out a --out b", "--out", "more than once"),
    usage("flag with a value", "run run.toml --json=yes", "--json"),
    usage("no threads", ["run run.toml --threads 0", VERIFY + " --threads 0"], "--threads 0", "1 to 4096"),
    usage("negative threads", "run run.toml --threads=-1", "--threads -1", "1 to 4096"),
    usage("too many threads", "run run.toml --threads 99999", "--threads 99999", "1 to 4096"),
    usage("threads that are a word", "run run.toml --threads x", "--threads", "x"),
    usage("threads that are a fraction", "run run.toml --threads 1.5", "--threads", "1.5"),
    usage("rows of another ending", ["run run.toml --rows rows.txt", VERIFY + " --rows rows.txt"], "--rows rows.txt",
          ".csv or .npy"),
    usage("rows without a name", "run run.toml --rows ''", "--rows", ".csv or .npy"),
    usage("target written with another ending", "target a.npy --write b.txt", "--write b.txt", ".npy, .npz or .mtx"),
    usage("slice that is a word", "target a.npy --slice first", "--slice", "first"),
    usage("negative slice by option", "target a.npy --slice=-1", "--slice", "-1", "at least 0", silent_on=("--set",)),
    usage("misspelt mode by option", ["target a.npy --mode casual", VERIFY + " --mode casual"],
          'no mode plugin "casual"',
          'did you mean "causal"?', "--mode", silent_on=("--set",)),
    usage("verify without a target", "verify --q a.npy --k a.npy", "--target is missing"),
    usage("verify without embeddings", "verify --target a.npy", "--x, --wq and --wk", "--q and --k"),
    usage("verify with both forms", VERIFY + " --x a.npy --wq a.npy --wk a.npy", "either", "--x, --wq and --wk"),
    usage("verify with half of each form", "verify --target a.npy --q a.npy --wk a.npy", "either"),
    usage("verify without keys", "verify --target a.npy --q a.npy", "--k is missing"),
    usage("verify without queries", "verify --target a.npy --k a.npy", "--q is missing"),
    usage("verify without W_K", "verify --target a.npy --x a.npy --wq a.npy", "--wk is missing"),
    usage("verify without X", "verify --target a.npy --wk a.npy --wq a.npy", "--x is missing"),
    usage("scale of nan", VERIFY + " --scale nan", "--scale", "nan", "finite"),
    usage("scale of inf", VERIFY + " --scale inf", "--scale", "inf", "finite"),
    usage("scale that is a word", VERIFY + " --scale big", "--scale", "big"),
    usage("scale with a word behind it", VERIFY + " --scale 1x", "--scale", "1x"),
    usage("negative ratio by option", VERIFY + " --ratio -1", "--ratio", "-1", "not negative"),
    usage("leakage of nan by option", VERIFY + " --leakage nan", "--leakage", "nan", "finite"),
    usage("total variation of inf by option", VERIFY + " --total-variation inf", "--total-variation", "inf", "finite"),
    usage("misspelt back end by option", VERIFY + " --backend eigne", 'no backend plugin "eigne"',
          'did you mean "eigen"?'),
]

BOUND = [
    usage("bound without a length", "bound", "--length is missing", "--target"),
    usage("bound with length and target", "bound --length 8 --target a.npy", "--length", "--target", "exclude"),
    usage("bound of length zero", "bound --length 0", "--length 0", "start at 1"),
    usage("bound of a length whose dimensions overflow", "bound --length 9223372036854775807",
          "--length 9223372036854775807"),
    usage("bound of more nonzeros than keys", "bound --length 8 --nonzeros 9", "--nonzeros 9"),
    usage("bound of a variation below 1", "bound --length 8 --variation 0.5", "--variation 0.5"),
    usage("bound of a variation of nan", "bound --length 8 --variation nan", "--variation nan"),
    usage("bound of a length that is a number", "bound --length 1e3", "--length", "1e3"),
    usage("bound of leakage zero", "bound --length 8 --leakage 0", "--leakage 0", "above 0"),
    usage("bound of a ratio of inf", "bound --length 8 --ratio inf", "--ratio inf", "finite"),
    usage("bound without a margin", "bound --length 8 --ratio 0.5 --leakage 1.5", "leakage", "1.5", "below 1 + ratio"),
    usage("bound of certain failure", "bound --length 8 --failure-probability 1", "--failure-probability 1",
          "between 0 and 1"),
    usage("bound of margin scale zero", "bound --length 8 --margin-scale 0", "--margin-scale 0", "above 0"),
    usage("bound under another mode", "bound --length 8 --mode window", "--mode window", "causal"),
    case("bound of a target with nan", "bound --target a.npy", 4, "a.npy: ", "entry (0, 0)", "nan",
         files={"a.npy": npy([[numpy.nan]])}),
    case("bound of a target with an empty row", "bound --target a.npy", 4, "row 0", "no visible entry",
         files={"a.npy": npy([[0.0]])}),
]

OUTPUT = [
    case("existing folder without --force", "run run.toml --out kept", 5, "kept", "--force",
         files={"run.toml": TARGET, "kept/result.json": "{}", "kept/mine.txt": "mine"}),
    case("folder that is no run with --force", "run run.toml --out kept --force", 5, "kept", "no result.json",
         files={"run.toml": TARGET, "kept/mine.txt": "mine"}),
    usage("file in place of the run directory",
          ["run run.toml --out notes.txt", "run run.toml --out notes.txt --force"], "notes.txt", code=5),
    usage("run directory below a file", "run run.toml --out notes.txt/run", "notes.txt", "is no folder", code=5),
    usage("run directory where nothing can be made", "run run.toml --out /proc/attnspan/run", "/proc/attnspan", code=5),
    usage("empty name of a run directory", "run run.toml --out ''", "--out"),
    usage("rows into a folder that is not there", ["run run.toml --rows no/rows.csv", VERIFY + " --rows no/rows.csv"],
          "no/rows.csv", "there is no folder", code=5),
    usage("target written below a file", "target a.npy --write notes.txt/a.mtx", "notes.txt/a.mtx", "Not a directory",
          code=5),
    usage("target written where nothing can be made", "target a.npy --write /proc/a.npy", "/proc/a.npy", code=5),
    case("run that fails leaves the run it was to replace", "run run.toml --out kept --force", 4, "row 0",
         files={"run.toml": '[target]\nplugin = "file"\npath = "a.npy"\n', "a.npy": npy([[0.0]]),
                "kept/result.json": "{}", "kept/X.npy": "mine"}),
    case("run directory that cannot be made is refused before the work", "run run.toml --out notes.txt/run", 5,
         "notes.txt", files={"run.toml": '[target]\nplugin = "file"\npath = "a.npy"\n', "a.npy": npy([[0.0]]),
                             "notes.txt": "mine"}),
]

CASES = WORDS + OPTIONS + BOUND + OUTPUT

"""What can be wrong with a plugin: it is named, with its file, the stage and the reason."""

import os
import pathlib

from .case import case
from .configuration import TARGET

FOLDER = pathlib.Path(os.environ.get("ATTNSPAN", "attnspan")).resolve().parent.parent / "lib" / "attnspan" / "plugins"


def built_in(name):
    """The bytes of a plugin that comes with the program; a word of no meaning where there is none, so that the case
    that uses it fails."""
    file = FOLDER / f"{name}.so"
    return file.read_bytes() if file.exists() else b"absent"


CAUSAL = built_in("mode-causal")
CONFIG = TARGET + '[mode]\nplugin = "%s"\n'
GARBAGE = b"\x7fELF" + bytes(range(256)) * 40


def plugin(holds, words, code, *says, files, mode="causal", **more):
    return case(holds, words, code, *says, files={"run.toml": CONFIG % mode, **files}, **more)


def broken(holds, content, *says):
    """A file under the name of a plugin, which is then asked for by that name."""
    return plugin(holds, ["run run.toml --plugin-path added", "config check run.toml --plugin-path added",
                          "run run.toml --plugin-path added/mode-ring.so"], 3, "run.toml:5:1: ", 'mode plugin "ring"',
                  "added/mode-ring.so", *says, mode="ring", files={"added/mode-ring.so": content})


CASES = [
    plugin("plugin path that is not there", ["run run.toml --plugin-path no", "plugins list --plugin-path no"], 2,
           "--plugin-path", '"no"', "does not exist", files={}),
    plugin("empty plugin path", "run run.toml --plugin-path ''", 2, "--plugin-path", "does not exist", files={}),
    broken("text file in place of a plugin", "not a library\n", "too few for a library"),
    broken("empty file in place of a plugin", b"", "0 bytes"),
    broken("garbage behind a magic word", GARBAGE, "64-bit library"),
    broken("script in place of a plugin", "#!/bin/sh\n" + "echo no library\n" * 20, "is no"),
    broken("half a plugin", CAUSAL[:len(CAUSAL) // 2], "cut off or damaged"),
    broken("plugin without its last bytes", CAUSAL[:-64], "cut off or damaged"),
    broken("first bytes of a plugin", CAUSAL[:64], "cut off or damaged"),
    plugin("unknown plugin beside a file that could not be used", "run run.toml --plugin-path notes.txt", 2,
           'no mode plugin "ring"', "one plugin file could not be used", "attnspan plugins list", mode="ring",
           files={"notes.txt": "not a library\n"}),
    plugin("same plugin under two names", "run run.toml --plugin-path added", 3, "run.toml:5:1: ",
           'mode plugin "causal"', "ambiguous", "added/one.so", "added/two.so", "keep one",
           files={"added/one.so": CAUSAL, "added/two.so": CAUSAL}),
    plugin("copy of a built-in plugin does not hide it", "run run.toml --plugin-path added", 3,
           'mode plugin "causal"', "ambiguous", "added/one.so", "mode-causal.so", files={"added/one.so": CAUSAL}),
    plugin("same plugin under two names, described", "plugins describe causal --plugin-path added", 3, "ambiguous",
           "added/one.so", "added/two.so", files={"added/one.so": CAUSAL, "added/two.so": CAUSAL}),
    plugin("relative entry of ATTNSPAN_PLUGIN_PATH is not searched", ["run run.toml", "config check run.toml"], 2,
           "run.toml:5:1: ", 'no mode plugin "ring"', "bidirectional, causal", "plugins list", mode="ring",
           files={"added/mode-ring.so": CAUSAL}, environment={"ATTNSPAN_PLUGIN_PATH": "added"}),
    plugin("misspelt plugin in describe", "plugins describe casual", 2, '"casual"', 'did you mean "causal"?', files={}),
    plugin("unknown plugin in describe", "plugins describe ring", 2, '"ring"', "plugins list", files={}),
    plugin("unknown kind in describe", "plugins describe causal --kind modes", 2, "--kind modes",
           "target, mode, backend, projection, construction", files={}),
    plugin("plugin of another kind in describe", "plugins describe causal --kind target", 2,
           'no target plugin "causal"', "random-sparse", files={}),
]

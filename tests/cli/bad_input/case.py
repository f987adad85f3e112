"""One row of the tables: what is given, and what the program must answer."""

import dataclasses
import io
import shlex

import numpy

GIB = 1 << 30


@dataclasses.dataclass
class Case:
    holds: str  # what holds, as a sentence: the name of the test
    words: list  # of the command line; several command lines where each must give the same answer
    code: int
    says: tuple  # fragments of the message
    files: dict = dataclasses.field(default_factory=dict)  # name -> text, bytes, or what makes them; None: a folder
    silent_on: tuple = ()  # fragments that the message must not contain
    environment: dict = dataclasses.field(default_factory=dict)
    address_space: int = 0  # bytes, as ulimit -v
    peak: int = 0  # the program must stay below this many bytes


def case(holds, words, code, *says, files=None, **more):
    """`words` is one command line or a list of them. A § in a file marks the place that the message must name."""
    lines = [words] if isinstance(words, str) else words
    clean = {}
    for name, content in (files or {}).items():
        if isinstance(content, str) and "§" in content:
            before, _, after = content.partition("§")
            content = before + after
            says = (f"{name}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}: ", *says)
        clean[name] = content
    return Case(holds, [shlex.split(line) for line in lines], code, says, clean, **more)


def npy(array, version=None):
    """The bytes of a .npy file."""
    stream = io.BytesIO()
    numpy.lib.format.write_array(stream, numpy.asanyarray(array), version=version)
    return stream.getvalue()


def npy_header(text, data=b"", version=b"\x01\x00"):
    """A .npy file whose header says what it likes."""
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text.encode() + data

"""toy-json: linear programs as JSON."""

import json

from ircert.backends.base import Writer
from ircert.programs.program import BINARIES, INTEGERS

ARRAYS = ("lower", "upper", "integer", "senses", "rhs", "objective")


class ToyJson(Writer):
    """Writes every array as a list; Python's numbers read back as they were."""

    name = "toy-json"
    offers = frozenset({BINARIES, INTEGERS})
    suffixes = (".toy.json",)

    def _write(self, program, file):
        """The program, with its blocks of variables and rows by name and size."""
        parts = {name: getattr(program, name).tolist() for name in ARRAYS}
        parts["matrix"] = program.matrix.toarray().tolist()
        parts |= {"maximise": program.maximise, "constant": program.constant}
        parts |= {key: {block.name: block.size for block in getattr(program, key)} for key in ("variables", "rows")}
        file.write(json.dumps(parts).encode())

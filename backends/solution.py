"""Reads the solution files of HiGHS, CBC, SCIP and Gurobi, JSON, and plain lines `name value`.

A file is recognised by its text, not by its name. CBC, SCIP and HiGHS (sparse style) leave out variables that are 0.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import takewhile
from math import isfinite
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar, cast, overload

from ircert.backends.text import CONSTANT
from ircert.errors import FileError
from ircert.files import read_text
from ircert.programs.program import Program

Pair: TypeAlias = tuple[str, str]
Number = TypeVar("Number", bound=float | Fraction)

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?(/\d+)?", flags=re.ASCII)
LONGEST = 4000
KINDS = "the solution files of HiGHS, CBC, SCIP and Gurobi, JSON, and lines `name value` can be read"
CBC = re.compile(r"(?P<status>.*) - objective value\s+\S+")
UNSOLVED = re.compile(r"infeasible|unbounded|unknown|no integer solution|no solution", flags=re.IGNORECASE)


class _Fault(Exception):
    """What is wrong with a text."""


@overload
def read_solution(path: str | os.PathLike[str], *, exact: Literal[False] = False) -> dict[str, float]: ...
@overload
def read_solution(path: str | os.PathLike[str], *, exact: Literal[True]) -> dict[str, Fraction]: ...
def read_solution(path: str | os.PathLike[str], *, exact: bool = False) -> dict[str, float] | dict[str, Fraction]:
    """The values by name, as the file lists them (`exact`: the very decimals); FileError if there is no solution."""
    text = read_text(path)
    try:
        values = _values(_pairs(text))
    except _Fault as fault:
        raise FileError(str(fault), path=path) from None
    return values if exact else {name: float(value) for name, value in values.items()}


SCIP_EXTRAS = {"quadobjvar", "qmatrixvar"}
"""Variables that SCIP adds for a quadratic objective when it reads .lp and .mps files."""


def complete(values: Mapping[str, Number], program: Program, path: object) -> dict[str, Number]:
    """The values of all variables of the program, 0 where the file has none; FileError for a name it does not have."""
    names = program.column_names
    unknown = values.keys() - set(names) - {CONSTANT} - SCIP_EXTRAS
    if unknown:
        some = ", ".join(f"`{name[:60]}`" for name in sorted(unknown)[:3])
        raise FileError(
            f"{len(unknown)} of its variables are not in the program ({some})",
            path=path,
            remedy="give the model and options that the solved file was exported with",
        )
    kind = cast("type[Number]", type(next(iter(values.values()), 0.0)))
    return {name: values.get(name, kind(0)) for name in names}


def _pairs(text: str) -> Iterable[Pair]:
    if text.lstrip().startswith("{"):
        return _json(text)
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    first = lines[0].strip() if lines else ""
    if not first or first.lower().startswith("no solution"):
        raise _Fault("there is no solution inside" if first else "the file is empty")
    if first == "Model status":
        return _highs(lines)
    if first == "Columns":
        return _highs_table(lines)
    if match := CBC.fullmatch(first):
        return _cbc(match["status"], lines[1:])
    if first.startswith(("solution status:", "objective value:")):
        return _scip(lines)
    return _plain(lines)


def _highs(lines: list[str]) -> Iterator[Pair]:
    """# Primal solution values / Feasible / Objective … / # Columns N / name value …; -N if zeros are left out."""
    starts = [i for i, line in enumerate(lines) if line.startswith("# Columns ")]
    if "# Primal solution values" not in lines or not starts:
        _no_solution(lines[1] if len(lines) > 1 else "")
    if lines[lines.index("# Primal solution values") + 1] != "Feasible":
        _no_solution(lines[1])
    listed = list(takewhile(lambda line: not line.startswith("#"), lines[starts[0] + 1 :]))
    count = lines[starts[0]].removeprefix("# Columns ").removeprefix("-")
    if count != str(len(listed)):
        raise _Fault(f"{count[:20]} variables are announced but {len(listed)} follow: the file is incomplete")
    for line in listed:
        words = line.split()
        if len(words) not in (2, 3):
            _not_a_line(line)
        yield words[0], words[1]


def _highs_table(lines: list[str]) -> Iterator[Pair]:
    """Index Status Lower Upper Primal Dual Type Name: empty places are possible, so columns are told by position."""
    title = lines[1] if len(lines) > 1 else ""
    if title.split()[:1] != ["Index"] or "Upper" not in title or "Primal" not in title or "Rows" not in lines:
        raise _Fault(f"not a solution file; {KINDS}")
    start, stop = title.index("Upper") + len("Upper"), title.index("Primal") + len("Primal")
    states = [line.partition(":")[2].strip() for line in lines if line.startswith("Model status")]
    for line in takewhile(lambda line: line != "Rows", lines[2:]):
        if not line[start:stop].strip():
            _no_solution("".join(states))
        yield line.split()[-1], line[start:stop].strip()


def _cbc(status: str, lines: list[str]) -> Iterator[Pair]:
    """index name value reduced-cost; ** marks a value outside its bounds."""
    if UNSOLVED.search(status):
        _no_solution(status)
    for line in lines:
        words = line.removeprefix("**").split()
        if len(words) != 4 or not words[0].isdecimal():
            _not_a_line(line)
        yield words[1], words[2]


def _scip(lines: list[str]) -> Iterator[Pair]:
    """solution status: … / objective value: … / name value (obj:cost) …"""
    told = {line.partition(":")[0]: line.partition(":")[2].strip() for line in lines[:2]}
    if "objective value" not in told or any(line.startswith("no solution") for line in lines):
        _no_solution(told.get("solution status", ""))
    for line in lines:
        if line.startswith(("solution status:", "objective value:")):
            continue
        words = line.split()
        if len(words) == 3 and words[2].startswith("(obj:"):
            words.pop()
        if len(words) != 2:
            _not_a_line(line)
        yield words[0], words[1]


def _plain(lines: list[str]) -> Iterator[Pair]:
    """name value, with comments from # on: what Gurobi writes, and people."""
    found = False
    for line in lines:
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2:
            _not_a_line(line)
        found = True
        yield words[0], words[1]
    if not found:
        raise _Fault("there is no solution inside")


def _json(text: str) -> list[Pair]:
    """{"name": value, …} or Gurobi's {"Vars": [{"VarName": name, "X": value}, …], …}; a string "p/q" is a value too."""
    try:
        top = json.loads(text, object_pairs_hook=list, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise _Fault(f"not readable as JSON ({str(error)[:80]})") from None
    if any(name in ("Vars", "SolutionInfo") for name, _ in top):
        variables = dict(top).get("Vars")
        top = [_gurobi_variable(variable) for variable in variables] if isinstance(variables, list) else []
    if not top:
        raise _Fault("there is no solution inside")
    return [(name, value if isinstance(value, str) else _not_a_number(name, json.dumps(value))) for name, value in top]


def _gurobi_variable(variable: Any) -> tuple[str, Any]:
    try:
        fields = dict(variable)
        return str(fields["VarName"]), fields.get("X", "0")  # Gurobi leaves out values that are 0
    except (KeyError, TypeError, ValueError):
        raise _Fault("a variable in `Vars` has no `VarName`") from None


def _values(pairs: Iterable[Pair]) -> dict[str, Fraction]:
    values: dict[str, Fraction] = {}
    for name, text in pairs:
        if name in values:
            raise _Fault(f"`{name[:60]}` has two values")
        values[name] = _value(name, text)
    return values


def _value(name: str, text: str) -> Fraction:
    if len(text) > LONGEST or not NUMBER.fullmatch(text):
        _not_a_number(name, text)
    try:
        value = Fraction(text)
        finite = isfinite(float(value))
    except (ValueError, ZeroDivisionError, OverflowError):
        finite = False
    if not finite:
        _not_a_number(name, text)
    return value


def _not_a_number(name: str, text: str) -> NoReturn:
    raise _Fault(f"the value of `{name[:60]}` is not a finite number: {text[:40]!r}")


def _not_a_line(line: str) -> NoReturn:
    raise _Fault(f"not a line of a solution file: {line[:60]!r}; {KINDS}")


def _no_solution(status: str) -> NoReturn:
    raise _Fault(f"there is no solution inside (the solver says: {status.strip()[:60] or 'nothing'})")

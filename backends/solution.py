"""Reads the solution files of HiGHS, CBC, SCIP, Gurobi, GLPK and CPLEX, JSON, and plain lines `name value`.

A file is recognised by its text, not by its name. CBC, SCIP and HiGHS (sparse style) leave out variables that are 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import Literal, TypeVar, cast, overload

from ircert.backends.solution_kinds import PLACE, Fault, Pair, not_a_number, pairs_of
from ircert.backends.text import CONSTANT
from ircert.errors import FileError
from ircert.files import read_text
from ircert.programs.program import Program

Number = TypeVar("Number", bound=float | Fraction)

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?(/\d+)?", flags=re.ASCII)
LONGEST = 4000


@overload
def read_solution(path: str | os.PathLike[str], *, exact: Literal[False] = False) -> dict[str, float]: ...
@overload
def read_solution(path: str | os.PathLike[str], *, exact: Literal[True]) -> dict[str, Fraction]: ...
def read_solution(path: str | os.PathLike[str], *, exact: bool = False) -> dict[str, float] | dict[str, Fraction]:
    """The values by name, as the file lists them (`exact`: the very decimals); FileError if there is no solution."""
    text = read_text(path)
    try:
        values = _values(pairs_of(text))
    except Fault as fault:
        raise FileError(str(fault), path=path) from None
    return values if exact else {name: float(value) for name, value in values.items()}


SCIP_EXTRAS = {"quadobjvar", "qmatrixvar"}
"""Variables that SCIP adds for a quadratic objective when it reads .lp and .mps files."""


def complete(values: Mapping[str, Number], program: Program, path: object) -> dict[str, Number]:
    """The values of all variables of the program, 0 where the file has none; FileError for a name it does not have."""
    names = program.column_names
    if values and all(name.startswith(PLACE) for name in values):
        values = _named(values, names, path)
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


def _named(values: Mapping[str, Number], names: Sequence[str], path: object) -> dict[str, Number]:
    """Values that were given by place: variables stand in files in the order of the program."""
    if len(values) != len(names):
        raise FileError(
            f"it has {len(values)} variables, the program {len(names)}",
            path=path,
            remedy="give the model and options that the solved file was exported with",
        )
    return {name: values[f"{PLACE}{k}"] for k, name in enumerate(names, start=1)}


def _values(pairs: Iterable[Pair]) -> dict[str, Fraction]:
    values: dict[str, Fraction] = {}
    for name, text in pairs:
        if name in values:
            raise Fault(f"`{name[:60]}` has two values")
        values[name] = _value(name, text)
    return values


def _value(name: str, text: str) -> Fraction:
    if len(text) > LONGEST or not NUMBER.fullmatch(text):
        not_a_number(name, text)
    try:
        value = Fraction(text)
        finite = isfinite(float(value))
    except (ValueError, ZeroDivisionError, OverflowError):
        finite = False
    if not finite:
        not_a_number(name, text)
    return value

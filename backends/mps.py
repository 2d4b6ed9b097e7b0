"""Writes programs as .mps files (free format), in the part of that language that all solvers read alike.

One entry per line, always a name for the right-hand side and the bounds, both bounds of every column, the constant of
the objective as a column fixed to 1. QUADOBJ is one triangle of Q in x'Qx/2, QCMATRIX is all of Q in x'Qx.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np

from ircert.backends.base import Writer
from ircert.backends.text import (
    CONSTANT,
    OBJECTIVE,
    WRITTEN,
    Form,
    all_rows,
    check_numbers,
    header,
    number,
    slices,
    stored_rows,
    tidy,
    triangle,
)
from ircert.ir.arrays import Sparse
from ircert.programs.program import Program

LETTERS = {"<=": "L", ">=": "G", "=": "E"}


class Mps(Writer):
    """Writes .mps files; with `minimise`, a maximising program is written by its negative.

    CBC up to 2.10 ignores OBJSENSE and minimises, GLPK refuses it: they need `minimise` (or an .lp file). CBC reads the
    last bit of some decimals in .mps files wrongly, but not in .lp files.
    """

    name = "mps"
    offers = WRITTEN
    suffixes = (".mps",)

    def __init__(self, minimise: bool = False) -> None:
        self.minimise = minimise

    def _write(self, program: Program, file: IO[bytes]) -> None:
        """Every column; warns of numbers that readers change."""
        check_numbers(program, self.name)
        sign = -1.0 if self.minimise and program.maximise else 1.0
        file.writelines(piece.encode("ascii") for piece in _pieces(Form(program, sign)))


def _pieces(form: Form) -> Iterator[str]:
    program = form.program
    yield from header(form, "*")
    yield "NAME ircert FREE\n"  # without FREE, CBC 2.10 takes names of some lengths for the fixed format
    if form.maximise:
        yield "* CBC up to 2.10 and GLPK do not know OBJSENSE: give them an .lp file, or the minimising form\n"
        yield "OBJSENSE\n    MAX\n"
    yield from _rows(program)
    yield from _columns(form)
    yield from _right_hand_sides(program)
    yield from _bounds(form)
    if program.quadratic is not None and program.quadratic.nnz:
        # One triangle of Q in x'Qx/2.
        yield "QUADOBJ\n"
        yield from _entries(program, triangle(program.quadratic, 2.0 * form.sign, 2.0 * form.sign))
    for row in program.quadratic_rows:
        if row.quadratic.nnz:
            # All of Q in x'Qx.
            yield f"QCMATRIX {row.name}\n"
            yield from _entries(program, tidy(row.quadratic))
    yield "ENDATA\n"


def _rows(program: Program) -> Iterator[str]:
    yield f"ROWS\n N {OBJECTIVE}\n"
    for name, sense in zip(program.row_names, program.senses, strict=True):
        yield f" {LETTERS[sense]} {name}\n"
    yield from (f" L {row.name}\n" for row in program.quadratic_rows)


def _columns(form: Form) -> Iterator[str]:
    """Column by column, so the matrix is transposed first: in arrays, never as text."""
    program, names = form.program, form.program.column_names
    rows = [*program.row_names, *(row.name for row in program.quadratic_rows)]
    inside = False
    yield "COLUMNS\n"
    for j, places, values in stored_rows(all_rows(program).T.tocsr()):
        if inside != program.integer[j]:
            inside = not inside
            yield _marker(inside)
        name = names[j]
        lines = [f" {name} {rows[i]} {value!r}\n" for i, value in zip(places, values, strict=True)]
        yield f" {name} {OBJECTIVE} {number(form.sign * program.objective[j])}\n{''.join(lines)}"
    if inside:
        yield _marker(False)
    if form.constant is not None:
        yield f" {CONSTANT} {OBJECTIVE} {number(form.constant)}\n"


def _marker(opens: bool) -> str:
    return f" MARKER 'MARKER' '{'INTORG' if opens else 'INTEND'}'\n"


def _right_hand_sides(program: Program) -> Iterator[str]:
    yield "RHS\n"
    for i in np.flatnonzero(program.rhs):
        yield f" rhs {program.row_names[i]} {number(program.rhs[i])}\n"
    for row in program.quadratic_rows:
        yield f" rhs {row.name} {number(row.bound)}\n"


def _bounds(form: Form) -> Iterator[str]:
    program, names = form.program, form.program.column_names
    yield "BOUNDS\n"
    for part in slices(program.columns):
        for name, low, high in zip(
            names[part], program.lower[part].tolist(), program.upper[part].tolist(), strict=True
        ):
            yield _bound(name, low, high)
    if form.constant is not None:
        yield _bound(CONSTANT, 1.0, 1.0)


def _bound(name: str, low: float, high: float) -> str:
    """Both ends, lower first: some readers take a lone negative upper bound for a missing lower one."""
    if low == -np.inf and high == np.inf:
        return f" FR bnd {name}\n"
    lower = f" MI bnd {name}\n" if low == -np.inf else f" LO bnd {name} {number(low)}\n"
    return lower if high == np.inf else f"{lower} UP bnd {name} {number(high)}\n"


def _entries(program: Program, form: Sparse) -> Iterator[str]:
    names = program.column_names
    for i, columns, values in stored_rows(form):
        for j, value in zip(columns, values, strict=True):
            yield f" {names[i]} {names[j]} {value!r}\n"

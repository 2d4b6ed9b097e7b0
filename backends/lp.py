"""Writes programs as .lp files, in the part of that language that all solvers read alike.

Every term is sign, space, number, space, name. The objective mentions every variable; its constant is a variable
fixed to 1 (in some readers a bare constant is lost or becomes a variable); its quadratic part is [ … ] / 2 (without
the / 2 readers disagree by a factor of two). A row has one relation, with all terms left and one number right. Every
variable has both bounds, and they come before the lists of integers.
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
    check_numbers,
    header,
    number,
    slices,
    stored_rows,
    tidy,
    triangle,
)
from ircert.ir.arrays import Mask, Sparse
from ircert.programs.program import Program, QuadraticRow

LINE = 120
"""About the characters of a line; with the longest names lines still stay below 255, the shortest limit of readers."""
NUMBER = 28


class Lp(Writer):
    """Writes .lp files: every double exactly, every variable in the objective and in the bounds."""

    name = "lp"
    offers = WRITTEN
    suffixes = (".lp",)

    def _write(self, program: Program, file: IO[bytes]) -> None:
        """Every row; warns of numbers that readers change."""
        check_numbers(program, self.name)
        file.writelines(piece.encode("ascii") for piece in _pieces(Form(program)))


def lp_text(program: Program) -> str:
    """The text of the program's .lp file."""
    return "".join(_pieces(Form(program)))


def _pieces(form: Form) -> Iterator[str]:
    program = form.program
    yield from header(form, "\\")
    yield "Maximize\n" if form.maximise else "Minimize\n"
    yield from _objective(form)
    yield "Subject To\n"
    yield from _rows(program)
    for row in program.quadratic_rows:
        yield from _quadratic_row(program, row)
    yield from _bounds(form)
    # Readers may reset the bounds of what is listed as binary, so a fixed binary is a general integer with bounds.
    binary = program.integer & (program.lower == 0) & (program.upper == 1)
    yield from _listed("Binaries", program, binary)
    yield from _listed("Generals", program, program.integer & ~binary)
    yield "End\n"


def _objective(form: Form) -> Iterator[str]:
    """Every variable is mentioned, so that all readers number them alike."""
    program, names = form.program, form.program.column_names
    yield f" {OBJECTIVE}:\n"
    for part in slices(program.columns):
        terms = map(_term, program.objective[part].tolist(), names[part])
        yield from (f"  {line}\n" for line in _lines(list(terms), _per_line(program)))
    if form.constant is not None:
        yield f"  {_term(form.constant, CONSTANT)}\n"
    if program.quadratic is not None and program.quadratic.nnz:
        yield "  + "
        yield from _bracket(program, triangle(program.quadratic, 2.0, 4.0))
        yield " / 2\n"


def _rows(program: Program) -> Iterator[str]:
    names, width = program.column_names, _per_line(program)
    for i, columns, values in stored_rows(tidy(program.matrix)):
        terms = [_term(value, names[j]) for j, value in zip(columns, values, strict=True)]
        text = "\n  ".join(_lines(terms or _nothing(program), width))
        yield f" {program.row_names[i]}: {text} {program.senses[i]} {number(program.rhs[i])}\n"


def _quadratic_row(program: Program, row: QuadraticRow) -> Iterator[str]:
    names, form = program.column_names, triangle(row.quadratic, 1.0, 2.0)
    yield f" {row.name}:\n"
    used = np.flatnonzero(row.linear).tolist()
    terms = [_term(float(row.linear[j]), names[j]) for j in used]
    lines = _lines(terms if terms or form.nnz else _nothing(program), _per_line(program))
    yield from (f"  {line}\n" for line in lines)
    if form.nnz:
        yield "  + " if lines else "  "
        yield from _bracket(program, form)
    yield f" <= {number(row.bound)}\n"


def _bracket(program: Program, form: Sparse) -> Iterator[str]:
    """[ 2.0 a ^2 - 4.0 a * b ], one product per line, with the form's entries as they are."""
    names, plus = program.column_names, "+ "
    yield "[\n"
    for i, columns, values in stored_rows(form):
        for j, value in zip(columns, values, strict=True):
            product = f"{names[i]} ^2" if i == j else f"{names[i]} * {names[j]}"
            yield f"    {_term(value, product).removeprefix(plus)}\n"
            plus = ""  # only the first product goes without its sign
    yield "  ]"


def _bounds(form: Form) -> Iterator[str]:
    program, names = form.program, form.program.column_names
    yield "Bounds\n"
    for part in slices(program.columns):
        for name, low, high in zip(
            names[part], program.lower[part].tolist(), program.upper[part].tolist(), strict=True
        ):
            if low == -np.inf and high == np.inf:
                yield f" {name} free\n"
            else:
                yield f" {_end(low)} <= {name} <= {_end(high)}\n"
    if form.constant is not None:
        yield f" {CONSTANT} = 1\n"


def _listed(title: str, program: Program, chosen: Mask) -> Iterator[str]:
    if chosen.any():
        yield f"{title}\n"
        yield from (f" {program.column_names[i]}\n" for i in np.flatnonzero(chosen))


def _term(value: float, name: str) -> str:
    return f"- {-value!r} {name}" if value < 0 else f"+ {value + 0.0!r} {name}"


def _end(bound: float) -> str:
    return number(bound) if np.isfinite(bound) else "+inf" if bound > 0 else "-inf"


def _nothing(program: Program) -> list[str]:
    """The left side of a row without entries."""
    return [_term(0.0, program.column_names[0] if program.columns else CONSTANT)]


def _per_line(program: Program) -> int:
    longest = max(map(len, program.column_names), default=0)
    return max(1, LINE // (longest + NUMBER))


def _lines(terms: list[str], width: int) -> list[str]:
    return [" ".join(terms[i : i + width]) for i in range(0, len(terms), width)]

"""A mixed-integer program as data: blocks of variables and rows, sparse arrays, and where each came from.

Floats in a program are roundings of the exact model: it is a tool for search and export, not a proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from html import escape
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from ircert.errors import ProgramError
from ircert.ir.arrays import Array, Mask, Sparse

Sense: TypeAlias = Literal["<=", ">=", "="]

BINARIES = "binaries"
INTEGERS = "integers"
CONVEX_OBJECTIVE = "convex quadratic objective"
NONCONVEX_OBJECTIVE = "nonconvex quadratic objective"
CONVEX_ROWS = "convex quadratic rows"
NONCONVEX_ROWS = "nonconvex quadratic rows"
FEATURES = (BINARIES, INTEGERS, CONVEX_OBJECTIVE, NONCONVEX_OBJECTIVE, CONVEX_ROWS, NONCONVEX_ROWS)


@dataclass(frozen=True)
class Origin:
    """Where a block came from: a node of the network, and which copy of it (`x`, `y`, …)."""

    node: str
    copy: str = ""


@dataclass(frozen=True)
class Block:
    """Consecutive variables or rows, number start + i of the program.

    Entry i is called `name_i`, or `name_k` with k = labels[i] where the block holds only some entries of a node.
    """

    name: str
    start: int
    size: int
    origin: Origin | None = None
    labels: tuple[int, ...] | None = None

    @property
    def where(self) -> slice:
        """The place of the block among all variables or rows."""
        return slice(self.start, self.start + self.size)

    def names(self) -> Iterator[str]:
        """The names of its entries."""
        return (f"{self.name}_{i}" for i in (range(self.size) if self.labels is None else self.labels))


@dataclass(frozen=True)
class QuadraticRow:
    """The constraint x' quadratic x + linear · x <= bound, with a symmetric matrix."""

    name: str
    quadratic: Sparse
    linear: Array
    bound: float


@dataclass(frozen=True, eq=False)
class Program:
    """maximise (or minimise) x' quadratic x + objective · x + constant, subject to

    rows:      matrix @ x  (<=, >=, =)  rhs        one relation per row
    quadratic: each QuadraticRow
    bounds:    lower <= x <= upper, x integer where `integer` is set

    `about` says what the program asks, for headers and results (problem, norm, model hash, …).
    """

    variables: tuple[Block, ...]
    lower: Array
    upper: Array
    integer: Mask
    rows: tuple[Block, ...]
    matrix: Sparse
    senses: np.ndarray[tuple[int], np.dtype[np.str_]]
    rhs: Array
    maximise: bool
    objective: Array
    constant: float = 0.0
    quadratic: Sparse | None = None
    quadratic_rows: tuple[QuadraticRow, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from ircert.programs.verify import verify

        object.__setattr__(self, "about", MappingProxyType(dict(self.about)))
        for array in (self.lower, self.upper, self.integer, self.senses, self.rhs, self.objective):
            array.setflags(write=False)
        verify(self)

    def __reduce__(self) -> tuple[type[Program], tuple[Any, ...]]:
        # views of dicts do not travel to other processes, and what is derived need not
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return Program, tuple({**values, "about": dict(self.about)}.values())

    @property
    def columns(self) -> int:
        """The number of variables."""
        return len(self.lower)

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """What the linear rows lie between: low and high, infinite where there is no limit."""
        return np.where(self.senses == "<=", -np.inf, self.rhs), np.where(self.senses == ">=", np.inf, self.rhs)

    @cached_property
    def binary(self) -> Mask:
        """Which variables are integers between 0 and 1."""
        return self.integer & (self.lower >= 0) & (self.upper <= 1)

    @cached_property
    def column_names(self) -> list[str]:
        """The names of all variables, in order."""
        return [name for block in self.variables for name in block.names()]

    @cached_property
    def row_names(self) -> list[str]:
        """The names of all linear rows, in order."""
        return [name for block in self.rows for name in block.names()]

    def block(self, name: str) -> Block:
        """A block of variables by name; ProgramError if there is none."""
        for block in self.variables:
            if block.name == name:
                return block
        raise ProgramError(f"there is no block of variables `{name}`")

    @cached_property
    def features(self) -> frozenset[str]:
        """What a solver must be able to do to solve it."""
        from ircert.programs.verify import required_features

        return required_features(self)

    def summary(self) -> str:
        """A few lines that say what it is and how large."""
        about = ", ".join(f"{key} {value}" for key, value in self.about.items())
        goal = "maximise" if self.maximise else "minimise"
        lines = [
            f"{goal}: {about}" if about else goal,
            f"{self.columns} variables ({int(self.binary.sum())} binary, {int(self.integer.sum() - self.binary.sum())} "
            f"other integer), {len(self.rhs)} rows, {self.matrix.nnz} nonzeros, "
            f"{len(self.quadratic_rows)} quadratic rows",
            f"needs: {', '.join(sorted(self.features)) or 'linear programming'}",
        ]
        for title, blocks in (("variables", self.variables), ("rows", self.rows)):
            lines.append(f"{title}:")
            lines += [f"  {_described(block)}" for block in blocks]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The summary in a notebook."""
        return f"<pre>{escape(self.summary())}</pre>"

    def __repr__(self) -> str:
        return f"<ircert.Program {self.columns} variables, {len(self.rhs)} rows, {int(self.integer.sum())} integer>"


def _described(block: Block) -> str:
    origin = block.origin
    source = f"  from node {origin.node}" + (f", copy {origin.copy}" if origin.copy else "") if origin else ""
    return f"{block.name}[{block.size}]{source}"

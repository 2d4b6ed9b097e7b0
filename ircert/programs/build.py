"""Building programs by blocks of sparse arrays: never one Python object per coefficient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array

from ircert.errors import ProgramError
from ircert.ir.arrays import Array, Indices, Matrix, Sparse, diagonal, freeze
from ircert.limits import checkpoint
from ircert.programs.program import Block, Origin, Program, QuadraticRow, Sense


class ProgramBuilder:
    """Collects blocks of variables and rows; `program` puts them together."""

    def __init__(self) -> None:
        self._variables: list[Block] = []
        self._lower: list[Array] = []
        self._upper: list[Array] = []
        self._integer: list[bool] = []
        self._rows: list[Block] = []
        self._entries: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], Array]] = []
        self._senses: list[Sense] = []
        self._rhs: list[Array] = []
        self._objective: list[tuple[Block, Array]] = []
        self._squares: list[tuple[Block, Array]] = []
        self._round_rows: list[tuple[str, list[tuple[Block, Array]], float]] = []

    def variables(
        self,
        name: str,
        size: int,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        integer: bool = False,
        origin: Origin | None = None,
        labels: Indices | None = None,
    ) -> Block:
        """A block of variables between bounds (one number for all, or one each)."""
        block = Block(name, self._count(self._variables), size, origin, _labels(labels))
        self._variables.append(block)
        self._lower.append(np.broadcast_to(np.asarray(lower, dtype=np.float64), size))
        self._upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64), size))
        self._integer.append(integer)
        return block

    def block(self, name: str) -> Block:
        """The variables of a name."""
        return next(block for block in self._variables if block.name == name)

    def binaries(self, name: str, size: int, *, origin: Origin | None = None) -> Block:
        """A block of variables that are 0 or 1."""
        return self.variables(name, size, 0.0, 1.0, integer=True, origin=origin)

    def rows(
        self,
        name: str,
        terms: Iterable[tuple[Block, Matrix | Array | float]],
        sense: Sense,
        rhs: ArrayLike,
        *,
        origin: Origin | None = None,
        labels: Indices | None = None,
    ) -> Block:
        """The rows sum(matrix @ variables) (sense) rhs.

        A number stands for that multiple of the identity, a vector for the matrix with it on the diagonal.
        """
        checkpoint()
        right = np.atleast_1d(np.asarray(rhs, dtype=np.float64))
        # columns ascend within each row, so that nothing has to be sorted where the program is put together
        given = sorted(
            ((block, _entries(matrix, block.size)) for block, matrix in terms), key=lambda term: term[0].start
        )
        sizes = {entries.shape[0] for _, entries in given}
        if len(sizes) != 1:
            raise ProgramError(f"the terms of row block `{name}` have {sorted(sizes)} rows")
        size = sizes.pop()
        start = self._count(self._rows)
        for block, entries in given:
            if entries.shape[1] != block.size:
                raise ProgramError(f"`{name}` multiplies {entries.shape[1]} columns with {block.size} `{block.name}`")
            self._entries.append((entries.rows + start, entries.columns + block.start, entries.values))
        made = Block(name, start, size, origin, _labels(labels))
        self._rows.append(made)
        self._senses.append(sense)
        self._rhs.append(np.broadcast_to(right, size))
        return made

    def maximise(self, block: Block, coefficients: ArrayLike = 1.0) -> None:
        """Add coefficients · block to the objective."""
        self._objective.append((block, np.broadcast_to(np.asarray(coefficients, dtype=np.float64), block.size)))

    def minimise(self, block: Block, coefficients: ArrayLike = 1.0) -> None:
        """Add coefficients · block to an objective that `program(maximise=False)` minimises."""
        self.maximise(block, coefficients)

    def maximise_squares(self, block: Block) -> None:
        """Add the sum of the squares of a block to the objective."""
        self._squares.append((block, np.ones(block.size)))

    def squares_at_most(self, name: str, block: Block, bound: float) -> None:
        """The row: the sum of the squares of a block is at most `bound`."""
        self._round_rows.append((name, [(block, np.ones(block.size))], bound))

    def length_at_most(self, name: str, block: Block, height: Block) -> None:
        """The row: the L2 length of a block is at most one variable, which is not negative."""
        self._round_rows.append((name, [(block, np.ones(block.size)), (height, np.array([-1.0]))], 0.0))

    def program(self, *, maximise: bool = True, about: Mapping[str, str] | None = None) -> Program:
        """The program of everything collected."""
        checkpoint()
        columns, count = self._count(self._variables), self._count(self._rows)
        objective = np.zeros(columns)
        for block, values in self._objective:
            objective[block.where] += values
        return Program(
            variables=tuple(self._variables),
            lower=_joined(self._lower),
            upper=_joined(self._upper),
            integer=np.repeat(np.array(self._integer, dtype=np.bool_), [b.size for b in self._variables]),
            rows=tuple(self._rows),
            matrix=self._matrix(count, columns),
            senses=np.repeat(np.array(self._senses, dtype="<U2"), [b.size for b in self._rows]),
            rhs=_joined(self._rhs),
            maximise=maximise,
            objective=objective,
            quadratic=_square_form(self._squares, columns) if self._squares else None,
            quadratic_rows=tuple(
                QuadraticRow(name, _square_form(squares, columns), np.zeros(columns), bound)
                for name, squares, bound in self._round_rows
            ),
            about=about or {},
        )

    def _matrix(self, count: int, columns: int) -> Sparse:
        if not self._entries:
            return csr_array((count, columns))
        rows, places, values = (np.concatenate(parts) for parts in zip(*self._entries, strict=True))
        matrix = coo_array((values, (rows, places)), shape=(count, columns)).tocsr()
        freeze(matrix)
        return matrix

    @staticmethod
    def _count(blocks: list[Block]) -> int:
        return blocks[-1].start + blocks[-1].size if blocks else 0


def _labels(given: Indices | None) -> tuple[int, ...] | None:
    return None if given is None else tuple(given.tolist())


class _Entries(NamedTuple):
    """The entries of a matrix, row by row."""

    shape: tuple[int, ...]
    rows: Indices
    columns: Indices
    values: Array


def _entries(matrix: Matrix | Array | float, size: int) -> _Entries:
    if isinstance(matrix, int | float):
        return _on_diagonal(np.full(size, float(matrix)))
    if isinstance(matrix, np.ndarray) and matrix.ndim == 1:
        return _on_diagonal(matrix)
    if isinstance(matrix, np.ndarray):
        rows, columns = np.nonzero(matrix)
        return _Entries(matrix.shape, rows, columns, matrix[rows, columns])
    rows = np.repeat(np.arange(matrix.shape[0], dtype=matrix.indices.dtype), np.diff(matrix.indptr))
    return _Entries(matrix.shape, rows, matrix.indices, matrix.data)


def _on_diagonal(values: Array) -> _Entries:
    places = np.arange(len(values))
    return _Entries((len(values), len(values)), places, places, values)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) + 0.0 if parts else np.zeros(0)


def _square_form(squares: list[tuple[Block, Array]], columns: int) -> Sparse:
    weights = np.zeros(columns)
    for block, values in squares:
        weights[block.where] += values
    form = diagonal(weights)
    freeze(form)
    return form

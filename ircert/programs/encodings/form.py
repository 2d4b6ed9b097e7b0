"""Linear forms: vectors that depend linearly on variables of a program."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Array, Indices, Matrix, Sparse, below, identity, is_identity, nonzeros, sparse_rows
from ircert.ir.dyadic import add, add_matrices
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Block, Origin, Sense

LARGE = 2.0**1000
"""Sums of numbers below it do not overflow."""


@dataclass(frozen=True)
class Form:
    """sum of terms[block] @ block + constant.

    `copies` says that every entry is a variable or a number.
    """

    terms: Mapping[Block, Sparse]
    constant: Array
    copies: bool = False

    @staticmethod
    def of(block: Block) -> Form:
        """The variables of a block."""
        return Form({block: identity(block.size)}, np.zeros(block.size), copies=True)

    @staticmethod
    def fixed(values: Array) -> Form:
        """A vector of numbers."""
        return Form({}, values, copies=True)

    def only_moves(self) -> bool:
        """Whether a matrix times the form adds no coefficients: all entries are copies, no variable occurs twice."""
        return self.copies and all(np.bincount(term.indices).max(initial=0) <= 1 for term in self.terms.values())

    def __len__(self) -> int:
        return len(self.constant)

    def mapped(self, weight: Matrix, bias: Array) -> Form:
        """weight @ self + bias."""
        rows = nonzeros(weight)
        terms = {block: rows if is_identity(term) else rows @ term for block, term in self.terms.items()}
        return Form(terms, weight @ self.constant + bias)

    def take(self, entries: Indices) -> Form:
        """Some entries."""
        terms = {block: sparse_rows(term, entries) for block, term in self.terms.items()}
        return Form({block: term for block, term in terms.items() if term.nnz}, self.constant[entries], self.copies)

    def plus(self, other: Form, sign: float = 1.0) -> Form:
        """self + sign * other."""
        terms = dict(self.terms)
        for block, term in other.terms.items():
            terms[block] = terms[block] + sign * term if block in terms else sign * term
        return Form(terms, self.constant + sign * other.constant)

    @staticmethod
    def stacked(parts: list[Form]) -> Form:
        """The parts one below the other."""
        blocks = dict.fromkeys(block for part in parts for block in part.terms)
        terms = {block: below([part.terms.get(block, len(part)) for part in parts], block.size) for block in blocks}
        return Form(terms, np.concatenate([p.constant for p in parts]), all(p.copies for p in parts))

    def rows(
        self,
        build: ProgramBuilder,
        name: str,
        sense: Sense,
        rhs: Array,
        *more: tuple[Block, Matrix | Array | float],
        origin: Origin | None = None,
        labels: Indices | None = None,
    ) -> None:
        """The rows self + more (sense) rhs; nothing if there are none."""
        if len(self) == 0:
            return
        terms = [*self.terms.items(), *more]
        if terms:
            build.rows(name, terms, sense, rhs - self.constant, origin=origin, labels=labels)
        else:
            _check_numbers(name, self.constant, sense, rhs)

    def equals(self, build: ProgramBuilder, name: str, values: Iterable[Fraction], origin: Origin) -> None:
        """The rows self = values: the constants cancel before anything rounds."""
        constants = self.constant.tolist()
        rest = np.array([float(value - Fraction(k)) for value, k in zip(values, constants, strict=True)])
        Form(self.terms, np.zeros(len(rest))).rows(build, name, "=", rest, origin=origin)


def exact_sum(forms: list[Form]) -> Form | None:
    """The sum, or None where a coefficient or constant might round."""
    constant = add(*(form.constant for form in forms))
    terms: dict[Block, Matrix] = {}
    for form in forms:
        for block, term in form.terms.items():
            total = add_matrices(terms[block], term) if block in terms else term
            if total is None:
                return None
            terms[block] = total
    return None if constant is None else Form({block: csr_array(term) for block, term in terms.items()}, constant)


def signed_sum(form: Form, weight: Matrix, bias: Array) -> Form | None:
    """weight @ form + bias where that is adding and subtracting of entries with no variable in common; None elsewhere.

    Coefficients stay what they are, so that differences of two copies need no variables of their own.
    """
    signs = nonzeros(weight)
    if (np.abs(signs.data) != 1.0).any():
        return None
    terms: dict[Block, Sparse] = {}
    for block, term in form.terms.items():
        made = signs @ term
        if made.nnz != np.diff(term.indptr)[signs.indices].sum():
            return None
        if made.nnz:
            terms[block] = made
    constant = _signed_numbers(signs, form.constant, bias)
    return None if constant is None else Form(terms, constant)


def _signed_numbers(signs: Sparse, values: Array, bias: Array) -> Array | None:
    """signs @ values + bias, or None where that rounds."""
    if not max(np.abs(values).max(initial=0.0), np.abs(bias).max(initial=0.0)) < LARGE:
        return None
    parts = np.split(signs.data * values[signs.indices], signs.indptr[1:-1])
    rows = [[*part.tolist(), more] for part, more in zip(parts, bias.tolist(), strict=True)]
    sums = [math.fsum(row) for row in rows]
    exact = all(math.fsum([*row, -total]) == 0 for row, total in zip(rows, sums, strict=True))
    return np.array(sums) if exact else None


def _check_numbers(name: str, left: Array, sense: Sense, right: Array) -> None:
    """Rows without variables: true, or the program has no solution; a fixed variable could not say so more plainly."""
    holds = {"<=": left <= right, ">=": left >= right, "=": left == right}[sense]
    if not np.all(holds):
        raise ArithmeticError(f"the rows `{name}` compare numbers and do not hold")

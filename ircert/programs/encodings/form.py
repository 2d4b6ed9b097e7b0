"""Linear forms: vectors that depend linearly on variables of a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array, vstack

from ircert.ir.arrays import Array, Indices, Matrix, Sparse, identity
from ircert.ir.dyadic import add, add_matrices
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Block, Origin, Sense


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
        terms = {block: csr_array(csr_array(weight) @ term) for block, term in self.terms.items()}
        return Form(terms, weight @ self.constant + bias)

    def take(self, entries: Indices) -> Form:
        """Some entries."""
        terms = {block: csr_array(term[entries, :]) for block, term in self.terms.items()}
        return Form(terms, self.constant[entries], self.copies)

    def plus(self, other: Form, sign: float = 1.0) -> Form:
        """self + sign * other."""
        terms = dict(self.terms)
        for block, term in other.terms.items():
            terms[block] = csr_array(terms[block] + sign * term) if block in terms else sign * term
        return Form(terms, self.constant + sign * other.constant)

    @staticmethod
    def stacked(parts: list[Form]) -> Form:
        """The parts one below the other."""
        sizes = {block: block.size for part in parts for block in part.terms}
        terms = {
            block: vstack([p.terms.get(block, csr_array((len(p), size))) for p in parts], format="csr")
            for block, size in sizes.items()
        }
        return Form(terms, np.concatenate([p.constant for p in parts]), all(p.copies for p in parts))

    def rows(
        self,
        build: ProgramBuilder,
        name: str,
        sense: Sense,
        rhs: Array,
        *more: tuple[Block, Matrix | float],
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


def _check_numbers(name: str, left: Array, sense: Sense, right: Array) -> None:
    """Rows without variables: true, or the program has no solution; a fixed variable could not say so more plainly."""
    holds = {"<=": left <= right, ">=": left >= right, "=": left == right}[sense]
    if not np.all(holds):
        raise ArithmeticError(f"the rows `{name}` compare numbers and do not hold")

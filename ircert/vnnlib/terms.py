"""Arithmetic in VNN-LIB queries, exactly as it is written: entries of tensors, numbers, sums and products of two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

Entry: TypeAlias = tuple[str, int]
"""A tensor's name and a place in it, row by row."""
Polynomial: TypeAlias = dict[tuple[Entry, ...], Fraction]
"""The coefficient, not 0, of each product of entries, which are sorted; that of the constant belongs to ()."""
LARGEST_DEGREE = 2


def value(expression: Any) -> Entry | Fraction | None:
    """An entry of a tensor, or a number; None where it is neither."""
    kind = type(expression).__name__
    if kind == "Var":
        place = 0
        for index, size in zip(expression.indices, expression.shape, strict=True):
            place = place * int(size) + int(index)
        return str(expression.name), place
    if kind in ("Float", "Int", "IntExpr", "Literal"):
        return Fraction(str(expression.lexeme))
    if kind == "Negate":
        inner = value(expression.expr)
        return -inner if isinstance(inner, Fraction) else None
    return None


def polynomial(expression: Any) -> Polynomial | None:
    """The expression multiplied out; None where it is none of degree two or less."""
    kind = type(expression).__name__
    if kind == "Plus":
        return _sum([(1, part) for part in expression.args])
    if kind == "Minus":
        return _sum([(1, expression.head), *((-1, part) for part in expression.rest)])
    if kind == "Negate":
        return _sum([(-1, expression.expr)])
    if kind == "Multiply":
        return _product(expression.args)
    found = value(expression)
    if found is None:
        return None
    return _without_zeros({(): found} if isinstance(found, Fraction) else {(found,): Fraction(1)})


def difference(left: Any, right: Any) -> Polynomial | None:
    """left - right, multiplied out."""
    return _sum([(1, left), (-1, right)])


def _sum(parts: list[tuple[int, Any]]) -> Polynomial | None:
    total: Polynomial = {}
    for sign, part in parts:
        found = polynomial(part)
        if found is None:
            return None
        for entries, factor in found.items():
            total[entries] = total.get(entries, Fraction(0)) + sign * factor
    return _without_zeros(total)


def _product(parts: Any) -> Polynomial | None:
    total: Polynomial = {(): Fraction(1)}
    for part in parts:
        found = polynomial(part)
        if found is None or _degree(total) + _degree(found) > LARGEST_DEGREE:
            return None
        product: Polynomial = {}
        for one, a in total.items():
            for other, b in found.items():
                entries = tuple(sorted(one + other))
                product[entries] = product.get(entries, Fraction(0)) + a * b
        total = _without_zeros(product)
    return total


def _degree(given: Polynomial) -> int:
    return max(map(len, given), default=0)


def _without_zeros(given: Polynomial) -> Polynomial:
    return {entries: factor for entries, factor in given.items() if factor}

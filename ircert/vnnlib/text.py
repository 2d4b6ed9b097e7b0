"""A question as a VNN-LIB 2.0 query: satisfiable exactly where the answer is no.

Two copies of a network read x and y; the query asks for points of the ball with equal outputs that differ, for
`pseudo` with y at the centre, for `transform` with outputs of the other network that differ. Numbers are written in
full: every float has a finite decimal expansion. With a separation the points (or outputs) must be so far apart in some
coordinate, for tools that compute with tolerances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from ircert.errors import QueryError
from ircert.ir.graph import Graph
from ircert.questions.query import Query

MOST_SIGNS = 10
"""Inputs of a ball of norm 1 at most: it has a side for each choice of their signs."""
ASKED = {
    "local": "are there two points of the ball with the same output?",
    "pseudo": "is there another point of the ball with the output of its centre?",
    "transform": "are there two points of the ball with the same output of f and different ones of g?",
}


def decimal(value: Fraction) -> str:
    """A dyadic number in full, always with a point: what is written without one is an integer to the language."""
    places = value.denominator.bit_length() - 1
    if value.denominator != 1 << places:
        raise ValueError(f"{value} has no finite decimal expansion of binary places")
    digits = str(abs(value.numerator) * 5**places).rjust(places + 1, "0")
    whole, part = (digits, "0") if not places else (digits[:-places], digits[-places:])
    return f"{'-' * (value < 0)}{whole}.{part}"


def rounded_decimal(value: Fraction) -> str:
    """The nearest float, written without an exponent."""
    return decimal(Fraction(float(value)))


def query_text(graph: Graph, query: Query, separation: Fraction | None = None) -> str:
    """The query; QueryError where the language has no words for the ball."""
    query.check(graph)
    sizes = [(graph.input_dim, graph.output_dim)]
    if query.other is not None:
        sizes.append((query.other.input_dim, query.other.output_dim))
    lines = [f"; {ASKED[query.problem]} sat: yes, so that the property fails; unsat: no", "(vnnlib-version <2.0>)"]
    for (n, m), (name, first, second) in zip(sizes, (("f", "x", "y"), ("g", "u", "v")), strict=False):
        lines += _declared(name, None, first, n, m) + _declared(f"{name}2", name, second, n, m)
    return "\n".join([*lines, *_assertions(graph, query, separation)]) + "\n"


def _declared(name: str, same: str | None, point: str, inputs: int, outputs: int) -> list[str]:
    equal = [] if same is None else [f"    (equal-to {same})"]
    tensors = [f"(declare-input {point} real [1,{inputs}])", f"(declare-output {name}_{point} real [1,{outputs}])"]
    return [f"(declare-network {name}", *equal, *(f"    {tensor}" for tensor in tensors), ")"]


def _assertions(graph: Graph, query: Query, separation: Fraction | None) -> Iterator[str]:
    x, y = (_entries(name, graph.input_dim) for name in "xy")
    yield from (f"(assert {words})" for words in _inside(query, x))
    if query.problem == "pseudo":
        yield from _equal(y, [decimal(Fraction(v)) for v in query.center.tolist()])
    else:
        yield from (f"(assert {words})" for words in _inside(query, y))
    yield from _equal(*(_entries(name, graph.output_dim) for name in ("f_x", "f2_y")))
    apart_from = x, y
    if query.other is not None:
        yield from _equal(_entries("u", graph.input_dim), x)
        yield from _equal(_entries("v", graph.input_dim), y)
        first, second = (_entries(name, query.other.output_dim) for name in ("g_u", "g2_v"))
        apart_from = first, second
    yield f"(assert (or {' '.join(apart(*pair, separation) for pair in zip(*apart_from, strict=True))}))"


def _entries(name: str, size: int) -> list[str]:
    return [f"{name}[0,{i}]" for i in range(size)]


def _equal(first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
    return (f"(assert (== {one} {other}))" for one, other in zip(first, second, strict=True))


def apart(one: str, other: str, separation: Fraction | None) -> str:
    """That two numbers differ, or by so much."""
    if separation is None:
        return f"(!= {one} {other})"
    gap, far = f"(- {one} {other})", decimal(separation)
    return f"(>= {gap} {far}) (<= {gap} -{far})"


def _inside(query: Query, point: Sequence[str]) -> Iterator[str]:
    """That a point lies in the ball and in the domain."""
    center, radius = [Fraction(v) for v in query.center.tolist()], Fraction(query.radius)
    for at, (low, high) in zip(point, sides(query), strict=True):
        yield f"(>= {at} {decimal(low)})"
        yield f"(<= {at} {decimal(high)})"
    if query.norm == "2":
        squares = [f"(* (- {at} {decimal(c)}) (- {at} {decimal(c)}))" for at, c in zip(point, center, strict=True)]
        yield f"(<= {_sum(squares)} {decimal(radius**2)})"
    elif query.norm == "1":
        if len(point) > MOST_SIGNS:
            raise QueryError(
                f"a ball of norm 1 with {len(point)} inputs has 2^{len(point)} sides",
                remedy="ask about the norm inf or 2 in this language, or write .lp",
            )
        for signs in product((1, -1), repeat=len(point)):
            terms = [at if sign > 0 else f"(- {at})" for at, sign in zip(point, signs, strict=True)]
            middle = sum((sign * c for sign, c in zip(signs, center, strict=True)), Fraction(0))
            yield f"(<= {_sum(terms)} {decimal(middle + radius)})"


def _sum(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})"


def sides(query: Query) -> list[tuple[Fraction, Fraction]]:
    """The box around the ball, cut with the domain, exactly."""
    radius, found = Fraction(query.radius), []
    for c, low, high in zip(query.center.tolist(), query.ball.low.tolist(), query.ball.high.tolist(), strict=True):
        below, above = Fraction(c) - radius, Fraction(c) + radius
        found.append(
            (
                max(below, Fraction(low)) if low > -float("inf") else below,
                min(above, Fraction(high)) if high < float("inf") else above,
            )
        )
    return found

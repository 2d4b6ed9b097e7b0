"""Expressions are multiplied out without rounding, up to degree two."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import pytest

from ircert.vnnlib.queries import parsed
from ircert.vnnlib.terms import difference, polynomial, value

A, B = ("x", 0), ("x", 3)
DECLARED = "(vnnlib-version <2.0>) (declare-network f (declare-input x real [2,2]) (declare-output z real [1]))"


def inequality(left: str, right: str = "0.1") -> Any:
    text = f"{DECLARED} (assert (<= {left} {right}))".replace("A", "x[0,0]").replace("B", "x[1,1]")
    return parsed(text).assertions[0].expr


@pytest.mark.rule("V-2")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("A", {(A,): 1}),
        ("B", {(B,): 1}),
        ("-0.1", {(): Fraction(-1, 10)}),
        ("0.0", {}),
        ("(- A)", {(A,): -1}),
        ("(+ A B A)", {(A,): 2, (B,): 1}),
        ("(- A B 0.1)", {(A,): 1, (B,): -1, (): Fraction(-1, 10)}),
        ("(- A A)", {}),
        ("(* B A)", {(A, B): 1}),
        ("(* (- A 0.1) (- A 0.1))", {(A, A): 1, (A,): Fraction(-1, 5), (): Fraction(1, 100)}),
        ("(* (+ A B) (- A B))", {(A, A): 1, (B, B): -1}),
        ("(* 0.5 (- (+ A 1.0)) B)", {(A, B): Fraction(-1, 2), (B,): Fraction(-1, 2)}),
        ("(* 0.0 A)", {}),
    ],
)
def test_expressions_are_multiplied_out(text: str, wanted: dict[Any, Any]) -> None:
    assert polynomial(inequality(text).lhs) == wanted


def test_higher_degrees_are_none() -> None:
    for text in ("(* A A B)", "(+ 1.0 (* A (* B B)))", "(- (* (* A A) (* B B)))"):
        assert polynomial(inequality(text).lhs) is None
        assert difference(inequality(text).lhs, inequality("A").lhs) is None


def test_a_polynomial_has_the_values_of_what_is_written() -> None:
    found = inequality("(* (- A 0.3 B) (+ B (* 2.0 A) 0.7))", "(- B 0.2)")
    below = difference(found.lhs, found.rhs)
    assert below is not None
    for a, b in ((Fraction(1, 3), Fraction(2, 7)), (Fraction(-5), Fraction(11, 13))):
        at = {A: a, B: b}
        wanted = (a - Fraction("0.3") - b) * (b + 2 * a + Fraction("0.7")) - (b - Fraction("0.2"))
        assert sum(factor * prod(at[entry] for entry in entries) for entries, factor in below.items()) == wanted


def test_values_are_entries_and_numbers_alone() -> None:
    assert value(inequality("B").lhs) == B
    assert value(inequality("(- 0.1)").lhs) == Fraction(-1, 10)
    assert value(inequality("(- A)").lhs) is None
    assert value(inequality("(+ A 0.1)").lhs) is None

"""Queries are understood by what they say, not by how they are written; others are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

import ircert
from ircert.errors import IrcertError
from ircert.vnnlib.queries import Asked, asked, parsed
from ircert.vnnlib.text import query_text
from tests.vnnlib.test_text import network

OTHERWISE = """(vnnlib-version <2.0>)
(declare-network net (declare-input A real [2]) (declare-output B real [2]))
(declare-network twin (equal-to net) (declare-input C real [2]) (declare-output D real [2]))
(assert (and (<= -1.0 A[0]) (> 1.0 A[0]) (>= C[0] (- 1.0)) (< C[0] 1.0)))
(assert (== D[1] B[1]))
(assert (or (!= C[1] A[1]) (!= A[0] C[0])))
(assert (and (== B[0] D[0]) (and (>= A[1] 0.25) (<= A[1] 0.5))))
(assert (<= C[1] 0.5))
(assert (>= C[1] 0.25))
(assert (>= C[1] 0.125))
"""


def understood(text: str) -> Asked:
    return asked(parsed(text))


@pytest.mark.rule("V-2")
@pytest.mark.parametrize("separation", [None, Fraction(1, 4)])
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
def test_what_is_written_is_understood(problem: str, separation: Fraction | None) -> None:
    graph, other = network(2, 3), network(2, 1) if problem == "transform" else None
    query = ircert.Query(problem, [0.5, 0.25], 1.0, other=other, domain=(0, 1))
    found = understood(query_text(graph, query, separation))
    assert (found.problem, found.separation) == (problem, separation)
    assert [(side.low, side.high) for side in found.box(0)] == [((0, True), (1, True)), ((0, True), (1, True))]
    assert found.copies[0].input.shape == (1, 2)


@pytest.mark.rule("V-2")
def test_names_order_and_writing_do_not_matter() -> None:
    found = understood(OTHERWISE)
    assert found.problem == "local"
    first, second = found.box(0)
    assert (first.low, first.high) == ((-1, True), (1, False))
    assert (second.low, second.high) == ((Fraction(1, 4), True), (Fraction(1, 2), True))
    assert first.admits(Fraction(-1))
    assert not first.admits(Fraction(1))


@pytest.mark.rule("V-2")
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(assert (== D[1] B[1]))", "", "not equal in all entries"),
        ("(assert (== D[1] B[1]))", "(assert (== D[1] B[0]))", "not equal in all entries"),
        ("(!= C[1] A[1]) ", "", "not all inputs"),
        ("(equal-to net)", "", "two copies of one network"),
        ("(!= C[1] A[1])", "(< C[1] A[1])", "not understood in a disjunction"),
        ("(!= C[1] A[1])", "(!= C[1] B[1])", "not all inputs"),
        ("(assert (<= C[1] 0.5))", "", "different boxes"),
        ("(assert (<= C[1] 0.5))", "(assert (<= D[1] 0.5))", "not understood"),
        ("(assert (<= C[1] 0.5))", "(assert (<= (+ C[1] C[0]) 0.5))", "not understood"),
        ("(assert (<= C[1] 0.5))", "(assert (or (!= A[0] C[0]) (!= A[1] C[1])))", "more than one disjunction"),
        ("real", "float32", "real numbers"),
        ("(declare-output B", '(declare-hidden H real [2] "h") (declare-output B', "hidden"),
        ("(equal-to net)", "(isomorphic-to net)", "only isomorphic"),
        ("(assert (or (!= C[1] A[1]) (!= A[0] C[0])))", "", "nothing says"),
        ("0.125", "1e-3", "no VNN-LIB 2.0 query"),
        ("(vnnlib-version <2.0>)", "", "no VNN-LIB 2.0 query"),
    ],
)
def test_other_shapes_are_refused(old: str, new: str, words: str) -> None:
    assert old in OTHERWISE
    text = OTHERWISE.replace(old, new) if old == "real" else OTHERWISE.replace(old, new, 1)
    with pytest.raises(IrcertError, match=words):
        understood(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (OTHERWISE.replace("real", "Real"), "query: line 4: Type mismatch in arithmetic expression: Expected"),
        (OTHERWISE.replace("real", "Real").split("(assert")[0] + "(assert (== B[0] D[0]))", "`A` is declared Real"),
        ("(declare-fun X _0 () Real)", "query: Parse error: syntax error at line 1"),
    ],
)
def test_refusals_name_the_place_and_the_type_as_it_is_written(text: str, words: str) -> None:
    """V-2."""
    with pytest.raises(IrcertError) as refused:
        asked(parsed(text))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_separation_needs_both_directions() -> None:
    both = "(>= (- A[{0}] C[{0}]) 0.5) (<= (- A[{0}] C[{0}]) -0.5)"
    old = "(or (!= C[1] A[1]) (!= A[0] C[0]))"
    assert understood(OTHERWISE.replace(old, f"(or {both.format(0)} {both.format(1)})")).separation == Fraction(1, 2)
    turned = "(>= (- A[1] C[1]) 0.5) (>= (- C[1] A[1]) 0.5)"
    assert understood(OTHERWISE.replace(old, f"(or {both.format(0)} {turned})")).separation == Fraction(1, 2)
    for second in ("(>= (- A[1] C[1]) 0.5)", "(!= A[1] C[1])", both.format(1).replace("0.5", "0.25")):
        with pytest.raises(IrcertError, match="another shape"):
            understood(OTHERWISE.replace(old, f"(or {both.format(0)} {second})"))

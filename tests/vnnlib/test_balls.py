"""Balls of norms 1 and 2 in queries: understood exactly as they are written, and answered."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import IrcertError
from ircert.geometry.norm import Norm
from ircert.vnnlib.balls import ExactBall
from ircert.vnnlib.queries import Asked, asked, parsed
from ircert.vnnlib.text import query_text
from ircert.vnnlib.verifying import verified
from tests.vnnlib.test_text import network
from tests.vnnlib.test_verifying import FIRST, FOLD, answer

X_SQUARES = "(+ (* (- x[0,0] 1.0) (- x[0,0] 1.0)) (* (- x[0,1] 1.0) (- x[0,1] 1.0)))"
X_BALL = f"(assert (<= {X_SQUARES} 2.25))"


def written(norm: str = "2", radius: float = 1.5, **given: Any) -> str:
    return query_text(FOLD, ircert.Query(given.pop("problem", "local"), [1.0, 1.0], radius, norm, **given))


def understood(text: str) -> Asked:
    return asked(parsed(text))


@pytest.mark.rule("V-2")
@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("norm", ["1", "2"])
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
def test_balls_are_read_as_they_were_written(problem: str, norm: str, size: int) -> None:
    center, radius = np.random.default_rng(size).normal(size=size), 0.1
    other = network(size, 1) if problem == "transform" else None
    found = understood(query_text(network(size), ircert.Query(problem, center, radius, norm, other)))
    assert found.problem == problem
    if norm == "1" and size == 1:  # its sides are those of the box
        assert found.ball(0) is None
        return
    wanted = ExactBall(Norm(norm), tuple(map(Fraction, center.tolist())), Fraction(radius) ** int(norm))
    assert found.ball(0) == wanted
    assert found.ball(1) == (None if problem == "pseudo" else wanted)
    assert wanted.rounded() == [(center.tolist(), radius)] * 2


# |x| folds where a coordinate is 0, which is at the distance 1 from (1, 1) in every norm; a pair needs both sides of it
@pytest.mark.rule("V-4")
@pytest.mark.parametrize("domain", [None, (-8, 8), (-0.5, 1.25), (0, 4)])
@pytest.mark.parametrize("radius", [0.75, 1.0, 1.25])
@pytest.mark.parametrize("norm", ["inf", "1", "2"])
@pytest.mark.parametrize("problem", ["local", "transform"])
def test_known_answers(problem: str, norm: str, radius: float, domain: Any) -> None:
    other = FIRST if problem == "transform" else None
    query = ircert.Query(problem, [1.0, 1.0], radius, norm, other, domain)
    found = answer(FOLD, query)
    assert found.word == ("sat" if radius > 1 and domain != (0, 4) else "unsat")
    if found.word == "sat":
        assert query.ball.contains(found.values["x"])
        assert query.ball.contains(found.values["y"])
        assert list(FOLD.exact(found.values["x"])) == list(FOLD.exact(found.values["y"]))


@pytest.mark.rule("V-4")
@pytest.mark.parametrize("domain", [None, (-8, 8), (0, 8)])
@pytest.mark.parametrize(("radius", "word"), [(0.4375, "unsat"), (0.5, "sat"), (1.0, "sat")])
@pytest.mark.parametrize("norm", ["inf", "1", "2"])
def test_known_answers_about_a_centre(norm: str, radius: float, word: str, domain: Any) -> None:
    query = ircert.Query("pseudo", [0.25, 3.0], radius, norm, domain=domain)
    found = answer(FOLD, query)
    assert found.word == ("unsat" if domain == (0, 8) else word)
    if found.word == "sat":
        assert (found.values["x"], found.values["y"]) == ([-0.25, 3], [0.25, 3])


@pytest.mark.rule("V-4")
@pytest.mark.parametrize("norm", ["1", "2"])
@pytest.mark.parametrize(("separation", "word"), [(0.25, "sat"), (0.625, "unsat")])
def test_separations_are_those_of_coordinates(norm: str, separation: float, word: str) -> None:
    assert answer(FOLD, ircert.Query("local", [1.0, 1.0], 1.25, norm), separation).word == word


@pytest.mark.rule("V-4")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("norm", ["1", "2"])
def test_random_networks_agree_with_certify(norm: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    layers = [(rng.integers(-4, 5, (4, 2)) / 4, rng.integers(-4, 5, 4) / 8), (rng.integers(-4, 5, (2, 4)) / 4, None)]
    graph = ircert.load(layers)
    for problem in ("local", "pseudo"):
        wanted = ircert.certify(graph, [0.5, 0.25], problem=problem, radius=0.5, norm=norm)
        found = answer(graph, ircert.Query(problem, [0.5, 0.25], 0.5, norm))
        assert found.word == {"certified": "unsat", "refuted": "sat"}[wanted.verdict]


@pytest.mark.rule("V-2")
@pytest.mark.parametrize(
    "same",
    [
        "(assert (>= 2.25 (+ (* (- 1.0 x[0,1]) (- x[0,1] 1.0) -1.0) (* (- x[0,0] 1.0) (- x[0,0] 1.0)))))",
        "(assert (<= (+ (* 2.0 x[0,0] x[0,0]) (* -4.0 x[0,0]) (* x[0,1] 2.0 (- x[0,1] 2.0))) 0.5))",
        X_BALL + X_BALL,
    ],
)
def test_writing_does_not_matter(same: str) -> None:
    assert X_BALL in written()
    found = understood(written().replace(X_BALL, same))
    assert found.ball(0) == found.ball(1) == ExactBall(Norm.TWO, (Fraction(1), Fraction(1)), Fraction(9, 4))


@pytest.mark.rule("V-2")
def test_bounds_may_be_multiples() -> None:
    text = (
        written("inf")
        .replace("(>= x[0,0] -0.5)", "(>= 1.0 (* -2.0 x[0,0]))")
        .replace("(<= x[0,1] 2.5)", "(<= -2.5 (- x[0,1]))")
    )
    found = understood(text)
    assert found.box(0) == found.box(1) == understood(written("inf")).box(0)


def test_balls_need_no_bounds_and_may_be_told_of_the_other_network() -> None:
    text = written(problem="transform", other=FIRST)
    lines = [
        line for line in text.splitlines() if not line.startswith(("(assert (>= x", "(assert (<= x", "(assert (<= y"))
    ]
    bare = "\n".join(line for line in lines if not line.startswith("(assert (>= y"))
    for query in (bare, bare.replace(X_BALL, X_BALL.replace("x[", "u["))):
        assert verified(understood(query), {"f": FOLD, "g": FIRST}).word == "sat"


@pytest.mark.rule("V-2")
@pytest.mark.parametrize(
    ("new", "words"),
    [
        (f"(assert (>= {X_SQUARES} 2.25))", "not understood: (>= (+ (*"),
        (f"(assert (<= 2.25 {X_SQUARES}))", "not understood: (<= 2.25 (+ (*"),
        (f"(assert (< {X_SQUARES} 2.25))", "not understood"),
        (f"(assert (== {X_SQUARES} 2.25))", "not understood"),
        (f"(assert (<= {X_SQUARES} -2.25))", "not understood"),
        (X_BALL.replace("(+ ", "(- "), "not understood"),
        (X_BALL.replace("2.25", "2.5"), "different boxes or balls"),
        (X_BALL.replace("x[0,1] 1.0", "x[0,1] 0.5"), "different boxes or balls"),
        (X_BALL.replace("x[0,1]", "x[0,0]"), "not understood"),
        (X_BALL.replace("x[0,1]", "y[0,1]"), "not understood"),
        (X_BALL.replace("x[", "f_x["), "not understood"),
        ("(assert (<= (* (- x[0,0] 1.0) (- x[0,0] 1.0)) 2.25))", "not understood"),
        (X_BALL.replace("(* (- x[0,0]", "(* 2.0 (- x[0,0]"), "not understood"),
        (X_BALL.replace("(* (- x[0,0]", "(* x[0,1] (- x[0,0]"), "not understood"),
        (f"(assert (<= (+ {X_SQUARES} (* x[0,0] x[0,1])) 2.25))", "not understood"),
        (X_BALL + X_BALL.replace("2.25", "2.5"), "two balls"),
        (X_BALL + "(assert (<= (+ x[0,0] x[0,1]) 2.25))", "no ball of norm 1"),
        ("", "different boxes or balls"),
    ],
)
def test_other_sums_are_refused(new: str, words: str) -> None:
    with pytest.raises(IrcertError) as refused:
        understood(written().replace(X_BALL, new))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.rule("V-2")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(assert (<= (+ x[0,0] x[0,1]) 3.5))", ""),
        ("(assert (<= (+ x[0,0] x[0,1]) 3.5))", "(assert (<= (+ x[0,0] x[0,1]) 3.25))"),
        ("(assert (<= (+ x[0,0] x[0,1]) 3.5))", "(assert (>= (+ x[0,0] x[0,1]) 3.5))"),
        ("(assert (<= (+ x[0,0] x[0,1]) 3.5))", "(assert (<= 3.5 (+ x[0,0] x[0,1])))"),
        ("(assert (<= (+ x[0,0] x[0,1]) 3.5))", "(assert (<= (+ (* 2.0 x[0,0]) x[0,1]) 3.5))"),
    ],
)
def test_other_sides_are_refused(old: str, new: str) -> None:
    assert old in written("1")
    with pytest.raises(IrcertError, match="not understood"):
        understood(written("1").replace(old, new))


@pytest.mark.parametrize("norm", ["1", "2"])
def test_single_points_are_centres(norm: str) -> None:
    text = written(norm, problem="pseudo").replace("(== y[0,0] 1.0)", "(== y[0,0] 0.5)")
    with pytest.raises(IrcertError, match="not the centre of the ball"):
        verified(understood(text), {"f": FOLD})


def test_centres_lie_within_the_bounds() -> None:
    text = written().replace(" -0.5)", " 1.25)")
    with pytest.raises(IrcertError, match="outside the bounds"):
        verified(understood(text), {"f": FOLD})


@pytest.mark.rule("V-4")
@pytest.mark.parametrize(("square", "word"), [("0.99", "unsat"), ("1.0", "unsat"), ("1.01", "sat"), ("2.0", "sat")])
def test_radii_that_are_no_floats(square: str, word: str) -> None:
    found = verified(understood(written().replace("2.25", square)), {"f": FOLD}, 20)
    assert found.word == word
    if word == "sat":
        for name in "xy":
            assert sum((v - 1) ** 2 for v in found.values[name]) <= Fraction(square)


@pytest.mark.rule("V-4")
def test_no_answer_is_wrong_beside_the_fold() -> None:
    """The ball reaches 0 by less than floats can tell, or fails to: no answer is one, a wrong one is not."""
    for sign, wrong in ((1, "unsat"), (-1, "sat")):
        square = Fraction(1) + sign * Fraction(1, 10**40)
        text = f"{int(square)}.{str(square.numerator % square.denominator).rjust(40, '0')}"
        assert Fraction(text) == square
        assert verified(understood(written().replace("2.25", text)), {"f": FOLD}, 20).word != wrong


@pytest.mark.parametrize("radius", [2.0**-600, 2.0**600])
def test_squares_beyond_the_range_of_floats_are_refused(radius: float) -> None:
    with pytest.raises(IrcertError, match="beyond the range of doubles"):
        understood(written(radius=radius))


@pytest.mark.parametrize("norm", list(Norm)[1:])
def test_rounded_balls_hold_and_are_held(norm: Norm) -> None:
    ball = ExactBall(norm, (Fraction(1, 3), Fraction(-2, 7)), Fraction(1, 10))
    (center, outer), (same, inner) = ball.rounded()
    assert center == same
    moved = sum(abs(c - Fraction(v)) for c, v in zip(ball.center, center, strict=True))
    assert moved > 0
    assert (Fraction(inner) + moved) ** norm.power <= ball.measure <= (Fraction(outer) - moved) ** norm.power
    assert outer - inner < 1e-15
    assert len(ExactBall(norm, ball.center, Fraction(1, 10**40)).rounded()) == 1  # none is held
    with pytest.raises(IrcertError, match="wider than floats"):
        ExactBall(norm, ball.center, Fraction(10**620)).rounded()

"""The question asked is the question answered: what float64 does not hold is refused, never rounded."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.cli.main import run
from ircert.errors import IrcertError, PassError, QueryError
from ircert.ir.floats import NotAFloat, exact_float, exact_floats
from ircert.questions.query import Query
from tests.result.support import fold, read

BIG = 2**53 + 1
WIDE = np.finfo(np.longdouble).nmant > 52
ROUNDED: list[Any] = [BIG, np.int64(BIG), np.uint64(BIG), Fraction(1, 3), Decimal("0.1"), 10**400, 10**5000]
ROUNDED += [np.longdouble(1) / 3] if WIDE else []
NUMBERS: list[Any] = [3, np.int64(2**60), Fraction(1, 4), Decimal("0.375"), np.float32(0.1), np.float16(0.5)]
NUMBERS += [np.longdouble(0.5), np.array(0.5), -0.0, 5e-324]
NOT_REAL = [
    1 + 0j,
    np.complex128(2),
    True,
    np.bool_(True),
    "0.5",
    b"1",
    None,
    math.nan,
    Decimal("nan"),
    [0.5],
    object(),
    np.ma.masked,
]
CLOSER = ircert.load([([[3.0], [-3.0]], [-1.0, 1.0]), ([[1.0, 1.0]], None)])
"""|3 x - 1|: the collision with the centre 0 lies at 2/3, the kink at 1/3."""


@pytest.mark.rule("Q-1")
@pytest.mark.parametrize(
    "given",
    [*ROUNDED, *NOT_REAL],
    ids=lambda v: f"{type(v).__name__}-{str(v)[:9]}" if not isinstance(v, int) else "int",
)
def test_what_is_no_float_is_refused(given: Any) -> None:
    with pytest.raises(NotAFloat):
        exact_float(given)
    with pytest.raises(NotAFloat):
        exact_floats([0.5, given])


@pytest.mark.rule("Q-1")
@pytest.mark.parametrize("given", NUMBERS)
def test_numbers_that_floats_hold(given: Any) -> None:
    assert Fraction(exact_float(given)) == Fraction(*np.longdouble(given).as_integer_ratio())
    assert math.copysign(1.0, exact_float(given)) == 1.0
    assert exact_floats([given, 0.25]).tolist() == [exact_float(given), 0.25]


@pytest.mark.rule("Q-1")
@given(st.fractions() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.floats(allow_nan=False))
def test_a_number_is_itself_or_refused(given: Any) -> None:
    try:
        number = exact_float(given)
    except NotAFloat:
        assert Fraction(float(given)) != Fraction(given)
    else:
        assert math.isinf(number) or Fraction(number) == Fraction(given)


@pytest.mark.rule("Q-1")
def test_masked_entries_are_no_numbers() -> None:
    masked = np.ma.masked_array([0.0, 1.0], mask=[False, True])
    with pytest.raises(QueryError, match="masked"):
        Query("local", center=masked, radius=1.0)
    with pytest.raises(IrcertError, match="masked"):
        ircert.load([(masked.reshape(1, 2), None)])
    assert exact_floats(np.ma.masked_array([0.0, 1.0], mask=False)).tolist() == [0.0, 1.0]


@pytest.mark.rule("Q-1")
def test_arrays_are_taken_as_they_are() -> None:
    assert exact_floats(np.array([1, 2], dtype=np.uint8)).tolist() == [1.0, 2.0]
    assert exact_floats(np.array([[0.1]], dtype=np.float32)).tolist() == [[float(np.float32(0.1))]]
    given = np.array([1.0, -0.0])
    taken = exact_floats(given)
    taken[0] = 7.0
    assert given[0] == 1.0
    assert not np.signbit(taken[1])
    for wrong in (
        np.array([BIG]),
        np.array([1j]),
        np.array(["1"]),
        np.array([True]),
        np.array([np.nan]),
        [[1.0], [2.0, 3.0]],
    ):
        with pytest.raises(NotAFloat):
            exact_floats(wrong)


ASKED: dict[str, Callable[[Any], Any]] = {
    "centre": lambda v: ircert.certify(fold(), [v], max_radius=4.0),
    "radius": lambda v: ircert.certify(fold(), [0.5], radius=v),
    "max_radius": lambda v: ircert.certify(fold(), [0.5], max_radius=v),
    "tol": lambda v: ircert.certify(fold(), [0.5], tol=v),
    "domain": lambda v: ircert.certify(fold(), [0.0], domain=(0, v)),
    "domain, one number per input": lambda v: ircert.certify(fold(), [0.0], domain=([0], [v])),
    "query centre": lambda v: Query("local", [v], 1.0),
    "query radius": lambda v: Query("local", [0.5], v),
    "fix": lambda v: ircert.load([(np.eye(2), None)]).fix({1: v}),
    "regions": lambda v: ircert.enumerate_regions(fold(), ([v], 1.0)),
    "regions, a number": lambda v: ircert.enumerate_regions(fold(), (v, 1.0)),
    "regions, radius": lambda v: ircert.enumerate_regions(fold(), ([0.0], v)),
    "regions, domain": lambda v: ircert.enumerate_regions(fold(), domain=(0, v)),
    "fold_set": lambda v: ircert.fold_set(fold(), ([v], 1.0)),
    "preimages": lambda v: ircert.preimages(fold(), [1.0], ([v], 1.0)),
    "bilipschitz": lambda v: ircert.bilipschitz(fold(), ([0.5], v)),
    "observability": lambda v: ircert.observability(fold(), [], [0], [v]),
    "program": lambda v: ircert.program(fold(), Query("local", [0.5], 1.0, domain=(0, v))),
}  # fmt: skip


@pytest.mark.rule("Q-1")
@pytest.mark.parametrize(
    "given", [Fraction(1, 3), BIG, np.int64(BIG), Decimal("0.1"), 0.5 + 0j, np.complex128(0.5), True, "0.5"]
)
@pytest.mark.parametrize("where", ASKED)
def test_every_question_refuses_them(where: str, given: Any) -> None:
    with pytest.raises(IrcertError) as error:
        ASKED[where](given)
    assert isinstance(error.value, QueryError | PassError)
    assert "\n" not in str(error.value)


@pytest.mark.rule("Q-1")
def test_a_third_is_not_rounded_below_a_collision() -> None:
    """The kink lies in the closed ball of radius 1/3 around 0, and the floats below 1/3 do not reach it."""
    with pytest.raises(QueryError, match=r"1/3 is no float64 number; if the nearest one is meant, give 0\.333"):
        ircert.certify(CLOSER, [0.0], radius=Fraction(1, 3))
    assert ircert.certify(CLOSER, [0.0], radius=float(Fraction(1, 3))).verdict == "certified"
    assert ircert.certify(fold(), [Fraction(1, 2)], radius=Decimal("0.25")).asked_radius == 0.25


@pytest.mark.rule("Q-1")
def test_preimages_take_rationals_exactly() -> None:
    points = ircert.preimages(fold(), ["1/3"], ([0.0], 1.0))
    assert sorted(p.exact[0] for p in points) == [Fraction(-1, 3), Fraction(1, 3)]
    with pytest.raises(IrcertError):
        ircert.preimages(fold(), [1j], ([0.0], 1.0))


@pytest.mark.rule("Q-1")
@pytest.mark.parametrize("values", [np.array([BIG]), np.array([0.5 + 0j]), np.array([True])])
def test_centres_in_files_are_not_rounded_either(
    values: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ircert.save(fold(), tmp_path / "fold.ir")
    np.save(tmp_path / "c.npy", values)
    assert run(["certify", str(tmp_path / "fold.ir"), "--center", f"@{tmp_path / 'c.npy'}"]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert "c.npy" in captured.err


# --- domains ---------------------------------------------------------------------------------------------------------

PLANE = ircert.load([(np.eye(2), None), (np.eye(2), None)])


def box(given: Any, center: Any) -> tuple[list[float], list[float]]:
    ball = Query("local", center, 1.0, domain=given).ball
    return ball.low.tolist(), ball.high.tolist()


@pytest.mark.rule("Q-2")
@pytest.mark.parametrize(
    "pairs",
    [[(0, 1), (2, 3)], ((0, 1), (2, 3)), np.array([[0, 1], [2, 3]]), [*np.array([[0, 1], [2, 3]])], [(0, 0), (1, 3)]],
)
def test_two_pairs_that_may_be_intervals_are_asked_about(pairs: Any) -> None:
    center = [0.0, 2.0]
    with pytest.raises(QueryError, match="can be read in two ways") as error:
        ircert.certify(PLANE, center, domain=pairs)
    (a, b), (c, d) = np.asarray(pairs, dtype=float).tolist()
    assert f'{{"low": [{a}, {b}], "high": [{c}, {d}]}} if the pairs are low and high' in str(error.value)
    assert f'{{"low": [{a}, {c}], "high": [{b}, {d}]}} if each is the interval' in str(error.value)


@pytest.mark.rule("Q-2")
def test_pairs_that_cannot_be_low_and_high_are_not_taken_silently() -> None:
    """The unit square in pairs, as people write it: read as low and high it would be the point (0, 1)."""
    for center in ([0.5, 0.5], [0.0, 1.0]):
        with pytest.raises(QueryError, match="two ways"):
            ircert.certify(PLANE, center, domain=[(0, 1), (0, 1)])
    with pytest.raises(QueryError, match="two ways"):
        ircert.enumerate_regions(PLANE, domain=[(0, 1), (2, 3)])
    three = ircert.load([(np.eye(3), None)])
    with pytest.raises(
        QueryError, match=r'for these pairs write {"low": \[0.0, 2.0, 4.0\], "high": \[1.0, 3.0, 5.0\]}'
    ):
        ircert.certify(three, [0.0, 2.0, 4.0], domain=[(0, 1), (2, 3), (4, 5)])
    with pytest.raises(QueryError, match="for these pairs write"):
        ircert.certify(fold(), [0.5], domain=[(0, 1)])


@pytest.mark.rule("Q-2")
def test_low_and_high_where_nothing_else_can_be_meant() -> None:
    assert box((0, 1), [0.5, 1.0]) == ([0.0, 0.0], [1.0, 1.0])
    assert box(([0, 0], [1, 1]), [0.0, 1.0]) == ([0.0, 0.0], [1.0, 1.0])
    assert box(([-1, -2], [3, 4]), [0.0, 0.0]) == ([-1.0, -2.0], [3.0, 4.0])
    assert box(([-1, 0], [1, 2]), [0.0, 0.0]) == ([-1.0, 0.0], [1.0, 2.0]), "as intervals it would not hold the centre"
    assert box(([0, 1], [1, 2]), [0.5, 1.5]) == ([0.0, 1.0], [1.0, 2.0]), "both are the same box"
    assert box((0, [1, 2]), [0.0, 1.0]) == ([0.0, 0.0], [1.0, 2.0])
    data = np.array([[0.0, 3.0], [2.0, 1.0]])
    assert box((data.min(axis=0), data.max(axis=0)), [0.0, 2.0]) == ([0.0, 1.0], [2.0, 3.0])
    assert box(([-math.inf, 0], math.inf), [5.0, 5.0]) == ([-math.inf, 0.0], [math.inf, math.inf])


@pytest.mark.rule("Q-2")
@pytest.mark.parametrize("pairs", [[[0, 1], [2, 3]], [[0, 2], [1, 3]]])
def test_named_sides_are_never_unclear(pairs: Any) -> None:
    low, high = pairs
    assert box({"low": low, "high": high}, [0.5, 2.0]) == (low, high)
    result = ircert.certify(PLANE, [0.5, 2.0], domain={"low": low, "high": high}, max_radius=9.0)
    asked = read(result.to_json())["domain"]
    assert asked == {"low": low, "high": high}
    assert ircert.certify(PLANE, [0.5, 2.0], domain=asked).radius.certified == math.inf
    for wrong in ({"low": 0}, {"low": 0, "high": 1, "top": 2}, {}):
        with pytest.raises(QueryError, match="keys low and high"):
            box(wrong, [0.5, 2.0])


@pytest.mark.rule("Q-2")
def test_the_command_line_names_the_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ircert.save(PLANE, tmp_path / "plane.ir")
    question = ["--center", "0.5,2", "--domain", "0,1:2,3", "--json", "-"]
    assert run(["certify", str(tmp_path / "plane.ir"), *question]) == 0
    assert read(capsys.readouterr().out)["domain"] == {"low": [0.0, 1.0], "high": [2.0, 3.0]}


@pytest.mark.rule("Q-2")
@pytest.mark.parametrize("engine", ["regions", "boxes"])
@pytest.mark.parametrize("ball", [{}, {"radius": 0.5}])
def test_engines_keep_the_box_they_are_given(engine: str, ball: dict[str, Any]) -> None:
    """A box that would be unclear if it were written as two pairs, for a map that folds over at x = 1/2."""
    folded = ircert.load(
        [([[1.0, 0], [-1.0, 0], [0, 1.0], [0, -1.0]], [-0.5, 0.5, 0, 0]), ([[1.0, 1.0, 0, 0], [0, 0, 1.0, -1.0]], None)]
    )
    found = ircert.certify(
        folded, [0.25, 2.5], domain={"low": [0, 1], "high": [2, 3]}, engine=engine, time_limit=20, **ball
    )
    assert found.verdict == ("refuted" if ball else "certified")
    assert found.witness is not None

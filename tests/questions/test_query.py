"""Questions: numbers that floats do not hold are refused, never rounded."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.cli.main import run
from ircert.errors import IrcertError, PassError, QueryError
from ircert.questions.query import Query
from tests.result.support import fold

BIG = 2**53 + 1


WIDE = np.finfo(np.longdouble).nmant > 52


ROUNDED: list[Any] = [BIG, np.int64(BIG), np.uint64(BIG), Fraction(1, 3), Decimal("0.1"), 10**400, 10**5000]


ROUNDED += [np.longdouble(1) / 3] if WIDE else []


NUMBERS: list[Any] = [3, np.int64(2**60), Fraction(1, 4), Decimal("0.375"), np.float32(0.1), np.float16(0.5)]


NUMBERS += [np.longdouble(0.5), np.array(0.5), -0.0, 5e-324]


CLOSER = ircert.load([([[3.0], [-3.0]], [-1.0, 1.0]), ([[1.0, 1.0]], None)])
"""|3 x - 1|: the collision with the centre 0 lies at 2/3, the kink at 1/3."""


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

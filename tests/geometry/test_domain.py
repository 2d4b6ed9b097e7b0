"""Domains as people write them: one reading, or a question back."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.cli.main import run
from ircert.errors import QueryError
from ircert.questions.query import Query
from tests.result.support import fold, read

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

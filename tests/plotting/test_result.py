"""`plot_result`: everything about an answer in one picture."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import QueryError
from ircert.geometry.norm import Norm
from ircert.plotting import new_axes, plot_result
from ircert.questions.query import Query
from ircert.result.radius import End, Radius
from ircert.result.result import ModelFacts, Result
from ircert.result.witness import report
from tests.plotting.stand_in import enumerate_regions
from tests.plotting.support import FOLD, TALL, answer, drawn, labels, vertices

pytestmark = pytest.mark.usefixtures("geometry")


def test_everything_is_there() -> None:
    local = ircert.certify(FOLD, [0.5, 1.0])
    pseudo = ircert.certify(FOLD, [0.5, 1.0], problem="pseudo")
    ax = plot_result(local, balls=[pseudo], preimages=True, window=2.5)
    assert len(drawn(ax, "cells")[0].get_paths()) == 4
    assert len(drawn(ax, "folds")[0].get_segments()) == 4
    assert drawn(ax, "center")[0].get_xydata().tolist() == [[0.5, 1.0]]
    solutions = {tuple(p) for p in np.round(drawn(ax, "preimages")[0].get_xydata(), 9) + 0.0}
    assert solutions == {(x, y) for x in (-0.5, 0.5) for y in (-1.0, 1.0)}
    assert np.round(drawn(ax, "witness")[0].get_xydata(), 9).tolist() == [[-0.5, 1.0], [0.5, 1.0]]
    assert [round(float(np.ptp(vertices(b)[:, 0])), 5) for b in drawn(ax, "certified-ball")] == [1.0, 2.0]
    assert drawn(ax, "refuted-ball") == []  # the brackets are closed
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x₀", "x₁")
    np.testing.assert_allclose([*ax.get_xlim(), *ax.get_ylim()], [-2, 3, -1.5, 3.5])
    assert set(labels(ax)) == {
        "fold set J₀",
        "witness: f(x) = f(y)",
        "preimages of f(c)",
        "centre c",
        "f injective: r = 0.4999 (∞-norm)",
        "no second preimage: R = 0.9999 (∞-norm)",
    }


def test_a_result_plots_itself() -> None:
    radius = Radius(End(0.5, "nothing collides"), End(1.0, "a pair collides"))
    pair = report(FOLD, None, Norm.ONE, [Fraction(-1, 3), Fraction(1)], [Fraction(1, 3), Fraction(1)])
    result = Result(
        verdict="unresolved",
        trust="exact",
        radius=radius,
        problem="local",
        norm=Norm.ONE,
        center=np.array([0.5, 1.0]),
        model=ModelFacts.of(FOLD),
        graph=FOLD,
        witness=pair,
        domain=(np.array([-9.0, -9.0]), np.array([9.0, np.inf])),
    )
    ax = result.plot(window=2, preimages=True)
    assert {"f injective: r = 0.5 (1-norm)", "f not injective: r = 1 (1-norm)"} <= set(labels(ax))
    np.testing.assert_allclose(drawn(ax, "witness")[0].get_xydata(), [[-1 / 3, 1.0], [1 / 3, 1.0]])
    given = new_axes()
    assert result.plot(given, regions=False, folds=False) is given


def test_parts_can_be_left_out_or_given(monkeypatch: pytest.MonkeyPatch) -> None:
    result = ircert.certify(FOLD, [0.5, 1.0], problem="pseudo")
    regions = enumerate_regions(FOLD, Query("local", [0.5, 1.0], 2.0).ball)
    for name in ("enumerate_regions", "fold_set", "preimages"):
        monkeypatch.delattr(ircert, name)
    bare = plot_result(result, regions=False, folds=False, witness=False, legend=False)
    assert [drawn(bare, gid) for gid in ("cells", "folds", "preimages", "witness")] == [[]] * 4
    assert bare.get_legend() is None
    solution = SimpleNamespace(point=np.array([-0.5, -1.0]), set=None)
    given = plot_result(result, regions=regions, folds=False, preimages=[solution], inputs=["p", "q"])
    assert len(drawn(given, "cells")[0].get_paths()) == 4
    assert len(drawn(given, "preimages")[0].get_xydata()) == 1
    assert (given.get_xlabel(), given.get_ylabel()) == ("p", "q")


def test_it_draws_on_given_axes_and_leaves_others_alone() -> None:
    from matplotlib.figure import Figure

    left, right = Figure(figsize=(8, 4)).subplots(1, 2)
    assert plot_result(answer(FOLD, [1, 1], 0.5, None), left) is left
    assert len(right.get_children()) == len(Figure().add_subplot().get_children())


@pytest.mark.parametrize(
    ("certified", "refuted", "outlines"),
    [
        (0.5, 0.5, ("f injective: r = 0.5",)),
        (0.5, 0.5000001, ("f injective: r = 0.5",)),
        (0.5, 1.0, ("f injective: r = 0.5", "f not injective: r = 1")),
        (0, 1.0, ("f not injective: r = 1",)),
        (0, 0.0, ("f not injective: r = 0",)),
        (None, 1.0, ("f not injective: r = 1",)),
        (2.0, None, ("f injective: r = 2",)),
        (1e6, None, ("f injective: r = 1e+06",)),
        (math.inf, None, ("f injective: r = ∞",)),
        (0, None, ()),
    ],
)
def test_brackets(certified: Any, refuted: Any, outlines: tuple[str, ...]) -> None:
    ax = plot_result(answer(FOLD, [0.0, 0.0], certified, refuted, norm="2"))
    assert [text for text in labels(ax) if " = " in text] == [f"{text} (2-norm)" for text in outlines]
    assert ax.get_xlim()[1] == pytest.approx({1e6: 1.0, math.inf: 1.0}.get(certified, ax.get_xlim()[1]))
    shown = [r for r in (certified, refuted) if r and r < 100]
    assert ax.get_xlim()[1] >= max(shown, default=1.0)
    ax.figure.canvas.draw()


def test_three_inputs_name_the_remedy() -> None:
    graph = ircert.parse("ircert.ir/1\nx = input(length=3)\ny = abs(x)\nreturn y\n")
    with pytest.raises(QueryError, match=r"has 3.*fix.*--fix 2=0.5"):
        plot_result(answer(graph, [0, 0, 0], 1.0, None))


def test_networks_without_determinants() -> None:
    ax = plot_result(answer(TALL, [0.5, 0.5], 1.0, None))
    assert ax.child_axes[0].get_ylabel() == "smallest singular value of Df"

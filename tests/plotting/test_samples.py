"""Smooth networks in pictures: determinants at points, folds with their boxes, preimages and what is undecided."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ircert
from ircert.cli.main import run
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.ops.curves import Cos, Tanh
from ircert.plotting import new_axes
from ircert.plotting.samples import Samples, draw_field
from tests.analysis.smooth.known import EDGE, bent, cosine, network
from tests.plotting.support import drawn, labels


def ball(size: int, radius: float) -> Ball:
    return Ball(np.zeros(size), radius, Norm.INF, np.full(size, -np.inf), np.full(size, np.inf))


def test_determinants_are_pixels_where_they_belong() -> None:
    samples = Samples(bent(Tanh(), -2.0), ball(2, 2.0))
    ax = draw_field(new_axes(), samples)
    (image,) = drawn(ax, "field")
    values = np.asarray(image.get_array())
    x = samples.middles.reshape(samples.along, samples.along, 2)[:, 0, 0]
    assert (np.sign(values) == np.sign(np.abs(x) - EDGE)).all()  # rows of the picture run along x
    assert image.get_extent() == pytest.approx([-2, 2, -2, 2])
    assert ax.child_axes[0].get_ylabel() == "det Df"


def test_singular_values_where_there_is_no_determinant() -> None:
    ax = draw_field(new_axes(), Samples(network(Tanh(), 2, outputs=3), ball(2, 1.0)))
    assert ax.child_axes[0].get_ylabel() == "smallest singular value of Df"


def test_one_input_is_a_graph_with_turning_points() -> None:
    build = ircert.Builder(1)
    graph = build.graph(build.node(Cos(), build.input))
    result = ircert.certify(graph, [1.0], max_radius=4.0, time_limit=5)
    ax = result.plot(window=4.0, preimages=True)
    assert {"rising", "falling", "turning points", "preimages of f(c)"} <= set(labels(ax))
    turns = drawn(ax, "folds")[0].get_xydata()
    assert np.allclose(turns, [[0.0, 1.0], [np.pi, -1.0]], atol=1e-9)


def test_a_picture_of_everything() -> None:
    result = ircert.certify(cosine(), [1.0, 0.0], max_radius=3.0, time_limit=5)
    ax = result.plot(window=2.5, preimages=True)
    assert len(drawn(ax, "field")) == len(drawn(ax, "folds")) == len(drawn(ax, "fold-boxes")) == 1
    assert np.allclose(drawn(ax, "preimages")[0].get_xydata(), [[-1, 0], [1, 0]])
    assert len(drawn(ax, "certified-ball")) == 1


@pytest.mark.rule("FS-6")
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    ircert.save(cosine(), "cos.ir")
    question = ["plot", "cos.ir", "--radius", "2.5", "--time-limit", "0.3", "-o", "a.svg"]
    assert run([*question, "--center", "1,0", "--preimages"]) == 0
    assert "undecided" not in capsys.readouterr().err
    assert run([*question, "--center", "0,0", "--preimages"]) == 0
    assert "warning: no preimages; whether there are more is undecided in 1 place: " in capsys.readouterr().err
    ircert.save(network(Tanh(), 2, outputs=3), "tall.ir")
    assert run(["plot", "tall.ir", "--center", "0,0", "--preimages", "--time-limit", "0.3", "-o", "a.svg"]) == 2
    assert "as many outputs as inputs" in capsys.readouterr().err


@pytest.mark.rule("FS-6")
def test_linear_regions_are_refused_with_a_remedy() -> None:
    with pytest.raises(ircert.IrcertError, match=r"no linear regions.*fold_set.*preimages"):
        ircert.enumerate_regions(cosine(), ([0.0, 0.0], 1.0))

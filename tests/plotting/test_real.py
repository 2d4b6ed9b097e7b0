"""Pictures of real answers: shapes and scales that need care."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.errors import QueryError
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh
from tests.plotting.support import drawn, labels


def network(inputs: int, outputs: int, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    layers = [(rng.standard_normal((m, n)), rng.standard_normal(m)) for n, m in ((inputs, 6), (6, outputs))]
    return ircert.load(layers)


@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3)])
def test_any_number_of_outputs(inputs: int, outputs: int) -> None:
    graph = network(inputs, outputs)
    result = ircert.certify(graph, [0.25] * inputs, max_radius=4.0)
    ax = result.plot(window=2.0)
    assert ax.get_xlim() == pytest.approx((-1.75, 2.25))
    folds = [artist for artist in ax.get_children() if artist.get_gid() == "folds"]
    assert len(folds) <= (1 if inputs == outputs else 0)


def test_a_window_finer_than_floats_is_refused_or_widened() -> None:
    tiny = 2.0**-60
    shift, fold = ([[1.0, 0.0], [0.0, 1.0]], [-1.0, 0.0]), ([[1.0, 0], [-1, 0], [0, 1], [0, -1]], [-tiny, tiny, 0, 0])
    build = ircert.Builder(2)
    hidden = build.relu(build.affine(build.affine(build.input, *shift), *fold))
    graph = build.graph(build.affine(hidden, [[1.0, 1, 0, 0], [0, 0, 1, -1]]))
    result = ircert.certify(graph, [1.0, 0.0])
    assert result.radius.certified == tiny
    low, high = result.plot().get_xlim()
    assert (low, high) == pytest.approx((1 - 2.0**-30, 1 + 2.0**-30), abs=1e-12)
    with pytest.raises(QueryError, match="finer than the numbers of its axes"):
        result.plot(window=1e-17)


def test_smooth_networks_have_balls_and_no_regions() -> None:
    build = ircert.Builder(2)
    graph = build.graph(build.add(build.input, build.affine(build.node(Tanh(), build.input), 0.5 * np.eye(2))))
    ax = ircert.certify(graph, [0.0, 0.0], radius=0.5).plot()
    assert not drawn(ax, "cells")
    assert len(drawn(ax, "center")) == 1


@pytest.mark.rule("R-12", "R-13")
@pytest.mark.parametrize("size", [1, 2])
def test_pairs_in_boxes_and_turned_points(size: int) -> None:
    build = ircert.Builder(size)
    bent = build.affine(build.node(Tanh(), build.input), -2 * np.eye(size))
    result = ircert.certify(build.graph(build.add(build.input, bent)), [3.0] * size, radius=2.5, time_limit=20.0)
    ax = result.plot(regions=False, folds=False)
    assert result.witness is not None
    assert result.turned is not None
    pair, point = drawn(ax, "witness")[0].get_xydata(), drawn(ax, "turned")[0].get_xydata()
    np.testing.assert_allclose(pair[:, :size], [result.witness.x, result.witness.y])
    np.testing.assert_allclose(point[0, :size], result.turned.y)
    assert {"witness: f(x) = f(y)", "det of the other sign"} <= set(labels(ax))
    assert drawn(result.plot(regions=False, folds=False, witness=False), "turned") == []

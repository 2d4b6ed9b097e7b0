"""Fold sets of smooth networks: boxes and lines, against curves that are known."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.analysis.smooth.fold_curves import FoldCurves
from ircert.errors import QueryError
from ircert.ir.ops.curves import HardSwish, Tanh
from tests.analysis.smooth.known import EDGE, bent, cosine, folded, network


@pytest.mark.rule("FS-2")
def test_lines_are_the_fold_and_lie_in_boxes() -> None:
    found = ircert.fold_set(folded(), ([0.0, 0.0], 3.0), width=0.05)
    assert isinstance(found, FoldCurves)
    assert len(found.curves) == 2
    for line in found.curves:
        assert np.allclose(np.abs(line[:, 0] + 0.7 * np.sin(line[:, 1])), EDGE, atol=1e-9)
        assert all(found.holds(point) for point in line)
        assert all(found.holds(point) for point in (line[1:] + line[:-1]) / 2)
        assert np.isclose(np.ptp(line[:, 1]), 6.0)
    assert found.segments.shape == (len(found), 2, 2)
    assert found.crossed.mean() > 0.95


@pytest.mark.rule("FS-1")
def test_the_area_shrinks_with_the_width() -> None:
    areas = [ircert.fold_set(folded(), ([0.0, 0.0], 3.0), width=w).area for w in (0.2, 0.1, 0.05)]
    assert areas[0] > 1.7 * areas[1] > 2.9 * areas[2]
    assert areas[2] < 1.5  # two curves about 6.5 long, in boxes 0.05 wide


@pytest.mark.rule("FS-2")
def test_a_closed_fold_is_a_closed_line() -> None:
    """(x, y - 0.7 (tanh(y + x) + tanh(y - x))): the determinant is below 0 around the origin alone."""
    build = ircert.Builder(2)
    sides = build.node(Tanh(), build.affine(build.input, [[1.0, 1.0], [-1.0, 1.0]]))
    g = build.graph(build.add(build.input, build.affine(sides, [[0.0, 0.0], [-0.7, -0.7]])))
    found = ircert.fold_set(g, ([0.1, 0.0], 2.0), width=0.05)
    (line,) = found.curves
    assert (line[0] == line[-1]).all()
    x, y = line.T
    assert np.allclose(np.cosh(y + x) ** -2 + np.cosh(y - x) ** -2, 1 / 0.7, atol=1e-9)


@pytest.mark.rule("FS-3")
def test_a_determinant_that_touches_zero_is_undecided_and_kept() -> None:
    """x - tanh(x) has the slope tanh(x)^2, which is 0 at 0 and nowhere negative."""
    found = ircert.fold_set(bent(Tanh(), -1.0), ([0.1, 0.0], 1.0), width=0.1)
    assert found.curves == []
    assert len(found.undecided) == len(found.boxes) > 0
    assert ((found.undecided[:, 0, 0] <= 0) & (found.undecided[:, 1, 0] >= 0)).any()
    assert all(found.holds((0.0, y)) for y in np.linspace(-1, 1, 17))
    assert "undecided" in repr(found)


@pytest.mark.rule("FS-2")
def test_determinants_that_jump_at_kinks() -> None:
    """The slope of x + 2.5 hard_swish(x) jumps from 1 to -1/4 at -3, and is 0 a little further on."""
    found = ircert.fold_set(bent(HardSwish(), 2.5), ([-2.0, 0.0], 2.0), width=0.05)
    where = np.sort([line[:, 0].mean() for line in found.curves])
    assert np.allclose(where, [-3.0, -2.7], atol=1e-7)
    assert found.crossed.all()


def test_one_input() -> None:
    build = ircert.Builder(1)
    g = build.graph(build.add(build.input, build.affine(build.node(Tanh(), build.input), [[-2.0]])))
    found = ircert.fold_set(g, ([0.0], 3.0))
    assert found.segments.shape == (2, 2, 1)
    assert np.allclose(found.segments[:, 0, 0], [-EDGE, EDGE])
    assert found.crossed.all()


def test_a_domain_cuts_and_long_boxes_are_cut_along_their_length() -> None:
    found = ircert.fold_set(cosine(), domain=([-0.5, 0.0], [10.0, 0.1]), width=0.05)
    sides = found.boxes[:, 1] - found.boxes[:, 0]
    assert (sides <= 0.05 * (1 + 1e-12)).all()
    assert found.boxes[:, :, 0].min() >= -0.5
    assert found.boxes[:, :, 1].max() <= 0.1
    assert np.allclose([line[:, 0].mean() for line in found.curves], np.arange(4) * np.pi)


def test_refusals() -> None:
    for width in (-1.0, 0, np.inf, np.nan, True, "narrow"):
        with pytest.raises(QueryError, match="width"):
            ircert.fold_set(cosine(), ([0.0, 0.0], 1.0), width=width)  # type: ignore[arg-type]
    assert ircert.fold_set(cosine(), ([0.0, 0.0], 1.0), width=np.float32(0.5)).width <= 0.5  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="as many outputs"):
        ircert.fold_set(network(Tanh(), 2, outputs=3), ([0.0, 0.0], 1.0))
    with pytest.raises(QueryError, match="one or two inputs"):
        ircert.fold_set(network(Tanh(), 3), ([0.0] * 3, 1.0))
    with pytest.raises(QueryError, match="no width"):
        ircert.fold_set([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])], ([0.0, 0.0], 1.0), width=0.1)

"""Ranges hold the values at random points, and say 0 is never met only where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.ir.ops import Add, Relu
from ircert.ir.ops.curves import Elu, Sigmoid, Silu, Sin, Softplus, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.piecewise import Abs, Clip, LeakyRelu, Max, Min
from ircert.ir.ops.smooth import Product, Reciprocal
from ircert.ir.ops.square import Square
from ircert.structure.range import Range
from ircert.structure.ranges import ranges
from tests.structure.scales import SCALES, TRAPS

ONE = [Tanh(), Sigmoid(), Softplus(), Elu(0.5), Sin(), Silu(), Exp(), Abs(), Square()]
ONE += [LeakyRelu(np.array([0.25])), LeakyRelu(np.array([-0.5])), Clip(np.array([-0.5]), np.array([2.0]))]
TWO = [Product(), Max(), Min(), Add()]


@pytest.mark.rule("ST-5", "L-9")
@settings(max_examples=60)
@given(st.data(), st.sampled_from([None, 0.0, 0.25, 4.0]))
def test_ranges_hold_all_values(data: st.DataObject, radius: float | None) -> None:
    """On the whole space, and on boxes around 0."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    build = ircert.Builder(2)
    names = [build.input]
    for _ in range(6):
        op = data.draw(st.sampled_from([None, Relu(), *ONE, *TWO]))
        a, b = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
        if op is None:
            names.append(build.affine(a, rng.integers(-2, 3, (2, 2)), rng.integers(-2, 3, 2)))
        else:
            names.append(build.node(op, *([a, b] if type(op) in map(type, TWO) else [a])))
    start = None if radius is None else Range.between(2, -radius, radius)
    found = ranges(build.graph(names[-1]), start)
    points = rng.normal(size=(50, 2)) * np.exp2(rng.integers(-8, 3, (50, 1)))
    points = points if radius is None else np.clip(points, -radius, radius)
    for name in names:
        if name in found:
            with np.errstate(all="ignore"):  # exp of exp of exp
                values, known = build.graph(name)(points), found[name]
            values = values[np.isfinite(values).all(axis=1)]
            assert (values >= known.low - 1e-9 * np.abs(values)).all()
            assert (values <= known.high + 1e-9 * np.abs(values)).all()
            assert not ((values < 0) & known.positive).any()
            assert not ((values > 0) & known.negative).any()


@pytest.mark.rule("ST-5")
@pytest.mark.parametrize("name", SCALES)
def test_scales_of_one_sign(name: str) -> None:
    graph = SCALES[name]
    assert ranges(graph)[graph.output].never_zero.all()


@pytest.mark.rule("ST-5")
@pytest.mark.parametrize("name", TRAPS)
def test_scales_that_may_be_zero(name: str) -> None:
    graph = TRAPS[name]
    assert not ranges(graph)[graph.output].never_zero.any()


@pytest.mark.rule("ST-5")
def test_signs() -> None:
    build = ircert.Builder(2)
    scale = build.node(Exp(), build.input)
    down = build.affine(scale, -np.eye(2))
    both = build.affine(scale, [[1.0, -1.0], [1.0, 1.0]])
    over = build.node(Reciprocal(), build.node(Product(), scale, down))
    shifted = build.affine(build.node(Sigmoid(), build.input), np.eye(2), [0.0, -0.5])
    known = ranges(build.graph(build.concat(both, over, shifted)))
    assert known[scale].positive.all()
    assert known[down].negative.all()
    assert known[both].never_zero.tolist() == [False, True]
    assert known[over].negative.all()
    assert known[shifted].never_zero.tolist() == [True, False]

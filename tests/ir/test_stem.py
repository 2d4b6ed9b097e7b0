from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.ir.boxed_pair import BoxedPair, fault_of
from ircert.ir.graph import Graph
from ircert.ir.ops import Abs, Product
from ircert.ir.ops.curves import Tanh
from ircert.ir.stem import agrees, shares_region, stem


def gated() -> Graph:
    """tanh(relu(x0 + 1)) relu(x1), and relu(x1) beside it."""
    build = ircert.Builder(2)
    first = build.relu(build.affine(build.select(build.input, [0]), [[1.0]], [1.0]))
    second = build.relu(build.select(build.input, [1]))
    product = build.node(Product(), build.node(Tanh(), first), second)
    return build.graph(build.concat(product, second))


def test_it_ends_where_curves_and_products_read() -> None:
    front = stem(gated())
    assert front is not None
    assert all(node.op.core for node in front.nodes)
    assert sorted(front([2.0, 3.0]).tolist()) == [3.0, 3.0]
    assert front.output_dim == 2


def test_it_is_nothing_new_where_the_input_is_read() -> None:
    build = ircert.Builder(2)
    assert stem(build.graph(build.add(build.input, build.node(Tanh(), build.affine(build.input, np.eye(2)))))) is None
    lowered = stem(build.graph(build.node(Tanh(), build.node(Abs(), build.input))))
    assert lowered is not None
    assert lowered.exact([-2, Fraction(1, 3)]).tolist() == [2, Fraction(1, 3)]


@pytest.mark.rule("R-13")
def test_points_at_which_it_agrees() -> None:
    graph, zero = gated(), [Fraction(0)] * 2
    x, y, z = ([Fraction(v) for v in point] for point in ((-2, 1), (-3, 1), (-3, 2)))
    assert agrees(graph, x, y)
    assert not agrees(graph, x, z)
    assert fault_of(graph, BoxedPair(x, y, zero, zero)) is None
    assert fault_of(graph, BoxedPair(x, z, zero, zero)) is not None
    assert fault_of(graph, BoxedPair(x, x, zero, zero)) == "the boxes of x and y overlap"


def test_regions_are_shared_where_no_sign_changes() -> None:
    x, y, z = ([Fraction(v) for v in point] for point in ((-2, 1), (-1, 0), (0, 1)))
    assert shares_region(gated(), [x, y])
    assert shares_region(gated(), [y, z])
    assert not shares_region(gated(), [x, y, z])

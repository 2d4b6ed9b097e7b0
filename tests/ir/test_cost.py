"""What exact evaluation costs is bounded before it is done."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.ir.build import Builder
from ircert.ir.cost import MOST_IN_NODE, bounds, is_affordable
from ircert.ir.graph import Graph
from ircert.ir.ops import Conv, Product
from ircert.ir.rational import Rationals, common_denominator
from ircert.testing import graphs


@st.composite
def networks(draw: st.DrawFn) -> Graph:
    """Networks with every exact operation, at times a product of their outputs with themselves."""
    graph = draw(graphs(nodes=8))
    build = Builder(graph.input_dim)
    output = build.insert(graph, build.input)
    for _ in range(draw(st.integers(0, 3))):
        output = build.node(Product(), output, output)
    return build.graph(output)


@given(networks(), st.data())
def test_no_number_is_longer_than_its_bound(graph: Graph, data: st.DataObject) -> None:
    coordinates = st.fractions(max_denominator=10 ** data.draw(st.integers(0, 40)))
    x = data.draw(st.lists(coordinates, min_size=graph.input_dim, max_size=graph.input_dim))
    point = Rationals.of_fractions(x)
    size = max(int(abs(v)).bit_length() for v in x)
    values: dict[str, Rationals] = {}
    for node, bound in bounds(graph, size):
        operands = [values[name] for name in node.operands]
        value = values[node.name] = node.op.exact(*operands) if operands else point
        longest = max(int(n).bit_length() for n in [*value.numerators, value.denominator])
        assert longest <= bound.bits(int(point.denominator).bit_length())


def test_honest_networks_are_affordable() -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.standard_normal((64, 64)), rng.standard_normal(64)) for _ in range(30)]
    assert is_affordable(ircert.load(layers), 10**20_000, 4)
    image = Builder(3 * 32 * 32)
    conv = Conv((3, 32, 32), rng.standard_normal((16, 3, 3, 3)), padding=(1, 1, 1, 1))
    assert is_affordable(image.graph(image.relu(image.node(conv, image.input))), 10**1000, 4)


@pytest.mark.parametrize("bits", [1, 2**10])
def test_products_that_square_again_and_again_are_not(bits: int) -> None:
    build = Builder(1)
    output = build.input
    for _ in range(34):
        output = build.node(Product(), output, output)
    assert not is_affordable(build.graph(output), 1 << bits, 1)
    assert is_affordable(build.graph("product_9"), 1 << bits, 1)
    assert MOST_IN_NODE < 2**34


@pytest.mark.rule("C-6")
def test_long_numbers_over_different_denominators_take_longer_than_they_are() -> None:
    """x^8 + x^4 needs a common multiple, x^8 + 2 x^8 does not."""
    for other, expected in ((2, False), (3, True)):
        build = Builder(1)
        powers = [build.input]
        for _ in range(3):
            powers.append(build.node(Product(), powers[-1], powers[-1]))
        sums = [build.add(powers[3], build.affine(powers[other], [[2.0**k]])) for k in range(300)]
        assert is_affordable(build.graph(build.concat(*sums)), 1 << 2**19, 1) == expected


@given(st.lists(st.integers(1, 10**30), max_size=9))
def test_common_denominators(given: list[int]) -> None:
    common = common_denominator(given)
    assert sum((Fraction(1, d) for d in given), Fraction(0)) * common % 1 == 0
    assert all(common % d == 0 for d in given)
    assert common == int(np.lcm.reduce(np.array([1, *given], dtype=object)))
    if common > 1:
        with pytest.raises(ValueError, match="common denominator"):
            common_denominator([1, *given], common.bit_length() - 1)

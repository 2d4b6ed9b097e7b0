from __future__ import annotations

from fractions import Fraction

import numpy as np

import ircert
from ircert.ir.cost import bounds
from ircert.ir.ops import Product, Square
from ircert.testing import check_operation


def test_it_is_the_product_with_itself() -> None:
    check_operation(Square(), 3)
    build = ircert.Builder(2)
    square, product = (
        build.graph(build.node(Square(), build.input)),
        build.graph(build.node(Product(), build.input, build.input)),
    )
    point = [Fraction(1, 3), -0.1]
    assert square.exact(point).tolist() == product.exact(point).tolist()
    assert np.array_equal(square([1e200, -3.0]), [np.inf, 9.0])
    assert [float(v.mid()) for v in square.enclosure([3, 0.5])] == [9.0, 0.25]
    assert [b for _, b in bounds(square, 5)] == [b for _, b in bounds(product, 5)]

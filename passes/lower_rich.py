"""lower-rich: rich operations become affine maps and relu, products become squares, and curves (tanh, gelu, …) stay."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse import hstack

from ircert.ir.arrays import Array, diagonal, identity
from ircert.ir.build import Builder
from ircert.ir.evaluate import all_values
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Curve, Product, Square, is_smooth
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.canonicalize import Canonicalize
from ircert.passes.rebuilding import rebuild

SAMPLES, MOST_NUMBERS = 64, 2**24
"""Points at which factors of products are looked at, as far as all values there are no more numbers than that."""
FARTHEST = 20
"""Factors are measured in powers of two up to this one."""


@dataclass(frozen=True)
class LowerRich(GraphPass):
    """What `canonicalize` does, in graphs that have curves or products as well; a product a b becomes u² - v² with
    u, v = (s a ± b / s) / 2. Operations that are neither are refused by name."""

    name = "lower-rich"
    ensures = ("lowered",)

    def run(self, source: Graph) -> Rewrite[Graph]:
        """Lower node by node; without a curve or a product it is `canonicalize`."""
        if not any(is_smooth(node.op) for node in source.nodes):
            return Canonicalize().run(source)
        return Rewrite(rebuild(source, partial(_lowered, _scales(source))))


def _lowered(scales: dict[str, Array], build: Builder, node: Node, operands: tuple[str, ...]) -> str | None:
    if isinstance(node.op, Product):
        return _squares(build, operands, scales[node.name])
    return None if node.op.core or isinstance(node.op, Curve) else node.op.lower(build, *operands)


def _squares(build: Builder, factors: tuple[str, ...], scale: Array) -> str:
    """a b = u² - v²; all numbers in it are powers of two."""
    if factors[0] == factors[1]:
        return build.node(Square(), factors[0])
    first, second = diagonal(scale / 2), diagonal(0.5 / scale)
    both = build.concat(*factors)
    u, v = (build.affine(both, hstack([first, side], format="csr")) for side in (second, -second))
    squares = build.concat(build.node(Square(), u), build.node(Square(), v))
    one = identity(len(scale))
    return build.affine(squares, hstack([one, -one], format="csr"))


def _scales(source: Graph) -> dict[str, Array]:
    """For each product powers of two s with which s a and b / s vary about equally, near 0: errors of both factors
    count alike then. Any s is right."""
    products = [node for node in source.nodes if isinstance(node.op, Product)]
    if not products:
        return {}
    count = max(2, min(SAMPLES, MOST_NUMBERS // sum(source.sizes.values())))
    points = np.random.default_rng(0).standard_normal((count, source.input_dim))
    with np.errstate(all="ignore"):
        values = all_values(source, points)
        found = {}
        for node in products:
            a, b = (values[name].std(axis=0) for name in node.operands)
            powers = np.round(np.log2(b / a) / 2)
            found[node.name] = np.exp2(np.clip(np.where(np.isfinite(powers), powers, 0.0), -FARTHEST, FARTHEST))
    return found

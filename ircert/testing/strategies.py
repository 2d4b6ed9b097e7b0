"""Hypothesis strategies for graphs and points, valid by construction: dimensions first, then numbers.

Half of all networks have dyadic weights k/8, which shrink well and never round in a few operations; the other half have
full-mantissa weights (float64 or float32), which round almost always.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ircert.ir.arrays import Array
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import Abs, AveragePool, Clip, Conv, LeakyRelu, Max, MaxPool, Min

Draw = Callable[[st.SearchStrategy[Any]], Any]


def numbers(kind: str) -> st.SearchStrategy[float]:
    """Weights: "dyadic" (k/8 with |k| <= 32), "float64" or "float32" (full mantissas of moderate size)."""
    return vectors(kind, 1).map(lambda vector: float(vector[0]))


def vectors(kind: str, size: int) -> st.SearchStrategy[Array]:
    """Vectors of weights. Full mantissas come from a drawn seed: hypothesis's own floats are mostly short ones, which
    do not round; a quarter of them are 0, 1 or -1."""
    if kind == "dyadic":
        eighths = st.lists(st.integers(-32, 32), min_size=size, max_size=size)
        return eighths.map(lambda values: np.array(values) / 8)
    return st.integers(0, 2**32 - 1).map(lambda seed: _full_mantissas(seed, size, kind))


def _full_mantissas(seed: int, size: int, kind: str) -> Array:
    rng = np.random.default_rng(seed)
    simple = rng.choice([0.0, 1.0, -1.0], size)
    values = np.where(rng.random(size) < 0.25, simple, 2.0 * rng.standard_normal(size))
    return values if kind == "float64" else values.astype(np.float32).astype(np.float64)


KINDS = ("dyadic", "dyadic", "float64", "float32")
"""Kinds of weights, dyadic half of the time."""


@st.composite
def points(draw: Draw, graph: Graph) -> NDArray[np.float64]:
    """A point of the graph's domain: dyadic, or with full mantissas."""
    return _vector(draw, draw(st.sampled_from(["dyadic", "float64"])), graph.input_dim)


@st.composite
def mlps(
    draw: Draw,
    *,
    inputs: int = 4,
    width: int = 6,
    depth: int = 3,
    sparse: bool = True,
    kinds: tuple[str, ...] = KINDS,
) -> Graph:
    """Plain MLPs: x -> affine -> (relu -> affine)*, some pruned and some with repeated neurons."""
    kind = draw(st.sampled_from(kinds))
    build = Builder(draw(st.integers(1, inputs)))
    x = build.input
    for _ in range(draw(st.integers(0, depth))):
        x = build.relu(_affine(draw, build, kind, x, draw(st.integers(1, width)), sparse))
    return build.graph(_affine(draw, build, kind, x, draw(st.integers(1, 3)), sparse))


@st.composite
def residual_networks(draw: Draw, *, width: int = 3, blocks: int = 3, depth: int = 2) -> Graph:
    """Blocks x + g(x) in a row, with identity or projection shortcuts over one or more layers."""
    kind = draw(st.sampled_from(KINDS))
    build = Builder(draw(st.integers(1, width)))
    x = build.input
    for _ in range(draw(st.integers(1, blocks))):
        branch = x
        for _ in range(draw(st.integers(1, depth))):
            branch = build.relu(_affine(draw, build, kind, branch, draw(st.integers(1, width)), True))
        project = draw(st.booleans())
        size = draw(st.integers(1, width)) if project else build.size(x)
        shortcut = _affine(draw, build, kind, x, size, True) if project else x
        x = build.add(_affine(draw, build, kind, branch, size, True), shortcut)
        if draw(st.booleans()):
            x = build.relu(x)
    return build.graph(x)


@st.composite
def graphs(draw: Draw, *, inputs: int = 4, nodes: int = 8, width: int = 6, rich: bool = True) -> Graph:
    """Any graph: every operation on recent nodes, everything that was made used; `rich=False`: core operations only."""
    kind = draw(st.sampled_from(KINDS))
    build = Builder(draw(st.integers(1, inputs)))
    for _ in range(draw(st.integers(1, nodes))):
        steps = [*_CORE_STEPS, *(_RICH_STEPS if rich else ())]
        draw(st.sampled_from(steps))(draw, build, kind, width)
    return build.graph(_joined_ends(draw, build))


# --- one step per operation: each draws operands among the nodes so far and adds a node -----------------------------


def _affine_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    _affine(draw, build, kind, _any_node(draw, build), draw(st.integers(1, width)), True)


def _affine_sum_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    x, size = _any_node(draw, build), draw(st.integers(1, width))
    build.add(*(_affine(draw, build, kind, x, size, True) for _ in range(draw(st.integers(2, 3)))))


def _layer_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    _affine_step(draw, build, kind, width)
    build.relu(next(reversed(build.nodes)))


def _relu_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    build.relu(_any_node(draw, build))


def _add_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    build.add(*_equal_nodes(draw, build))


def _concat_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    build.concat(_any_node(draw, build), _any_node(draw, build))


def _select_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    x = _any_node(draw, build)
    build.select(x, draw(st.lists(st.integers(0, build.size(x) - 1), min_size=1, max_size=width)))


def _leaky_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    x = _any_node(draw, build)
    size = draw(st.sampled_from([1, build.size(x)]))
    build.node(LeakyRelu(_vector(draw, kind, size)), x)


def _abs_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    build.node(Abs(), _any_node(draw, build))


def _extreme_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    build.node(draw(st.sampled_from([Max(), Min()])), *_equal_nodes(draw, build))


def _clip_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    x = _any_node(draw, build)
    size = draw(st.sampled_from([1, build.size(x)]))
    sides = draw(st.sampled_from(["low", "high", "both"]))
    low = None if sides == "high" else _vector(draw, kind, size)
    high = None if sides == "low" else _vector(draw, kind, size)
    build.node(Clip(low, high), x)


def _image_step(draw: Draw, build: Builder, kind: str, width: int) -> None:
    """Bring some node to the size of a small image, then convolve or pool it."""
    image = (draw(st.integers(1, 2)), draw(st.integers(2, 3)), draw(st.integers(1, 3)))
    x = _affine(draw, build, kind, _any_node(draw, build), int(np.prod(image)), True)
    kernel = (draw(st.integers(1, 2)), draw(st.integers(1, image[2])))
    stride = (draw(st.integers(1, 2)), draw(st.integers(1, 2)))
    padding = tuple(draw(st.lists(st.integers(0, 1), min_size=4, max_size=4))) if kernel[0] > 1 < kernel[1] else ()
    choice = draw(st.sampled_from(["conv", "average", "max"]))
    if choice == "conv":
        groups = draw(st.sampled_from([1, image[0]]))
        shape = (groups * draw(st.integers(1, 2)), image[0] // groups, *kernel)
        weight = _vector(draw, kind, int(np.prod(shape))).reshape(shape)
        build.node(Conv(image, weight, _vector(draw, kind, shape[0]), stride, padding, (), groups), x)
    elif choice == "average":
        build.node(AveragePool(image, kernel, stride, padding, (), draw(st.booleans())), x)
    else:
        build.node(MaxPool(image, kernel, stride, padding), x)


_CORE_STEPS = (
    *(_affine_step, _affine_step, _affine_sum_step, _layer_step, _layer_step, _layer_step, _relu_step),
    *(_add_step, _concat_step, _select_step),
)
_RICH_STEPS = (_leaky_step, _abs_step, _extreme_step, _clip_step, _image_step)


def _any_node(draw: Draw, build: Builder) -> str:
    """An earlier node, mostly one of the last few, so that graphs become deep."""
    names = list(build.nodes)
    back = draw(st.one_of(st.integers(0, min(2, len(names) - 1)), st.integers(0, len(names) - 1)))
    return names[-1 - back]


def _equal_nodes(draw: Draw, build: Builder) -> list[str]:
    """One to three nodes of the same size, possibly the same one twice."""
    first = _any_node(draw, build)
    same = [name for name in build.nodes if build.size(name) == build.size(first)]
    return [first, *draw(st.lists(st.sampled_from(same), max_size=2))]


def _joined_ends(draw: Draw, build: Builder) -> str:
    """A node that depends on all nodes that nobody has read: their sum if they fit, else one after the other."""
    read = {operand for node in build.nodes.values() for operand in node.operands}
    ends = [name for name in build.nodes if name not in read]
    fit = len({build.size(name) for name in ends}) == 1
    return build.add(*ends) if fit and draw(st.booleans()) else build.concat(*ends)


def _affine(draw: Draw, build: Builder, kind: str, x: str, size: int, sparse: bool) -> str:
    """An affine node: any weights, pruned ones, rows that repeat or are opposite, no bias; dense or sparse."""
    weight = _vector(draw, kind, size * build.size(x)).reshape(size, build.size(x))
    bias = _vector(draw, kind, size) if draw(st.booleans()) else np.zeros(size)
    if draw(st.booleans()):
        mask = draw(st.lists(st.integers(0, 1), min_size=weight.size, max_size=weight.size))
        weight = weight * np.array(mask).reshape(weight.shape)
    if size > 1 and draw(st.booleans()):
        sign = draw(st.sampled_from([1.0, -1.0]))
        weight[-1], bias[-1] = sign * weight[0], sign * bias[0]
    if sparse and draw(st.booleans()):
        return build.affine(x, csr_array(weight), bias)
    return build.affine(x, weight, bias)


def _vector(draw: Draw, kind: str, size: int) -> Array:
    return np.array(draw(vectors(kind, size)))

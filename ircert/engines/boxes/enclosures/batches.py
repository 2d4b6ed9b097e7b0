"""A lowered graph for many boxes at once: arrays are (entries of a node, columns, boxes); a layer is one product.

Walks go forward (from the inputs to the outputs) or backward (from coefficients of the constrained outputs to those of
the inputs).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from ircert.bounds.all_curves import STEEP
from ircert.bounds.curves import CurveBounds, bounds_of
from ircert.bounds.rounding import TINY, UNIT
from ircert.bounds.steep import SteepBounds
from ircert.engines.boxes.enclosures.learned_weights import LearnedWeights
from ircert.engines.boxes.enclosures.noise import relus_to_follow
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array, Mask, Matrix, walkable
from ircert.ir.interpret import Given, GivenBack
from ircert.ir.ops import Affine, Curve, Select

Step: TypeAlias = Callable[[str, Array], Array]

MOST, LEAST = 2048, 16
"""Boxes that are worked on at once …"""
SAMPLES = 64
"""Points of a ball at which slopes without a bound are looked at."""
PRODUCTS = 200_000_000
"""… so that one walk takes a tenth of a second at most: as many multiplications as that."""


def times(weight: Matrix, values: Array) -> Array:
    """weight @ values along the first axis."""
    result: Array = weight @ values.reshape(values.shape[0], -1)
    return result.reshape(weight.shape[0], *values.shape[1:])


def _transposed(weight: Matrix) -> Matrix:
    """The transpose, stored row by row."""
    return np.ascontiguousarray(weight.T) if isinstance(weight, np.ndarray) else csr_array(weight.T)


def padded(parts: list[Array]) -> list[Array]:
    """Arrays with as many columns each: missing ones are 0."""
    most = max(part.shape[1] for part in parts)
    return [
        part if part.shape[1] == most else np.pad(part, ((0, 0), (0, most - part.shape[1]), (0, 0))) for part in parts
    ]


class Growing(Given[Array]):
    """Arrays whose columns may grow on the way."""

    def add(self, name: str, parts: list[Array]) -> Array:
        return super().add(name, padded(parts))

    def concat(self, name: str, parts: list[Array]) -> Array:
        return super().concat(name, padded(parts))


class Batches:
    """The graph of a setting, for walks. Its constrained are the outputs that are looked at."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.size = setting.size
        self.constrained = setting.constrained
        self.weights: dict[str, Matrix] = {}
        self.biases: dict[str, Array] = {}
        self.curves: dict[str, CurveBounds] = {}
        for node in setting.graph.nodes:
            if isinstance(node.op, Curve) and not node.op.steep:
                self.curves[node.name] = bounds_of(node.op)
            if isinstance(node.op, Affine):
                self.weights[node.name] = walkable(node.op.weight)
                self.biases[node.name] = node.op.bias
        self.steep = self._steep()
        """Those among the curves whose slopes have no bound."""
        self.curves.update(self.steep)
        self.absolute = {name: abs(weight) for name, weight in self.weights.items()}
        self.transposed = {name: _transposed(weight) for name, weight in self.weights.items()}
        self.terms = self._most_terms() + 8
        """More than the terms of any sum on the way."""
        entries = sum(math.prod(weight.shape) for weight in self.weights.values()) * (self.size + 2)
        self.batch = min(MOST, max(LEAST, PRODUCTS // max(1, entries)))
        self.learned = LearnedWeights(setting.neurons)
        self.followed = relus_to_follow(setting.graph, set(setting.relus)) - set(self.curves)
        """The relus whose errors are followed through later layers."""

    def _steep(self) -> dict[str, SteepBounds]:
        """Squares and exponentials, each with the largest slopes for which rounding errors are counted: those at some
        points of a ball of the setting's scale, times a factor. Any numbers are right: nothing is said of steeper
        slopes."""
        setting = self.setting
        curves = ((node.name, node.op) for node in setting.graph.nodes if isinstance(node.op, Curve))
        kinds = {name: STEEP[type(op)] for name, op in curves if op.steep}
        if not kinds:
            return {}
        steps = setting.scale * np.random.default_rng(0).uniform(-1, 1, (SAMPLES, setting.size))
        points = np.clip(setting.center + steps, setting.low, setting.high)
        with np.errstate(all="ignore"):
            slopes = np.abs(setting.derivatives(points)).max(axis=0)
            found = {name: kind.farther * slopes[setting.relus[name]] for name, kind in kinds.items()}
        return {name: kinds[name](np.where(np.isfinite(most), most, 0.0)) for name, most in found.items()}

    # --- walks -------------------------------------------------------------------------------------------------------

    def forward(
        self, start: Array, affine: Step, relu: Step, add: Callable[[list[Array]], Array] | None = None
    ) -> dict[str, Array]:
        """The values of all nodes; steps (one for relus and curves) are given a node's name and its operand's value."""
        return Growing(affine, relu, add, curves=True).walk(self.setting.graph, start)

    def forward_to_output(
        self, start: Array, affine: Step, relu: Step, add: Callable[[list[Array]], Array] | None = None
    ) -> Array:
        """The constrained outputs of such a walk, which keeps no values of other nodes."""
        return Growing(affine, relu, add, curves=True).walk_to_output(self.setting.graph, start)[: self.constrained]

    def output(self, values: dict[str, Array]) -> Array:
        """The constrained among the values of a walk."""
        return values[self.setting.graph.output][: self.constrained]

    def backward(self, start: Array, affine: Step, relu: Step) -> Array:
        """The coefficients (entries, rows, boxes) of the inputs from those of the constrained outputs."""
        graph = self.setting.graph
        if graph.output_dim > self.constrained:
            start = np.concatenate([start, np.zeros((graph.output_dim - self.constrained, *start.shape[1:]))])
        found = GivenBack[Array](affine, relu, curves=True).walk(graph, start)
        return np.zeros((self.size, *start.shape[1:])) if found is None else found

    # --- rounding ----------------------------------------------------------------------------------------------------

    def _most_terms(self) -> int:
        """Terms of the longest sum: of a product, of an `Add`, or on the way back of all that reads an entry."""
        nodes = self.setting.graph.nodes
        read = Counter(name for node in nodes for name in node.operands)
        selected = (len(node.op.indices) for node in nodes if isinstance(node.op, Select))
        shapes = (max(weight.shape) for weight in self.weights.values())
        return max([0, *(len(node.operands) for node in nodes), *read.values(), *selected, *shapes])

    @property
    def doubt(self) -> Array:
        """What floats may get wrong in secants, entry by entry."""
        return self._doubt[0]

    @property
    def underflow(self) -> float:
        """What is lost to underflow on the way back, at most."""
        return self._doubt[1]

    @cached_property
    def _doubt(self) -> tuple[Array, float]:
        """What floats may get wrong in secants J, wherever they go through the graph with slopes that neurons may have.

        With S the products of absolute values from the inputs to a node, T those from the node to the constrained
        outputs, a walk in floats is off by at most g S (forward) or g T (backward), g the unit times the number of
        roundings on the longest way. So what is computed of J, and of its terms u_i (slope) g_i, is off by g (S + sum
        over neurons T S). Underflow costs a few of the smallest floats at every entry of a map or relu, times T on the
        way to these outputs. The second number bounds what is lost to it on the way back. Slopes are in [0, 1], or at
        most as large as those of curves anywhere (without a bound: as far as they are followed), which count on all
        ways.
        """
        start = np.eye(self.size)[:, :, None]
        with np.errstate(over="ignore", invalid="ignore"):
            ahead = self.forward(start, lambda name, v: times(self.absolute[name], v), self.steepest)
            sums = np.abs(self.output(ahead))[:, :, 0]
            lost = np.zeros((self.constrained, 1))
            everything = 1.0 + sum(float(v.sum()) for v in ahead.values())

            def relu(name: str, given: Array) -> Array:
                nonlocal sums, lost
                sums = sums + given[:, :, 0].T @ ahead[name][:, :, 0]
                lost = lost + given[:, :, 0].T.sum(axis=1, keepdims=True)
                return self.steepest(name, given)

            def affine(name: str, given: Array) -> Array:
                nonlocal lost
                # products may be too small for floats here as well, and what follows may be no relu
                lost = lost + given[:, :, 0].T.sum(axis=1, keepdims=True)
                return times(self.absolute[name].T, given)

            self.backward(np.eye(self.constrained)[:, :, None], affine, relu)
            steps = 16.0 * self.terms * (len(self.setting.graph.nodes) + 1)
            return steps * (UNIT * sums + TINY * (1.0 + lost)), steps * TINY * everything

    def steepest(self, name: str, given: Array) -> Array:
        """Times the largest slope that a neuron may have, at least 1."""
        curve = self.curves.get(name)
        return given if curve is None else given * (1.001 * np.maximum(1.0, curve.steepest))


def inverses(matrices: Array) -> tuple[Array, Array]:
    """Inverses (left ones, for more rows than columns) of (rows, columns, batch), and which could be computed."""
    stacked = np.moveaxis(matrices, 2, 0)
    if stacked.shape[1] == stacked.shape[2]:
        result, good = _inverted(stacked)
    else:
        result, good = _left(stacked, np.zeros((stacked.shape[2], len(stacked)), dtype=bool))
    return np.ascontiguousarray(np.moveaxis(result, 0, 2)), good


def left_inverses(matrices: Array, still: Mask) -> tuple[Array, Array]:
    """Left inverses of all columns but the still ones, whose rows are 0."""
    result, good = _left(np.moveaxis(matrices, 2, 0), still)
    return np.ascontiguousarray(np.moveaxis(result, 0, 2)), good


def _left(stacked: Array, still: Mask) -> tuple[Array, Array]:
    turned = np.swapaxes(stacked, 1, 2) * ~still.T[:, :, None]
    scale = np.maximum(np.abs(turned).max(axis=(1, 2), initial=0.0), 1e-300)[:, None, None]
    turned = turned / scale
    rows = turned @ np.swapaxes(turned, 1, 2) + still.T[:, :, None] * np.eye(stacked.shape[2])
    result, good = _inverted(rows)
    return result @ turned / scale, good


def _inverted(square: Array) -> tuple[Array, Array]:
    unit = np.eye(square.shape[2])
    scale = np.abs(square).max(axis=(1, 2), initial=0.0)
    good = np.isfinite(scale) & (scale > 0)
    square = np.where(good[:, None, None], square / np.where(good, scale, 1.0)[:, None, None], unit)
    good &= np.abs(np.linalg.det(square)) > 1e-250
    square = np.where(good[:, None, None], square, unit)
    result = np.linalg.inv(square) / np.where(good, scale, 1.0)[:, None, None]
    return result, good & np.isfinite(result).all(axis=(1, 2))

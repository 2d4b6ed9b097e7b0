"""Exact affine maps of linear regions: integers over one common denominator, which is the same for all patterns."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpz_mat

from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.ir.arrays import Array, Indices
from ircert.ir.dyadic import integers
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine
from ircert.ir.rational import Integers, Rationals, integer_array, integer_type

KEPT = 512


@dataclass(frozen=True)
class RegionMap:
    """Forms over (u, 1) with u = x - c, by rows of integers.

    z:      preactivations of all neurons, each up to a positive factor
    values: outputs, times one positive number that does not depend on the pattern
    """

    z: Integers
    values: Integers


class ExactMaps:
    """The maps of patterns of a setting, the last ones remembered."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._weights: dict[str, tuple[Any, Integers, Any]] = {}
        self._known: OrderedDict[bytes, RegionMap] = OrderedDict()

    @cached_property
    def at_center(self) -> RegionMap:
        """The map of a region that holds the centre."""
        signs = center_signs(self.setting)
        return self.of(np.where(signs < 0, -1, 1).astype(np.int8))

    def of(self, phases: Phases) -> RegionMap:
        """The map on the region where every neuron has the given side."""
        key = (phases > 0).tobytes()
        if key not in self._known:
            self._known[key] = self._made(phases > 0)
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]

    def _made(self, on: Any) -> RegionMap:
        walk = _Rows(self.setting, on, self._weights)
        values, _ = walk.walk(self.setting.graph, _start(self.setting.center))[self.setting.graph.output]
        empty = np.zeros((0, self.setting.size + 1), dtype=object)
        return RegionMap(np.concatenate([empty, *walk.z]), values)


class _Rows(Forward[tuple[Integers, Any]]):
    """The forms of nodes on one region: integers over a power of two."""

    def __init__(self, setting: Setting, on: Any, weights: dict[str, tuple[Any, Integers, Any]]) -> None:
        self.setting, self.on, self.weights = setting, on, weights
        self.z: list[Integers] = []

    def affine(self, name: str, op: Affine, x: tuple[Integers, Any]) -> tuple[Integers, Any]:
        if name not in self.weights:
            dense = op.weight if isinstance(op.weight, np.ndarray) else op.weight.toarray()
            flat, shift = integers(np.concatenate([dense.ravel(), op.bias]))
            bias = integer_array(flat[dense.size :])
            self.weights[name] = fmpz_mat(*dense.shape, flat[: dense.size]), bias, integer_type()(1 << shift)
        weight, bias, scale = self.weights[name]
        result = _product(weight, x[0])
        result[:, -1] = result[:, -1] + bias * x[1]
        return result, x[1] * scale

    def relu(self, name: str, x: tuple[Integers, Any]) -> tuple[Integers, Any]:
        self.z.append(x[0])
        numbers = x[0].copy()
        numbers[~self.on[self.setting.relus[name]]] = integer_type()(0)
        return numbers, x[1]

    def select(self, name: str, indices: Indices, x: tuple[Integers, Any]) -> tuple[Integers, Any]:
        return x[0][indices], x[1]

    def concat(self, name: str, parts: list[tuple[Integers, Any]]) -> tuple[Integers, Any]:
        tables, below = _aligned(parts)
        return np.concatenate(tables), below

    def add(self, name: str, parts: list[tuple[Integers, Any]]) -> tuple[Integers, Any]:
        tables, below = _aligned(parts)
        return sum(tables[1:], tables[0]), below


def _start(center: Array) -> tuple[Integers, Any]:
    numbers, shift = integers(center)
    kind = integer_type()
    below = kind(1 << shift)
    table = np.full((len(center), len(center) + 1), kind(0), dtype=object)
    for i, value in enumerate(numbers):
        table[i, i], table[i, -1] = below, kind(value)
    return table, below


def _product(weight: fmpz_mat, numbers: Integers) -> Integers:
    """weight @ numbers; flint is many times faster than arrays of objects where layers are wide."""
    rows, columns = numbers.shape
    found = weight * fmpz_mat(rows, columns, [int(v) for v in numbers.ravel()])
    return integer_array([int(v) for v in found.entries()]).reshape(-1, columns)


def _aligned(operands: list[tuple[Integers, Any]]) -> tuple[list[Integers], Any]:
    """Over one denominator; all are powers of two."""
    below = max(bottom for _, bottom in operands)
    return [numbers * (below // bottom) for numbers, bottom in operands], below


def center_signs(setting: Setting) -> Phases:
    """The exact sign of every neuron at the centre."""
    values = {setting.graph.input: Rationals.of_floats(setting.center)}
    signs = [np.zeros(0, dtype=np.int8)]
    for node in setting.graph.nodes:
        if node.name == setting.graph.input:
            continue
        operands = [values[name] for name in node.operands]
        if node.name in setting.relus:
            signs.append(np.array([(v > 0) - (v < 0) for v in operands[0].numerators], dtype=np.int8))
        values[node.name] = node.op.exact(*operands)
    return np.concatenate(signs)

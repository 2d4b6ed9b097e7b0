"""Exact affine maps of linear regions: integers over one common denominator, which is the same for all patterns."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpz_mat

from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.ir.arrays import Array
from ircert.ir.dyadic import integers
from ircert.ir.ops import Add, Affine, Concat, Relu, Select
from ircert.ir.rational import Integers, Rationals, integer_array, integer_type
from ircert.limits import checkpoint

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
        setting, graph = self.setting, self.setting.graph
        maps: dict[str, tuple[Integers, Any]] = {graph.input: _start(setting.center)}
        z = []
        for node in graph.nodes:
            if node.name == graph.input:
                continue
            checkpoint()
            operands = [maps[name] for name in node.operands]
            if isinstance(node.op, Relu):
                numbers, below = operands[0]
                z.append(numbers)
                numbers = numbers.copy()
                numbers[~on[setting.relus[node.name]]] = integer_type()(0)
                maps[node.name] = numbers, below
            elif isinstance(node.op, Affine):
                maps[node.name] = self._affine(node.name, node.op, *operands[0])
            elif isinstance(node.op, Select):
                maps[node.name] = operands[0][0][node.op.indices], operands[0][1]
            else:
                maps[node.name] = _joined(node.op, operands)
        empty = np.zeros((0, setting.size + 1), dtype=object)
        return RegionMap(np.concatenate([empty, *z]), maps[graph.output][0])

    def _affine(self, name: str, op: Affine, numbers: Integers, below: Any) -> tuple[Integers, Any]:
        if name not in self._weights:
            dense = op.weight if isinstance(op.weight, np.ndarray) else op.weight.toarray()
            flat, shift = integers(np.concatenate([dense.ravel(), op.bias]))
            bias = integer_array(flat[dense.size :])
            self._weights[name] = fmpz_mat(*dense.shape, flat[: dense.size]), bias, integer_type()(1 << shift)
        weight, bias, scale = self._weights[name]
        result = _product(weight, numbers)
        result[:, -1] = result[:, -1] + bias * below
        return result, below * scale


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


def _joined(op: Any, operands: list[tuple[Integers, Any]]) -> tuple[Integers, Any]:
    """Concat or Add; all denominators are powers of two."""
    below = max(bottom for _, bottom in operands)
    tables = [numbers * (below // bottom) for numbers, bottom in operands]
    if isinstance(op, Concat):
        return np.concatenate(tables), below
    assert isinstance(op, Add), f"{op.kind} in a canonical graph"
    return sum(tables[1:], tables[0]), below


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

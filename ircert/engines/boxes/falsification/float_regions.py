"""Linear regions in floats, many at once: how they are oriented, and one of them with all its facets.

A neuron enters the Jacobian by a term of rank one: with g its row (what it reads, over the inputs) and h its column
(what the outputs read of it), its switch turns J into J ± h g. So det(J ± h g) = det J (1 ± g J⁻¹ h): one region tells
the orientations of all its neighbours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches, times
from ircert.engines.boxes.problem.setting import Phases, Setting, flipped
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint

FLAT = 1e-13
"""Determinants of matrices with rows of about 1 that are smaller may be 0."""
PRODUCTS = 50_000_000
"""Multiplications between two looks at the clock."""
SAME = 1e-12
"""How much multiples of one row differ, in floats."""
PROGRAM, AT_LEAST = 16, 1_000_000
"""A linear program over a region, in multiplications for each neuron and two inputs; and what looking at one takes."""


@dataclass(frozen=True, eq=False)
class Region:
    """One linear region over u = x - c.

    rows:  what neurons read (neurons, inputs + 1)
    plane: which plane each neuron is 0 on: neurons with the same plane switch together
    turns: whether the orientation changes across that plane; nowhere where the region is flat
    flat:  whether its map has a kernel
    """

    phases: Phases
    rows: Array
    plane: Indices
    turns: Mask
    flat: bool

    def together(self, neuron: int) -> Indices:
        """The neurons that switch with this one, itself among them."""
        return np.flatnonzero(self.plane == self.plane[neuron])

    def across(self, neuron: int) -> Phases:
        """The pattern on the other side of a neuron's plane."""
        return flipped(self.phases, self.together(neuron))


class FloatRegions:
    """The linear regions of a setting in floats; `products` counts the multiplications that were made."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._network = Batches(setting)
        weights = sum(weight.size for weight in self._network.weights.values())
        self.cost = (setting.size + 1) * weights + setting.size**3
        """Multiplications that one Jacobian takes."""
        self.program_cost = AT_LEAST + PROGRAM * setting.neurons * (setting.size + 1) ** 2
        """… and about what a small linear program over a region does."""
        self.products = 0

    def phases(self, offsets: Array) -> Phases:
        """The sides of all neurons at c + offsets (rows)."""
        values = self.setting.preactivations(self.setting.center + offsets)
        return np.where(values > 0, 1, -1).astype(np.int8)

    def orientations(self, phases: Phases) -> Array:
        """The signs of determinants of patterns (rows), 0 where they are too small to tell."""
        return self.volumes(phases)[0]

    def volumes(self, phases: Phases) -> tuple[Array, Array]:
        """The signs of determinants of patterns (rows), 0 where they are too small to tell, and their logarithms.

        With more outputs than inputs: of the determinants of JᵀJ, which have no other sign than 1.
        """
        step = max(1, PRODUCTS // self.cost)
        parts = [self._volumes(phases[start : start + step]) for start in range(0, len(phases), step)]
        signs, logarithms = zip((np.zeros(0), np.zeros(0)), *parts, strict=True)
        return np.concatenate(signs), np.concatenate(logarithms)

    def _volumes(self, phases: Phases) -> tuple[Array, Array]:
        checkpoint()
        self.products += AT_LEAST // 4 + self.cost * len(phases)
        on = np.ascontiguousarray((phases > 0).T.astype(np.float64))[:, None, :]
        start = np.repeat(np.eye(self.setting.size)[:, :, None], len(phases), axis=2)
        network, relus = self._network, self.setting.relus
        values = network.forward(
            start, lambda name, v: times(network.weights[name], v), lambda name, v: v * on[relus[name]]
        )
        return _volumes(np.moveaxis(network.output(values), 2, 0))

    def of(self, phases: Phases) -> Region:
        """The region of one pattern."""
        checkpoint()
        setting, network = self.setting, self._network
        self.products += AT_LEAST // 4 + 2 * self.cost
        on = (phases > 0).astype(np.float64)[:, None, None]
        rows = np.zeros((setting.neurons, setting.size + 1))
        columns = np.zeros((setting.constrained, setting.neurons))

        def affine(name: str, given: Array) -> Array:
            result = times(network.weights[name], given)
            result[:, -1, 0] += network.biases[name]
            return result

        def relu(name: str, given: Array) -> Array:
            where = setting.relus[name]
            rows[where] = given[:, :, 0]
            return given * on[where]

        def back(name: str, given: Array) -> Array:
            where = setting.relus[name]
            columns[:, where] = given[:, :, 0].T
            return given * on[where]

        start = np.c_[np.eye(setting.size), setting.center][:, :, None]
        values = network.forward(start, affine, relu)
        ends = np.eye(setting.constrained)[:, :, None]
        network.backward(ends, lambda name, v: times(network.transposed[name], v), back)
        jacobian = network.output(values)[:, :-1, 0]
        plane, several = _planes(rows)
        turns = _turns(jacobian, rows[:, :-1], columns * phases)
        for k in several:
            together = np.flatnonzero(plane == k)
            ends = self.orientations(np.stack([phases, flipped(phases, together)]))
            turns[together] = ends[0] * ends[1] < 0
        return Region(phases, rows, plane, turns, bool(_volumes(jacobian[None])[0][0] == 0.0))


def _volumes(matrices: Array) -> tuple[Array, Array]:
    """Signs and logarithms of determinants of (batch, outputs, inputs)."""
    outputs, inputs = matrices.shape[1:]
    # the size of each row, because with many of them the product is tiny
    size = np.abs(matrices).max(axis=2, keepdims=True)
    if outputs != inputs:
        size = size.max(axis=1, keepdims=True)
    size = np.where(size > 0, size, 1.0)
    scaled = matrices / size
    if outputs == inputs:
        signs, found = np.linalg.slogdet(scaled)
        return np.where(found > math.log(FLAT), signs, 0.0), found + np.log(size).sum(axis=(1, 2))
    signs, found = np.linalg.slogdet(np.swapaxes(scaled, 1, 2) @ scaled)
    return np.where(found > 2 * math.log(FLAT), 1.0, 0.0), found + 2 * inputs * np.log(size[:, 0, 0])


def _turns(jacobian: Array, rows: Array, columns: Array) -> Mask:
    """Where det(J - h g) has another sign than det J, for the columns h and rows g of single neurons."""
    if jacobian.shape[0] != jacobian.shape[1]:
        return np.zeros(len(rows), dtype=bool)
    try:
        solved = np.linalg.solve(jacobian, columns)
    except np.linalg.LinAlgError:
        return np.zeros(len(rows), dtype=bool)
    return np.asarray(1.0 - np.einsum("ij,ji->i", rows, solved) < 0.0)


def _planes(rows: Array) -> tuple[Indices, list[int]]:
    """The number of each row's plane, the same for rows that are multiples of each other; and those of several rows."""
    scale = rows[np.arange(len(rows)), np.abs(rows[:, :-1]).argmax(axis=1)]
    sloped = np.flatnonzero(scale != 0.0)
    scaled = rows[sloped] / scale[sloped, None]
    # equal rows come one after the other along any line that is not special
    order = np.argsort(scaled @ np.sqrt(np.arange(2, 2 + scaled.shape[1])), kind="stable")
    gaps = np.abs(np.diff(scaled[order], axis=0)) <= SAME * (1.0 + np.abs(scaled[order[1:]]))
    equal = np.flatnonzero(gaps.all(axis=1))
    plane = np.arange(len(rows))
    for k in equal:
        plane[sloped[order[k + 1]]] = plane[sloped[order[k]]]
    return plane, sorted({int(plane[sloped[order[k]]]) for k in equal})

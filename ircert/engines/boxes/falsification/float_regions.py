"""Linear regions in floats, many at once: how they are oriented, and what lies across each of their facets.

A neuron enters the Jacobian by a term of rank one: with g its row (what it reads, over the inputs) and h its column
(what the outputs read of it), its switch turns J into J ± h g. So det(J ± h g) = det J (1 ± g J⁻¹ h): one region tells
the orientations of all its neighbours. With more outputs than inputs the determinant of JᵀJ takes the place of det J
squared: with h = J a + r, r orthogonal to J, it is multiplied by (1 ± g a)² + |r|² g (JᵀJ)⁻¹ g.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches, times
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint

FLAT = 1e-13
"""Determinants of matrices with rows of about 1 that are smaller may be 0."""
PRODUCTS = 50_000_000
"""Multiplications between two looks at the clock."""
SAME = 1e-12
"""How much multiples of one row differ, in floats."""
AT_LEAST, PRODUCT, NUMBER = 80_000, 0.06, 12.0
"""What a look at determinants takes at least, and for each multiplication and each number of a region, in units of
about a nanosecond."""


@dataclass(frozen=True, eq=False)
class Regions:
    """Linear regions over u = x - c.

    rows:    what neurons read (regions, neurons, inputs + 1)
    planes:  a number for the plane on which each neuron is 0: neurons with the same plane switch together
    ratios:  what the determinant is multiplied by across that plane; negative where the orientation changes, and 1
             where the region is flat (with more outputs than inputs: that of JᵀJ)
    signs:   the orientations, 0 where a region is flat: its map has a kernel
    heights: the logarithms of the sizes of determinants
    """

    phases: Phases
    rows: Array
    planes: Array
    ratios: Array
    signs: Array
    heights: Array

    def __len__(self) -> int:
        return len(self.phases)

    def of(self, which: Indices | Mask) -> Regions:
        """Some of them."""
        return Regions(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    def together(self, which: Indices, neurons: Indices) -> Mask:
        """For some regions, one neuron of each: the neurons that switch with it, itself among them."""
        planes, at = self.planes[which], np.arange(len(which))
        own = planes[at, neurons][:, None]
        found = np.asarray(np.abs(planes - own) <= SAME * (1.0 + np.abs(own)))
        found[at, neurons] = True
        return found

    def across(self, which: Indices, neurons: Indices) -> Phases:
        """For some regions, one neuron of each: the patterns on the other side of its plane."""
        phases = self.phases[which]
        return np.where(self.together(which, neurons), -phases, phases)


class FloatRegions:
    """The linear regions of a setting in floats; `spent` counts the work that was done, about a nanosecond each."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.network = Batches(setting)
        weights = sum(weight.size for weight in self.network.weights.values())
        self.cost = (setting.size + 1) * weights + setting.size**3
        """Multiplications that one Jacobian takes."""
        self.spent = 0.0
        self._along = np.sqrt(np.arange(2, 3 + setting.size))

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
        self.spent += AT_LEAST + PRODUCT * self.cost * len(phases)
        on = np.ascontiguousarray((phases > 0).T.astype(np.float64))[:, None, :]
        start = np.repeat(np.eye(self.setting.size)[:, :, None], len(phases), axis=2)
        network, relus = self.network, self.setting.relus
        values = network.forward(
            start, lambda name, v: times(network.weights[name], v), lambda name, v: v * on[relus[name]]
        )
        return _volumes(np.moveaxis(network.output(values), 2, 0))

    def of(self, phases: Phases) -> Regions:
        """The regions of patterns (rows)."""
        step = max(1, PRODUCTS // (2 * self.cost))
        parts = [self._of(phases[start : start + step]) for start in range(0, max(1, len(phases)), step)]
        if len(parts) == 1:
            return parts[0]
        names = Regions.__dataclass_fields__
        return Regions(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def _of(self, phases: Phases) -> Regions:
        checkpoint()
        numbers = self.setting.neurons * (self.setting.size + self.setting.constrained)
        self.spent += 4 * AT_LEAST + (2 * PRODUCT * self.cost + NUMBER * numbers) * len(phases)
        rows, columns, jacobians = self._walked(phases)
        signs, heights = _volumes(jacobians)
        ratios = _ratios(jacobians, rows[:, :, :-1], columns * phases[:, None, :], signs)
        planes = self._planes(rows)
        found = Regions(phases, rows, planes, ratios, signs, heights)
        self._join_neurons_of_one_plane(found)
        return found

    def _walked(self, phases: Phases) -> tuple[Array, Array, Array]:
        """Rows (patterns, neurons, inputs + 1), columns (patterns, outputs, neurons) and Jacobians."""
        setting, network, count = self.setting, self.network, len(phases)
        on = np.ascontiguousarray((phases > 0).T.astype(np.float64))[:, None, :]
        rows = np.zeros((setting.neurons, setting.size + 1, count))
        columns = np.zeros((setting.neurons, setting.constrained, count))

        def affine(name: str, given: Array) -> Array:
            result = times(network.weights[name], given)
            result[:, -1] += network.biases[name][:, None]
            return result

        def relu(name: str, given: Array) -> Array:
            where = setting.relus[name]
            rows[where] = given
            return given * on[where]

        def back(name: str, given: Array) -> Array:
            where = setting.relus[name]
            columns[where] = given
            return given * on[where]

        start = np.repeat(np.c_[np.eye(setting.size), setting.center][:, :, None], count, axis=2)
        values = network.forward(start, affine, relu)
        ends = np.repeat(np.eye(setting.constrained)[:, :, None], count, axis=2)
        network.backward(ends, lambda name, v: times(network.transposed[name], v), back)
        jacobians = np.moveaxis(network.output(values)[:, :-1], 2, 0)
        return np.ascontiguousarray(np.moveaxis(rows, 2, 0)), np.moveaxis(columns, 2, 0).swapaxes(1, 2), jacobians

    def _planes(self, rows: Array) -> Array:
        """A number for each row that is the same for its multiples, and hardly for others; nan without a plane."""
        slopes = rows[:, :, :-1]
        largest = np.abs(slopes).argmax(axis=2)
        scale = np.take_along_axis(slopes, largest[:, :, None], 2)[:, :, 0]
        return np.where(scale != 0.0, (rows @ self._along) / np.where(scale != 0.0, scale, 1.0), np.nan)

    def _join_neurons_of_one_plane(self, regions: Regions) -> None:
        """Neurons that switch together have one ratio, which is that of the pattern across."""
        order = np.argsort(regions.planes, axis=1, kind="stable")
        planes = np.take_along_axis(regions.planes, order, 1)
        equal = np.abs(np.diff(planes, axis=1)) <= SAME * (1.0 + np.abs(planes[:, 1:]))
        which, place = np.nonzero(equal)
        if not len(which):
            return
        neurons = order[which, place]
        signs, heights = self.volumes(regions.across(which, neurons))
        found = signs * regions.signs[which] * np.exp(heights - regions.heights[which])
        found = np.where(regions.signs[which] == 0.0, 1.0, found)
        regions.ratios[which, neurons] = found
        regions.ratios[which, order[which, place + 1]] = found


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
    # JᵀJ itself would lose half of the digits
    with np.errstate(divide="ignore"):  # of 0 it is -inf
        found = np.log(np.abs(np.diagonal(np.linalg.qr(scaled, mode="r"), axis1=1, axis2=2))).sum(axis=1)
    return np.where(found > math.log(FLAT), 1.0, 0.0), 2 * (found + inputs * np.log(size[:, 0, 0]))


def _ratios(jacobians: Array, rows: Array, columns: Array, signs: Array) -> Array:
    """det(J - h g) / det J for the columns h (batch, outputs, neurons) and rows g (batch, neurons, inputs)."""
    outputs, inputs = jacobians.shape[1:]
    sound = (signs != 0.0) & np.isfinite(jacobians).all(axis=(1, 2))
    square = np.where(sound[:, None, None], jacobians, np.eye(outputs, inputs))
    try:
        if outputs == inputs:
            return np.where(sound[:, None], 1.0 - _products(rows, np.linalg.inv(square) @ columns), 1.0)
        basis, triangle = np.linalg.qr(square)
        inverse = np.linalg.inv(triangle)
    except np.linalg.LinAlgError:
        return np.ones(rows.shape[:2])
    along = np.swapaxes(basis, 1, 2) @ columns
    rest = ((columns - basis @ along) ** 2).sum(axis=1)
    found = (1.0 - _products(rows, inverse @ along)) ** 2 + rest * ((rows @ inverse) ** 2).sum(axis=2)
    return np.where(sound[:, None], found, 1.0)


def _products(rows: Array, columns: Array) -> Array:
    """Those of rows (batch, neurons, inputs) and columns (batch, inputs, neurons) of the same neurons."""
    return np.asarray(np.einsum("bni,bin->bn", rows, columns))

"""A network as folds and preimages see it: values and Jacobians on many boxes at once, and at points in floats."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ircert.bounds import forms
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.enclosures.jacobians import jacobians
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.problem.setting import Setting
from ircert.errors import QueryError
from ircert.geometry.place import Place
from ircert.ir.arrays import Array, Indices
from ircert.ir.graph import Graph
from ircert.limits import checkpoint
from ircert.questions.network import lowered


def check_size(low: Array, high: Array) -> None:
    """QueryError unless a box can be cut: it is bounded, and has an area."""
    with np.errstate(over="ignore"):
        widths = high - low
    if not np.isfinite(widths).all():
        raise QueryError("boxes cover a bounded ball or domain", remedy="give a finite radius, or a domain")
    if not (widths > 0).all():
        raise QueryError("the domain has no area", remedy="`fix` the inputs that do not vary")


class SmoothMap:
    """A lowered network, for boxes in a box, about: by default, in that around 0 with sides of 2."""

    def __init__(self, graph: Graph, box: tuple[Array, Array] | None = None) -> None:
        one = np.ones(graph.input_dim)
        low, high = (-one, one) if box is None else box
        place, scale = Place.everywhere(low / 2 + high / 2), float((high / 2 - low / 2).max(initial=0.0))
        self.setting = Setting(lowered(graph), "local", graph.output_dim, place, scale)
        self.network = Batches(self.setting)
        self._secants = Secants(self.setting)

    def batches(self, count: int) -> Iterator[slice]:
        """Parts of so many boxes that are worked on at once."""
        for start in range(0, count, self.network.batch):
            checkpoint()
            yield slice(start, start + self.network.batch)

    def determinant_ranges(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Bounds on det Df on boxes (rows of corners; a point is a box too), rounded outward.

        Where f has several one-sided Jacobians at a point, the bounds hold for all of them.
        """
        least, most = np.empty(len(low)), np.empty(len(low))
        for part in self.batches(len(low)):
            with np.errstate(all="ignore"):
                known = enclose(self.network, low[part], high[part], np.inf, tilted=True)
                found = forms.determinant(jacobians(self.network, known))
                least[part], most[part] = forms.ranges(found)
        return np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)

    def signs(self, low: Array, high: Array) -> Indices:
        """The sign of det Df on boxes; 0 where it is not settled."""
        least, most = self.determinant_ranges(low, high)
        return np.asarray((least > 0).astype(np.int64) - (most < 0))

    def jacobians(self, points: Array) -> Array:
        """Df at points (rows), in floats."""
        return self._secants.jacobians(self.setting.derivatives(points))

    def determinants(self, points: Array) -> Array:
        """det Df at points (rows), in floats."""
        found = [np.linalg.det(self.jacobians(points[part])) for part in self.batches(len(points))]
        return np.concatenate([np.zeros(0), *found])

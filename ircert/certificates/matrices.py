"""Matrices C for the balls of one place: fitted to the Jacobians of points, and to corners where a cover failed.

All in floats: what C is worth is for the checker to say.
"""

from __future__ import annotations

import numpy as np

from ircert.certificates.growing import NoCover
from ircert.engines.boxes.one_matrix.finding import Finder
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array

STRESSES, NEIGHBORHOODS, MOST_KNOWN = 4, 32, 1_000
"""How often a new matrix is tried close to the points where it is worst, at how many, of how many that are kept."""
NONE = "no matrix C with sym(C J) positive definite was found"


class Matrices:
    """What is known about the Jacobians of a place, and the matrix that fits it best."""

    def __init__(self, setting: Setting) -> None:
        self._points = Points(setting)
        self._known = np.zeros((0, setting.size))
        self._met: dict[bytes, float] = {}
        self._finder: Finder | None = None

    def first(self, radius: float) -> Array:
        """A matrix for points drawn from a ball, and for what is known from before; NoCover where there is none."""
        points = self._points
        try:
            self._finder = self._finder or Finder(points.reference(radius))
        except np.linalg.LinAlgError as error:
            raise NoCover(str(error)) from None
        drawn = points.sampled(radius)
        self._learn(drawn, radius)
        self._learn(points.crossings(drawn, radius), radius)
        return self._best(radius)

    def another(self, radius: float, wrong: Array, corners: Array) -> Array:
        """A matrix that knows points where the last one was wrong, and Jacobians of corners that it left open."""
        assert self._finder is not None
        if len(wrong):
            self._learn(np.concatenate([wrong, self._points.around(wrong, radius)]), radius)
        if len(corners):
            self._finder.learn_corners(corners, np.zeros(len(corners)))
        return self._best(radius)

    def _learn(self, points: Array, radius: float) -> None:
        assert self._finder is not None
        points = self._new(points, radius)
        jacobians = self._points.jacobians(points)
        if self._finder.turned(jacobians).any():
            raise NoCover("the network is turned over somewhere in this ball")
        self._finder.learn(jacobians, self._points.radii(points))
        self._known = np.concatenate([self._known, points])[-MOST_KNOWN:]

    def _new(self, points: Array, radius: float) -> Array:
        """Those whose regions are not known to meet the ball."""
        new = []
        distances = self._points.radii(points).tolist()
        for i, pattern in enumerate(self._points.patterns(points)):
            if not self._met.get(pattern, np.inf) < radius:
                new.append(i)
                self._met[pattern] = distances[i]
        return np.asarray(points[new])

    def _best(self, radius: float) -> Array:
        """Fitted, and fitted again to what is found close to where it is worst."""
        finder, points = self._finder, self._points
        assert finder is not None
        for _ in range(STRESSES):
            with np.errstate(all="ignore"):
                found = finder.find(radius)
            if not found or not np.isfinite(finder.matrix).all() or not finder.matrix.any():
                raise NoCover(NONE)
            within = self._known[points.radii(self._known) < radius]
            worst = within[np.argsort(finder.least(points.jacobians(within)), kind="stable")[:NEIGHBORHOODS]]
            nearby = points.around(worst, radius)
            wrong = finder.least(points.jacobians(nearby)) <= 0
            if not wrong.any():
                break
            self._learn(nearby[wrong], radius)
        return finder.matrix

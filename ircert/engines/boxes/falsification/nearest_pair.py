"""From one collision of a smooth map to one nearby that is as near to the centre as possible, or as far apart, by
sequential quadratic programs in floats (SLSQP)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ircert.engines.boxes.falsification.collision_equations import CollisionEquations
from ircert.ir.arrays import Array

ROUNDS = 80


@dataclass(eq=False)
class NearestPair:
    """Unknowns are pairs in units of `unit`, the sizes of their entries (norm 1), and the distance."""

    equations: CollisionEquations
    unit: float
    _last: tuple[bytes, Any] = (b"", None)

    @property
    def _norm(self) -> Any:
        return self.equations.given.norm

    @cached_property
    def _bounds(self) -> tuple[Array, Array]:
        given = self.equations.given
        copies = self.equations.size // given.size
        low, high = ((side - given.center) / self.unit for side in (given.low, given.high))
        return np.tile(low, copies), np.tile(high, copies)

    def nearest(self, pair: Array, apart: float) -> Array:
        """A pair near this one, at least so far apart, whose farther point is nearest to the centre."""
        return self._minimised(pair, apart, None)

    def farthest_apart(self, pair: Array, radius: float, along: Array | None = None) -> Array:
        """A pair inside a ball whose points, or outputs of the other network, are as far apart as possible: in norm 2,
        or along a direction."""
        return self._minimised(pair, None, radius, along)

    def _minimised(self, pair: Array, apart: float | None, radius: float | None, along: Array | None = None) -> Array:
        from scipy.optimize import minimize

        start = self._start(pair)
        d = self.equations.size
        equal = {"type": "eq", "fun": lambda w: self._divided(w)[0], "jac": lambda w: self._divided(w)[1]}
        kept = {"type": "ineq", "fun": lambda w: self._distances(w)[0], "jac": lambda w: self._distances(w)[1]}
        constraints = [equal, kept]
        low = np.full(len(start), -np.inf)
        high = np.full(len(start), np.inf)
        low[:d], high[:d] = self._bounds
        if radius is not None:
            high[-1] = radius / self.unit
            start[-1] = min(start[-1], high[-1])
        else:
            assert apart is not None
            scale = apart**2
            constraints.append(
                {
                    "type": "ineq",
                    "fun": lambda w: np.array([self._gap(w)[0] / scale - 1.0]),
                    "jac": lambda w: self._gap(w)[1][None] / scale,
                }
            )
        last = np.zeros(len(start))
        last[-1] = 1.0
        found = minimize(
            (lambda w: w[-1]) if radius is None else (lambda w: -self._length(w, along)[0]),
            start,
            jac=(lambda w: last) if radius is None else (lambda w: -self._length(w, along)[1]),
            bounds=list(zip(low, high, strict=True)),
            constraints=constraints,
            method="SLSQP",
            options={"maxiter": ROUNDS, "ftol": 1e-12},
        )
        return np.asarray(found.x[:d] * self.unit)

    def _start(self, pair: Array) -> Array:
        w = pair / self.unit
        n = self.equations.given.size
        sizes = [np.abs(w)] if self._norm == "1" else []
        distance = self._norm.lengths(w.reshape(-1, n)).max()
        return np.concatenate([w, *sizes, [distance]])

    def _divided(self, w: Array) -> tuple[Array, Array]:
        key = w.tobytes()
        if self._last[0] != key:  # values and derivatives are asked for one after the other
            self._last = key, self._computed(w)
        found: tuple[Array, Array] = self._last[1]
        return found

    def _computed(self, w: Array) -> tuple[Array, Array]:
        d = self.equations.size
        h, slopes = self.equations.divided(w[None, :d] * self.unit)
        full = np.zeros((h.shape[1], len(w)))
        full[:, :d] = slopes[0] * self.unit
        return h[0], full

    def _gap(self, w: Array) -> tuple[float, Array]:
        """The square of how far apart a pair is, and its derivative."""
        d = self.equations.size
        gap, slopes = self.equations.apart(w[None, :d] * self.unit)
        full = np.zeros(len(w))
        full[:d] = 2 * gap[0] @ slopes[0] * self.unit
        return float(gap[0] @ gap[0]), full

    def _length(self, w: Array, along: Array | None) -> tuple[float, Array]:
        """How far apart a pair is, in units, and its derivative."""
        if along is not None:
            d, full = self.equations.size, np.zeros(len(w))
            gap, slopes = self.equations.apart(w[None, :d] * self.unit)
            full[:d] = along @ slopes[0]
            return float(along @ gap[0]) / self.unit, full
        square, slope = self._gap(w)
        length = max(np.sqrt(square), 1e-300)
        return float(length / self.unit), slope / (2 * length * self.unit)

    def _distances(self, w: Array) -> tuple[Array, Array]:
        """What must be at least 0: room in the ball whose radius is the last unknown."""
        d, n = self.equations.size, self.equations.given.size
        one, count = np.eye(d), d // n
        if self._norm == "inf":
            rows = np.column_stack([np.vstack([-one, one]), np.ones(2 * d)])
            return rows @ w, rows
        if self._norm == "1":
            sums = np.kron(np.eye(count), np.ones(n))
            rows = np.block(
                [
                    [-one, one, np.zeros((d, 1))],
                    [one, one, np.zeros((d, 1))],
                    [np.zeros((count, d)), -sums, np.ones((count, 1))],
                ]
            )
            return rows @ w, rows
        parts = w[:d].reshape(count, n)
        rows = np.zeros((count, d + 1))
        for k in range(count):
            rows[k, k * n : (k + 1) * n] = -2 * parts[k]
        rows[:, -1] = 2 * w[-1]
        return w[-1] ** 2 - (parts**2).sum(axis=1), rows

"""The point of a polytope nearest to the origin, in floats: a start for exact programs, never a proof.

min max(|U s|², |V s|²) subject to rows s >= 0, all of them forms over (s, 1). At the optimum a weighted mean of both
squares is least, so that the weight is looked for; for a given one this is a least-distance problem, solved by
nonnegative least squares (Lawson and Hanson).
"""

from __future__ import annotations

import numpy as np

from ircert.ir.arrays import Array
from ircert.limits import checkpoint

SLACK = 1e-13
"""What rows may be violated by: polytopes without interior would be empty in floats."""
EDGE = 1e-9
"""The least share of one of two points."""
STEPS = 60
EVEN = 1e-14


def nearest_in_floats(maps: list[Array], rows: Array) -> Array | None:
    """s for one map U, or two; None where floats fail."""
    with np.errstate(all="ignore"):
        try:
            if len(maps) == 1:
                return _least(maps[0], rows)
            return _balanced(maps[0], maps[1], rows)
        except (np.linalg.LinAlgError, RuntimeError):
            return None


def _balanced(u: Array, v: Array, rows: Array) -> Array | None:
    """Both squares equal, or the larger one least alone: false position on the share of the first."""

    def tried(share: float) -> tuple[Array | None, float, float]:
        s = _least(np.concatenate([np.sqrt(share) * u, np.sqrt(1 - share) * v]), rows)
        if s is None:
            return None, 0.0, 0.0
        squares = [float(((m[:, :-1] @ s + m[:, -1]) ** 2).sum()) for m in (u, v)]
        return s, squares[0] - squares[1], max(squares)

    s, gap, size = tried(0.5)
    if s is None or abs(gap) <= EVEN * size:
        return s
    low, high = (0.5, 1 - EDGE) if gap > 0 else (EDGE, 0.5)
    found, other, size = tried(high if gap > 0 else low)
    if found is None or other == 0 or (other > 0) == (gap > 0):
        return found
    gaps = (gap, other) if gap > 0 else (other, gap)
    below, above = gaps
    last = 0
    for _ in range(STEPS):
        share = (low * above - high * below) / (above - below)
        if not low < share < high:
            break
        found, gap, size = tried(share)
        if found is None or abs(gap) <= EVEN * size:
            break
        # Illinois: an end that stays twice counts half
        if gap > 0:
            low, below, above = share, gap, above / 2 if last > 0 else above
        else:
            high, above, below = share, gap, below / 2 if last < 0 else below
        last = 1 if gap > 0 else -1
    return found


def _least(matrix: Array, rows: Array) -> Array | None:
    """min |M s|² subject to rows s >= -SLACK."""
    from scipy.optimize import nnls

    checkpoint()
    q, r = np.linalg.qr(matrix[:, :-1])
    start = q.T @ matrix[:, -1]
    turned = np.linalg.solve(r.T, rows[:, :-1].T).T  # rows in y = R s + start
    limits = turned @ start - rows[:, -1]
    lengths = np.maximum(np.abs(turned).max(axis=1), 1e-300)
    turned, limits = turned / lengths[:, None], limits / lengths - SLACK
    table = np.concatenate([turned.T, limits[None]])
    if not np.isfinite(table).all():
        return None
    target = np.zeros(len(table))
    target[-1] = 1.0
    # without columns scipy's routine frees memory twice
    weights = nnls(table, target)[0] if table.shape[1] else np.zeros(0)
    rest = target - table @ weights
    if not rest[-1] > 0:
        return None
    s = np.linalg.solve(r, -rest[:-1] / rest[-1] - start)
    return s if np.isfinite(s).all() else None

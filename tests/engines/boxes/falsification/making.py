"""Networks whose nearest violation is known by hand, and hunts in them."""

from __future__ import annotations

from typing import Any

import numpy as np

import ircert
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.hunt import Hunt
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.setting import Setting

WORK = 60


def descent_of(setting: Setting) -> Descent:
    return Descent(setting, ExactMaps(setting))


def hunted(setting: Setting, work: int = WORK, seed: int = 0, reach: float = 1e6) -> Descent:
    descent = descent_of(setting)
    Hunt(setting, descent, seed, reach).advance(work)
    return descent


def distance(descent: Descent) -> float:
    """That of the best pair, which is replayed exactly first."""
    assert descent.best is not None
    measure, pair = descent.best
    setting = descent.setting
    x, y = ([c + t for c, t in zip(setting.exact_center, part, strict=True)] for part in (pair.x, pair.y))
    assert x != y
    assert (
        setting.graph.exact(x).tolist()[: setting.constrained] == setting.graph.exact(y).tolist()[: setting.constrained]
    )
    assert all(low <= v <= high for p in (x, y) for v, low, high in zip(p, setting.low, setting.high, strict=True))
    assert measure == pair.measure(setting.norm)
    return setting.norm.length(measure)


def folded(turn: Any, height: float, outer: Any) -> ircert.Graph:
    """outer · (|y1 - height|, y2, …) with y = turn · x: its only fold is the plane y1 = height."""
    n = len(turn)
    build = ircert.Builder(n)
    y = build.affine(build.input, turn, np.zeros(n))
    first = build.relu(build.affine(y, np.eye(n)[:1], np.array([-height])))
    bent = 2 * np.eye(n)[:, :1]  # |t| = 2 relu(t) - t
    mirrored = np.diag([-1.0, *np.ones(n - 1)])
    total = build.add(build.affine(y, mirrored, height * np.eye(n)[0]), build.affine(first, bent, np.zeros(n)))
    return build.graph(build.affine(total, outer, np.zeros(len(outer))))

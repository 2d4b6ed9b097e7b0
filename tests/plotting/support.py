"""Networks, regions and how to look into axes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from matplotlib.axes import Axes

import ircert
from tests.plotting.stand_in import Regions, regions_of

FOLD = ircert.parse("ircert.ir/1\nx = input(length=2)\na = abs(x)\ny = affine(a, weight=[[1, 0], [0, 1]])\nreturn y\n")
"""(|x0|, |x1|): four cells, folded along both axes."""
HAT = ircert.parse("ircert.ir/1\nx = input(length=1)\na = abs(x)\ny = affine(a, weight=[[-1]], bias=[1])\nreturn y\n")
"""1 - |x|, which turns at 0."""
CURVE = ircert.parse("ircert.ir/1\nx = input(length=1)\na = abs(x)\ny = concat(x, a)\nreturn y\n")
"""(x, |x|)."""
TALL = ircert.parse("ircert.ir/1\nx = input(length=2)\na = abs(x)\ny = concat(x, a)\nreturn y\n")
WIDE = ircert.parse("ircert.ir/1\nx = input(length=2)\na = abs(x)\ny = select(a, indices=[0])\nreturn y\n")

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def quarters(*determinants: float) -> Regions:
    """Unit squares in rows of 80; on each, f stretches by the determinant."""
    polygons = [SQUARE + np.array([i % 80, i // 80]) for i in range(len(determinants))]
    regions = regions_of(polygons, [(np.diag([d, 1.0]), np.zeros(2)) for d in determinants])
    regions.signs = np.sign(determinants).astype(np.int8)
    return regions


def answer(graph: ircert.Graph, center: Any, certified: Any, refuted: Any, **more: Any) -> SimpleNamespace:
    result = {"problem": "local", "norm": "inf", "domain": None, "witness": None, "verdict": "unresolved"}
    radius = SimpleNamespace(certified=certified, refuted=refuted)
    return SimpleNamespace(graph=graph, center=np.array(center, float), radius=radius, **{**result, **more})


def drawn(ax: Axes, gid: str) -> list[Any]:
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]


def labels(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def vertices(line: Any) -> Any:
    return np.column_stack(line.get_data())

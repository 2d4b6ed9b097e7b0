"""The Brusselator's attractor, its preimages and J0, for the Euler map and for a network, as the parameter b grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import ircert
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.plotting import add_legend, draw_curve, draw_points, new_axes, new_panels
from ircert.plotting.style import ATTRACTOR, FOLD_RED, LOOP_COLOURS
from ircert.reproduction.frame.report import Claim, Comparison, Part, Picture, Settings
from ircert.reproduction.maps.brusselator_map import TAU, BrusselatorMap
from ircert.reproduction.maps.orbits import ON_CIRCLE, as_loop, attractor, thinned
from ircert.reproduction.maps.planar import crossings, distance_to_loop, distance_to_segments
from ircert.reproduction.maps.sheets import preimages_of

FIRST, LAST = 2.1, 2.7
"""The values of b on the left and right of the figure."""
REACH = ((-40.0, -40.0), (40.0, 40.0))
"""Where the network's preimages and J0 are looked for."""
WINDOW = ((-7.0, -4.0), (8.0, 11.0))
"""What the figure shows."""
LEVEL = 0.01
"""A distance that grows by less than this has not grown: J0 of a network has corners that the circle passes by."""
CORNERS = 800
"""Of the polygon that stands for the circle."""


@dataclass(frozen=True)
class Phase:
    """One value of b: the circle as a closed polygon, J0 as segments, and the preimages of points of the circle."""

    b: float
    circle: Array
    folds: Array
    points: Array
    preimages: list[Array]

    @property
    def crosses(self) -> bool:
        """Whether the circle meets J0."""
        return len(crossings(self.circle, self.folds)) > 0

    @property
    def distance(self) -> float:
        """From the circle to J0; 0 where they cross."""
        return 0.0 if self.crosses else float(distance_to_segments(self.circle, self.folds).min())

    def split(self) -> tuple[Array, Array, Array]:
        """The preimages on the circle, and the others left and right of it."""
        found = np.concatenate(self.preimages) if self.preimages else np.empty((0, 2))
        on = distance_to_loop(found, self.circle) < ON_CIRCLE
        left = ~on & (found[:, 0] < self.circle[:, 0].min())
        return found[on], found[left], found[~on & ~left]


def map_phase(b: float, count: int) -> Phase:
    """The Euler map: preimages from its cubic, J0 by continuation."""
    euler = BrusselatorMap(b, TAU)
    circle = as_loop(attractor(euler, euler.fixed_point))
    folds = [np.stack([c[:-1], c[1:]], axis=1) for c in euler.fold_curves(*WINDOW, step=0.04)]
    points = thinned(circle, count) if count else np.empty((0, 2))
    return Phase(b, thinned(circle, CORNERS), np.concatenate(folds), points, [euler.preimages(p) for p in points])


def network_phase(network: Graph, b: float, count: int) -> Phase:
    """The network with b fixed: preimages and J0 from its linear regions."""
    fixed = network.fix({2: b})
    circle = as_loop(attractor(fixed, BrusselatorMap(b, TAU).fixed_point))
    folds = ircert.fold_set(fixed, domain=REACH)
    points = thinned(circle, count) if count else np.empty((0, 2))
    return Phase(b, thinned(circle, CORNERS), folds.segments, points, preimages_of(folds.regions, points))


def attractors(settings: Settings, network: Graph) -> Part:
    """Three values of b for the map and for the network, and the distance to J0 between them."""
    count = 40 if settings.quick else 250
    rows = {}
    for name, phase in _systems(network).items():
        settings.say(f"{name}: where the attractor meets its fold set")
        meeting = _meeting(phase, 6 if settings.quick else 12)
        settings.say(f"{name}: preimages of the attractor")
        rows[name] = [phase(b, count) for b in (FIRST, meeting, LAST)]
    parameters = np.linspace(2.0, LAST, 4 if settings.quick else 15)
    settings.say("distances to the fold sets")
    growth = {name: [phase(b, 0).distance for b in parameters] for name, phase in _systems(network).items()}
    return Part(
        claims=tuple(claim for name, row in rows.items() for claim in _claims(name, row, growth[name])),
        comparisons=_comparisons(rows),
        pictures=(
            Picture(
                "attractors",
                "The attractor (orange) of the Euler map (top) and of the network (bottom), the other preimages of its "
                "points (green, purple), and J₀ (red): below, at and above the value of b where it meets J₀.",
                _figure(rows),
            ),
            Picture(
                "growth",
                "The distance between the attractor and J₀ as b grows, 0 where they cross.",
                _growth_figure(parameters, growth),
                page=False,
            ),
        ),
        facts={
            "parameters": parameters,
            "distance": growth,
            "meeting": {name: row[1].b for name, row in rows.items()},
            "preimages_at_first": {name: _counts(row[0]) for name, row in rows.items()},
        },
    )


def _systems(network: Graph) -> dict[str, Callable[[float, int], Phase]]:
    return {"map": map_phase, "network": lambda b, count: network_phase(network, b, count)}


def _meeting(phase: Callable[[float, int], Phase], steps: int) -> float:
    """The b from which on the circle crosses J0, by bisection; the upper end, which crosses."""
    low, high = FIRST, LAST
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if phase(middle, 0).crosses else (middle, high)
    return high


def _counts(phase: Phase) -> dict[str, int]:
    """How many points of the circle have how many preimages."""
    numbers, times = np.unique([len(p) for p in phase.preimages], return_counts=True)
    return {str(n): int(k) for n, k in zip(numbers, times, strict=True)}


def _claims(name: str, row: Sequence[Phase], growth: Sequence[float]) -> tuple[Claim, ...]:
    first, meeting, last = row
    on, left, right = first.split()
    three = all(len(found) == 3 for found in first.preimages)
    one_each = len(on) == len(left) == len(right) == len(first.points)
    return (
        Claim(
            f"{name}, b = {FIRST:g}: every point of the attractor has three preimages, one of them on the attractor",
            three and one_each,
            f"{len(first.points)} points",
        ),
        Claim(
            f"{name}: the attractor approaches J₀ as b grows, meets it, and then intersects it",
            not first.crosses and last.crosses and bool(np.all(np.diff(growth) <= LEVEL)) and growth[0] > growth[-1],
            f"distance {growth[0]:.3f} at b = 2, 0 from b = {meeting.b:.3f}",
        ),
    )


def _comparisons(rows: dict[str, list[Phase]]) -> tuple[Comparison, ...]:
    counts = [f"{name}: {', '.join(_counts(row[0]))}" for name, row in rows.items()]
    return (
        Comparison("preimages of points of the attractor, b = 2.1", "three (map)", "; ".join(counts)),
        Comparison(
            "b where the attractor touches J₀",
            "in a figure, no number",
            "; ".join(f"{name}: {row[1].b:.3f}" for name, row in rows.items()),
            "the network approximates the map",
        ),
    )


def _figure(rows: dict[str, list[Phase]]) -> Any:
    panels = new_panels(3, len(rows), size=(13.0, 4.7 * len(rows)))
    for i, (name, row) in enumerate(rows.items()):
        for ax, phase in zip(panels[3 * i : 3 * i + 3], row, strict=True):
            _draw(ax, phase)
            ax.set_title(f"{name}, b = {phase.b:.3f}".rstrip("0"))
    add_legend(panels[-2], columns=4, below=0.16)
    return panels[0].figure


def _draw(ax: Any, phase: Phase) -> None:
    broken = np.full((len(phase.folds), 1, 2), np.nan)
    draw_curve(ax, np.concatenate([phase.folds, broken], axis=1), color=FOLD_RED, label="J₀")
    _, *others = phase.split()
    for points, color, side in zip(others, LOOP_COLOURS, ("left", "right"), strict=True):
        draw_points(ax, points, marker=".", color=color, size=5, rim=False, label=f"preimages, {side}")
    draw_curve(ax, phase.circle, color=ATTRACTOR, closed=True, label="attractor")
    ax.set(xlabel="x", ylabel="y", xlim=(WINDOW[0][0], WINDOW[1][0]), ylim=(WINDOW[0][1], WINDOW[1][1]))
    ax.set_aspect("equal")


def _growth_figure(parameters: Array, growth: dict[str, list[float]]) -> Any:
    ax = new_axes((5.6, 4.2), pyplot=False)
    for (name, distances), color, marker in zip(growth.items(), ("#1d4e89", "#c1121f"), "os", strict=True):
        rows = np.column_stack([parameters, distances])
        draw_points(draw_curve(ax, rows, color=color), rows, marker=marker, color=color, label=name)
    ax.set(xlabel="b", ylabel="distance between attractor and J₀")
    ax.set_ylim(bottom=-0.02)
    add_legend(ax, below=0.16)
    return ax.figure

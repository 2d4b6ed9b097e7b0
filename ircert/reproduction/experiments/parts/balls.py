"""Both squares around points of the attractor at b = 2.1: problem 1 ends at J0, problem 2 at another preimage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import ircert
from ircert.geometry.domain import Box
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.plotting import (
    add_legend,
    draw_ball,
    draw_curve,
    draw_folds,
    draw_points,
    draw_regions,
    new_panels,
)
from ircert.plotting.style import ATTRACTOR
from ircert.reproduction.frame.answers import agrees, all_closed, ask, bound, facts, in_order, radius
from ircert.reproduction.frame.report import Claim, Part, Picture, Settings, Table
from ircert.reproduction.maps.brusselator_map import TAU, BrusselatorMap
from ircert.reproduction.maps.orbits import as_loop, attractor, thinned
from ircert.reproduction.maps.planar import square_distance
from ircert.result.result import Result

MAP = BrusselatorMap(b=2.1, tau=TAU)
FARTHEST = 30.0
UNKNOWN = 1.0
"""What is looked at around a point whose radius a time limit left at 0."""
LOCAL, PSEUDO = "#00694d", "#5b2a86"


@dataclass(frozen=True)
class Squares:
    """A point of the attractor, both answers, the distance of J0, and all preimages of its image."""

    center: Array
    local: Result
    pseudo: Result
    fold_distance: float
    preimages: Array

    @property
    def other(self) -> float:
        """The distance of the nearest other preimage of f(c), infinite if there is none within reach."""
        gaps = np.abs(self.preimages - self.center).max(axis=1)
        return float(min(gaps[gaps > 1e-9], default=np.inf))


def balls(settings: Settings, network: Graph) -> Part:
    """Squares around points of the attractor of the network."""
    fixed = network.fix({2: MAP.b})
    circle = as_loop(attractor(fixed, MAP.fixed_point))
    around = []
    for i, center in enumerate(_centers(settings, circle)):
        settings.say(f"squares around point {i + 1}")
        around.append(squares_around(settings, fixed, center))
    return Part(
        claims=(*square_claims("network", around), _agreement(settings, around)),
        tables=(_table(around),),
        pictures=(
            Picture(
                "balls",
                "The network at b = 2.1: around a point c of the attractor (+) the largest squares without two points "
                "of one image (green) and without a second preimage of f(c) (purple); f(c) is the triangle. Left: "
                "where the small square meets J₀; right: where the large one meets another preimage.",
                _figure(fixed, circle, min(around, key=lambda s: radius(s.pseudo))),
            ),
        ),
        facts={"points": [square_facts(s) for s in around]},
    )


def _centers(settings: Settings, circle: Array) -> Array:
    """Points spread over the circle, the first one drawn at random."""
    shift = int(np.random.default_rng(settings.seed).integers(len(circle)))
    return thinned(np.roll(circle, -shift, axis=0), 3 if settings.quick else 12)


def squares_around(settings: Settings, fixed: Graph, center: Any) -> Squares:
    """Both answers about one point, with what they are compared with."""
    center = np.asarray(center, dtype=np.float64)
    local = ask(settings, fixed, center)
    pseudo = ask(settings, fixed, center, "pseudo", max_radius=FARTHEST)
    folds = ircert.fold_set(fixed, (center, 1.5 * (radius(local) or UNKNOWN)))
    found = ircert.preimages(fixed, fixed.exact(center), (center, FARTHEST))
    return Squares(center, local, pseudo, square_distance(folds.segments, center), np.array([p.point for p in found]))


def square_claims(name: str, around: list[Squares]) -> tuple[Claim, ...]:
    """What the paper says of both squares."""
    ends = sum(bool(np.isclose(radius(s.local), s.fold_distance, rtol=1e-9)) for s in around)
    others = all(np.isclose(radius(s.pseudo), min(s.other, FARTHEST), rtol=1e-9) for s in around)
    return (
        Claim(
            f"{name}: every radius is answered exactly", all_closed([a for s in around for a in (s.local, s.pseudo)])
        ),
        Claim(
            f"{name}: r <= R",
            in_order((s.local, s.pseudo) for s in around),
            f"{len(around)} point{'s' * (len(around) > 1)}",
        ),
        Claim(
            f"{name}: the square of problem 1 just touches J₀",
            ends == len(around),
            f"{ends} of {len(around)}: r is the distance of J₀",
        ),
        Claim(f"{name}: the square of problem 2 extends to the nearest other preimage of f(c)", others),
    )


def _agreement(settings: Settings, around: list[Squares]) -> Claim:
    """The paper's way, for the points with the smallest squares."""
    settings.say("the mixed-integer engine")
    small = min(around, key=lambda s: radius(s.local))
    asked = [min((s.pseudo for s in around), key=radius), *([] if settings.quick else [small.local])]
    words = "1 % less is certified, 1 % more refuted" + ("" if settings.quick else ", for the least r and the least R")
    return Claim("network: the mixed-integer engine agrees", all(agrees(settings, a) for a in asked), words)


def _table(around: list[Squares]) -> Table:
    rows = [
        (*s.center.tolist(), bound(s.local), s.fold_distance, bound(s.pseudo), len(s.preimages) - 1) for s in around
    ]
    columns = ("x", "y", "r", "distance of J₀", "R", f"other preimages within {FARTHEST:g}")
    return Table("Squares around points of the attractor of the network at b = 2.1", columns, tuple(rows))


def square_facts(squares: Squares) -> dict[str, Any]:
    """What results.json keeps of both squares."""
    return {
        "local": facts(squares.local),
        "pseudo": facts(squares.pseudo),
        "fold_distance": squares.fold_distance,
        "preimages": squares.preimages,
    }


def _figure(fixed: Graph, circle: Array, squares: Squares) -> Any:
    panels = new_panels(2, size=(13.0, 6.2))
    reach = max(
        radius(squares.pseudo) if squares.pseudo.radius.refuted is not None else 0.0, np.ptp(circle, axis=0).max()
    )
    for ax, half in zip(panels, (1.6 * (radius(squares.local) or UNKNOWN), 1.3 * reach), strict=True):
        window = Box(squares.center - half, squares.center + half)
        draw_regions(ax, ircert.enumerate_regions(fixed, domain=window), colorbar=ax is panels[1])
        draw_folds(ax, ircert.fold_set(fixed, domain=window), singular=False)
        draw_curve(ax, circle, color=ATTRACTOR, closed=True, rim=True, label="attractor")
        for result, color in ((squares.local, LOCAL), (squares.pseudo, PSEUDO)):
            draw_ball(ax, squares.center, radius(result), problem=result.problem, color=color)
        others = squares.preimages[np.abs(squares.preimages - squares.center).max(axis=1) > 1e-9]
        draw_points(ax, others, marker="D", size=7, label="other preimages of f(c)")
        draw_points(ax, fixed(squares.center), marker="^", size=9, label="f(c)")
        draw_points(ax, squares.center, marker="+", size=11, label="c, the preimage on the attractor")
        ax.set(xlabel="x", ylabel="y", xlim=(window[0][0], window[1][0]), ylim=(window[0][1], window[1][1]))
        ax.set_aspect("equal")
        add_legend(ax)
    return panels[0].figure

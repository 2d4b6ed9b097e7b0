"""Both squares around points of the attractor at b = 2.1: problem 1 ends at J0, problem 2 at another preimage."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ircert
from ircert.errors import FileError
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
from ircert.reproduction.answers import agrees, all_closed, ask, bound, facts, radius
from ircert.reproduction.brusselator_map import BrusselatorMap
from ircert.reproduction.orbits import as_loop, attractor, thinned
from ircert.reproduction.report import Claim, Comparison, Part, Picture, Settings, Table
from ircert.result.result import Result

MAP = BrusselatorMap(b=2.1, tau=0.15)
FARTHEST = 30.0
PUBLISHED_CENTER = (1.96433, 1.24951)
PUBLISHED = {"local": 0.655344127938151, "pseudo": 2.77382102844230}
PUBLISHED_OTHERS = ((4.73825188, -1.10571284), (8.83688484, -4.29014662))
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
    """Squares around points of the attractor of the network, and around the published point of the authors' one."""
    fixed = network.fix({2: MAP.b})
    circle = as_loop(attractor(fixed, MAP.fixed_point))
    around = []
    for i, center in enumerate(_centers(settings, circle)):
        settings.say(f"squares around point {i + 1}")
        around.append(_squares(settings, fixed, center))
    part = Part(
        claims=(*_claims("network", around), _agreement(settings, around)),
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
        facts={"points": [_facts(s) for s in around]},
    )
    return part if settings.reference is None else _with_published(settings, part, settings.reference)


def published_network(folder: Path) -> Graph:
    """The authors' network (x, y, b): files w1, b1, … written for x @ w + b."""
    home = folder / "brusselator"
    if not (home / "w1.txt").is_file():
        raise FileError(
            "the authors' Brusselator network is not there", path=home, remedy="unset IRCERT_REFERENCE_DATA"
        )
    return ircert.load([(np.loadtxt(home / f"w{k}.txt").T, np.loadtxt(home / f"b{k}.txt")) for k in (1, 2, 3)])


def _centers(settings: Settings, circle: Array) -> Array:
    """Points spread over the circle, the first one drawn at random."""
    shift = int(np.random.default_rng(settings.seed).integers(len(circle)))
    return thinned(np.roll(circle, -shift, axis=0), 3 if settings.quick else 12)


def _squares(settings: Settings, fixed: Graph, center: Any) -> Squares:
    center = np.asarray(center, dtype=np.float64)
    local = ask(settings, fixed, center)
    pseudo = ask(settings, fixed, center, "pseudo", max_radius=FARTHEST)
    folds = ircert.fold_set(fixed, (center, 1.5 * radius(local)))
    found = ircert.preimages(fixed, fixed.exact(center), (center, FARTHEST))
    return Squares(center, local, pseudo, _nearest(folds.segments, center), np.array([p.point for p in found]))


def _nearest(segments: Array, center: Array) -> float:
    """The distance of segments in the ∞-norm, which is convex along each: the least over ends and kinks of the norm."""
    start, side = segments[:, 0] - center, segments[:, 1] - segments[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        zeros = -start / side  # a coordinate vanishes
        diagonals = [(start[:, 1] * s - start[:, 0]) / (side[:, 0] - s * side[:, 1]) for s in (1.0, -1.0)]
    shares = np.column_stack([np.zeros(len(side)), np.ones(len(side)), zeros, *diagonals])
    shares = np.clip(np.nan_to_num(shares), 0.0, 1.0)
    return float(np.abs(start[:, None] + shares[..., None] * side[:, None]).max(axis=2).min())


def _claims(name: str, around: list[Squares]) -> tuple[Claim, ...]:
    ends = sum(bool(np.isclose(radius(s.local), s.fold_distance, rtol=1e-9)) for s in around)
    others = all(np.isclose(radius(s.pseudo), min(s.other, FARTHEST), rtol=1e-9) for s in around)
    return (
        Claim(
            f"{name}: every radius is answered exactly", all_closed([a for s in around for a in (s.local, s.pseudo)])
        ),
        Claim(
            f"{name}: r <= R",
            all(radius(s.local) <= radius(s.pseudo) for s in around),
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


def _facts(squares: Squares) -> dict[str, Any]:
    return {
        "local": facts(squares.local),
        "pseudo": facts(squares.pseudo),
        "fold_distance": squares.fold_distance,
        "preimages": squares.preimages,
    }


def _with_published(settings: Settings, part: Part, folder: Path) -> Part:
    """The authors' own network at their own point, beside the radii they publish."""
    settings.say("the authors' network")
    fixed = published_network(folder).fix({2: MAP.b})
    squares = _squares(settings, fixed, PUBLISHED_CENTER)
    answers = {"local": squares.local, "pseudo": squares.pseudo}
    why = "the paper bisects to 1e-3 and takes p* <= 1e-4 for zero; ours is exact"
    comparisons = [
        Comparison(
            f"the authors' network at {PUBLISHED_CENTER}: {name}", PUBLISHED[problem], radius(answers[problem]), why
        )
        for name, problem in (("r", "local"), ("R", "pseudo"))
    ]
    comparisons += [
        Comparison("its other preimages of f(c)", list(theirs), ours.tolist(), "a solver's tolerance")
        for theirs, ours in zip(PUBLISHED_OTHERS, _matched(squares.preimages), strict=True)
    ]
    near = all(abs(radius(answers[p]) - PUBLISHED[p]) < 1e-3 for p in PUBLISHED)
    agrees = Claim("the authors' network: the published radii agree within the paper's bisection, 1e-3", near)
    return Part(
        claims=(*part.claims, *_claims("the authors' network", [squares]), agrees),
        comparisons=(*part.comparisons, *comparisons),
        tables=part.tables,
        pictures=part.pictures,
        facts={**part.facts, "published": _facts(squares)},
    )


def _matched(preimages: Array) -> list[Array]:
    """For each published preimage the nearest of ours."""
    return [preimages[np.argmin(np.abs(preimages - np.array(p)).max(axis=1))] for p in PUBLISHED_OTHERS]


def _figure(fixed: Graph, circle: Array, squares: Squares) -> Any:
    panels = new_panels(2, size=(13.0, 6.2))
    reach = max(
        radius(squares.pseudo) if squares.pseudo.radius.refuted is not None else 0.0, np.ptp(circle, axis=0).max()
    )
    for ax, half in zip(panels, (1.6 * radius(squares.local), 1.3 * reach), strict=True):
        window = (squares.center - half, squares.center + half)
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

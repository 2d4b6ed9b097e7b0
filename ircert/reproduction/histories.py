"""histories: three of five numbers of one step are observed. The ten cases in closed form, and for a learned step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import ircert
from ircert.data.networks import bundled
from ircert.ir.arrays import Array
from ircert.observation import Observability
from ircert.plotting import add_legend, new_axes
from ircert.plotting.style import BALLS
from ircert.reproduction.answers import all_closed, bound, facts, radius
from ircert.reproduction.completed_histories import HISTORY, Closed
from ircert.reproduction.partial_history import CASES, Case
from ircert.reproduction.report import Claim, Picture, Report, Settings, Table

NETWORK = "brusselator-tau-3-24-24-2"
BOX = (np.array([-1.5, -1.5, 0.05]), np.array([4.0, 4.5, 0.3]))
"""Where the network was trained: x, y and τ."""
CENTERS = ((2.0, 2.5, 0.15), (1.2, 1.2, 0.15))
FARTHEST, FARTHEST_QUICK = 0.1, 0.02
"""Searches end here: τ then goes from 0.05 to 0.25."""
GRID = 41
DRAWS = 400
INPUTS = 3
COLOURS = (BALLS[3], BALLS[2])


@dataclass(frozen=True)
class _Seen:
    """One case at one centre: where the learned step's observations determine the rest, and where the map's may."""

    case: Case
    center: tuple[float, float, float]
    answer: Observability
    regular: float
    """How far the map's observations have a regular Jacobian, on a grid; infinite if no point of it is singular."""


def run(settings: Settings) -> Report:
    """The paper's table, ten cases for random histories, and ten cases for the network."""
    settings.say("closed forms")
    draws = DRAWS // 10 if settings.quick else DRAWS
    closed = Closed.of(np.random.default_rng(settings.seed).uniform(*BOX, size=(draws, INPUTS)))
    centers = CENTERS[:1] if settings.quick else CENTERS
    seen = [_asked(settings, case, center) for center in centers for case in CASES]
    return Report(
        title="Partially observed histories",
        text=(
            "One Euler step of the Brusselator relates five numbers, x, y, τ and the next x', y'; three of them are "
            f"given (a = {HISTORY.a:g}, b = {HISTORY.b:g}). In closed form every completion is a root of a polynomial. "
            f"For a network that learned the step ({NETWORK}), ircert.observability certifies around a centre "
            "(x, y, τ) how far (∞-norm, inside the box of the training) the three given numbers determine the other "
            "two; the paper announces this and leaves it open. The network is a coarse fit: where the step changes "
            "little with τ, as at the second centre, slopes in τ differ in sign from piece to piece, and the radius "
            "is far smaller than the map's."
        ),
        claims=(*closed.claims(), *_claims(seen)),
        comparisons=closed.comparisons(),
        tables=(
            *closed.tables(),
            *(_radii([s for s in seen if s.center == center]) for center in centers),
        ),
        pictures=(
            Picture(
                "roots",
                "(x, x', y') ⇒ (τ, y): the two steps τ that complete each row of the paper's table, in the complex "
                "plane. Two positive ones, one, none, and a complex pair.",
                closed.figure(),
            ),
            Picture(
                "radii",
                "How far around two centres the three given numbers determine the other two, for the network that "
                "learned the step; hatched bars reach the end of the search.",
                _bars(seen, centers),
            ),
        ),
        facts={
            **closed.facts(),
            "network": [{"case": s.case.number, "map_regular": s.regular, **facts(s.answer.result)} for s in seen],
        },
    )


# --- the network -----------------------------------------------------------------------------------------------------


def _asked(settings: Settings, case: Case, center: tuple[float, float, float]) -> _Seen:
    settings.say(f"case {case.number} around {center}")
    farthest = FARTHEST_QUICK if settings.quick else FARTHEST
    answer = ircert.observability(
        bundled(NETWORK),
        [i for i in case.given if i < INPUTS],
        [i - INPUTS for i in case.given if i >= INPUTS],
        center,
        domain=BOX,
        max_radius=farthest,
        seed=settings.seed,
        time_limit=settings.time_limit,
    )
    return _Seen(case, center, answer, _regular(case, np.array(center), farthest))


def _regular(case: Case, center: Array, reach: float) -> float:
    """The distance of the nearest point of a grid where the determinant of the map's observations changed its sign."""
    axes = [np.linspace(max(c - reach, a), min(c + reach, b), GRID) for c, a, b in zip(center, *BOX, strict=True)]
    points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, INPUTS)
    determinants = np.linalg.det(HISTORY.jacobian(np.vstack([center, points]))[:, list(case.given)])
    turned = points[determinants[1:] * determinants[0] <= 0]
    return float(np.abs(turned - center).max(axis=1).min()) if len(turned) else np.inf


# --- what is reported ------------------------------------------------------------------------------------------------


def _claims(seen: list[_Seen]) -> tuple[Claim, ...]:
    least = min(radius(s.answer.result) for s in seen)
    found = [s for s in seen if s.answer.witness is not None]
    return (
        Claim("network: every case is decided", all_closed([s.answer.result for s in seen])),
        Claim(
            "network: near the centre any three numbers determine the other two", least > 0, f"at least to {least:.4f}"
        ),
        Claim(
            "network: beyond a radius two different histories have the same observations, exactly",
            all((s.answer.radius.refuted is None) == (s.answer.witness is None) for s in seen),
            f"{len(found)} pairs, replayed in rationals",
        ),
        Claim(
            "network: the forward case holds everywhere",
            all(np.isinf(radius(s.answer.result)) for s in seen if s.case.number == 1),
        ),
    )


def _radii(seen: list[_Seen]) -> Table:
    rows = [
        (s.case.number, s.case.name, bound(s.answer.result), "" if np.isinf(s.regular) else s.regular) for s in seen
    ]
    columns = ("case", "given ⇒ unknown", "radius, network", "the map's Jacobian turns singular at about")
    return Table(f"Around (x, y, τ) = {seen[0].center}", columns, tuple(rows))


def _bars(seen: list[_Seen], centers: tuple[tuple[float, float, float], ...]) -> Any:
    ax = new_axes((8.2, 5.6), pyplot=False)
    finite = [radius(s.answer.result) for s in seen if np.isfinite(radius(s.answer.result))]
    end = max(finite)
    height = 0.8 / len(centers)
    for k, (center, color) in enumerate(zip(centers, COLOURS, strict=False)):
        rows = [s for s in seen if s.center == center]
        ends = [s.answer.radius.refuted is None for s in rows]
        widths = [min(radius(s.answer.result), end) for s in rows]
        places = [s.case.number + (k - (len(centers) - 1) / 2) * height for s in rows]
        bars = ax.barh(places, widths, height=0.92 * height, color=color, label=f"around (x, y, τ) = {center}")
        for bar, reached in zip(bars, ends, strict=True):
            bar.set(hatch="//" if reached else "", edgecolor="white", linewidth=0.0)
        for place, width, s in zip(places, widths, rows, strict=True):
            text = "everywhere" if np.isinf(radius(s.answer.result)) else bound(s.answer.result)
            shown = text if isinstance(text, str) else f"{text:.4f}"
            ax.annotate(shown, (width, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    ax.set_yticks([case.number for case in CASES], [f"{case.number}  {case.name}" for case in CASES])
    ax.invert_yaxis()
    ax.set(xlabel="certified radius (∞-norm)", xlim=(0, 1.15 * end))
    add_legend(ax, columns=2, below=0.12)
    return ax.figure

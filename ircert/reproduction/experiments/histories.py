"""histories: three of five numbers of one step are observed. The ten cases in closed form, and for a learned step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import ircert
from ircert.analysis.observation import Observability
from ircert.data.networks import bundled
from ircert.ir.arrays import Array
from ircert.plotting import add_legend, new_axes
from ircert.plotting.style import BALLS
from ircert.reproduction.experiments.parts.completed_histories import HISTORY, Closed
from ircert.reproduction.frame.answers import all_closed, bound, facts, radius
from ircert.reproduction.frame.report import Claim, Picture, Report, Settings, Table
from ircert.reproduction.maps.partial_history import CASES, Case

NETWORK = "brusselator-tau-3-24-24-2"
BOX = (np.array([-1.5, -1.5, 0.05]), np.array([4.0, 4.5, 0.3]))
"""Where the network was trained: x, y and τ."""
CENTERS = ((2.0, 2.5, 0.15), (1.2, 1.2, 0.15))
FARTHEST_QUICK = 0.02
"""Where searches of the small version end, around the second centre, which has collisions nearer than that."""
REACH, GRID, ROUNDS = 3.0, 41, 4
"""How far singular points of the map are looked for, on how fine a grid, and how often it is refined."""
LEAST, MOST = 1e-3, 6.0
"""The ends of the picture's axis."""
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
    """How far the determinant of the map's observations keeps its sign, on a grid; infinite if it does everywhere."""


def run(settings: Settings) -> Report:
    """The paper's table, ten cases for random histories, and ten cases for the network."""
    settings.say("closed forms")
    draws = DRAWS // 10 if settings.quick else DRAWS
    closed = Closed.of(np.random.default_rng(settings.seed).uniform(*BOX, size=(draws, INPUTS)))
    centers = CENTERS[1:] if settings.quick else CENTERS
    seen = [_asked(settings, case, center) for center in centers for case in CASES]
    return Report(
        title="Partially observed histories",
        text=(
            "One Euler step of the Brusselator relates five numbers, x, y, τ and the next x', y'; three of them are "
            f"given (a = {HISTORY.a:g}, b = {HISTORY.b:g}). In closed form every completion is a root of a polynomial. "
            f"For a network that learned the step ({NETWORK}), ircert.observability certifies around a centre "
            "(x, y, τ) how far (∞-norm, inside the box of the training) the three given numbers determine the other "
            "two; the paper announces this and leaves it open. The network is a coarse fit: where the step changes "
            f"little with τ, as around {CENTERS[1]}, slopes in τ differ in sign from piece to piece, and the radius "
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
                "How far around a centre the three given numbers determine the other two, for the network that "
                "learned the step.",
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
    answer = ircert.observability(
        bundled(NETWORK),
        [i for i in case.given if i < INPUTS],
        [i - INPUTS for i in case.given if i >= INPUTS],
        center,
        domain=BOX,
        max_radius=FARTHEST_QUICK if settings.quick else None,
        seed=settings.seed,
        time_limit=settings.time_limit,
    )
    return _Seen(case, center, answer, _regular(case, np.array(center)))


def _regular(case: Case, center: Array) -> float:
    """About how far the nearest point is where the determinant of the map's observations changes its sign."""
    reach = REACH
    for _ in range(ROUNDS):
        axes = [np.linspace(max(c - reach, a), min(c + reach, b), GRID) for c, a, b in zip(center, *BOX, strict=True)]
        points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, INPUTS)
        determinants = np.linalg.det(HISTORY.jacobian(np.vstack([center, points]))[:, list(case.given)])
        turned = points[determinants[1:] * determinants[0] < 0]
        if not len(turned):
            break
        reach = float(np.abs(turned - center).max(axis=1).min())
    return reach if reach < REACH else np.inf


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
            bool(found) and all((s.answer.radius.refuted is None) == (s.answer.witness is None) for s in seen),
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
    columns = ("case", "given ⇒ unknown", "radius, network", "the map's determinant changes sign at about")
    return Table(f"Around (x, y, τ) = {seen[0].center}", columns, tuple(rows))


def _bars(seen: list[_Seen], centers: tuple[tuple[float, float, float], ...]) -> Any:
    ax = new_axes((8.2, 5.6), pyplot=False)
    height = 0.8 / len(centers)
    for k, (center, color) in enumerate(zip(centers, COLOURS, strict=False)):
        rows = [s for s in seen if s.center == center]
        widths = [min(radius(s.answer.result), MOST) for s in rows]
        places = [s.case.number + (k - (len(centers) - 1) / 2) * height for s in rows]
        label = f"around (x, y, τ) = ({', '.join(f'{v:g}' for v in center)})"
        ax.barh(places, widths, height=0.92 * height, color=color, label=label)
        for place, width, s in zip(places, widths, rows, strict=True):
            found = bound(s.answer.result)
            text = found if isinstance(found, str) else "everywhere" if np.isinf(found) else f"{found:.4f}"
            ax.annotate(text, (width, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    ax.set_yticks([case.number for case in CASES], [f"{case.number}  {case.name}" for case in CASES])
    ax.invert_yaxis()
    ax.set(xlabel="certified radius (∞-norm)", xscale="log", xlim=(LEAST, 4 * MOST))
    add_legend(ax, columns=2, below=0.12)
    return ax.figure

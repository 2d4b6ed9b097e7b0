"""histories: three of five numbers of one step are observed. The ten cases in closed form, and for a learned step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import ircert
from ircert.data.networks import bundled
from ircert.ir.arrays import Array
from ircert.observation import Observability
from ircert.plotting import add_legend, draw_points, new_axes
from ircert.plotting.style import BALLS, FOLD_RED, INK
from ircert.reproduction.answers import all_closed, bound, facts, radius
from ircert.reproduction.partial_history import CASES, Case, Complexes, History
from ircert.reproduction.report import Claim, Comparison, Picture, Report, Settings, Table

NETWORK = "brusselator-tau-3-24-24-2"
HISTORY = History(a=1.0, b=2.0)
BOX = (np.array([-1.5, -1.5, 0.05]), np.array([4.0, 4.5, 0.3]))
"""Where the network was trained: x, y and τ."""
CENTERS = ((2.0, 2.5, 0.15), (1.2, 1.2, 0.15))
FARTHEST, FARTHEST_QUICK = 0.1, 0.02
"""Searches end here: τ then goes from 0.05 to 0.25."""
GRID = 41
DRAWS = 400
INPUTS = 3

CLOSE = 1e-5
"""Errors of roots, relative to the largest number: double roots lose half of the digits."""
ROUNDED = 2e-5
"""The paper's observations have five decimals."""
PAPER: tuple[tuple[tuple[float, float, float], tuple[complex, complex], tuple[complex, complex]], ...] = (
    ((4.88766, 1.62663, 2.27734), (0.27018, 0.12996), (0.06670, -0.47845)),
    ((2.36082, 3.27177, 2.13372), (-1.51470, 0.07929), (0.98342, 3.15257)),
    ((2.19914, 1.97336, 3.22943), (-1.51394, -0.02572), (1.18823, 2.97282)),
    ((4.60127, 2.27780, 2.21088), (0.09960 + 0.14337j, 0.09960 - 0.14337j), (0.24609 + 0.51630j, 0.24609 - 0.51630j)),
)
"""(x, x', y'), both τ and both y: the paper's table of its last case."""
COLOURS = (BALLS[3], BALLS[2])


@dataclass(frozen=True)
class _Solved:
    """A row of the paper's table: our two completions in the paper's order, and how far they are off."""

    given: tuple[float, float, float]
    found: Complexes
    off: float


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
    table = [_solved(*row) for row in PAPER]
    counts = _counts(settings.seed, DRAWS // 10 if settings.quick else DRAWS)
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
        claims=_claims(table, counts, seen),
        comparisons=tuple(_comparisons(table)),
        tables=(_numbers(counts), *(_radii([s for s in seen if s.center == center]) for center in centers)),
        pictures=(
            Picture(
                "roots",
                "(x, x', y') ⇒ (τ, y): the two steps τ that complete each row of the paper's table, in the complex "
                "plane. Two positive ones, one, none, and a complex pair.",
                _roots(table),
            ),
            Picture(
                "radii",
                "How far around two centres the three given numbers determine the other two, for the network that "
                "learned the step; hatched bars reach the end of the search.",
                _bars(seen, centers),
            ),
        ),
        facts={
            "table": [
                {"given": row.given, "tau": _parts(row.found[:, 2]), "y": _parts(row.found[:, 1])} for row in table
            ],
            "completions": {c.case.number: c.numbers for c in counts},
            "network": [{"case": s.case.number, "map_regular": s.regular, **facts(s.answer.result)} for s in seen],
        },
    )


# --- closed forms ----------------------------------------------------------------------------------------------------


def _solved(given: tuple[float, float, float], steps: tuple[complex, ...], before: tuple[complex, ...]) -> _Solved:
    x, x1, y1 = given
    found = CASES[-1].completions(HISTORY, [x, 0, 0, x1, y1])
    wanted = np.array([steps, before]).T
    orders = [found[::step] for step in (1, -1)]
    offs = [float(np.abs(rows[:, [2, 1]] - wanted).max()) if len(rows) == 2 else np.inf for rows in orders]
    best = int(np.argmin(offs))
    return _Solved(given, orders[best], offs[best])


@dataclass(frozen=True)
class _Counted:
    """Random histories of one case: how many have so many real completions, and the largest errors.

    wrong:  of the given numbers in the completions
    missed: of the completion that is nearest to the history itself
    """

    case: Case
    numbers: Mapping[int, int]
    wrong: float
    missed: float


def _counts(seed: int, draws: int) -> list[_Counted]:
    full = HISTORY.complete(*np.random.default_rng(seed).uniform(*BOX, size=(draws, INPUTS)).T)
    return [_counted(case, full) for case in CASES]


def _counted(case: Case, full: Array) -> _Counted:
    given, scale = list(case.given), float(np.abs(full).max())
    roots = [case.completions(HISTORY, row) for row in full]
    numbers = [len(case.real(HISTORY, row)) for row in full]
    wrong = max(float(np.abs(found[:, given] - row[given]).max()) for found, row in zip(roots, full, strict=True))
    missed = max(float(np.abs(found - row).max(axis=1).min()) for found, row in zip(roots, full, strict=True))
    return _Counted(case, {n: numbers.count(n) for n in sorted(set(numbers))}, wrong / scale, missed / scale)


def _parts(values: Complexes) -> list[list[float]]:
    """Real and imaginary parts."""
    return [[float(v.real), float(v.imag)] for v in values]


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


def _claims(table: list[_Solved], counts: list[_Counted], seen: list[_Seen]) -> tuple[Claim, ...]:
    off = max(row.off for row in table)
    unique = [c.case.number for c in counts if set(c.numbers) == {1}]
    several = [c.case.number for c in counts if max(c.numbers) > 1]
    within = all(max(c.numbers) <= c.case.most for c in counts)
    error = max(max(c.wrong, c.missed) for c in counts)
    least = min(radius(s.answer.result) for s in seen)
    found = [s for s in seen if s.answer.witness is not None]
    return (
        Claim("the paper's table of (x, x', y') ⇒ (τ, y), real and complex roots", off < ROUNDED, f"within {off:.1e}"),
        Claim(
            "every history is among its completions, and all of these have the given numbers",
            error < CLOSE,
            f"{sum(counts[0].numbers.values())} random histories, ten cases, errors up to {error:.0e}",
        ),
        Claim("cases 1, 3, 5, 7 and 8 have one completion", unique == [1, 3, 5, 7, 8]),
        Claim(
            "cases 2, 4, 6, 9 and 10 may have several real ones, at most the degree",
            several == [2, 4, 6, 9, 10] and within,
        ),
        Claim("network: every case is decided", all_closed([s.answer.result for s in seen])),
        Claim(
            "network: near the centre any three numbers determine the other two", least > 0, f"at least to {least:.4f}"
        ),
        Claim(
            "network: where they stop to, two different histories have the same observations, exactly",
            all((s.answer.radius.refuted is None) == (s.answer.witness is None) for s in seen),
            f"{len(found)} pairs, replayed in rationals",
        ),
        Claim(
            "network: the forward case holds everywhere",
            all(np.isinf(radius(s.answer.result)) for s in seen if s.case.number == 1),
        ),
    )


def _comparisons(table: list[_Solved]) -> list[Comparison]:
    rows = []
    for (given, steps, before), ours in zip(PAPER, table, strict=True):
        for what, paper, found in (("τ", steps, ours.found[:, 2]), ("y", before, ours.found[:, 1])):
            name = f"{what} for (x, x', y') = {given}"
            rows.append(Comparison(name, _shown(paper), _shown(found), "the observations are rounded to five decimals"))
    return rows


def _shown(values: Any) -> str:
    return ", ".join(
        f"{v.real:.5f}" if abs(v.imag) < 1e-9 else f"{v.real:.5f} {v.imag:+.5f} i" for v in map(complex, values)
    )


def _numbers(counts: list[_Counted]) -> Table:
    rows = [(c.case.number, c.case.name, *(c.numbers.get(n, 0) for n in (1, 2, 3))) for c in counts]
    columns = ("case", "given ⇒ unknown", "one", "two", "three")
    return Table("Random histories by their number of real completions (closed form)", columns, tuple(rows))


def _radii(seen: list[_Seen]) -> Table:
    rows = [
        (s.case.number, s.case.name, bound(s.answer.result), "" if np.isinf(s.regular) else s.regular) for s in seen
    ]
    columns = ("case", "given ⇒ unknown", "radius, network", "the map's Jacobian turns singular at about")
    return Table(f"Around (x, y, τ) = {seen[0].center}", columns, tuple(rows))


def _roots(table: list[_Solved]) -> Any:
    ax = new_axes((7.2, 4.6), pyplot=False)
    ax.axhline(0.0, color=INK, linewidth=0.8, alpha=0.6)
    ax.axvspan(-2.0, 0.0, color=FOLD_RED, alpha=0.06, linewidth=0)
    for row, marker, color in zip(table, "os^D", ("#1d4e89", "#1b7837", "#762a83", "#c1121f"), strict=True):
        steps = row.found[:, 2]
        label = f"(x, x', y') = ({', '.join(f'{v:.5f}' for v in row.given)})"
        size = 12 if marker == "s" else 7  # two roots nearly coincide
        draw_points(ax, np.column_stack([steps.real, steps.imag]), marker=marker, color=color, size=size, label=label)
    ax.set(xlabel="Re τ (shaded: backward in time)", ylabel="Im τ", xlim=(-1.7, 0.5), ylim=(-0.2, 0.2))
    ax.grid(color=INK, alpha=0.12)
    add_legend(ax, columns=2, below=0.16)
    return ax.figure


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

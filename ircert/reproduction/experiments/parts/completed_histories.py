"""The ten cases of partial histories in closed form: the paper's table, one history in full, and random ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ircert.ir.arrays import Array
from ircert.plotting import add_legend, draw_points, new_axes
from ircert.plotting.style import FOLD_RED, INK
from ircert.reproduction.frame.report import Claim, Comparison, Table
from ircert.reproduction.maps.partial_history import CASES, NAMES, Case, Complexes, History

HISTORY = History(a=1.0, b=2.0)
EXAMPLE = (-1.5, 2.5, 0.25)
"""x, y and τ of a history that some cases complete by complex numbers as well."""
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


@dataclass(frozen=True)
class _Solved:
    """A row of the paper's table: our two completions in the paper's order, and how far they are off."""

    given: tuple[float, float, float]
    found: Complexes
    off: float


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


def _counted(case: Case, full: Array) -> _Counted:
    given, scale = list(case.given), float(np.abs(full).max())
    roots = [case.completions(HISTORY, row) for row in full]
    numbers = [len(case.real(HISTORY, row)) for row in full]
    wrong = max(float(np.abs(found[:, given] - row[given]).max()) for found, row in zip(roots, full, strict=True))
    missed = max(float(np.abs(found - row).max(axis=1).min()) for found, row in zip(roots, full, strict=True))
    return _Counted(case, {n: numbers.count(n) for n in sorted(set(numbers))}, wrong / scale, missed / scale)


@dataclass(frozen=True)
class Closed:
    """The paper's table solved, and random histories by their number of real completions."""

    table: tuple[_Solved, ...]
    counts: tuple[_Counted, ...]

    @staticmethod
    def of(starts: Array) -> Closed:
        """With these random starts (x, y, τ)."""
        full = HISTORY.complete(*starts.T)
        return Closed(tuple(_solved(*row) for row in PAPER), tuple(_counted(case, full) for case in CASES))

    def claims(self) -> tuple[Claim, ...]:
        """The table, and which cases are unique."""
        off = max(row.off for row in self.table)
        unique = [c.case.number for c in self.counts if set(c.numbers) == {1}]
        several = [c.case.number for c in self.counts if max(c.numbers) > 1]
        within = all(max(c.numbers) <= c.case.most for c in self.counts)
        error = max(max(c.wrong, c.missed) for c in self.counts)
        draws = sum(self.counts[0].numbers.values())
        return (
            Claim(
                "the paper's table of (x, x', y') ⇒ (τ, y), real and complex roots", off < ROUNDED, f"within {off:.1e}"
            ),
            Claim(
                "every history is among its completions, and all of these have the given numbers",
                error < CLOSE,
                f"{draws} random histories, ten cases, errors up to {error:.0e}",
            ),
            Claim("cases 1, 3, 5, 7 and 8 have one completion", unique == [1, 3, 5, 7, 8]),
            Claim(
                "cases 2, 4, 6, 9 and 10 may have several real ones, at most the degree",
                several == [2, 4, 6, 9, 10] and within,
            ),
        )

    def comparisons(self) -> tuple[Comparison, ...]:
        """The paper's roots beside ours."""
        rows = []
        for (given, steps, before), ours in zip(PAPER, self.table, strict=True):
            for what, paper, found in (("τ", steps, ours.found[:, 2]), ("y", before, ours.found[:, 1])):
                name = f"{what} for (x, x', y') = {given}"
                why = "the observations are rounded to five decimals"
                rows.append(Comparison(name, _shown(paper), _shown(found), why))
        return tuple(rows)

    def tables(self) -> tuple[Table, ...]:
        """One history in full, and the counts."""
        rows = [(c.case.number, c.case.name, *(c.numbers.get(n, 0) for n in (1, 2, 3))) for c in self.counts]
        columns = ("case", "given ⇒ unknown", "one", "two", "three")
        title = "Random histories by their number of real completions (closed form)"
        return _examples(), Table(title, columns, tuple(rows))

    def facts(self) -> dict[str, Any]:
        """Every root."""
        full = HISTORY.complete(*EXAMPLE)
        return {
            "completions_of": {
                "start": EXAMPLE,
                "cases": {c.number: [_parts(root) for root in c.completions(HISTORY, full)] for c in CASES},
            },
            "table": [{"given": r.given, "tau": _parts(r.found[:, 2]), "y": _parts(r.found[:, 1])} for r in self.table],
            "completions": {c.case.number: c.numbers for c in self.counts},
        }

    def figure(self) -> Any:
        """The steps τ of the paper's table in the complex plane."""
        ax = new_axes((7.2, 4.6), pyplot=False)
        ax.axhline(0.0, color=INK, linewidth=0.8, alpha=0.6)
        ax.axvspan(-2.0, 0.0, color=FOLD_RED, alpha=0.15, linewidth=0)
        for row, marker, color in zip(self.table, "os^D", ("#1d4e89", "#1b7837", "#762a83", "#c1121f"), strict=True):
            steps = np.column_stack([row.found[:, 2].real, row.found[:, 2].imag])
            label = f"(x, x', y') = ({', '.join(f'{v:.5f}' for v in row.given)})"
            size = 12 if marker == "s" else 7  # two roots nearly coincide
            draw_points(ax, steps, marker=marker, color=color, size=size, label=label)
        ax.set(xlabel="Re τ (shaded: backward in time)", ylabel="Im τ", xlim=(-1.7, 0.5), ylim=(-0.2, 0.2))
        ax.grid(color=INK, alpha=0.12)
        add_legend(ax, columns=2, below=0.16)
        return ax.figure


def _parts(values: Complexes) -> list[list[float]]:
    """Real and imaginary parts."""
    return [[float(v.real), float(v.imag)] for v in values]


def _shown(values: Any) -> str:
    return ", ".join(
        f"{v.real:.5f}" if abs(v.imag) < 1e-9 else f"{v.real:.5f} {v.imag:+.5f} i" for v in map(complex, values)
    )


def _examples() -> Table:
    """Every completion of one history, case by case."""
    full = HISTORY.complete(*EXAMPLE)
    rows = []
    for case in CASES:
        first, second = case.unknown
        pairs = [f"({_shown([root[first]])}; {_shown([root[second]])})" for root in case.completions(HISTORY, full)]
        rows.append((case.number, case.name, ", ".join(pairs)))
    shown = ", ".join(f"{name} = {value:g}" for name, value in zip(NAMES, full, strict=True))
    return Table(f"All completions, real and complex, of one history: {shown}", ("case", "", "unknowns"), tuple(rows))

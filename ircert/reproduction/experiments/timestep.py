"""timestep: the fold set of the Brusselator's Euler step recedes as the step shrinks, for the map and for a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import ircert
from ircert.data.networks import bundled
from ircert.ir.arrays import Array
from ircert.plotting import add_legend, draw_center, draw_curve, draw_folds, draw_points, new_panels
from ircert.plotting.ball import outline
from ircert.plotting.style import INK
from ircert.reproduction.frame.answers import all_closed, ask, facts, in_order, radius
from ircert.reproduction.frame.report import Claim, Comparison, Picture, Report, Settings, Table
from ircert.reproduction.maps.brusselator_map import BrusselatorMap
from ircert.reproduction.maps.planar import square_distance
from ircert.result.result import Result

NETWORK = "brusselator-tau-3-24-24-2"
B = 2.0
STEPS = (0.05, 0.1, 0.15, 0.2, 0.3)
BOX = ((-1.5, -1.5), (4.0, 4.5))
"""Where the network was trained."""
WINDOW = ((-4.0, -4.0), (6.0, 6.0))
COLOURS = ("#1d4e89", "#2a9d8f", "#7a9a00", "#e08214", "#c1121f")


@dataclass(frozen=True)
class _Step:
    """One step length: J0 of the map and of the network, and the radii around the fixed point."""

    tau: float
    curves: list[Array]
    folds: Any
    others: Array
    local: Result
    pseudo: Result

    @property
    def center(self) -> Array:
        return BrusselatorMap(B, self.tau).fixed_point

    @property
    def map_fold(self) -> float:
        """The distance of the map's J0, a bound of its r; that of the polygon followed, within about 1e-6."""
        return min(square_distance(np.stack([c[:-1], c[1:]], axis=1), self.center) for c in self.curves)

    @property
    def map_other(self) -> float:
        """R of the map, infinite where the fixed point has no other preimage."""
        return float(np.abs(self.others - self.center).max(axis=1).min()) if len(self.others) else float("inf")

    @property
    def network_fold(self) -> float:
        """The distance of the network's J0, a bound of its r."""
        return square_distance(self.folds.segments, self.center)


def run(settings: Settings) -> Report:
    """J0 and both radii for several steps."""
    steps = [_solved(settings, tau) for tau in (STEPS[::2] if settings.quick else STEPS)]
    return Report(
        title="Smaller time steps, farther folds",
        text=(
            f"The Euler step of the Brusselator (a = 1, b = {B:g}) for several lengths τ, and a relu network that "
            f"learned (x, y, τ) to the next (x, y) ({NETWORK}), with τ fixed. J₀ of the map is followed by "
            "continuation from a root, J₀ of the network is exact. Radii (∞-norm) are around the fixed point (1, 2)."
        ),
        claims=_claims(steps),
        comparisons=_comparisons(steps),
        tables=(_table(steps),),
        pictures=(
            Picture(
                "timestep",
                "J₀ for several steps τ: the Euler map (left) and the network (middle; grey: the box it was trained "
                "on), and the radii around the fixed point (right).",
                _figure(steps),
            ),
        ),
        facts={
            "steps": [
                {
                    "tau": s.tau,
                    "map": {"fold_distance": s.map_fold, "R": s.map_other},
                    "network": {
                        "fold_distance": s.network_fold,
                        "facets": len(s.folds),
                        "local": facts(s.local),
                        "pseudo": facts(s.pseudo),
                    },
                }
                for s in steps
            ]
        },
    )


def _solved(settings: Settings, tau: float) -> _Step:
    settings.say(f"step {tau:g}")
    euler = BrusselatorMap(B, tau)
    center = euler.fixed_point
    fixed = bundled(NETWORK).fix({2: tau})
    preimages = euler.preimages(euler(center))
    return _Step(
        tau=tau,
        curves=euler.fold_curves(*WINDOW),
        folds=ircert.fold_set(fixed, domain=WINDOW),
        others=preimages[np.abs(preimages - center).max(axis=1) > 1e-6],
        local=ask(settings, fixed, center),
        pseudo=ask(settings, fixed, center, "pseudo"),
    )


def _claims(steps: list[_Step]) -> tuple[Claim, ...]:
    def shrinks(numbers: list[float]) -> tuple[bool, str]:
        return all(np.diff(numbers) < 0), f"from {numbers[-1]:.3f} at τ = {steps[-1].tau:g} to {numbers[0]:.3f}"

    traced = max(
        float(np.abs(BrusselatorMap(B, s.tau).fold_height(c[:, 0]) - c[:, 1]).max()) for s in steps for c in s.curves
    )
    r, big = [radius(s.local) for s in steps], [radius(s.pseudo) for s in steps]
    return (
        Claim("every radius is answered exactly", all_closed([a for s in steps for a in (s.local, s.pseudo)])),
        Claim("J₀ of the map, followed numerically, is the curve of the closed form", traced < 1e-9, f"{traced:.0e}"),
        Claim("map: J₀ recedes as τ shrinks", *shrinks([s.map_fold for s in steps])),
        Claim("network: J₀ recedes as τ shrinks", *shrinks([s.network_fold for s in steps])),
        Claim("network: r grows as τ shrinks", *shrinks(r)),
        Claim("network: R grows as τ shrinks", *shrinks(big)),
        Claim("map: R grows as τ shrinks", *shrinks([s.map_other for s in steps])),
        Claim("network: r <= R", in_order((s.local, s.pseudo) for s in steps)),
    )


def _comparisons(steps: list[_Step]) -> tuple[Comparison, ...]:
    r = [radius(s.local) for s in steps]
    why = "the paper gives figures, no numbers"
    return (
        Comparison(
            "J₀ for smaller τ", "progressively remote", f"{steps[-1].map_fold:.2f} to {steps[0].map_fold:.2f}", why
        ),
        Comparison("region of invertibility for smaller τ", "larger", f"r from {r[-1]:.2f} to {r[0]:.2f}", why),
    )


def _table(steps: list[_Step]) -> Table:
    rows = [(s.tau, s.map_fold, s.network_fold, radius(s.local), s.map_other, radius(s.pseudo)) for s in steps]
    columns = ("τ", "J₀ of the map", "J₀ of the network", "r, network", "R, map", "R, network")
    return Table("Distances and radii around (1, 2)", columns, tuple(rows))


def _figure(steps: list[_Step]) -> Any:
    left, middle, right = new_panels(3, size=(13.5, 5.2))
    for s, color in zip(steps, COLOURS[-len(steps) :], strict=True):
        for i, curve in enumerate(s.curves):
            draw_curve(left, curve, color=color, label=f"{'_' * i}τ = {s.tau:g}")
        draw_folds(middle, s.folds, color=color, label=f"τ = {s.tau:g}", singular=False)
    draw_curve(middle, outline((1.25, 1.5), 3.0, domain=BOX), color="#999999", line="--", closed=True, label="training")
    for ax, title in ((left, "J₀ of the Euler map"), (middle, "J₀ of the network")):
        draw_center(ax, steps[0].center, label="fixed point")
        ax.set(xlabel="x", ylabel="y", xlim=(WINDOW[0][0], WINDOW[1][0]), ylim=(WINDOW[0][1], WINDOW[1][1]))
        ax.set_title(title)
        ax.set_aspect("equal")
    taus = [s.tau for s in steps]
    for numbers, marker, color, label in (
        ([s.map_fold for s in steps], "o", "#1d4e89", "distance of J₀, map"),
        ([radius(s.local) for s in steps], "s", "#c1121f", "r, network"),
        ([s.map_other for s in steps], "^", "#1b7837", "R, map"),
        ([radius(s.pseudo) for s in steps], "D", "#762a83", "R, network"),
    ):
        rows = np.column_stack([taus, numbers])
        draw_points(draw_curve(right, rows, color=color), rows, marker=marker, color=color, size=7, label=label)
    right.set(xlabel="τ", ylabel="distance from the fixed point (∞-norm)")
    right.set_ylim(bottom=0)
    right.grid(color=INK, alpha=0.12)
    right.set_title("radii")
    for ax in (left, middle, right):
        add_legend(ax, columns=3 if ax is not right else 2, below=0.14)
    return left.figure

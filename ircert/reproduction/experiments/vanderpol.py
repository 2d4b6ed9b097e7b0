"""vanderpol: a network that learned the flow of the Van der Pol oscillator, pruned versions, and maps between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import ircert
from ircert.analysis.lipschitz.bracket import BiLipschitz, Bracket
from ircert.data.networks import bundled
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.plotting import (
    add_legend,
    draw_ball,
    draw_center,
    draw_curve,
    draw_folds,
    draw_points,
    draw_regions,
    new_axes,
    new_panels,
)
from ircert.plotting.style import BALLS, FOLD_RED, index
from ircert.reproduction.frame.answers import all_closed, ask, facts, radius
from ircert.reproduction.frame.report import Claim, Comparison, Picture, Report, Settings, Table
from ircert.result.result import Result

NETWORK = "vanderpol-2-32-32-2"
PERCENT, SEEDS = (40, 50, 60), (1, 2, 3)
CENTER = np.zeros(2)
DURATION = 0.2
START, STEPS, CYCLE, DRAWN = np.array([0.5, 0.5]), 150, 100, 60
"""Where trajectories begin, their steps, after how many the limit cycle is reached, and how many are drawn."""
PARTS = 10
"""Points of the equation's solution for each step."""
RADII, AROUND = (1.0, 2.0, 3.0), (0.999, 1.001)
"""Balls on which distances are compared; the last ones are just inside and just outside of r_A."""
WINDOW = 4.2
PAPER_A = 3.0820
PAPER = (3.4609, 3.1055, 3.8555, 3.6484, 2.6523, 3.8203, 3.6328, 3.9727, 4.5547)
"""r_BA of the paper's B1 to B9; its r_AB is 3.0820 for all."""
SHOWN = 4
"""The pruned network that is drawn, as in the paper."""
NEAR = 0.15
COLOURS = {"ODE": FOLD_RED, "A": "#1d4e89", "B": "#1b7837"}


@dataclass(frozen=True, eq=False)
class _Pruned:
    """One pruned network with its radii: those of maps from A and to A, and where it is injective itself."""

    number: int
    percent: int
    graph: Graph
    from_a: Result
    to_a: Result
    own: Result

    @property
    def name(self) -> str:
        return f"B{index(self.number)}"


def run(settings: Settings) -> Report:
    """r_AB and r_BA of all pruned networks, trajectories, and the squares on the linear regions."""
    network = bundled(NETWORK)
    own = ask(settings, network, CENTER)
    pruned = [_asked(settings, network, number) for number in ((1, 4) if settings.quick else range(1, 10))]
    shown = next(p for p in pruned if p.number == SHOWN)
    settings.say("bi-Lipschitz constants")
    radii = (*RADII, *(radius(own) * share for share in AROUND if radius(own)))
    stretched = [(r, ircert.bilipschitz(network, (CENTER, r))) for r in radii]
    settings.say("trajectories")
    paths = {"ODE": flow(START, STEPS), "A": orbit(network, START, STEPS), "B": orbit(shown.graph, START, STEPS)}
    gaps = {name: _gap(paths[name], paths["ODE"]) for name in ("A", "B")}
    settings.say("pictures")
    return Report(
        title="Networks mapped to each other: Van der Pol",
        text=(
            "Network A (2-32-32-2) learned where the flow of the Van der Pol oscillator (μ = 1) takes a point in time "
            f"{DURATION:g}, from 1000 trajectories that start in [-3, 3]². B₁ to B₉ are A after gradual magnitude "
            "pruning to 40, 50 and 60 % zeros in each weight matrix, three seeds each. Around 0 (∞-norm), r_AB is the "
            "largest radius on which B's output is a function of A's, and r_BA the other way round. L, L' and L* are "
            "the bi-Lipschitz constants of the paper's appendix."
        ),
        claims=(*_claims(own, pruned, gaps), _lipschitz_claim(own, stretched)),
        comparisons=_comparisons(own, pruned, complete=not settings.quick),
        tables=(_table(pruned), _lipschitz_table(stretched)),
        pictures=(
            Picture(
                "trajectories",
                f"Trajectories from ({START[0]:g}, {START[1]:g}): the differential equation, and network A and its "
                f"pruned version {shown.name} iterated.",
                _trajectories(paths, shown.name),
            ),
            Picture(
                "squares",
                f"Linear regions of A (left) and {shown.name} (right), coloured by the determinant, with their fold "
                f"sets: the square of r_AB ends at a fold of A, that of r_BA at a fold of {shown.name}.",
                _squares(network, shown),
            ),
        ),
        facts={
            "A": facts(own),
            "pruned": [
                {
                    "number": p.number,
                    "percent": p.percent,
                    "r_AB": facts(p.from_a),
                    "r_BA": facts(p.to_a),
                    "r_B": facts(p.own),
                }
                for p in pruned
            ],
            "distance_to_limit_cycle": gaps,
            "bilipschitz": [
                {"radius": r, **{name: [float(b.low), float(b.high)] for name, b in _numbers(found).items()}}
                for r, found in stretched
            ],
        },
    )


def _asked(settings: Settings, network: Graph, number: int) -> _Pruned:
    settings.say(f"network B{number}")
    percent, seed = PERCENT[(number - 1) // len(SEEDS)], SEEDS[(number - 1) % len(SEEDS)]
    graph = bundled(f"{NETWORK}-pruned-{percent}-{seed}")
    return _Pruned(
        number,
        percent,
        graph,
        ask(settings, network, CENTER, "transform", other=graph),
        ask(settings, graph, CENTER, "transform", other=network),
        ask(settings, graph, CENTER),
    )


def _claims(own: Result, pruned: list[_Pruned], gaps: dict[str, float]) -> tuple[Claim, ...]:
    def exactly(result: Result) -> Any:
        return result.radius.certified.exact

    forward, backward = [exactly(p.from_a) for p in pruned], [exactly(p.to_a) for p in pruned]
    spread = [radius(p.to_a) for p in pruned]
    closed = all_closed([own, *(r for p in pruned for r in _answers(p))])
    return (
        Claim("every radius is answered exactly", closed),
        Claim(
            "where A is injective, B is a function of it: r_AB >= r_A",
            closed and all(r >= exactly(own) for r in forward),
        ),
        Claim(
            "r_AB is the same for every B, and equal to r_A",
            closed and set(forward) == {exactly(own)},
            f"{radius(own):.6f}, equal rational numbers",
        ),
        Claim(
            "r_BA differs from B to B",
            closed and len(set(backward)) == len(backward),
            f"from {min(spread):.4f} to {max(spread):.4f}",
        ),
        Claim(
            "r_BA = r_B: the square touches the fold set of B", closed and backward == [exactly(p.own) for p in pruned]
        ),
        Claim(
            "both networks keep oscillating near the limit cycle of the equation",
            max(gaps.values()) < NEAR,
            f"at most {gaps['A']:.3f} (A) and {gaps['B']:.3f} (B) from it",
        ),
    )


def _answers(p: _Pruned) -> list[Result]:
    return [p.from_a, p.to_a, p.own]


def _comparisons(own: Result, pruned: list[_Pruned], *, complete: bool) -> tuple[Comparison, ...]:
    why = "another training and other seeds: other networks"
    found = [Comparison("r_A", PAPER_A, radius(own), why)]
    if complete:
        found.append(
            Comparison("r_AB of B₁ to B₉", f"{PAPER_A:.4f}, nine times", _range([p.from_a for p in pruned]), why)
        )
    found += [Comparison(f"r_BA of {p.name}", PAPER[p.number - 1], radius(p.to_a), why) for p in pruned]
    return tuple(found)


def _range(results: list[Result]) -> str:
    low, high = min(map(radius, results)), max(map(radius, results))
    return f"{low:.4f}, nine times" if low == high else f"{low:.4f} to {high:.4f}"


def _table(pruned: list[_Pruned]) -> Table:
    rows = [(p.name, f"{p.percent} %", *(radius(r) for r in _answers(p))) for p in pruned]
    return Table("Radii around 0 (∞-norm)", ("network", "zeros", "r_AB", "r_BA", "r_B"), tuple(rows))


# --- bi-Lipschitz constants ------------------------------------------------------------------------------------------


def _numbers(found: BiLipschitz) -> dict[str, Bracket]:
    return {"L": found.upper, "L'": found.lower, "L*": found.constant}


def _lipschitz_claim(own: Result, stretched: list[tuple[float, BiLipschitz]]) -> Claim:
    """L' > 0 where A is injective, and 0 beyond r_A."""
    right = all((found.lower.low > 0) == (r < radius(own)) and found.lower.exact is not None for r, found in stretched)
    inside = [found for r, found in stretched if r < radius(own)]
    detail = f"{inside[-1].lower} just inside" if inside else "r_A is not known"
    return Claim("L' of A is positive on the balls within r_A, and 0 beyond", right and bool(inside), detail)


def _lipschitz_table(stretched: list[tuple[float, BiLipschitz]]) -> Table:
    rows = [(r, *(float(b.high) for b in _numbers(found).values())) for r, found in stretched]
    return Table("Bi-Lipschitz constants of A on balls around 0 (∞-norm)", ("radius", "L", "L'", "L*"), tuple(rows))


# --- trajectories ----------------------------------------------------------------------------------------------------


def flow(start: Array, steps: int) -> Array:
    """The solution of the equation, several points for each step."""
    from scipy.integrate import solve_ivp

    times = np.linspace(0.0, steps * DURATION, steps * PARTS + 1)

    def field(_: float, state: Array) -> list[float]:
        x, y = state
        return [y, (1 - x * x) * y - x]

    found: Array = solve_ivp(field, (0.0, times[-1]), start, t_eval=times, method="DOP853", rtol=1e-9, atol=1e-9).y.T
    return found


def orbit(graph: Graph, start: Array, steps: int) -> Array:
    """start, f(start), f(f(start)), …"""
    points = [np.asarray(start, dtype=np.float64)]
    for _ in range(steps):
        points.append(np.asarray(graph(points[-1])))
    return np.array(points)


def _gap(path: Array, solution: Array) -> float:
    """How far the end of an orbit is from the limit cycle at most."""
    cycle = solution[-(len(solution) // 3) :]
    late = path[CYCLE:]
    return float(np.linalg.norm(late[:, None] - cycle[None], axis=2).min(axis=1).max())


def _trajectories(paths: dict[str, Array], name: str) -> Any:
    ax = new_axes((6.4, 6.6), pyplot=False)
    draw_curve(ax, paths["ODE"][: DRAWN * PARTS + 1], color=COLOURS["ODE"], label="differential equation")
    for key, label, line in (("A", "network A", "-"), ("B", f"network {name}", "--")):
        draw_curve(ax, paths[key][: DRAWN + 1], color=COLOURS[key], line=line, label=label)
        draw_points(ax, paths[key][1 : DRAWN + 1], color=COLOURS[key], size=3.5)
    draw_center(ax, START, label="start")
    ax.set(xlabel="x₁", ylabel="x₂")
    ax.set_aspect("equal")
    add_legend(ax)
    return ax.figure


def _squares(network: Graph, shown: _Pruned) -> Any:
    panels = new_panels(2, size=(13.0, 6.4))
    ball = (CENTER, WINDOW)
    for ax, graph, name in zip(panels, (network, shown.graph), ("A", shown.name), strict=True):
        draw_regions(ax, ircert.enumerate_regions(graph, ball))
        draw_folds(ax, ircert.fold_set(graph, ball), singular=False, label=f"fold set J₀ of {name}")
        for result, colour, label in ((shown.from_a, BALLS[0], "AB"), (shown.to_a, BALLS[1], "BA")):
            draw_ball(ax, CENTER, radius(result), color=colour, label=f"$r_{{{label}}}$ = {radius(result):.4f}")
        draw_center(ax, CENTER)
        ax.set(xlabel="x₁", ylabel="x₂", title=f"network {name}")
        add_legend(ax)
    return panels[0].figure

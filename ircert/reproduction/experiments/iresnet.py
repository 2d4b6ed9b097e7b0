"""iresnet: networks that are invertible by construction, and what the paper's program costs on them."""

from __future__ import annotations

from typing import Any

import numpy as np

import ircert
from ircert.plotting import add_legend, draw_curve, draw_points, new_panels
from ircert.plotting.style import BALLS, FOLD_RED, INK
from ircert.reproduction.experiments.parts.running_times import TOLERANCE, Point, Run, residual, timed
from ircert.reproduction.frame.answers import facts, radius
from ircert.reproduction.frame.report import Claim, Comparison, Picture, Report, Settings, Table
from ircert.result.result import Result

CONTRACTION, EXPANSION = 0.9, 3.0
"""Lip(g) of the networks x + g(x): below 1 they are injective everywhere, above they may not be."""
DEEP = ((2, 10, 1), (4, 10, 3), (8, 10, 1), (16, 32, 3), (32, 64, 1))
"""Inputs, neurons and blocks of the networks whose radius is asked for."""
THRESHOLD = 1e6
SWEEPS = {
    "n₀": tuple((n0, 4, 1.0) for n0 in (1, 2, 3, 4, 5, 6)),
    "n₁": tuple((2, n1, 1.0) for n1 in (4, 8, 16, 32)),
    "r": tuple((3, 4, r) for r in (0.1, 0.3, 1.0, 3.0, 10.0)),
}
"""(n₀, n₁, r) of the running times; one of them varies."""
SWEEPS_QUICK = {
    "n₀": tuple((n0, 4, 0.2) for n0 in (1, 2, 4)),
    "n₁": tuple((2, n1, 0.2) for n1 in (4, 16)),
    "r": tuple((2, 4, r) for r in (0.1, 0.4)),
}
RANDOM = ((2, 8, 0.5), (2, 8, 2.0), (3, 8, 0.5), (4, 8, 0.25), (4, 8, 0.5))
RANDOM_QUICK = ((2, 8, 0.5), (3, 8, 0.5))
LIMIT, LIMIT_QUICK = 30.0, 3.0
REPLICATES = 3
VARIED = {"n₀": 0, "n₁": 1, "r": 2}
WHAT = {"n₀": "inputs n₀", "n₁": "neurons n₁", "r": "radius r"}
FIXED = {"n₀": "n₁ = {1}, r = {2:g}", "n₁": "n₀ = {0}, r = {2:g}", "r": "n₀ = {0}, n₁ = {1}"}
PAPER_COLOUR, OUR_COLOUR = FOLD_RED, BALLS[3]


def run(settings: Settings) -> Report:
    """Infinite radii, running times of both ways, and residual networks that are no contractions."""
    deep = [_deep(settings, *sizes) for sizes in (DEEP[:3] if settings.quick else DEEP)]
    wanted = SWEEPS_QUICK if settings.quick else SWEEPS
    once = dict.fromkeys(point for points in wanted.values() for point in points)
    measured = {point: _replicates(settings, *point, CONTRACTION) for point in once}
    sweeps = {name: [measured[point] for point in points] for name, points in wanted.items()}
    random = [_replicates(settings, *point, EXPANSION) for point in (RANDOM_QUICK if settings.quick else RANDOM)]
    limit = LIMIT_QUICK if settings.quick else LIMIT
    return Report(
        title="Structurally invertible networks, and running times",
        text=(
            f"Random residual networks x + g(x) with Lip(g) = {CONTRACTION:g} are injective everywhere, which ircert "
            "proves from the weights. The paper's program (two copies of the network with the skip folded into it, "
            f"interval bounds, ∞-norm; solved by HiGHS, one thread, limit {limit:g} s) is asked the same of one ball "
            f"around 0. Medians are over {len(random[0].runs)} networks with one hidden layer, n₀ inputs and n₁ "
            f"neurons; a run that the limit ended counts as {limit:g} s. Beside them stand networks with "
            f"Lip(g) = {EXPANSION:g}, where the cheap proof does not apply."
        ),
        claims=_claims(deep, sweeps, random),
        comparisons=(
            Comparison("radius of an invertible network", "a threshold such as 10⁶", min(map(radius, deep))),
            Comparison(
                "time limit of an instance",
                "30 min",
                f"{limit:g} s",
                "HiGHS instead of Gurobi, and a grid that ends within minutes",
            ),
        ),
        tables=(
            *(_table(f"Running times as {WHAT[name]} varies", points) for name, points in sweeps.items()),
            _table(f"Random residual networks, Lip(g) = {EXPANSION:g}", random, verdicts=True),
        ),
        pictures=(
            Picture(
                "times",
                "Median running times of the paper's program and of ircert as the inputs, the neurons and the radius "
                "grow (dots: single networks, open triangles: ended by the limit), and both times for residual "
                "networks that are no contractions.",
                _figure(sweeps, random, limit),
            ),
        ),
        facts={
            "deep": [facts(result) for result in deep],
            "limit": limit,
            "runs": [
                {"sweep": name, **_facts(r)}
                for name, points in {**sweeps, "random": random}.items()
                for p in points
                for r in p.runs
            ],
        },
    )


def _deep(settings: Settings, n0: int, n1: int, blocks: int) -> Result:
    settings.say(f"{blocks} blocks, {n0} inputs")
    graph = residual(n0, n1, CONTRACTION, settings.seed, blocks)
    return ircert.certify(graph, np.zeros(n0), seed=settings.seed, time_limit=settings.time_limit)


def _replicates(settings: Settings, n0: int, n1: int, r: float, lipschitz: float) -> Point:
    settings.say(f"n₀ = {n0}, n₁ = {n1}, r = {r:g}, Lip = {lipschitz:g}")
    count, limit = (1, LIMIT_QUICK) if settings.quick else (REPLICATES, LIMIT)
    seeds = range(settings.seed, settings.seed + count)
    return Point(tuple(timed(residual(n0, n1, lipschitz, seed), n1, r, limit, settings.seed) for seed in seeds))


# --- what is reported ------------------------------------------------------------------------------------------------


def _claims(deep: list[Result], sweeps: dict[str, list[Point]], random: list[Point]) -> tuple[Claim, ...]:
    distinct = {p.sizes: p for points in sweeps.values() for p in points}
    invertible = [r for p in distinct.values() for r in p.runs]
    others = [r for p in random for r in p.runs]
    judged = [r.agree for r in (*invertible, *others) if r.agree is not None]
    nodes = {name: points[-1].nodes / points[0].nodes for name, points in sweeps.items()}
    slowest = max(r.ours for r in invertible)
    return (
        Claim(
            f"i-ResNets: the certified radius is infinite, far beyond {THRESHOLD:g}",
            all(np.isinf(radius(r)) and r.trust == "exact" for r in deep),
            f"{len(deep)} networks with up to {max(len(r.center) for r in deep)} inputs, "
            f"{max(r.seconds for r in deep):.2f} s at most",
        ),
        Claim(
            "i-ResNets: every ball of the study is certified",
            all(r.result.verdict == "certified" for r in invertible),
            f"{len(invertible)} balls, {slowest:.2f} s at most",
        ),
        Claim(
            "n₀ matters more for the effort of the paper's program than n₁",
            nodes["n₀"] > nodes["n₁"],
            "nodes of branch and bound, from the smallest to the largest: "
            f"{nodes['n₀']:.0f} times as many for n₀, {nodes['n₁']:.1f} for n₁",
        ),
        Claim("random residual networks: every ball is decided", all(r.result.verdict != "unresolved" for r in others)),
        Claim(
            f"finished programs say the same (p* up to {TOLERANCE:g} counts as zero)",
            all(judged),
            f"{len(judged)} of {len(invertible) + len(others)} finished",
        ),
    )


def _table(title: str, points: list[Point], *, verdicts: bool = False) -> Table:
    rows: list[tuple[Any, ...]] = []
    for p in points:
        shown = f"{'' if 2 * p.finished > len(p.runs) else '≥ '}{p.paper:.2f}"
        rows.append((*p.sizes, shown, f"{p.finished} of {len(p.runs)}", f"{p.ours:.3f}"))
        if verdicts:
            rows[-1] += (", ".join(r.result.verdict for r in p.runs),)
    columns = ("n₀", "n₁", "r", "paper's program, s", "finished", "ircert, s")
    return Table(title, (*columns, "verdicts") if verdicts else columns, tuple(rows))


def _facts(r: Run) -> dict[str, Any]:
    return {
        "n0": r.n0,
        "n1": r.n1,
        "r": r.r,
        "paper_seconds": round(r.paper, 3),
        "paper_finished": r.finished,
        "paper_optimum": r.optimum,
        "paper_nodes": r.nodes,
        "verdict": r.result.verdict,
        "engine": r.result.engine,
        "seconds": round(r.ours, 4),
    }


def _figure(sweeps: dict[str, list[Point]], random: list[Point], limit: float) -> Any:
    panels = new_panels(2, 2, size=(11.0, 9.6))
    for ax, (name, points) in zip(panels, sweeps.items(), strict=False):
        _draw_sweep(ax, name, points, limit)
    _draw_random(panels[3], [r for p in random for r in p.runs], limit)
    return panels[0].figure


def _draw_sweep(ax: Any, name: str, points: list[Point], limit: float) -> None:
    places = [p.sizes[VARIED[name]] for p in points]
    runs = [(place, r) for place, p in zip(places, points, strict=True) for r in p.runs]
    for label, medians, singles, color in (
        ("paper's program", [p.paper for p in points], [(x, r.paper) for x, r in runs if r.finished], PAPER_COLOUR),
        ("ircert", [p.ours for p in points], [(x, r.ours) for x, r in runs], OUR_COLOUR),
    ):
        draw_curve(ax, np.column_stack([places, medians]), color=color, label=f"{label}, median")
        draw_points(ax, singles, color=color, size=5)
    _draw_ended(ax, [(x, r.paper) for x, r in runs if not r.finished])
    ax.set(xlabel=WHAT[name], ylabel="seconds", yscale="log", title=FIXED[name].format(*points[0].sizes))
    if name != "n₀":
        ax.set_xscale("log")
    ax.set_xticks(places, [f"{x:g}" for x in places])
    ax.minorticks_off()
    ax.axhline(limit, color=INK, linewidth=0.8, linestyle=":", zorder=0, label=f"limit, {limit:g} s")
    ax.set_ylim(top=3 * limit)
    ax.grid(color=INK, alpha=0.12)
    add_legend(ax, columns=2, below=0.14)


def _draw_ended(ax: Any, places: list[tuple[float, float]]) -> None:
    if places:
        style = {"marker": "^", "markersize": 8, "markerfacecolor": "white", "markeredgecolor": PAPER_COLOUR}
        ax.plot(*np.array(places).T, linestyle="none", **style, zorder=5, label="ended by the limit")


def _draw_random(ax: Any, runs: list[Run], limit: float) -> None:
    for verdict, marker, color in (("certified", "o", BALLS[0]), ("refuted", "s", BALLS[4])):
        some = [(r.paper, r.ours) for r in runs if r.result.verdict == verdict and r.finished]
        if some:
            draw_points(ax, some, marker=marker, color=color, size=7, label=verdict)
    _draw_ended(ax, [(r.paper, r.ours) for r in runs if not r.finished])
    draw_curve(ax, [(t, t) for t in (1e-2, limit)], color="#999999", line="--", label="equal times")
    ax.set(xscale="log", yscale="log", xlabel="seconds, paper's program", ylabel="seconds, ircert")
    ax.set_title(f"residual networks with Lip(g) = {EXPANSION:g}")
    ax.set_aspect("equal")
    ax.grid(color=INK, alpha=0.12)
    add_legend(ax, columns=2, below=0.14)

"""iresnet: networks that are invertible by construction, and what the paper's program costs on them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

import ircert
from ircert.backends.answers import Status
from ircert.ir.graph import Graph
from ircert.plotting import add_legend, draw_curve, draw_points, new_panels
from ircert.plotting.style import BALLS, FOLD_RED, INK
from ircert.reproduction.answers import facts, radius
from ircert.reproduction.report import Claim, Comparison, Picture, Report, Settings, Table
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
TOLERANCE = 1e-4
"""From here on the paper takes p* for zero."""
WHAT = {"n₀": "inputs n₀", "n₁": "neurons n₁", "r": "radius r"}
PAPER_COLOUR, OUR_COLOUR = FOLD_RED, BALLS[3]


@dataclass(frozen=True)
class Run:
    """One network and ball, by both ways; the paper's is censored where the limit ended it."""

    n0: int
    n1: int
    r: float
    paper: float
    finished: bool
    optimum: float | None
    nodes: int
    ours: Result

    @property
    def agree(self) -> bool | None:
        """Whether a finished program and the verdict say the same."""
        if not self.finished or self.optimum is None or self.ours.verdict == "unresolved":
            return None
        return (self.optimum > TOLERANCE) == (self.ours.verdict == "refuted")


def run(settings: Settings) -> Report:
    """Infinite radii, running times of both ways, and residual networks that are no contractions."""
    deep = [_deep(settings, *sizes) for sizes in (DEEP[:3] if settings.quick else DEEP)]
    sweeps = {
        name: [_replicates(settings, *point, CONTRACTION) for point in points]
        for name, points in (SWEEPS_QUICK if settings.quick else SWEEPS).items()
    }
    random = [_replicates(settings, *point, EXPANSION) for point in (RANDOM_QUICK if settings.quick else RANDOM)]
    limit = LIMIT_QUICK if settings.quick else LIMIT
    return Report(
        title="Structurally invertible networks, and running times",
        text=(
            f"Random residual networks x + g(x) with Lip(g) = {CONTRACTION:g} are injective everywhere, which ircert "
            "proves from the weights. The paper's program (two copies of the network with the skip folded into it, "
            f"interval bounds, ∞-norm; solved by HiGHS, one thread, limit {limit:g} s) is asked the same of one ball "
            f"around 0. Medians of {len(random[0])} networks with one hidden layer, n₀ inputs and n₁ neurons; a run that "
            f"the limit ended counts as {limit:g} s. Beside them networks with Lip(g) = {EXPANSION:g}, where the "
            "cheap proof does not apply."
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
                for r in p
            ],
        },
    )


def residual(n0: int, n1: int, lipschitz: float, seed: int, blocks: int = 1) -> Graph:
    """x + g(x), or several such blocks, with random weights; g has two layers of spectral norms 1 and `lipschitz`."""
    random = np.random.default_rng([seed, n0, n1])
    build = ircert.Builder(n0)
    x = build.input
    for _ in range(blocks):
        first, last = random.normal(size=(n1, n0)), random.normal(size=(n0, n1))
        first, last = first / np.linalg.norm(first, 2), last * lipschitz / np.linalg.norm(last, 2)
        hidden = build.relu(build.affine(x, first, random.normal(size=n1)))
        x = build.add(x, build.affine(hidden, last, random.normal(size=n0)))
    return build.graph(x)


def _deep(settings: Settings, n0: int, n1: int, blocks: int) -> Result:
    settings.say(f"{blocks} blocks, {n0} inputs")
    graph = residual(n0, n1, CONTRACTION, settings.seed, blocks)
    return ircert.certify(graph, np.zeros(n0), seed=settings.seed, time_limit=settings.time_limit)


def _replicates(settings: Settings, n0: int, n1: int, r: float, lipschitz: float) -> list[Run]:
    settings.say(f"n₀ = {n0}, n₁ = {n1}, r = {r:g}, Lip = {lipschitz:g}")
    count = 1 if settings.quick else REPLICATES
    return [_timed(settings, residual(n0, n1, lipschitz, settings.seed + k), n1, r) for k in range(count)]


def _timed(settings: Settings, graph: Graph, n1: int, r: float) -> Run:
    limit = LIMIT_QUICK if settings.quick else LIMIT
    center = np.zeros(graph.input_dim)
    ours = ircert.certify(graph, center, radius=r, seed=settings.seed, time_limit=limit)
    start = time.perf_counter()
    folded = ircert.Pipeline.parse("canonicalize,fold-residual")(graph)
    program = ircert.program(folded, ircert.Query("local", center, r), formulation="paper", bounds="interval")
    answer = ircert.backends.get("highs").solve(program, time_limit=limit)
    seconds = min(time.perf_counter() - start, limit)
    return Run(graph.input_dim, n1, r, seconds, answer.status is Status.OPTIMAL, answer.value, answer.nodes, ours)


# --- what is reported ------------------------------------------------------------------------------------------------


def _claims(deep: list[Result], sweeps: dict[str, list[list[Run]]], random: list[list[Run]]) -> tuple[Claim, ...]:
    invertible = [r for points in sweeps.values() for p in points for r in p]
    others = [r for p in random for r in p]
    judged = [r.agree for r in (*invertible, *others) if r.agree is not None]
    nodes = {name: _nodes(points[-1]) / _nodes(points[0]) for name, points in sweeps.items()}
    slowest = max(r.ours.seconds for r in invertible)
    return (
        Claim(
            f"i-ResNets: the certified radius is infinite, far beyond {THRESHOLD:g}",
            all(np.isinf(radius(r)) and r.trust == "exact" for r in deep),
            f"{len(deep)} networks with up to {max(len(r.center) for r in deep)} inputs, "
            f"{max(r.seconds for r in deep):.2f} s at most",
        ),
        Claim(
            "i-ResNets: every ball of the study is certified",
            all(r.ours.verdict == "certified" for r in invertible),
            f"{len(invertible)} balls, {slowest:.2f} s at most",
        ),
        Claim(
            "n₀ matters more for the effort of the paper's program than n₁",
            nodes["n₀"] > nodes["n₁"],
            "nodes of branch and bound, from the smallest to the largest: "
            f"{nodes['n₀']:.0f} times as many for n₀, {nodes['n₁']:.1f} for n₁",
        ),
        Claim("random residual networks: every ball is decided", all(r.ours.verdict != "unresolved" for r in others)),
        Claim(
            f"finished programs say the same (p* up to {TOLERANCE:g} counts as zero)",
            all(judged),
            f"{len(judged)} of {len(invertible) + len(others)} finished",
        ),
    )


def _paper(point: list[Run]) -> float:
    return median(r.paper for r in point)


def _nodes(point: list[Run]) -> float:
    return max(median(r.nodes for r in point), 1.0)


def _ours(point: list[Run]) -> float:
    return median(r.ours.seconds for r in point)


def _table(title: str, points: list[list[Run]], *, verdicts: bool = False) -> Table:
    columns = ["n₀", "n₁", "r", "paper's program, s", "finished", "ircert, s", *(["verdicts"] if verdicts else [])]
    rows = []
    for p in points:
        done = sum(r.finished for r in p)
        shown = f"{'≥ ' if 2 * done <= len(p) else ''}{_paper(p):.2f}"
        rows.append((p[0].n0, p[0].n1, p[0].r, shown, f"{done} of {len(p)}", f"{_ours(p):.3f}"))
        if verdicts:
            rows[-1] = (*rows[-1], ", ".join(r.ours.verdict for r in p))
    return Table(title, tuple(columns), tuple(rows))


def _facts(r: Run) -> dict[str, Any]:
    return {
        "n0": r.n0,
        "n1": r.n1,
        "r": r.r,
        "paper_seconds": round(r.paper, 3),
        "paper_finished": r.finished,
        "paper_optimum": r.optimum,
        "paper_nodes": r.nodes,
        "verdict": r.ours.verdict,
        "engine": r.ours.engine,
        "seconds": round(r.ours.seconds, 4),
    }


def _figure(sweeps: dict[str, list[list[Run]]], random: list[list[Run]], limit: float) -> Any:
    panels = new_panels(2, 2, size=(11.0, 9.6))
    for ax, (name, points) in zip(panels, sweeps.items(), strict=False):
        place = {"n₀": lambda r: r.n0, "n₁": lambda r: r.n1, "r": lambda r: r.r}[name]
        for label, middle, single, color in (
            ("paper's program", _paper, lambda r: r.paper, PAPER_COLOUR),
            ("ircert", _ours, lambda r: r.ours.seconds, OUR_COLOUR),
        ):
            draw_curve(ax, [(place(p[0]), middle(p)) for p in points], color=color, label=f"{label}, median")
            done = [(place(r), single(r)) for p in points for r in p if r.finished or label == "ircert"]
            draw_points(ax, done, color=color, size=5)
        ended = [(place(r), r.paper) for p in points for r in p if not r.finished]
        _draw_ended(ax, ended)
        fixed = {"n₀": "n₁ = {1}, r = {2:g}", "n₁": "n₀ = {0}, r = {2:g}", "r": "n₀ = {0}, n₁ = {1}"}[name]
        ax.set(xlabel=WHAT[name], ylabel="seconds", yscale="log", title=fixed.format(*_sizes(points[0][0])))
        ax.set_xticks(sorted({place(p[0]) for p in points}))
        if name != "n₀":
            ax.set_xscale("log")
            ax.set_xticks([place(p[0]) for p in points], [f"{place(p[0]):g}" for p in points], minor=False)
            ax.minorticks_off()
        _finish(ax, limit)
    _draw_random(panels[3], [r for p in random for r in p], limit)
    return panels[0].figure


def _sizes(r: Run) -> tuple[int, int, float]:
    return r.n0, r.n1, r.r


def _draw_ended(ax: Any, places: list[tuple[float, float]]) -> None:
    if places:
        style = {"marker": "^", "markersize": 8, "markerfacecolor": "white", "markeredgecolor": PAPER_COLOUR}
        ax.plot(*np.array(places).T, linestyle="none", **style, zorder=5, label="ended by the limit")


def _draw_random(ax: Any, runs: list[Run], limit: float) -> None:
    for verdict, marker, color in (("certified", "o", BALLS[0]), ("refuted", "s", BALLS[4])):
        some = [(r.paper, r.ours.seconds) for r in runs if r.ours.verdict == verdict and r.finished]
        if some:
            draw_points(ax, some, marker=marker, color=color, size=7, label=verdict)
    _draw_ended(ax, [(r.paper, r.ours.seconds) for r in runs if not r.finished])
    ends = (1e-2, limit)
    draw_curve(ax, [(e, e) for e in ends], color="#999999", line="--", label="equal times")
    ax.set(xscale="log", yscale="log", xlabel="seconds, paper's program", ylabel="seconds, ircert")
    ax.set_title(f"residual networks with Lip(g) = {EXPANSION:g}")
    ax.set_aspect("equal")
    ax.grid(color=INK, alpha=0.12)
    add_legend(ax, columns=2, below=0.13)


def _finish(ax: Any, limit: float) -> None:
    ax.axhline(limit, color=INK, linewidth=0.8, linestyle=":", zorder=0)
    ax.annotate(
        f"limit {limit:g} s",
        (0.02, limit),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize=8,
    )
    ax.set_ylim(top=3 * limit)
    ax.grid(color=INK, alpha=0.12)
    add_legend(ax, columns=3, below=0.13)

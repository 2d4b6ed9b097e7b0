"""1d: problems 1 and 2 in one dimension, as a sketch and on random networks 1-10-10-1."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import ircert
from ircert.errors import QueryError
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.plotting import (
    add_legend,
    draw_ball,
    draw_center,
    draw_curve,
    draw_graph,
    draw_name,
    draw_points,
    draw_turning_points,
    new_axes,
    new_panels,
)
from ircert.plotting.style import INK
from ircert.reproduction.frame.answers import agrees, all_closed, ask, facts, in_order, radius
from ircert.reproduction.frame.report import Claim, Comparison, Picture, Report, Settings
from ircert.result.result import Result

KNOTS = ((-3.0, -1.0), (-2.0, 1.5), (-1.0, 2.5), (0.0, 1.5), (1.0, 0.0), (2.0, -1.0), (3.0, 0.5), (4.0, 2.5))
"""The sketch: a polygon with turning points Q1 and Q2, each coordinate a dyadic number."""
TURNS = (-1.0, 2.0)
SKETCH_CENTER = 0.25
CENTERS = (-1.8, -1.0, -0.3)
"""The paper's points for problem 1; problem 2 is asked at the second."""
PAPER = (0.157, 0.322, 0.214, 0.553)
WINDOW = (-2.5, 0.5)
NEAR, REACH = (0.1, 0.6), 2.0
"""A random network is shown if its radii are of the paper's size: a turning point so far, a preimage so near."""
PATIENCE = 10_000
RED, BLUE = "#c1121f", "#1d4e89"
INTERVALS = (RED, "#a3195b", "#e08214")


def run(settings: Settings) -> Report:
    """Both parts; the claims are those of the text around problems 1 and 2."""
    settings.say("the sketch")
    sketch = _Sketch.solved(settings)
    settings.say("drawing a random network")
    network, drawn = _random_network(settings)
    local = [ask(settings, network, c) for c in CENTERS]
    pseudo = ask(settings, network, CENTERS[1], "pseudo")
    pairs = _many(settings)
    return Report(
        title="Problems 1 and 2 in one dimension",
        text=(
            "A sketch of both problems: a piecewise-linear function with turning points Q1, Q2 and points M1, M2 of "
            "the same value as the centre C. Then a random network 1-10-10-1 (normal weights): the first one drawn "
            f"whose nearest turning point is {NEAR[0]:g} to {NEAR[1]:g} away from each of the paper's three points, "
            f"and which takes the value f(-1) again within {REACH:g} (number {drawn}). Radii are exact."
        ),
        claims=(*sketch.claims(), *_claims(settings, network, local, pseudo, pairs)),
        comparisons=_comparisons(local, pseudo),
        pictures=(
            Picture("sketch", "Problems 1 (red) and 2 (blue) in one dimension.", sketch.figure()),
            Picture(
                "random",
                "A random network 1-10-10-1: the largest intervals on which it is injective around three points "
                "(left), and the largest interval around -1 without a second preimage of f(-1) (right).",
                _figure(network, local, pseudo),
            ),
        ),
        facts={
            "sketch": {"local": facts(sketch.local), "pseudo": facts(sketch.pseudo)},
            "random": {"drawn": drawn, "local": [facts(r) for r in local], "pseudo": facts(pseudo)},
            "many": [{"local": radius(r), "pseudo": radius(big)} for r, big in pairs],
        },
    )


@dataclass(frozen=True)
class _Sketch:
    """The polygon, its two radii, and the points of its value at the centre."""

    graph: Graph
    local: Result
    pseudo: Result
    same: list[float]

    @staticmethod
    def solved(settings: Settings) -> _Sketch:
        graph = _polygon(KNOTS)
        value = graph.exact([SKETCH_CENTER])
        found = ircert.preimages(graph, value, ([SKETCH_CENTER], 4.0))
        same = sorted(float(p.exact[0]) for p in found if p.exact[0] != SKETCH_CENTER)
        return _Sketch(graph, ask(settings, graph, SKETCH_CENTER), ask(settings, graph, SKETCH_CENTER, "pseudo"), same)

    def claims(self) -> tuple[Claim, ...]:
        r, big = radius(self.local), radius(self.pseudo)
        turn = min(abs(q - SKETCH_CENTER) for q in TURNS)
        same = min((abs(m - SKETCH_CENTER) for m in self.same), default=np.inf)
        return (
            Claim("sketch: r is the distance to the nearer turning point, |Q1 - C|", r == turn, f"r = {r:g}"),
            Claim(
                "sketch: R is the distance to the nearer point of the same value, |M1 - C|",
                bool(np.isclose(big, same, rtol=1e-15)),
                f"R = {big:g}",
            ),
        )

    def figure(self) -> Any:
        ax = new_axes((6.4, 4.4), pyplot=False)
        draw_graph(ax, ircert.enumerate_regions(self.graph, domain=([KNOTS[0][0]], [KNOTS[-1][0]])), color=INK)
        draw_ball(ax, [SKETCH_CENTER], radius(self.pseudo), problem="pseudo", color=BLUE)
        draw_ball(ax, [SKETCH_CENTER], radius(self.local), color=RED)
        level = float(self.graph([SKETCH_CENTER])[0])
        draw_curve(ax, [(x, level) for x in (KNOTS[0][0], KNOTS[-1][0])], color="#777777", line=":", label="value at C")
        for name, x in (("Q₁", TURNS[0]), ("Q₂", TURNS[1]), *zip(("M₁", "M₂"), self.same, strict=True)):
            point = (x, float(self.graph([x])[0]))
            draw_name(draw_points(ax, point, marker="s"), point, name, shift=(8, 4))
        draw_name(draw_center(ax, (SKETCH_CENTER, level), label="centre C"), (SKETCH_CENTER, level), "C")
        ax.set(xlabel="x", ylabel="f(x)", xlim=(KNOTS[0][0], KNOTS[-1][0]), ylim=(-1.4, 3.0))
        add_legend(ax, columns=3, below=0.15)
        return ax.figure


def _polygon(knots: tuple[tuple[float, float], ...]) -> Graph:
    """The network through the knots: a slope, and a relu for each change of slope."""
    x, y = np.array(knots).T
    slopes = np.diff(y) / np.diff(x)
    build = ircert.Builder(1)
    hidden = build.relu(build.affine(build.input, np.ones((len(slopes) - 1, 1)), -x[1:-1]))
    straight = build.affine(build.input, [[slopes[0]]], [y[0] - slopes[0] * x[0]])
    return build.graph(build.add(straight, build.affine(hidden, np.diff(slopes)[None])))


def _random(rng: np.random.Generator) -> Graph:
    """A network 1-10-10-1 with normal weights and biases, those of layers scaled by their number of inputs."""
    sizes = (1, 10, 10, 1)
    return ircert.load([(rng.normal(size=(m, n)) * np.sqrt(2 / n), rng.normal(size=m)) for n, m in pairwise(sizes)])


def _random_network(settings: Settings) -> tuple[Graph, int]:
    """The first random network whose radii are of the paper's size, and how many were drawn."""
    rng = np.random.default_rng(settings.seed)
    for drawn in range(1, PATIENCE + 1):
        graph = _random(rng)
        turns = _turning_points(graph)
        near = len(turns) > 0 and all(NEAR[0] <= np.abs(turns - c).min() <= NEAR[1] for c in CENTERS)
        if near and len(ircert.preimages(graph, graph.exact([CENTERS[1]]), ([CENTERS[1]], REACH))) > 1:
            return graph, drawn
    raise QueryError(f"none of {PATIENCE} random networks turns near the paper's points", remedy="try another seed")


def _turning_points(graph: Graph) -> Array:
    """Where f turns, near the paper's points."""
    folds = ircert.fold_set(graph, ([CENTERS[1]], 2 * REACH))
    return folds.segments[:, 0, 0]


def _many(settings: Settings) -> list[tuple[Result, Result]]:
    """Both radii at -1 of random networks."""
    rng = np.random.default_rng(settings.seed + 1)
    count = 5 if settings.quick else 100
    found = []
    for i in range(count):
        settings.say(f"random network {i + 1} of {count}")
        graph = _random(rng)
        found.append((ask(settings, graph, CENTERS[1]), ask(settings, graph, CENTERS[1], "pseudo")))
    return found


def _claims(
    settings: Settings, network: Graph, local: list[Result], pseudo: Result, pairs: list[tuple[Result, Result]]
) -> tuple[Claim, ...]:
    turns = _turning_points(network)
    asked = [*local[2 if settings.quick else 0 :], pseudo]
    ends = [(radius(r), float(np.abs(turns - c).min())) for r, c in zip(local, CENTERS, strict=True)]
    answered = all_closed([*local, pseudo, *(r for pair in pairs for r in pair)])
    larger = sum(in_order([pair]) for pair in pairs)
    same = [p.point[0] for p in ircert.preimages(network, network.exact([CENTERS[1]]), ([CENTERS[1]], 2 * REACH))]
    other = min(abs(x - CENTERS[1]) for x in same if x != CENTERS[1])
    return (
        Claim("every radius is answered exactly", answered),
        Claim(
            "random network: each interval of problem 1 ends at a turning point",
            all(np.isclose(r, distance, rtol=1e-12) for r, distance in ends),
            ", ".join(f"{r:.4g}" for r, _ in ends),
        ),
        Claim(
            "random network: the interval of problem 2 ends at another preimage of f(-1)",
            bool(np.isclose(radius(pseudo), other, rtol=1e-12)),
            f"R = {radius(pseudo):.4g}",
        ),
        Claim(
            "random network: the mixed-integer engine agrees",
            all(agrees(settings, result) for result in asked),
            f"{len(asked)} radii: 1 % less is certified, 1 % more refuted",
        ),
        Claim("r <= R at -1 for every random network", larger == len(pairs), f"{larger} of {len(pairs)}"),
    )


def _comparisons(local: list[Result], pseudo: Result) -> tuple[Comparison, ...]:
    why = "another random network; the paper's is not published"
    rows = [(f"problem 1 at x = {c:g}", radius(r)) for c, r in zip(CENTERS, local, strict=True)]
    rows.append((f"problem 2 at x = {CENTERS[1]:g}", radius(pseudo)))
    return tuple(Comparison(what, paper, ours, why) for (what, ours), paper in zip(rows, PAPER, strict=True))


def _figure(network: Graph, local: list[Result], pseudo: Result) -> Any:
    left, right = new_panels(2, size=(9.6, 4.6))
    low = min(WINDOW[0], CENTERS[1] - 1.2 * radius(pseudo))
    high = max(WINDOW[1], CENTERS[1] + 1.2 * radius(pseudo))
    regions = ircert.enumerate_regions(network, domain=([low], [high]))
    for ax, results, colors in ((left, local, INTERVALS), (right, [pseudo], (BLUE,))):
        draw_graph(ax, regions, color=INK)
        draw_turning_points(ax, network, ircert.fold_set(network, domain=([low], [high])))
        for result, color in zip(results, colors, strict=True):
            name = f"x = {result.center[0]:g}: {'r' if result.problem == 'local' else 'R'} = {radius(result):.4f}"
            draw_ball(ax, result.center, radius(result), problem=result.problem, color=color, label=name)
        centers = [result.center[0] for result in results]
        draw_center(ax, [(c, float(network([c])[0])) for c in centers], label="centres")
        ax.set(xlabel="x", ylabel="f(x)", xlim=(low, high))
        add_legend(ax, below=0.14)
    other = [p.point[0] for p in ircert.preimages(network, network.exact([CENTERS[1]]), domain=([low], [high]))]
    points = [(x, float(network([x])[0])) for x in other if x != CENTERS[1]]
    draw_points(right, points, marker="D", label="other preimages of f(-1)")
    add_legend(right, below=0.14)
    left.set_title("problem 1")
    right.set_title("problem 2")
    return left.figure

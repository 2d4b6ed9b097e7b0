"""resnet: a residual network is a plain network with two more neurons per input and layer; its radii do not change."""

from __future__ import annotations

from typing import Any

import numpy as np

import ircert
from ircert.data.networks import bundled
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Relu
from ircert.plotting import draw_curve, plot_result
from ircert.plotting.figure import add_legend, new_axes
from ircert.plotting.style import ATTRACTOR
from ircert.reproduction.frame.answers import agrees, all_closed, ask, bound, facts, in_order, radius
from ircert.reproduction.frame.report import Claim, Comparison, Picture, Report, Settings, Table
from ircert.reproduction.maps.brusselator_map import TAU, BrusselatorMap
from ircert.reproduction.maps.orbits import as_loop, attractor, thinned
from ircert.result.result import Result

NETWORK = "brusselator-residual-2-24-24-2"
MAP = BrusselatorMap(b=2.1, tau=TAU)
PIPELINE = "canonicalize,fold-residual"
PROBLEMS = ("local", "pseudo")
FARTHEST = 50.0
"""Where the search for other preimages ends: some points have none at all."""


def run(settings: Settings) -> Report:
    """Fold the network, compare both exactly, and certify both around points of the attractor."""
    network = bundled(NETWORK)
    folded = ircert.Pipeline.parse(PIPELINE)(network)
    settings.say("the attractor")
    circle = as_loop(attractor(network, MAP.fixed_point))
    centers = thinned(circle, 2 if settings.quick else 8)
    answers = []
    for i, center in enumerate(centers):
        settings.say(f"point {i + 1} of {len(centers)}")
        answers.append([_ask(settings, g, center, problem) for g in (network, folded) for problem in PROBLEMS])
    shown = min(answers, key=lambda row: radius(row[1]))
    return Report(
        title="Residual networks",
        text=(
            f"A residual network (x, y) + layers(x, y) learned the Euler step of the Brusselator at b = {MAP.b:g}, "
            f"τ = {MAP.tau:g} ({NETWORK}). The pass fold-residual writes the skip as relu(x) - relu(-x), which gives a "
            "plain network; both are certified around points of the attractor. Other preimages are looked for up to "
            f"{FARTHEST:g} away; some points have none there: outside its training data a network goes on in its own "
            "way."
        ),
        claims=_claims(settings, network, folded, answers),
        comparisons=(
            Comparison(
                "hidden layers of the folded network",
                "as many as before, 2 m neurons wider",
                f"{_widths(network)} becomes {_widths(folded)}",
                "the paper's middle layers should read diag(W, I, I): with -I a relu would erase the negative part",
            ),
        ),
        tables=(_table(centers, answers),),
        pictures=(
            Picture(
                "resnet",
                "The folded residual network: linear regions coloured by the determinant, fold set, attractor, and "
                "around one of its points the largest squares of problems 1 and 2, with the preimages of its image.",
                _figure(circle, *shown[2:]),
            ),
        ),
        facts={
            "widths": {"residual": _widths(network), "folded": _widths(folded)},
            "answers": [[facts(answer) for answer in row] for row in answers],
        },
    )


def _ask(settings: Settings, graph: Graph, center: Array, problem: str) -> Result:
    return ask(settings, graph, center, problem, max_radius=FARTHEST)


def _widths(graph: Graph) -> list[int]:
    """The sizes of the relu layers."""
    sizes = {node.name: node.op.weight.shape[0] for node in graph.nodes if isinstance(node.op, Affine)}
    return [sizes[node.operands[0]] for node in graph.nodes if isinstance(node.op, Relu)]


def _claims(settings: Settings, network: Graph, folded: Graph, answers: list[list[Result]]) -> tuple[Claim, ...]:
    points = np.random.default_rng(settings.seed).uniform(-5, 5, size=(20 if settings.quick else 200, 2))
    equal = all(list(network.exact(p)) == list(folded.exact(p)) for p in points)
    wider = [w + 2 * network.input_dim for w in _widths(network)]
    same = all(
        [a.radius.certified.exact for a in row[:2]] == [b.radius.certified.exact for b in row[2:]]
        and all(a.radius.certified.exact is not None for a in row)
        and all_closed(row)
        for row in answers
    )
    return (
        Claim("the folded network has the same number of layers, each 2 m wider", _widths(folded) == wider, str(wider)),
        Claim("both have the same values, exactly", equal, f"{len(points)} random points, in rationals"),
        Claim("every radius is answered exactly", all_closed([a for row in answers for a in row])),
        Claim("folding changes no radius: r and R are the same rational numbers", same, f"{len(answers)} points"),
        Claim(
            "the folded network's mixed-integer program agrees",
            agrees(settings, min((row[2] for row in answers), key=radius)),
            "for the least r: 1 % less is certified, 1 % more refuted",
        ),
        Claim("r <= R", in_order((row[0], row[1]) for row in answers)),
    )


def _table(centers: Array, answers: list[list[Result]]) -> Table:
    rows = [
        (*center, *(bound(answer) for answer in row[:2])) for center, row in zip(centers.tolist(), answers, strict=True)
    ]
    return Table("Radii around points of the attractor (∞-norm)", ("x", "y", "r", "R"), tuple(rows))


def _figure(circle: Array, local: Result, pseudo: Result) -> Any:
    ax = new_axes((6.8, 6.6), pyplot=False)
    plot_result(local, ax, [pseudo], preimages=True, witness=False, legend=False, inputs=("x", "y"))
    draw_curve(ax, circle, color=ATTRACTOR, closed=True, rim=True, label="attractor")
    add_legend(ax)
    return ax.figure

"""The authors' published Brusselator network, asked what they asked: their radii beside exact ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ircert
from ircert.errors import FileError
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.reproduction.experiments.parts.balls import MAP, square_claims, square_facts, squares_around
from ircert.reproduction.frame.answers import radius
from ircert.reproduction.frame.report import Claim, Comparison, Part, Settings

CENTER = (1.96433, 1.24951)
RADII = {"local": 0.655344127938151, "pseudo": 2.77382102844230}
OTHERS = ((4.73825188, -1.10571284), (8.83688484, -4.29014662))


def published_network(folder: Path) -> Graph:
    """The authors' network (x, y, b): files w1, b1, … written for x @ w + b."""
    home = folder / "brusselator"
    if not (home / "w1.txt").is_file():
        raise FileError(
            "the authors' Brusselator network is not there", path=home, remedy="unset IRCERT_REFERENCE_DATA"
        )
    return ircert.load([(np.loadtxt(home / f"w{k}.txt").T, np.loadtxt(home / f"b{k}.txt")) for k in (1, 2, 3)])


def published(settings: Settings, network: Graph) -> Part:
    """The authors' own network at their own point, beside the radii they publish."""
    settings.say("the authors' network")
    squares = squares_around(settings, network.fix({2: MAP.b}), CENTER)
    answers = {"local": squares.local, "pseudo": squares.pseudo}
    why = "the paper bisects to 1e-3 and takes p* <= 1e-4 for zero; ours is exact"
    comparisons = [
        Comparison(f"the authors' network at {CENTER}: {name}", RADII[problem], radius(answers[problem]), why)
        for name, problem in (("r", "local"), ("R", "pseudo"))
    ]
    comparisons += [
        Comparison("its other preimages of f(c)", list(theirs), ours.tolist(), "a solver's tolerance")
        for theirs, ours in zip(OTHERS, _matched(squares.preimages), strict=True)
    ]
    near = all(abs(radius(answers[p]) - RADII[p]) < 1e-3 for p in RADII)
    agrees = Claim("the authors' network: the published radii agree within the paper's bisection, 1e-3", near)
    return Part(
        claims=(*square_claims("the authors' network", [squares]), agrees),
        comparisons=tuple(comparisons),
        facts=square_facts(squares),
    )


def _matched(preimages: Array) -> list[Array]:
    """For each published preimage the nearest of ours."""
    return [preimages[np.argmin(np.abs(preimages - np.array(p)).max(axis=1))] for p in OTHERS]

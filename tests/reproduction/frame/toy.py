"""An experiment that is over at once."""

from __future__ import annotations

import math

from ircert.plotting import new_axes
from ircert.reproduction.frame.report import Claim, Comparison, Picture, Report, Settings, Table


def run(settings: Settings) -> Report:
    settings.say("counting")
    ax = new_axes(pyplot=False)
    ax.plot([0, 1], [0, settings.seed])
    return Report(
        title="A toy, counted",
        text="One and one are added.",
        claims=(Claim("1 + 1 = 2", True, "2"), Claim("the seed is even", settings.seed % 2 == 0)),
        comparisons=(Comparison("the sum", 2.0, 2.0), Comparison("a radius", 0.157, math.inf, "another | network")),
        tables=(Table("Squares", ("n", "n²"), ((1, 1), (2, 4))),),
        pictures=(Picture("line", "A line.", ax.figure), Picture("again", "The same line.", ax.figure, page=False)),
        facts={"quick": settings.quick, "seed": settings.seed, "limit": math.inf},
    )

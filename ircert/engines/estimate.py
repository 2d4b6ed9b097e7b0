"""How large a question is, before the work begins: neurons, those that may switch in the ball, and binaries."""

from __future__ import annotations

from dataclasses import dataclass

from ircert.engines.base import Question
from ircert.geometry.ball import Ball
from ircert.ir.graph import Graph
from ircert.ir.ops import Curve, Op, Relu
from ircert.limits import Deadline, OutOfTime, until
from ircert.programs.encodings.analyse import Method, analyse

FIRST = 1.0
"""The ball of this radius is looked at where a search has none to begin with."""
LARGEST = 4096
"""With more neurons than this, plain intervals have to do."""
SHARE = 0.05
"""The part of the time that bounds may take."""


@dataclass(frozen=True)
class Size:
    """unstable: neurons that bounds leave both phases; binaries: their phases in the program, one for each copy;
    smooth: curves, where there are some: then nothing is said of phases."""

    radius: float
    neurons: int
    unstable: int
    binaries: int
    smooth: int = 0

    def __str__(self) -> str:
        """One line for people."""
        if self.smooth:
            return f"{self.neurons} neurons, of which {self.smooth} are smooth"
        return (
            f"{self.neurons} neurons, of which {self.unstable} may switch in the ball of radius {self.radius:g} "
            f"({self.binaries} binaries)"
        )


def estimated_size(question: Question) -> Size:
    """The size of the ball in question, or of the first one that a search would look at."""
    radius = min(FIRST, question.max_radius) if question.radius is None else question.radius
    ball = Ball(question.center, radius, question.norm, question.low, question.high)
    neurons = unstable = 0
    if question.is_smooth:
        counts = [_counted(network.lowered, kind) for network in question.networks for kind in (Relu, Curve)]
        return Size(radius, sum(counts), 0, 0, sum(counts[1::2]))
    for network in question.networks:
        plain = network.lowered
        count = _counted(plain, Relu)
        method: Method = "symbolic" if count <= LARGEST else "interval"
        neurons += count
        unstable += analyse(plain, ball, method).count_unstable()
    copies = 1 if question.problem == "pseudo" else 2
    return Size(radius, neurons, unstable, copies * unstable)


def first_words(question: Question) -> str:
    """How large the question is; of one whose bounds take more than a part of its time, the neurons alone."""
    try:
        with until(Deadline(SHARE * question.deadline.left())):
            return str(estimated_size(question))
    except OutOfTime:
        return f"{sum(_counted(network.loaded, Relu) for network in question.networks)} neurons"


def _counted(graph: Graph, kind: type[Op]) -> int:
    """The neurons of a kind."""
    return sum(graph.sizes[node.name] for node in graph.nodes if isinstance(node.op, kind))

"""What a formulation is: a named way from a question about a lowered network to a mixed-integer program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from ircert.bounds.bounds import Bounds
from ircert.passes.interval_bounds import IntervalBounds
from ircert.passes.pipeline import Pipeline
from ircert.programs.encodings.analyse import Method
from ircert.programs.program import Program
from ircert.questions.network import LOWERING
from ircert.questions.query import Query


@dataclass(frozen=True, eq=False)
class Asked:
    """What a formulation is given: a question, and bounds of its networks' lowered graphs that hold on its ball.

    bounds, other: of the network and, for `transform`, of the other one; each knows its graph
    sha256:        of the network as it was loaded
    """

    query: Query
    bounds: Bounds
    other: Bounds | None
    sha256: str


class Formulation(ABC):
    """Turns questions into programs. Subclasses are frozen dataclasses; their fields are the options.

    name:   its word, in `formulation=…` and in entry points
    passes: the pipeline that lowers a network for it; bounds on the question's ball come behind it
    """

    name: ClassVar[str]
    passes: ClassVar[str] = LOWERING

    def check(self, query: Query) -> None:
        """QueryError for questions that it has no program for."""
        return

    @abstractmethod
    def program(self, asked: Asked) -> Program:
        """The program of a question."""

    def pipeline(self, query: Query, bounds: Method = "symbolic") -> Pipeline:
        """What runs before it, whole: each network of the question goes through these passes."""
        return bound_to(Pipeline((*Pipeline.parse(self.passes).passes, IntervalBounds(method=bounds))), query)


def bound_to(pipeline: Pipeline, query: Query) -> Pipeline:
    """The pipeline with the question's ball where `interval-bounds` names none."""
    passes = (
        used.about(query.ball) if isinstance(used, IntervalBounds) and used.center is None else used
        for used in pipeline.passes
    )
    return replace(pipeline, passes=tuple(passes))

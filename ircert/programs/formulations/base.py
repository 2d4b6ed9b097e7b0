"""What a formulation is: a named way from a question about a lowered network to a mixed-integer program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

from ircert.bounds.bounds import Bounds
from ircert.passes.base import Pass
from ircert.passes.dual_copy import DualCopy
from ircert.passes.interval_bounds import IntervalBounds
from ircert.passes.pipeline import Pipeline
from ircert.programs.encodings.analyse import Method
from ircert.programs.program import Program
from ircert.questions.network import LOWERING
from ircert.questions.query import Problem, Query


@dataclass(frozen=True, eq=False)
class Asked:
    """What a formulation is given: a question, and bounds of its networks' lowered graphs that hold on its ball.

    bounds: of the network or, where the formulation reads pairs, of the graph of both points; they know their graph
    other:  for `transform`, of the other network; None where the formulation reads pairs
    sha256: of the network as it was loaded
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

    def reads_pairs(self, problem: str) -> bool:
        """Whether it reads the graph of both points, which `dual-copy` makes, and not that of one point."""
        return False

    @abstractmethod
    def program(self, asked: Asked) -> Program:
        """The program of a question."""

    def pipeline(self, query: Query, bounds: Method = "symbolic") -> Pipeline:
        """What runs before it, whole."""
        copying = (DualCopy(cast(Problem, query.problem)),) if self.reads_pairs(query.problem) else ()
        return bound_to(Pipeline((*Pipeline.parse(self.passes).passes, IntervalBounds(method=bounds), *copying)), query)


def bound_to(pipeline: Pipeline, query: Query) -> Pipeline:
    """The pipeline with the question's ball where `interval-bounds` names none: behind `dual-copy`, once per point."""
    copies, passes = 1, list[Pass[Any, Any]]()
    for used in pipeline.passes:
        if isinstance(used, IntervalBounds) and used.center is None:
            used = replace(used.about(query.ball), copies=max(copies, used.copies))
        elif isinstance(used, DualCopy) and used.center is None:
            copies = 2
        passes.append(used)
    return replace(pipeline, passes=tuple(passes))

"""The answer to a question: verdict, bracket, witness, trust, and what was asked of which network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias

from ircert.errors import IrcertError
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.result.certificate import Written
from ircert.result.radius import Radius
from ircert.result.stop import Cause, Stop
from ircert.result.witness import TurnedPair, Witness

Verdict: TypeAlias = Literal["certified", "refuted", "unresolved"]
Trust: TypeAlias = Literal["exact", "solver"]


class _Bracket(NamedTuple):
    """What people unpack."""

    value: float
    bound: float
    trust: Trust


class Optimum(_Bracket):
    """p* of a fixed ball: the separation of an exact pair (rounded down; 0 if none is known), a bound that no pair
    exceeds, and what the bound rests on: exact arithmetic, or a solver's float.

    evidence: the sentence that the bound rests on
    norm:     that both are measured in, where it is not the ball's
    proved:   the least bound that is proved in exact arithmetic, where the bound is a solver's
    """

    evidence: str = ""
    norm: Norm | None = None
    proved: float | None = None

    def __new__(
        cls,
        value: float,
        bound: float,
        trust: Trust,
        evidence: str = "",
        norm: Norm | None = None,
        proved: float | None = None,
    ) -> Optimum:
        """A bracket with its evidence."""
        made = super().__new__(cls, value, bound, trust)
        made.evidence, made.norm, made.proved = evidence, norm, proved
        return made


@dataclass(frozen=True)
class ModelFacts:
    """Which network a result is about."""

    sha256: str
    input_dim: int
    output_dim: int

    @staticmethod
    def of(graph: Graph) -> ModelFacts:
        """The facts of a graph."""
        return ModelFacts(graph.sha256, graph.input_dim, graph.output_dim)


@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """What was found out, and how far it can be trusted.

    verdict:    `certified` (then the result is true in a condition), `refuted` (a search: the property holds on no
                ball) or `unresolved`; `reason` says why the latter
    stop:       what ended the search before it went to its end, whatever the verdict; None if nothing did
    turned:     two points with determinants of opposite signs, where those refute (smooth networks)
    radius:     the bracket of the largest good radius, each end with its evidence
    trust:      `exact` (proved in exact arithmetic) or `solver` (rests on a solver's float bound)
    asked_radius, max_radius: the closed ball that was decided, or the limit of the search; one of them is None
    domain:     (low, high) if every ball was cut with a box, else None
    engine:     the engine that answered
    graph, other_graph: the networks themselves, for plots, unless it was read without; `model` and `other` say which
    certificate: the file that proves the claim to `ircert.checker`, or why there is none; None if none was asked for
    command:    how the command line asked: its arguments, files, and what was bound and selected; None in Python
    """

    verdict: Verdict
    trust: Trust
    radius: Radius
    problem: str
    norm: Norm
    center: Array
    model: ModelFacts
    graph: Graph | None = field(default=None, repr=False)
    optimum: Optimum | None = None
    witness: Witness | None = None
    turned: TurnedPair | None = None
    reason: str | None = None
    stop: Stop | None = None
    domain: tuple[Array, Array] | None = None
    asked_radius: float | None = None
    max_radius: float | None = None
    tol: float = 1e-6
    other: ModelFacts | None = None
    other_graph: Graph | None = field(default=None, repr=False)
    engine: str = "auto"
    backend: str | None = None
    formulation: str | None = None
    seconds: float = 0.0
    stats: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    certificate: Written | None = None
    command: Mapping[str, Any] | None = None

    def __bool__(self) -> bool:
        """Whether the verdict is `certified`."""
        return self.verdict == "certified"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        """The first line of the summary: the verdict and the bracket."""
        return self.summary().partition("\n")[0]

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the search."""
        return self.stop is not None and self.stop.cause is Cause.INTERRUPTED

    def to_json(self) -> str:
        """The result as JSON text of the schema `ircert.result/1` (`spec/result.md`)."""
        from ircert.result.json_form import to_json

        return to_json(self)

    def to_dict(self) -> dict[str, Any]:
        """What `to_json` writes, as a dictionary of plain values."""
        found: dict[str, Any] = json.loads(self.to_json())
        return found

    @staticmethod
    def from_json(text: str, model: Any = None, other: Any = None) -> Result:
        """A result that `to_json` wrote; IrcertError if it is none.

        The networks, or files of them, are needed for pictures and certificates alone; they must be those it is about.
        """
        from ircert.frontends.load import load
        from ircert.result.reading import from_json

        if not isinstance(text, str) or not text.lstrip().startswith("{"):
            problem = "this is no saved result: it is no JSON object"
            raise IrcertError(problem, remedy="give the text that `to_json` or `--json FILE` wrote")
        graphs = [given if given is None or isinstance(given, Graph) else load(given) for given in (model, other)]
        return from_json(text, *graphs)

    @property
    def network(self) -> Graph:
        """The network; IrcertError where the result was read without it."""
        if self.graph is None:
            raise IrcertError("the result was read without its network", remedy="Result.from_json(text, model=…)")
        return self.graph

    def summary(self) -> str:
        """The result for people: verdict, bracket with evidence, trust, witness, where the time went."""
        from ircert.result.summary import summary

        return summary(self)

    def _repr_html_(self) -> str:
        """The result in a notebook."""
        fragments = import_module("ircert.report.fragments")
        return str(fragments.notebook(fragments.of_result(self)))

    def plot(self, ax: Any = None, *, image: Any = None, **options: Any) -> Any:
        """Draw regions, fold set, balls and witness (one or two inputs); a matplotlib Axes. Of three inputs slices and
        the fold set from outside; a Figure (`ircert.plotting.plot_three`).

        With `image`, the shape of inputs that are images ((8, 8) or "8x8"), the pair of the witness, its difference and
        the outputs at both; a matplotlib Figure (`ircert.plotting.plot_pair`).

        Options are those of `ircert.plotting.plot_result`: balls (further results), regions, folds, preimages, window
        (half the width, or two corners), witness, legend, inputs (labels of the axes).
        """
        plotting = import_module("ircert.plotting")
        if image is not None:
            return plotting.plot_pair(self, image)
        if self.graph is not None and self.graph.input_dim == 3 and ax is None:
            return plotting.plot_three(self, **options)
        return plotting.plot_result(self, ax=ax, **options)

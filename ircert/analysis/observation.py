"""`ircert.observability`: do some inputs and outputs of a network determine others?

For g with inputs x and outputs g(x), the given inputs and outputs are one map f1 of x, the unknown ones another, f2.
The observations determine the unknowns on a ball if f2 is a function of f1 there: the problem `transform`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ircert.answering import certifiable
from ircert.certification import certify
from ircert.engines.instant import engine as instant
from ircert.errors import QueryError
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.result.radius import Radius
from ircert.result.result import Result, Verdict
from ircert.result.summary import Words, summary
from ircert.result.witness import Witness

SAME = "the same given inputs and outputs"
WORDS = Words(
    good="what is given determines what is unknown",
    bad="what is given does not determine what is unknown",
    some=f"two inputs of the ball have {SAME}, and what is unknown lies {{}} apart",
    most=f"for no two inputs with {SAME} does what is unknown lie more than",
    none=f"inputs of the ball with {SAME} have the same unknown ones",
    apart="what is given is the same at both; what is unknown lies",
    evidence={
        instant.FUNCTION: "what is unknown is computed from what is given, or from nothing",
        instant.SAME: "what is unknown is what is given",
        instant.KERNEL: "the network is affine there, and no direction changes what is unknown but not what is given",
        instant.APART: "on a linear region at the centre there is a direction in which only what is unknown changes",
        instant.STRUCTURE: "all inputs follow from what is given, on the whole space, by the network's structure",
    },
)
"""Of the problem `transform` about what is given and what is unknown."""


@dataclass(frozen=True)
class Variables:
    """Some inputs and outputs of a network, by number."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def of(self, graph: Graph) -> Graph:
        """The map from the network's inputs to these variables."""
        build = Builder(graph.input_dim, name=graph.input)
        parts = []
        if self.inputs:
            parts.append(build.select(build.input, self.inputs))
        if self.outputs:
            parts.append(build.select(build.insert(graph, build.input), self.outputs))
        return build.graph(build.concat(*parts))

    def __str__(self) -> str:
        named = [("input", self.inputs), ("output", self.outputs)]
        return ", ".join(f"{name} {i}" for name, numbers in named for i in numbers) or "nothing"


@dataclass(frozen=True, eq=False)
class Observability:
    """Where the given variables determine the unknown ones; `result` is the answer of `certify`."""

    given: Variables
    unknown: Variables
    result: Result

    def __bool__(self) -> bool:
        """Whether the verdict is `certified`."""
        return bool(self.result)

    @property
    def verdict(self) -> Verdict:
        """`certified`, `refuted` or `unresolved`."""
        return self.result.verdict

    @property
    def radius(self) -> Radius:
        """The bracket of the largest ball around the centre on which the unknowns are determined."""
        return self.result.radius

    @property
    def witness(self) -> Witness | None:
        """Two inputs of the network with the same observations and different unknowns."""
        return self.result.witness

    def summary(self) -> str:
        """The result for people."""
        return f"given {self.given}; unknown {self.unknown}\n{summary(self.result, WORDS)}"


def observability(
    graph: Any,
    given_inputs: Iterable[int],
    given_outputs: Iterable[int],
    center: Any,
    *,
    unknown_inputs: Iterable[int] | None = None,
    unknown_outputs: Iterable[int] | None = None,
    **options: Any,
) -> Observability:
    """Whether some inputs and outputs of a network determine others around a centre, and how far.

    Inputs and outputs are numbered from 0; the centre has all inputs, and the ball is around it in the space of the
    inputs. Unknown are, unless said otherwise, the inputs that are not given, or if all are given, the other outputs.
    Options are those of `ircert.certify`: norm, radius, max_radius, domain, time_limit, …
    """
    clash = {"problem", "other"} & set(options)
    if clash:
        raise QueryError(
            f"`{min(clash)}` is not an option here", remedy="the problem is `transform`, made of the indices"
        )
    network = certifiable(graph, "the network")
    sizes = {"input": network.input_dim, "output": network.output_dim}
    given = Variables(
        _indices(given_inputs, "given", "input", sizes["input"]),
        _indices(given_outputs, "given", "output", sizes["output"]),
    )
    unknown = _unknown(given, unknown_inputs, unknown_outputs, sizes)
    for variables, what, remedy in (
        (given, "nothing is given", "name at least one input or output that is observed"),
        (unknown, "nothing is unknown", "leave an input or output out of what is given"),
    ):
        if not variables.inputs and not variables.outputs:
            raise QueryError(what, remedy=remedy)
    # where all inputs are given, given outputs say nothing new
    seen = replace(given, outputs=()) if len(given.inputs) == network.input_dim else given
    answer = certify(seen.of(network), center, problem="transform", other=unknown.of(network), **options)
    return Observability(given, unknown, answer)


def _unknown(
    given: Variables, inputs: Iterable[int] | None, outputs: Iterable[int] | None, sizes: dict[str, int]
) -> Variables:
    if inputs is None and outputs is None:
        left = tuple(i for i in range(sizes["input"]) if i not in given.inputs)
        rest = tuple(i for i in range(sizes["output"]) if i not in given.outputs)
        return Variables(left, () if left else rest)
    found = Variables(
        _indices(inputs or (), "unknown", "input", sizes["input"]),
        _indices(outputs or (), "unknown", "output", sizes["output"]),
    )
    for kind, both in (("input", (given.inputs, found.inputs)), ("output", (given.outputs, found.outputs))):
        twice = sorted(set(both[0]) & set(both[1]))
        if twice:
            raise QueryError(f"{kind} {twice[0]} is both given and unknown", remedy="name it once")
    return found


def _indices(given: Any, role: str, kind: str, size: int) -> tuple[int, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise QueryError(f"the {role} {kind}s must be a list of numbers, got {str(given)[:60]!r}", remedy="e.g. [0, 2]")
    found = list(given)
    for i in found:
        if isinstance(i, bool) or not isinstance(i, int | np.integer) or not 0 <= i < size:
            raise QueryError(
                f"there is no {kind} {str(i)[:60]!r}", remedy=f"the network has {kind}s 0 to {size - 1}, counted from 0"
            )
    if len(set(found)) < len(found):
        raise QueryError(f"a {role} {kind} is named twice", remedy="name each once")
    return tuple(int(i) for i in found)

"""`ircert replay`: what a solver's solution of an exported file is worth on the network itself."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ircert.cli.certify import check_outputs, how_asked, write_json
from ircert.cli.export import add_program_options, made_program
from ircert.cli.options import add_output_options
from ircert.cli.question import asked_graph, asked_query
from ircert.cli.streams import complain, print_json, say

if TYPE_CHECKING:
    from ircert.ir.graph import Graph
    from ircert.programs.program import Program
    from ircert.questions.query import Query
    from ircert.result.result import Result
    from ircert.witnesses.replay import Witness

COLLISION, NOT_PROVED = 1, 3
LONGEST = 4000
STEPS = tuple(4.0**-k for k in range(3, 14))
"""How far from a tangent's point collisions are looked for, in parts of the radius."""
TANGENT = " (a tangent's radius bounds the distance to points where the network folds; it is no collision by itself)"
INSIDE = "a pair near the solver's, replayed in exact arithmetic"
NOTHING = "a solution proves nothing about smaller balls"


def add_replay_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert replay` takes."""
    add_program_options(parser)
    parser.add_argument(
        "--solution", required=True, metavar="FILE", help="of HiGHS, CBC, SCIP, Gurobi, GLPK or CPLEX, or `name value`"
    )
    add_output_options(parser)


def replay(options: argparse.Namespace) -> int:
    """Judge a solution: 1 for a collision proved, 3 for none."""
    from ircert.backends.solution import complete, read_solution

    start = time.perf_counter()
    check_outputs(options)
    graph = asked_graph(options)
    query = asked_query(options, options.radius, options.objective_norm)
    made = made_program(graph, query, options)
    values = complete(read_solution(options.solution), made, options.solution)
    witness, reason = _judged(graph, query, made, values)
    if options.json is not None or options.certificate is not None:
        result = _result(graph, query, witness, reason)
        result = replace(result, command=how_asked(options), seconds=time.perf_counter() - start)
        result = _certified(result, options.certificate)
        if options.json == "-":
            print_json(result.to_json())
        elif options.json is not None:
            write_json(options.json, result.to_json())
    if options.json != "-":
        _tell(witness, reason)
    return NOT_PROVED if witness is None else COLLISION


def _judged(graph: Graph, query: Query, made: Program, values: Mapping[str, float]) -> tuple[Witness | None, str]:
    from ircert.questions.network import lowered
    from ircert.witnesses.replay import judge

    for x, y in _pairs(made, query, values):
        witness, reason = judge(lowered(graph), query, x, y)
        if witness is not None:
            return witness, reason
    return None, f"{reason}{TANGENT if 'v' in _names(made) else ''}"


def _tell(witness: Witness | None, reason: str) -> None:
    if witness is None:
        say(f"no collision proved: {reason}")
        return
    say(f"collision proved in exact arithmetic: {reason}")
    for name, point in (("x", witness.x), ("y", witness.y)):
        say(f"  {name} = {', '.join(str(float(v)) for v in point)}")
        say(f"    exactly {', '.join(_shown(v) for v in point)}")


def _result(graph: Graph, query: Query, witness: Witness | None, reason: str) -> Result:
    """The judgement as the answer to the question about the closed ball."""
    import numpy as np

    from ircert.answering import versions
    from ircert.result.radius import End, Radius
    from ircert.result.result import ModelFacts, Result
    from ircert.result.witness import report

    center = [Fraction(v) for v in query.center.tolist()]
    far = 0 if witness is None else max(query.norm.distance(p, center) for p in (witness.x, witness.y))
    above = End.root_above if query.norm == "2" else End.above
    ball = query.ball
    return Result(
        verdict="unresolved" if witness is None else "refuted",
        trust="exact",
        radius=Radius(End(0.0, NOTHING), None if witness is None else above(Fraction(far), INSIDE)),
        problem=query.problem,
        norm=query.norm,
        center=query.center,
        model=ModelFacts.of(graph),
        graph=graph,
        witness=None if witness is None else report(graph, query.other, query.norm, witness.x, witness.y),
        reason=reason if witness is None else None,
        domain=(ball.low, ball.high) if np.isfinite([ball.low, ball.high]).any() else None,
        asked_radius=query.radius,
        other=None if query.other is None else ModelFacts.of(query.other),
        other_graph=query.other,
        engine="replay",
        versions=versions(),
    )


def _certified(result: Result, path: str | None) -> Result:
    """With the collision written as a certificate, where there is one."""
    from ircert.certificates.writing import write
    from ircert.limits import Deadline

    if path is None:
        return result
    if result.witness is None:
        kept = f"; {path} is unchanged" if os.path.lexists(path) else ""
        complain(f"note: no certificate is written: no collision is proved{kept}")
        return result
    return replace(result, certificate=write(result, path, Deadline()))


def _names(made: Program) -> dict[str, list[str]]:
    return {block.name: list(block.names()) for block in made.variables}


def _pairs(made: Program, query: Query, values: Mapping[str, float]) -> Iterator[tuple[list[float], list[float]]]:
    """The pair of points of a solution; for a tangent, pairs on both sides of its point, nearer and nearer."""
    names = _names(made)
    x = [float(values[name]) for name in names["x"]]
    if "v" in names:
        for step in STEPS:
            offset = [step * query.radius * float(values[name]) for name in names["v"]]
            yield [a + d for a, d in zip(x, offset, strict=True)], [a - d for a, d in zip(x, offset, strict=True)]
    else:
        yield x, [float(values[name]) for name in names["y"]] if "y" in names else query.center.tolist()


def _shown(value: Fraction) -> str:
    """A rational, unless it has more digits than anybody reads (or Python prints)."""
    bits = value.numerator.bit_length() + value.denominator.bit_length()
    return str(value) if bits <= LONGEST else f"(a fraction of {bits} bits)"

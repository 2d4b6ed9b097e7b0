"""`ircert export` and `ircert replay`: a question as a file for any solver, and what its solution is worth."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from ircert.cli.question import asked_graph, asked_query, shaping_passes
from ircert.cli.streams import complain, say
from ircert.errors import CoefficientWarning, FileError, IrcertError

if TYPE_CHECKING:
    from ircert.backends.base import Writer
    from ircert.ir.graph import Graph
    from ircert.programs.program import Program
    from ircert.questions.query import Query

COLLISION, NOT_PROVED = 1, 3
LONGEST = 4000
STEPS = tuple(4.0**-k for k in range(3, 14))
"""How far from a tangent's point collisions are looked for, in parts of the radius."""
_TANGENT = " (a tangent's radius bounds the distance to points where the network folds; it is no collision by itself)"


def export(options: argparse.Namespace) -> int:
    """Write the program of a question; 0 when it is written, or when its pipeline alone was asked for."""
    writer = None if options.output is None else _writer(options)
    if writer is None and not options.print_pipeline:
        raise IrcertError("no file is named", where="--output", remedy="write -o FILE.lp, or --print-pipeline alone")
    graph = asked_graph(options)
    query = asked_query(options, options.radius, options.objective_norm)
    if options.print_pipeline:
        _print_pipeline(query, options)
    if writer is None:
        return 0
    made = _made(graph, query, options)
    write(writer, made, options.output)
    say(made.summary().split("\nvariables:")[0])
    return 0


def _made(graph: Graph, query: Query, options: argparse.Namespace) -> Program:
    from ircert.programs.formulations.program import program

    return program(
        graph,
        query,
        options.formulation,
        bounds=options.bounds,
        indicators=options.indicators,
        pipeline=options.pipeline,
    )


def _print_pipeline(query: Query, options: argparse.Namespace) -> None:
    """What each network of the question goes through, as `--pipeline` takes it, and behind a note `ircert opt -p`."""
    from ircert.programs.formulations.program import pipeline_of

    shaping = shaping_passes(options)
    if shaping.passes:
        complain(f"note: --fix and --select come before it; for `ircert opt -p` write {shaping},… in front")
    print(pipeline_of(query, options.formulation, bounds=options.bounds, pipeline=options.pipeline))


def _writer(options: argparse.Namespace) -> Writer:
    """The writer that the output's name asks for, before the work is done."""
    from ircert.backends import writer_for
    from ircert.backends.mps import Mps

    writer = writer_for(options.output)
    if options.minimise and not isinstance(writer, Mps):
        raise FileError(
            "--minimise is for .mps files",
            path=options.output,
            remedy="leave it out: other formats state whether they maximise",
        )
    writer.check_path(options.output)
    return Mps(minimise=True) if options.minimise else writer


def write(writer: Writer, made: Program, path: str) -> None:
    """Write a program; what readers make of its numbers is said on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CoefficientWarning)
        writer.emit(made, path)
    for warning in caught:
        complain(f"warning: {warning.message}")


def replay(options: argparse.Namespace) -> int:
    """Judge a solution of an exported file on the network itself: 1 for a collision proved, 3 for none."""
    from ircert.backends.solution import complete, read_solution
    from ircert.questions.network import lowered
    from ircert.witnesses.replay import judge

    graph = asked_graph(options)
    query = asked_query(options, options.radius, options.objective_norm)
    made = _made(graph, query, options)
    values = complete(read_solution(options.solution), made, options.solution)
    for x, y in _pairs(made, query, values):
        witness, reason = judge(lowered(graph), query, x, y)
        if witness is not None:
            break
    else:
        say(f"no collision proved: {reason}{_TANGENT if 'v' in _names(made) else ''}")
        return NOT_PROVED
    say(f"collision proved in exact arithmetic: {reason}")
    for name, point in (("x", witness.x), ("y", witness.y)):
        say(f"  {name} = {', '.join(str(float(v)) for v in point)}")
        say(f"    exactly {', '.join(_shown(v) for v in point)}")
    return COLLISION


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

"""`ircert export`: a question as a file for any solver."""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING

from ircert.cli.options import add_radius
from ircert.cli.question import add_question_options, asked_graph, asked_query, shaping_passes
from ircert.cli.streams import complain, say
from ircert.cli.vnnlib import add_vnnlib_export_options, export_query, is_query
from ircert.errors import CoefficientWarning, FileError, IrcertError

if TYPE_CHECKING:
    from ircert.backends.base import Writer
    from ircert.ir.graph import Graph
    from ircert.programs.program import Program
    from ircert.questions.query import Query


def add_export_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert export` takes."""
    add_program_options(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="FILE.lp, FILE.mps, FILE.vnnlib, …")
    parser.add_argument("--print-pipeline", action="store_true", help="show what the network goes through")
    parser.add_argument(
        "--minimise",
        action="store_true",
        help="write .mps with the objective negated, for GLPK and CBC, which ignore MAX",
    )
    add_vnnlib_export_options(parser)


def add_program_options(parser: argparse.ArgumentParser) -> None:
    """An export and its replay must be asked the same question."""
    add_question_options(parser)
    add_radius(parser, "of the closed ball", required=True)
    parser.add_argument(
        "--objective-norm", metavar="NORM", help="of the distance that is maximised (default: the ball's)"
    )
    parser.add_argument(
        "--formulation", default="paper", metavar="NAME", help="paper, tangent, apart{separation=…}, … (default: paper)"
    )
    parser.add_argument("--pipeline", metavar="PIPELINE", help="passes to run instead of the formulation's own")
    parser.add_argument(
        "--bounds",
        default="symbolic",
        choices=("interval", "symbolic", "lp"),
        help="how neurons are bounded on the ball: interval (quick, wide), symbolic (default) or lp (slow, narrow)",
    )
    parser.add_argument(
        "--indicators",
        default="paper",
        choices=("paper", "half"),
        help="of the formulation paper: paper (default), or half, for local, where x and y can be swapped",
    )


def export(options: argparse.Namespace) -> int:
    """Write the program of a question; 0 when it is written, or when its pipeline alone was asked for."""
    if is_query(options.output):
        return export_query(options)
    if options.merged or options.separation is not None:
        raise IrcertError("--merged and --separation are for VNN-LIB", remedy="write -o FILE.vnnlib")
    writer = None if options.output is None else _writer(options)
    if writer is None and not options.print_pipeline:
        raise IrcertError("no file is named", where="--output", remedy="write -o FILE.lp, or --print-pipeline alone")
    graph = asked_graph(options)
    query = asked_query(options, options.radius, options.objective_norm)
    if options.print_pipeline:
        _print_pipeline(query, options)
    if writer is None:
        return 0
    made = made_program(graph, query, options)
    write(writer, made, options.output)
    say(made.summary().split("\nvariables:")[0])
    return 0


def made_program(graph: Graph, query: Query, options: argparse.Namespace) -> Program:
    """The program of a question, as the options of `export` and `replay` want it."""
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

    try:
        writer = writer_for(options.output)
    except FileError as error:
        if not (error.remedy or "").startswith("use a name"):
            raise
        raise FileError(error.problem, path=options.output, remedy=f"{error.remedy} or .vnnlib") from None
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

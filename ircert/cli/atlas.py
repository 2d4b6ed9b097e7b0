"""`ircert atlas`: the largest good radius around each of many centres, as a table and a picture."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ircert.cli.interrupts import INTERRUPTS
from ircert.cli.model import load_model
from ircert.cli.options import add_engine_options, add_seed, add_time_limit, add_tolerance
from ircert.cli.progress import working
from ircert.cli.question import add_question_options, asked_domain, asked_graph, floats, shaped
from ircert.cli.streams import complain, put, say
from ircert.errors import FileError, IrcertError, QueryError

if TYPE_CHECKING:
    from ircert.atlases.layout import Layout
    from ircert.atlases.table import Atlas
    from ircert.ir.arrays import Array
    from ircert.ir.graph import Graph

EXAMPLES = """\
examples:
  ircert atlas net.onnx --grid=-2:2:100,-2:2:100 --workers 2 --plot map.png --csv map.csv
  ircert atlas net.onnx --trajectory 1,0.5 --steps 500 --results rows.jsonl      goes on where it was interrupted
  ircert atlas net.onnx --centers points.npy --shard 3/16 --results part3.jsonl  one job of an array …
  ircert atlas net.onnx --merge part*.jsonl --results all.jsonl --plot map.png   … and all of them together

exit codes: 0 every bracket is closed (with --shard: of its own centres), 2 bad usage or unsupported input,
            3 some are not (also after Ctrl-C or SIGTERM)
"""
UNRESOLVED = 3


def add_atlas_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert atlas` takes."""
    add_question_options(parser, center=False)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--grid", metavar="LO:HI:N,…", help="centres on a grid, one LO:HI:N for each input")
    where.add_argument("--centers", metavar="FILE", help="centres in rows: FILE.npy, or text with commas")
    where.add_argument("--trajectory", metavar="X,…", help="this point and its iterates, see --steps")
    where.add_argument("--merge", nargs="+", metavar="FILE", help="no new rows: join files that --results wrote")
    parser.add_argument("--steps", type=int, metavar="N", help="how often a trajectory's point is mapped")
    parser.add_argument("--max-radius", type=float, metavar="R", help="search up to here; inf: the whole space")
    add_engine_options(parser)
    add_tolerance(parser, 1e-6, "1e-6")
    add_time_limit(parser, "seconds for all centres")
    parser.add_argument("--time-each", type=float, metavar="S", help="seconds for one centre")
    add_seed(parser)
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument("--dask", metavar="ADDRESS", help="of a dask scheduler whose workers have ircert")
    parser.add_argument("--shard", metavar="I/N", help="compute the I-th of N parts, for job arrays")
    parser.add_argument("--results", metavar="FILE", help="rows as they come (JSON lines); those there are kept")
    parser.add_argument("--csv", metavar="FILE", help="write the table there; - prints it instead of the summary")
    parser.add_argument("--plot", metavar="FILE", help="draw it: FILE.png or FILE.svg")


def atlas(options: argparse.Namespace) -> int:
    """Run the command; 0 when every bracket is closed, of a shard its own ones, 3 when some are not."""
    _check(options)
    graph = asked_graph(options)
    found = _merged(options, graph) if options.merge else _computed(options, graph)
    if options.csv is not None:
        text = found.to_csv(None if options.csv == "-" else options.csv)
        if options.csv == "-":
            put(text)
    if options.csv != "-":
        say(found.summary())
    if options.plot is not None:
        from ircert.plotting import new_axes, plot_atlas, save

        save(plot_atlas(found, new_axes(pyplot=False)), options.plot)
        complain(f"note: drawn to {options.plot}")
    return 0 if found.finished else UNRESOLVED


def _check(options: argparse.Namespace) -> None:
    """Refuse before the work is done, not after."""
    from ircert.files import check_writable

    if options.center is not None:
        raise QueryError(
            "an atlas has many centres", remedy="use --grid, --centers or --trajectory, or `ircert certify`"
        )
    if (options.trajectory is None) != (options.steps is None):
        raise QueryError("--trajectory and --steps belong together", remedy="write --trajectory 1,0 --steps 100")
    if options.dask is not None and options.workers != 1:
        raise QueryError("--dask has its own workers", remedy="leave --workers out")
    if options.merge and (options.shard is not None or options.dask is not None):
        raise QueryError("--merge computes nothing", remedy="leave --shard and --dask out")
    if options.plot is not None:
        from ircert.plotting import check_picture

        check_picture(options.plot)
    read = [os.path.realpath(path) for path in (options.model, options.other, options.centers) if path is not None]
    for path in (options.results, options.csv, options.plot):
        if path not in (None, "-"):
            check_writable(path)
            if os.path.realpath(path) in read:
                raise FileError("it is read, and not to be written", path=path, remedy="choose another place")


def _computed(options: argparse.Namespace, graph: Graph) -> Atlas:
    from ircert.atlases.atlas import atlas as answer
    from ircert.atlases.running import dask_executor

    other = None if options.other is None else shaped(load_model(options.other, options), options)
    layout, part = _layout(options, graph), _shard(options.shard)
    with ExitStack() as stack:
        workers: Any = options.workers
        if options.dask is not None:
            workers = stack.enter_context(dask_executor(options.dask))
        report = stack.enter_context(working("looking at centres"))
        stack.enter_context(INTERRUPTS.open(KeyboardInterrupt))
        return answer(
            graph,
            layout,
            problem=options.problem,
            other=other,
            norm=options.norm,
            max_radius=options.max_radius,
            domain=asked_domain(options),
            engine=options.engine,
            backend=options.backend,
            formulation=options.formulation,
            tol=options.tol,
            time_limit=options.time_limit,
            time_each=options.time_each,
            seed=options.seed,
            require=options.require,
            workers=workers,
            results=options.results,
            shard=part,
            progress=None if report is None else _counted(report),
        )


def _counted(report: Callable[[str], None]) -> Callable[[int, int], None]:
    return lambda done, all_: report(f"{done} of {all_} centres")


def _merged(options: argparse.Namespace, graph: Graph) -> Atlas:
    from ircert.atlases.merging import merge

    other = None if options.other is None else shaped(load_model(options.other, options), options)
    found, broken = merge(graph, options.merge, other)
    if broken:
        complain(f"note: {broken} lines were not whole, and are left out")
    if options.results is not None:
        found.to_jsonl(options.results)
    return found


def _layout(options: argparse.Namespace, graph: Graph) -> Layout:
    from ircert.atlases.layout import Layout, grid, trajectory

    if options.grid is not None:
        axes = [_axis(part) for part in options.grid.split(",")]
        if len(axes) != graph.input_dim:
            raise QueryError(
                f"--grid has {len(axes)} axes, and the network {graph.input_dim} inputs",
                remedy="give one LO:HI:N for each input, LO:LO:1 where it stays, or bind inputs with --fix",
            )
        return grid(*axes)
    if options.trajectory is not None:
        return trajectory(graph, floats(options.trajectory, "--trajectory"), options.steps)
    return Layout("list", _rows(options.centers))


def _axis(given: str) -> tuple[float, float, int]:
    try:
        low, high, count = given.split(":")
        return float(low), float(high), int(count)
    except ValueError:
        problem = f"--grid takes LO:HI:N for each input, got {given[:60]!r}"
        raise IrcertError(problem, remedy="write for example --grid -1:1:9,-1:1:9") from None


def _rows(path: str) -> Array:
    import numpy as np

    from ircert.files import read_npy, read_text

    if Path(path).suffix == ".npy":
        return np.atleast_2d(read_npy(path))
    rows = [
        floats(",".join(line.replace(",", " ").split()), f"the centre in line {k} of {path}", "write for example 0,1.5")
        for k, line in enumerate(read_text(path).splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not rows or len({len(row) for row in rows}) != 1:
        problem = "its lines have different numbers of coordinates, or none"
        raise FileError(problem, path=path, remedy="write one centre in each line, such as 0,1.5")
    return np.array(rows)


def _shard(given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    try:
        number, count = (int(part) for part in given.split("/"))
    except ValueError:
        raise IrcertError(f"--shard takes I/N, got {given[:60]!r}", remedy="write for example --shard 1/16") from None
    return number, count

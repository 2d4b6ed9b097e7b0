"""`ircert plot`: regions, fold set, balls, witness and preimages as a picture."""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING, Any

import ircert
from ircert.cli.model import load_model
from ircert.cli.options import add_radius, add_time_limit
from ircert.cli.question import (
    add_question_options,
    asked_graph,
    asked_query,
    free_inputs,
    model_inputs,
    numbered,
    shaped,
)
from ircert.cli.streams import complain, say
from ircert.errors import QueryError

if TYPE_CHECKING:
    from ircert.ir.graph import Graph
    from ircert.questions.query import Query


def add_plot_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert plot` takes."""
    add_question_options(parser, norms=True, center=False)
    parser.add_argument("--image", metavar="8x8", help="draw a pair of images of this shape, from a result of certify")
    parser.add_argument("--result", metavar="FILE", help="with --image: what `certify --json FILE` wrote about MODEL")
    add_radius(parser, "half the width of the picture (default: all balls)")
    parser.add_argument(
        "--preimages", action="store_true", help="draw the preimages of f(centre), and the ball that holds no other one"
    )
    parser.add_argument(
        "--slice",
        action="append",
        metavar="I=V",
        help="of three inputs, draw the plane where input I is V, several times or 2=0,2=1 (default: three planes "
        "through the centre, and the fold set from outside)",
    )
    parser.add_argument("--solid", action="store_true", help="of three inputs, draw the fold set from outside")
    add_time_limit(parser, "for each ball")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="FILE.png, FILE.svg or FILE.pdf")
    parser.add_argument("--labels", metavar="NAME,…", help="of the axes, one for each free input")


def plot(options: argparse.Namespace) -> int:
    """Draw and write the picture; 0 when it is written."""
    from ircert.plotting import check_picture, new_axes, plot_result, plot_three, save
    from ircert.plotting.style import index

    check_picture(options.output)
    if options.image is not None or options.result is not None:
        return _plot_pair(options)
    if options.center is None:
        raise QueryError("there is no centre", remedy="give --center, or --image and a result of certify")
    graph = asked_graph(options)
    queries = _queries(options)
    for query in queries:
        query.check(graph)
    _check_inputs(graph, options)
    slices = _slices(graph, options)
    names = _labels(graph, options) or [f"x{index(i)}" for i in free_inputs(graph, options)]
    results = [_answer(graph, query, options) for query in queries]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if graph.input_dim == 3:
            solid = True if options.solid else False if slices else None
            drawn: Any = plot_three(results[0], results[1:], slices, solid, options.radius, inputs=names)
        else:
            drawn = new_axes(pyplot=False)
            look = {"preimages": options.preimages, "window": options.radius, "inputs": names}
            plot_result(results[0], drawn, results[1:], **look)
    for warning in caught:
        complain(f"warning: {warning.message}")
    save(drawn, options.output)
    for result in results:
        say(_line(result))
    say(f"written to {options.output}")
    return 0


def _check_inputs(graph: Graph, options: argparse.Namespace) -> None:
    if graph.input_dim > 3:
        raise QueryError(
            f"a picture has one, two or three free inputs, this network has {graph.input_dim}",
            remedy="bind the others, for example --fix 2=0.5",
        )
    if graph.input_dim < 3 and (options.slice or options.solid):
        raise QueryError(
            f"--slice and --solid are for three free inputs, this network has {graph.input_dim}",
            remedy="leave them out, or bind fewer inputs",
        )
    if graph.input_dim == 3 and options.preimages:
        raise QueryError(
            "preimages are drawn for one or two free inputs", remedy="bind one more, or `ircert preimages`"
        )
    if options.solid and graph.output_dim != 3:
        raise QueryError(
            f"--solid draws the fold set, which needs three outputs, not {graph.output_dim}",
            remedy="--select three, or draw slices",
        )


def _slices(graph: Graph, options: argparse.Namespace) -> dict[int, list[float]] | None:
    """Where planes cut, by the numbers of free inputs; None for planes through the centre."""
    if not options.slice:
        return {} if options.solid else None
    free = free_inputs(graph, options)
    found: dict[int, list[float]] = {}
    for number, value in numbered(options.slice, "--slice"):
        if number not in free:
            raise QueryError(
                f"--slice names input {number}, which is not free",
                remedy=f"the free ones are {', '.join(map(str, free))}",
            )
        found.setdefault(free.index(number), []).append(value)
    return found


def _plot_pair(options: argparse.Namespace) -> int:
    """The pair of a saved result as images: `plot RESULT` has points alone, `plot MODEL --result RESULT` outputs."""
    from ircert.files import read_text
    from ircert.plotting import plot_pair, save

    if options.image is None:
        raise QueryError("--result needs the shape of the images", remedy="give --image, as in --image 8x8")
    if options.result is None:
        path, model, other = options.model, None, None
    else:
        path, model = options.result, asked_graph(options)
        other = None if options.other is None else shaped(load_model(options.other, options), options)
    figure = plot_pair(ircert.Result.from_json(read_text(path), model, other), options.image)
    save(figure, options.output)
    say(f"written to {options.output}")
    return 0


def _labels(graph: Graph, options: argparse.Namespace) -> list[str]:
    """Names for the axes: those that are given, or those of ONNX inputs of one number each."""
    if options.labels is not None:
        given = [name.strip() for name in options.labels.split(",")]
        if len(given) != graph.input_dim:
            raise QueryError(
                f"--labels has {len(given)} names but there are {graph.input_dim} free inputs",
                remedy="give one name for each",
            )
        return given
    joined = [name.strip() for name in (options.inputs or "").split(",") if name.strip()]
    free = free_inputs(graph, options)
    return [joined[i] for i in free] if len(joined) == model_inputs(graph, options) else []


def _queries(options: argparse.Namespace) -> list[Query]:
    """A question per problem and norm; the radius is the window's, since balls of every radius are asked about."""
    from ircert.geometry.norm import norm_of

    problems = [options.problem, *(["pseudo"] if options.preimages and options.problem != "pseudo" else [])]
    norms = dict.fromkeys(norm_of(norm.strip()) for norm in ",".join(options.norm or ["inf"]).split(","))
    window = 1.0 if options.radius is None else options.radius
    return [_query(options, problem, norm, window) for problem in problems for norm in norms]


def _query(options: argparse.Namespace, problem: str, norm: str, window: float) -> Query:
    other = options.other if problem == options.problem else None
    asked = argparse.Namespace(**{**vars(options), "problem": problem, "norm": norm, "other": other})
    return asked_query(asked, window)


def _answer(graph: Graph, query: Query, options: argparse.Namespace) -> Any:
    from ircert.geometry.domain import Box

    domain = None if options.domain is None else Box(query.ball.low, query.ball.high)
    asked = {"problem": query.problem, "norm": query.norm, "other": query.other, "domain": domain}
    return ircert.certify(graph, query.center, **asked, time_limit=options.time_limit)


def _line(result: Any) -> str:
    found = result.radius.refuted
    end = "no counterexample was found" if found is None else f"refuted from {found}"
    return f"{result.problem}, {result.norm}-norm: certified up to {result.radius.certified}, {end}"

"""Options by which commands ask a question: problem, centre, norm, domain, and which inputs and outputs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ircert.cli.model import add_model_options, load_model
from ircert.cli.options import MODEL, add_json, add_shaping_options
from ircert.errors import IrcertError

if TYPE_CHECKING:
    from ircert.geometry.domain import Sides
    from ircert.ir.graph import Graph
    from ircert.passes.pipeline import Pipeline
    from ircert.questions.query import Query


DOMAIN = "--domain takes LO:HI, numbers or one number per input, such as 0:1 or 0,0:1,2"


def add_question_options(parser: argparse.ArgumentParser, *, norms: bool = False, center: bool = True) -> None:
    """The options shared by all commands that ask about a ball.

    norms: about balls of several norms; center: whether the centre must be given
    """
    _add_center(parser, required=center)
    parser.add_argument(
        "--problem",
        choices=("local", "pseudo", "transform"),
        default="local",
        help="local (default): is the network injective on the ball? pseudo: does no other point of it have the "
        "centre's output? transform: is the output of MODEL2 a function of MODEL's output?",
    )
    parser.add_argument("--other", metavar="MODEL2", help="the second network, for transform (same inputs)")
    if norms:
        parser.add_argument("--norm", action="append", metavar="NORM,…", help="of the balls: inf, 1 or 2, or several")
    else:
        _add_norm(parser)
    _add_shaping(parser)


def add_place_options(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Those of commands that look at a network on a ball (`required`: the domain alone is not enough)."""
    _add_center(parser, required=required)
    _add_norm(parser)
    _add_shaping(parser)
    add_json(parser, "what is found")


def _add_center(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument("model", metavar="MODEL", help=MODEL)
    parser.add_argument(
        "--center",
        required=required,
        metavar="X,…",
        help="the ball's centre: -1,2 or @file.npy or @file.csv; a decimal number means the nearest float64",
    )


def _add_norm(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--norm", default="inf", help="of the ball: inf (default), 1 or 2")


def _add_shaping(parser: argparse.ArgumentParser) -> None:
    add_shaping_options(parser)
    parser.add_argument("--domain", metavar="LO:HI", help="cut the ball with this box; numbers or one per input")
    add_model_options(parser)


def asked_graph(options: argparse.Namespace) -> Graph:
    """The model, with inputs fixed and outputs selected."""
    return shaped(load_model(options.model, options), options)


def asked_query(options: argparse.Namespace, radius: float, objective_norm: str | None = None) -> Query:
    """The question about the ball of this radius."""
    from ircert.questions.query import Query

    other = None if options.other is None else shaped(load_model(options.other, options), options)
    center, domain = asked_center(options), asked_domain(options)
    return Query(options.problem, center, radius, options.norm, other, domain, objective_norm)


def free_inputs(graph: Graph, options: argparse.Namespace) -> list[int]:
    """The numbers that the inputs of the asked graph have in the model."""
    fixed = _fixed(options.fix)
    return [i for i in range(model_inputs(graph, options)) if i not in fixed]


def model_inputs(graph: Graph, options: argparse.Namespace) -> int:
    """How many inputs the model has of which the asked graph is made."""
    return graph.input_dim + len(_fixed(options.fix))


def asked_center(options: argparse.Namespace) -> list[float]:
    """The ball's centre."""
    return _center(options.center)


def asked_domain(options: argparse.Namespace) -> Sides | None:
    """The box every ball is cut with."""
    return _domain(options.domain)


def shaped(graph: Graph, options: argparse.Namespace) -> Graph:
    """A model with inputs fixed and outputs selected."""
    made: Graph = shaping_passes(options)(graph)
    return made


def shaping_passes(options: argparse.Namespace) -> Pipeline:
    """What --fix and --select do, as passes."""
    from ircert.passes.fix_inputs import FixInputs
    from ircert.passes.pipeline import Pipeline
    from ircert.passes.select_outputs import SelectOutputs

    fixed = _fixed(options.fix)
    fixing = (FixInputs(fixed),) if fixed else ()
    if options.select is None:
        return Pipeline(fixing)
    return Pipeline((*fixing, SelectOutputs(tuple(integers(options.select, "--select")))))


def _fixed(given: list[str]) -> dict[int, float]:
    fixed: dict[int, float] = {}
    for index, value in numbered(given, "--fix"):
        if index in fixed:
            raise IrcertError(f"--fix names input {index} twice", remedy="give one value for each input")
        fixed[index] = value
    return fixed


def numbered(given: list[str], what: str) -> list[tuple[int, float]]:
    """Inputs with values: I=V, separated by commas or one by one."""
    values: list[tuple[int, float]] = []
    for item in ",".join(given).split(",") if given else []:
        index, _, value = item.partition("=")
        try:
            values.append((int(index), float(value)))
        except ValueError:
            raise IrcertError(
                f"{what} takes I=V, got {item[:60]!r}", remedy=f"write for example {what} 2=2.1"
            ) from None
    return values


def _center(given: str) -> list[float]:
    return _from_file(given[1:]) if given.startswith("@") else floats(given, "--center")


def _from_file(path: str) -> list[float]:
    from ircert.errors import FileError
    from ircert.files import read_npy, read_text

    if Path(path).suffix == ".npy":
        array = read_npy(path)
        if array.dtype.kind not in "fiu":
            raise FileError(f"it holds {array.dtype}, not real numbers", path=path, remedy="save a list of floats")
        numbers = array.ravel().tolist()
        if any(v == v and float(v) != v for v in numbers):
            raise FileError("it holds a number that is not a float64", path=path, remedy="save a list of floats")
        return [float(v) for v in numbers]
    return floats(",".join(read_text(path).split()).strip(","), f"the centre in {path}", "write for example 0,1.5")


def _domain(given: str | None) -> Sides | None:
    from ircert.geometry.domain import Sides

    if given is None:
        return None
    try:
        low, high = map(_numbers, given.split(":"))
    except ValueError:
        raise IrcertError(f"{DOMAIN}, got {given[:60]!r}") from None
    return Sides(low[0] if len(low) == 1 else low, high[0] if len(high) == 1 else high, DOMAIN)


def floats(given: str, what: str, remedy: str | None = None) -> list[float]:
    """Numbers separated by commas."""
    try:
        return _numbers(given)
    except ValueError:
        problem = f"{what} takes numbers separated by commas, got {given[:60]!r}"
        raise IrcertError(problem, remedy=remedy or f"write for example {what} 0,1.5") from None


def _numbers(given: str) -> list[float]:
    return [float(v) for v in given.replace(",,", ",").split(",")]


def integers(given: str, what: str) -> list[int]:
    """Integers separated by commas."""
    try:
        return [int(v) for v in given.split(",")]
    except ValueError:
        problem = f"{what} takes integers separated by commas, got {given[:60]!r}"
        raise IrcertError(problem, remedy=f"write for example {what} 0,2") from None

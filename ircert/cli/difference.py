"""`ircert difference`: how far two networks are apart on a ball; the exit code is the verdict."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from ircert.cli.certify import EXIT_CODES
from ircert.cli.interrupts import INTERRUPTS
from ircert.cli.model import load_model
from ircert.cli.options import add_radius, add_seed, add_time_limit, add_tolerance
from ircert.cli.progress import working
from ircert.cli.question import add_place_options, asked_center, asked_domain, asked_graph, shaped
from ircert.cli.streams import encodable, print_json, say
from ircert.errors import FileError

if TYPE_CHECKING:
    from ircert.analysis.difference.result import Difference

EXAMPLES = """\
examples:
  ircert difference net.onnx pruned.onnx --center 0,0 --radius 0.5                  how far are they apart?
  ircert difference net.onnx int8.onnx --center 0,0 --radius 0.5 --epsilon 0.01     by no more than 0.01?
  ircert difference net.onnx int8.onnx --center @digit.npy --radius 0.02 --domain 0:1 --top1

exit codes: 0 the bracket is closed (--epsilon: at most that; --top1: the same class everywhere),
            1 --epsilon: more than that at a point; --top1: another class at a point,
            2 bad usage or unsupported input, 3 open (also after Ctrl-C)
"""


def add_difference_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert difference` takes."""
    add_place_options(parser, required=True)
    parser.add_argument("other", metavar="MODEL2", help="the second network, with as many inputs and outputs")
    add_radius(parser, "of the closed ball", required=True)
    parser.add_argument(
        "--objective-norm", default="inf", metavar="NORM", help="of the difference: inf (default), 1, 2"
    )
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--epsilon", type=float, metavar="E", help="decide whether they differ by more than that")
    asked.add_argument("--top1", action="store_true", help="decide whether both name the same class everywhere")
    parser.add_argument("--backend", metavar="NAME", help="a solver whose bound may be used: highs, scip, gurobi, …")
    add_tolerance(parser, 1e-3, "1e-3")
    add_time_limit(parser, "seconds (default: 60)", 60.0)
    add_seed(parser)


def difference(options: argparse.Namespace) -> int:
    """Run the command; 0 certified, 1 refuted, 3 unresolved."""
    from ircert.files import write_text

    _check(options)
    with INTERRUPTS.open(KeyboardInterrupt):
        result = _result(options)
    if options.json is not None and options.json != "-":
        write_text(options.json, encodable(result.to_json()))
    if options.json == "-":
        print_json(result.to_json())
    else:
        say(result.summary())
    return EXIT_CODES[result.verdict]


def _check(options: argparse.Namespace) -> None:
    """Refuse before the work is done, not after."""
    from ircert.files import check_writable

    if options.json in (None, "-"):
        return
    check_writable(options.json)
    if os.path.realpath(options.json) in (os.path.realpath(options.model), os.path.realpath(options.other)):
        raise FileError("this is the model itself", path=options.json, remedy="choose another place")


def _result(options: argparse.Namespace) -> Difference:
    from ircert.analysis.difference.question import difference as answer

    first, second = asked_graph(options), shaped(load_model(options.other, options), options)
    with working("comparing") as line:
        return answer(
            first,
            second,
            asked_center(options),
            options.radius,
            options.norm,
            domain=asked_domain(options),
            objective_norm=options.objective_norm,
            epsilon=options.epsilon,
            top1=options.top1,
            backend=options.backend,
            tol=options.tol,
            time_limit=options.time_limit,
            seed=options.seed,
            progress=None if line is None else lambda step: line(str(step)),
        )

"""`ircert certify`: a question about a network, answered; the exit code is the verdict."""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ircert.cli.interrupts import INTERRUPTS
from ircert.cli.model import load_model
from ircert.cli.options import (
    add_engine_options,
    add_output_options,
    add_radius,
    add_seed,
    add_time_limit,
    add_tolerance,
)
from ircert.cli.progress import shown
from ircert.cli.question import add_question_options, asked_center, asked_domain, asked_graph, shaped
from ircert.cli.streams import complain, encodable, print_json, say
from ircert.errors import FileError, IrcertError, QueryError

if TYPE_CHECKING:
    from ircert.ir.graph import Graph
    from ircert.result.result import Result

AT_ONCE = 1e-9
"""Seconds in which an answer comes only if no search is needed."""
EXAMPLES = """\
examples:
  ircert certify net.onnx --center 0,0                      how far around 0 is the network injective?
  ircert certify net.onnx --center 0,0 --radius 0.5         is it on this closed ball?
  ircert certify net.onnx --center 1,2 --problem pseudo     does another point have the centre's output?
  ircert certify net.onnx --center 1,2 --problem transform --other pruned.onnx --both
  ircert certify net.onnx --center @image.npy --radius 0.02 --domain 0:1 --optimum   how far apart are equal outputs?
  ircert certify net.onnx --center 1,2 --fix 2=2.1 --norm 2 --time-limit 60 --json -

exit codes: 0 certified, 1 refuted (a search: the property holds on no ball, however small),
            2 bad usage or unsupported input, 3 unresolved (also after Ctrl-C or SIGTERM),
            70 a bug in ircert, which is no verdict
"""
EXIT_CODES = {"certified": 0, "refuted": 1, "unresolved": 3}


def add_certify_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert certify` takes."""
    add_question_options(parser)
    parser.add_argument("--both", action="store_true", help="transform: answer both directions")
    size = parser.add_mutually_exclusive_group()
    add_radius(size, "decide this closed ball (else the largest is searched)")
    size.add_argument(
        "--max-radius",
        type=float,
        metavar="R",
        help="search up to here; inf: the whole space (default: 1e6 times the centre's length, or 1e6)",
    )
    parser.add_argument(
        "--optimum",
        action=argparse.BooleanOptionalAction,
        help="with --radius: bracket p*, how far apart two points with one output can be (default: with fewer outputs "
        "than inputs)",
    )
    parser.add_argument(
        "--objective-norm",
        choices=("inf", "1", "2"),
        help="the norm that p* is measured in (default: that of the ball)",
    )
    add_engine_options(parser)
    add_tolerance(parser, 1e-6, "1e-6")
    add_time_limit(parser, "seconds; then the bracket reached is the answer")
    add_seed(parser)
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="N",
        help="processes for large searches of the engine boxes, threads of the solver of milp (default: 1)",
    )
    add_output_options(parser)


def certify(options: argparse.Namespace) -> int:
    """Run the command; 0 certified, 1 refuted (a search: the property holds on no ball), 3 unresolved."""
    _check(options)
    graph = asked_graph(options)
    other = None if options.other is None else shaped(load_model(options.other, options), options)
    if options.both:
        return _both(options, graph, other)
    result = _answered(options, graph, other, options.time_limit)
    if options.json is not None and options.json != "-":
        write_json(options.json, result.to_json())
    _complain(result, options.certificate)
    if options.json == "-":
        print_json(result.to_json())
    else:
        say(result.summary())
    return EXIT_CODES[result.verdict]


def _check(options: argparse.Namespace) -> None:
    """Refuse before the work is done, not after."""
    if options.both and options.problem != "transform":
        raise QueryError("--both is for --problem transform", remedy="write both, or leave --both out")
    if options.both and options.certificate is not None:
        raise QueryError("--certificate takes one direction", remedy="leave --both out")
    check_outputs(options)


def check_outputs(options: argparse.Namespace) -> None:
    """The same for the files that results and certificates go to."""
    from ircert.files import check_writable

    if options.certificate == "-":
        raise IrcertError("--certificate takes a file", remedy="write for example --certificate proof.json")
    if options.certificate is not None and options.certificate == options.json:
        raise IrcertError("--json and --certificate name the same file", remedy="give each its own")
    models = [os.path.realpath(path) for path in (options.model, options.other) if path is not None]
    for path in (options.json, options.certificate):
        if path not in (None, "-"):
            check_writable(path)
            if os.path.realpath(path) in models:
                raise FileError("this is the model itself", path=path, remedy="choose another place")


def _answered(options: argparse.Namespace, graph: Graph, other: Graph | None, seconds: float | None) -> Result:
    """The answer; where an interrupt comes before an engine begins, what is known at once."""
    try:
        with INTERRUPTS.open(KeyboardInterrupt):
            return _result(options, graph, other, seconds)
    except KeyboardInterrupt:
        return _at_once(options, graph, other)


def _at_once(options: argparse.Namespace, graph: Graph, other: Graph | None) -> Result:
    """The answer to an interrupted question."""
    from ircert.result.stop import Cause, Stop

    stop = Stop(Cause.INTERRUPTED)
    found = _result(options, graph, other, AT_ONCE)
    return replace(found, stop=stop, reason=str(stop) if found.verdict == "unresolved" else found.reason)


def _result(options: argparse.Namespace, graph: Graph, other: Graph | None, seconds: float | None) -> Result:
    from ircert.certification import certify as answer

    with shown() as progress:
        found = answer(
            graph,
            asked_center(options),
            problem=options.problem,
            other=other,
            norm=options.norm,
            radius=options.radius,
            max_radius=options.max_radius,
            domain=asked_domain(options),
            engine=options.engine,
            backend=options.backend,
            formulation=options.formulation,
            tol=options.tol,
            time_limit=seconds,
            seed=options.seed,
            threads=options.threads,
            progress=progress,
            require=options.require,
            certificate=options.certificate,
            optimum=options.optimum,
            objective_norm=options.objective_norm,
        )
    return replace(found, command=how_asked(options))


def how_asked(options: argparse.Namespace) -> dict[str, Any]:
    """How it was asked, so that it can be asked again."""
    return {
        "arguments": list(options.arguments),
        "model": options.model,
        "other": options.other,
        "fix": list(options.fix),
        "select": options.select,
    }


def _both(options: argparse.Namespace, graph: Graph, other: Graph | None) -> int:
    if other is None:
        raise QueryError("the problem `transform` needs an other network", remedy="give --other MODEL2")
    results = _directions(options, graph, other)
    verdict = _together([result.verdict for result in results])
    if options.json is not None:
        text = json.dumps(_joined(results, verdict), indent=2, ensure_ascii=False) + "\n"
        if options.json == "-":
            print_json(text)
            return EXIT_CODES[verdict]
        write_json(options.json, text)
    for title, result in zip(("MODEL determines MODEL2", "MODEL2 determines MODEL"), results, strict=True):
        say(f"{title}\n{result.summary()}\n")
    say(_relation(results, verdict))
    return EXIT_CODES[verdict]


def _directions(options: argparse.Namespace, graph: Graph, other: Graph) -> list[Result]:
    """Both answers within the time limit; after an interrupt the second direction has what is known at once."""
    seconds: float | None = options.time_limit
    end = None if seconds is None else time.monotonic() + seconds
    # what is no time limit is refused as it was given
    first = _answered(options, graph, other, seconds / 2 if seconds is not None and seconds > 0 else seconds)
    if first.interrupted:
        return [first, _at_once(options, other, graph)]
    left = None if end is None else max(end - time.monotonic(), AT_ONCE)
    return [first, _answered(options, other, graph, left)]


def _together(verdicts: list[str]) -> str:
    return next((verdict for verdict in ("refuted", "unresolved") if verdict in verdicts), "certified")


def _joined(results: list[Result], verdict: str) -> dict[str, Any]:
    forward, backward = (json.loads(result.to_json()) for result in results)
    least = [min(results, key=lambda r: r.radius.certified)]
    refuted = [float(r.radius.refuted) for r in results if r.radius.refuted is not None]
    certified = json.loads(least[0].to_json())["radius"]["certified"]
    return {
        "schema": "ircert.both/1",
        "verdict": verdict,
        "radius": {"certified": certified, "refuted": min(refuted, default=None)},
        "forward": forward,
        "backward": backward,
    }


def _relation(results: list[Result], verdict: str) -> str:
    if results[0].asked_radius is not None:
        words = {"certified": "invertible", "refuted": "not invertible", "unresolved": "not known to be invertible"}
        return f"{verdict}: the relation between the outputs is {words[verdict]} on this ball"
    certified = min(float(result.radius.certified) for result in results)
    refuted = [float(r.radius.refuted) for r in results if r.radius.refuted is not None]
    if verdict == "refuted":
        return f"{verdict}: the relation between the outputs is invertible on no ball, however small"
    upper = f", and on none of more than {min(refuted)!r}" if refuted else ""
    return f"{verdict}: the relation between the outputs is invertible on the open ball of radius {certified!r}{upper}"


def write_json(path: str, text: str) -> None:
    """Write a result to a file."""
    from ircert.files import write_text

    write_text(path, encodable(text))


def _complain(result: Result, path: str | None) -> None:
    """Say on stderr that a certificate that was asked for was not written."""
    written = result.certificate
    if path is not None and written is not None and written.sha256 is None:
        kept = f"; {written.file} is unchanged" if os.path.lexists(path) else ""
        complain(f"note: no certificate is written: {written.reason}{kept}")

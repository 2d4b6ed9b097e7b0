"""`ircert export -o FILE.vnnlib`, `ircert verify` and `ircert supports`: as the standard of VNN-LIB wants solvers to be
called."""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ircert.cli.question import asked_graph, asked_query
from ircert.cli.streams import put, say
from ircert.errors import FileError, IrcertError

if TYPE_CHECKING:
    from ircert.ir.graph import Graph
    from ircert.vnnlib.verifying import Verdict

SUFFIX = ".vnnlib"
TEXTS = {
    "vnnlib-versions": "2.0\n2.0",
    "onnx-element-types": "real",
    "hidden-node-theories": "NH",
    "multiple-input-output-theories": "SIO",
    "multiple-network-theories": "MENET\nMNET",
    "multiple-node-comparison-theories": "SNC",
    "arithmetic-complexity-theories": "LIN",
    "optimised-disjunctive-reasoning": "true",
    "serialise-assignments": "true",
    "unsat-proofs": "false",
}
"""What a solver has to tell about itself: these are always the same."""
COMPUTED = ("onnx-opset-versions", "onnx-operators")


def add_vnnlib_export_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert export` takes for .vnnlib files alone."""
    group = parser.add_argument_group("VNN-LIB (-o FILE.vnnlib; the networks are written beside it as .onnx)")
    group.add_argument(
        "--separation", type=float, metavar="D", help="points (transform: outputs) at least so far apart count alone"
    )
    group.add_argument(
        "--merged",
        action="store_true",
        help="one network of (x, d) with f(x + d) - f(x), and a property in version 1.0, for other tools",
    )


def is_query(path: str | None) -> bool:
    """Whether a name is that of a VNN-LIB file."""
    return path is not None and path.lower().endswith(SUFFIX)


def export_query(options: argparse.Namespace) -> int:
    """Write the query of a question, and its networks."""
    from ircert.files import check_writable, write_text
    from ircert.frontends.save import save
    from ircert.questions.query import positive_float
    from ircert.vnnlib.merged import merged, property_text
    from ircert.vnnlib.text import query_text

    far = None if options.separation is None else Fraction(positive_float(options.separation, "--separation"))
    graph = asked_graph(options)
    query = asked_query(options, options.radius)
    path = Path(options.output)
    if options.merged:
        if far is None:
            raise IrcertError("--merged needs a separation", remedy="give --separation 0.001, or what is far enough")
        text, networks = property_text(graph, query, far), {path.with_suffix(".onnx"): merged(graph, query)}
    else:
        text, networks = query_text(graph, query, far), {path.with_suffix(".f.onnx"): graph}
        if query.other is not None:
            networks[path.with_suffix(".g.onnx")] = query.other
    for file in (path, *networks):
        check_writable(file)
        for model in (options.model, options.other):
            if model is not None and file.resolve() == Path(model).resolve():
                raise FileError("this is the model itself", path=file, remedy="choose another place")
    for file, network in networks.items():
        save(network, file)
    write_text(path, text)
    say(f"written: {', '.join(str(file) for file in (path, *networks))}")
    return 0


def add_verify_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert verify` takes."""
    parser.add_argument("query", metavar="FILE", help="a VNN-LIB 2.0 query of the shapes that `ircert export` writes")
    parser.add_argument(
        "--network",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="the model of a declared network; one for each that is equal to no other",
    )
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds")
    parser.add_argument("--serialise-assignments", metavar="FOLDER", help="write them as NAME.pb (TensorProto) there")


def verify(options: argparse.Namespace) -> int:
    """Answer a query: `sat`, `unsat`, `unknown` or `timed-out` on the first line; 0 whichever it is."""
    from ircert.files import read_text
    from ircert.frontends.load import load
    from ircert.vnnlib.queries import asked, parsed
    from ircert.vnnlib.verifying import verified

    question = asked(parsed(read_text(options.query)))
    networks: dict[str, Graph] = {}
    for given in options.network:
        name, equals, file = given.partition("=")
        if not equals or name in networks:
            problem = f"--network takes NAME=FILE once for each name, got {given[:60]!r}"
            raise IrcertError(problem, remedy="write for example --network f=net.onnx")
        networks[name] = load(file)
    found = verified(question, networks, options.timeout)
    put(f"{found.word}\n")
    if found.word == "sat":
        _tell(found, options.serialise_assignments)
    return 0


def _tell(found: Verdict, folder: str | None) -> None:
    """The assignment: line by line, or as files."""
    from ircert.vnnlib.text import rounded_decimal

    if folder is not None:
        _serialise(found, Path(folder))
        return
    for tensor in found.tensors:
        put(f"{tensor.name} {tensor.kind} [{','.join(map(str, tensor.shape))}]\n")
        put("".join(f"{rounded_decimal(value)}\n" for value in found.values[tensor.name]))


def _serialise(found: Verdict, folder: Path) -> None:
    import numpy as np
    from onnx import numpy_helper

    from ircert.files import replacing

    folder.mkdir(parents=True, exist_ok=True)
    for tensor in found.tensors:
        values = np.array([float(v) for v in found.values[tensor.name]]).reshape(tensor.shape)
        with replacing(folder / f"{tensor.name}.pb") as file:
            file.write(numpy_helper.from_array(values, tensor.name).SerializeToString())


def add_supports_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert supports` takes."""
    group = parser.add_mutually_exclusive_group(required=True)
    for name in (*COMPUTED, *TEXTS):
        group.add_argument(f"--{name}", dest="capability", action="store_const", const=name, help=argparse.SUPPRESS)
    group.add_argument("--all", dest="capability", action="store_const", const="all", help="everything, with its names")


def supports(options: argparse.Namespace) -> int:
    """Say what queries and networks can be verified."""
    names = [*COMPUTED, *TEXTS] if options.capability == "all" else [options.capability]
    for name in names:
        title = f"{name}:\n" if options.capability == "all" else ""
        put(f"{title}{TEXTS[name] if name in TEXTS else _computed(name)}\n")
    return 0


def _computed(name: str) -> str:
    from onnx import defs

    from ircert.frontends.onnx.ops import HANDLERS
    from ircert.frontends.onnx.read import OLDEST

    if name == "onnx-operators":
        return "\n".join(sorted(HANDLERS))
    return f"{OLDEST}\n{defs.onnx_opset_version()}"

"""`ircert check`: the independent checker of certificates, and of what saved results have in their place."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from ircert.cli.model import add_model_options, load_model
from ircert.cli.options import add_shaping_options
from ircert.cli.streams import say
from ircert.errors import FileError, IrcertError, NoText

if TYPE_CHECKING:
    from ircert.ir.graph import Graph

REJECTED = 4


def add_check_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert check` takes."""
    parser.add_argument("certificate", metavar="CERTIFICATE", help="written by `ircert certify --certificate`")
    parser.add_argument("--explain", action="store_true", help="say why it is true, with the numbers of the proof")
    parser.add_argument(
        "--model",
        metavar="MODEL",
        help="the certificate must be about this network; of a result (`--json`) about it, verify the refuted end",
    )
    parser.add_argument("--other", metavar="MODEL2", help="the second network of such a result, for transform")
    add_shaping_options(parser, "inputs that were bound", "outputs that were kept")
    add_model_options(parser)


def check(options: argparse.Namespace) -> int:
    """Verify one certificate, or the refuted end of a saved result: 0 passed, 4 rejected."""
    from ircert.checker import check_file, explain

    models = _models(options)
    is_result = _is_result(options.certificate)
    if is_result and models is None:
        raise FileError(
            "this is a result, and no certificate",
            path=options.certificate,
            remedy="--model MODEL verifies its refuted end; `ircert certify --certificate` writes proofs of both ends",
        )
    if models is not None and is_result:
        if options.explain:
            raise IrcertError("--explain is for certificates", remedy="write one with `ircert certify --certificate`")
        claim, fault = _saved(options.certificate, *models)
    else:
        claim, fault = (explain if options.explain else check_file)(options.certificate)
        if fault is None and models is not None:
            fault = _strange(options.certificate, *models)
    if fault is not None:
        say(f"rejected: {fault}")
        return REJECTED
    say(f"passed: {claim}")
    return 0


def _models(options: argparse.Namespace) -> tuple[Graph, Graph | None] | None:
    """The networks that the user has, if they are named."""
    from ircert.cli.question import shaped

    if options.model is None:
        if options.other is not None:
            raise IrcertError("--other goes with --model", remedy="name both networks")
        return None
    model = shaped(load_model(options.model, options), options)
    return model, None if options.other is None else shaped(load_model(options.other, options), options)


def _is_result(path: str) -> bool:
    """Whether a file is a saved result; what is no text, or no JSON at all, is refused by whoever reads it."""
    from ircert.checker.limits import require_few_parts
    from ircert.files import read_text
    from ircert.result.json_form import SCHEMA

    try:
        text = read_text(path)
        require_few_parts(text)
        fields = json.loads(text)
    except (ValueError, RecursionError, NoText):
        return False
    return isinstance(fields, dict) and fields.get("schema") == SCHEMA


def _saved(path: str, model: Graph, other: Graph | None) -> tuple[str, str | None]:
    """What a result proves with its model: nothing but the refuted end."""
    from ircert.checker import check_text
    from ircert.files import read_text
    from ircert.result.saved import certificate_of

    claim, fault = check_text(certificate_of(read_text(path), model, other))
    return f"{claim} (the certified end of a result is not checked)", fault


def _strange(path: str, model: Graph, other: Graph | None) -> str | None:
    """Why a certificate that passed says nothing about these networks."""
    from ircert.files import read_text

    fields = json.loads(read_text(path))
    for name, graph in (("model", model), ("other", other)):
        if graph is not None and (fields[name] is None or fields[name]["sha256"] != graph.sha256):
            about = "none" if fields[name] is None else f"sha256 {fields[name]['sha256'][:12]}…"
            return f"its {name} ({about}) is not the network that is named (sha256 {graph.sha256[:12]}…)"
    return None

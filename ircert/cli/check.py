"""`ircert check`: the independent checker of certificates, and of what saved results have in their place."""

from __future__ import annotations

import argparse

from ircert.cli.model import add_model_options, load_model
from ircert.cli.streams import say
from ircert.errors import IrcertError

REJECTED = 4


def add_check_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert check` takes."""
    parser.add_argument("certificate", metavar="CERTIFICATE", help="written by `ircert certify --certificate`")
    parser.add_argument("--explain", action="store_true", help="say why it is true, with the numbers of the proof")
    parser.add_argument(
        "--model", metavar="MODEL", help="the file is a result (`--json`) about this model: its refuted end is verified"
    )
    parser.add_argument("--other", metavar="MODEL2", help="the second network of such a result, for transform")
    parser.add_argument(
        "--fix", action="append", default=[], metavar="I=V", help="inputs that were bound: --fix 2=2.1 or 2=2.1,3=0"
    )
    parser.add_argument("--select", metavar="I,…", help="outputs that were kept")
    add_model_options(parser)


def check(options: argparse.Namespace) -> int:
    """Verify one certificate, or the refuted end of a saved result: 0 passed, 4 rejected."""
    from ircert.checker import check_file, explain

    if options.model is not None and options.explain:
        raise IrcertError("--explain is for certificates", remedy="write one with `ircert certify --certificate`")
    if options.model is not None:
        claim, fault = _saved(options)
    else:
        claim, fault = (explain if options.explain else check_file)(options.certificate)
    if fault is not None:
        say(f"rejected: {fault}")
        return REJECTED
    say(f"passed: {claim}")
    return 0


def _saved(options: argparse.Namespace) -> tuple[str, str | None]:
    """What a result proves with its model: nothing but the refuted end."""
    from ircert.checker import check_text
    from ircert.cli.question import shaped
    from ircert.files import read_text
    from ircert.result.saved import certificate_of

    models = [
        None if path is None else shaped(load_model(path, options), options) for path in (options.model, options.other)
    ]
    assert models[0] is not None
    claim, fault = check_text(certificate_of(read_text(options.certificate), models[0], models[1]))
    return f"{claim} (the certified end of a result is not checked)", fault

"""Options by which every command reads a model."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ircert.errors import IrcertError

if TYPE_CHECKING:
    from ircert.ir.graph import Graph


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """How an ONNX model with several inputs, several outputs or open shapes is to be read."""
    group = parser.add_argument_group("reading ONNX models")
    group.add_argument("--inputs", metavar="NAME,…", help="graph inputs to join into one vector, in this order")
    group.add_argument("--outputs", metavar="NAME,…", help="values to keep, one after the other")
    group.add_argument("--shape", metavar="N,…", help="shape of the input where the model leaves it open")
    group.add_argument("--no-batch", action="store_true", help="the first dimension is no batch")


def load_model(path: str, options: argparse.Namespace) -> Graph:
    """The model, read as the options say."""
    from ircert.frontends.load import load

    return load(
        path,
        inputs=_names(options.inputs),
        outputs=_names(options.outputs),
        batch=False if options.no_batch else None,
        shape=_sizes(options.shape),
    )


def _names(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def _sizes(given: str | None) -> list[int] | None:
    if given is None:
        return None
    try:
        sizes = [int(size) for size in given.split(",")]
    except ValueError:
        sizes = [0]
    if min(sizes) < 1:
        raise IrcertError(
            f"--shape takes positive integers, got {given[:60]!r}", remedy="write for example --shape 1,3,32,32"
        )
    return sizes

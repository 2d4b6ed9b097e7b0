"""Options by which every command reads a model."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

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
    group = parser.add_argument_group("reading other models")
    group.add_argument(
        "--activation", metavar="NAME", help="between layers that are weights alone: relu, tanh, leaky_relu:0.2, …"
    )
    group.add_argument("--layers", metavar="NAME,…", help="the order of layers where their names do not tell")
    group.add_argument(
        "--normalisation",
        "--normalization",
        choices=("none", "affine", "clipped"),
        help="of .nnet files: none (default), affine (inputs and outputs in their units), or clipped as well",
    )


def load_model(path: str, options: argparse.Namespace) -> Graph:
    """The model, read as the options say."""
    from ircert.frontends.load import front_end, load

    given: dict[str, Any] = {
        "inputs": _names(options.inputs),
        "outputs": _names(options.outputs),
        "batch": False if options.no_batch else None,
        "shape": _sizes(options.shape),
        "activation": options.activation,
        "layers": _names(options.layers),
        "normalisation": options.normalisation,
    }
    others = [model for model in (options.model, getattr(options, "other", None)) if model not in (None, path)]
    # an option that is for the other network alone does not concern this one
    elsewhere = {name for model in others for name in front_end(model).options} - front_end(path).options
    return load(path, **{name: value for name, value in given.items() if name not in elsewhere})


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

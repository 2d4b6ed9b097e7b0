"""ONNX models: read, folded, and turned into graphs op by op."""

from __future__ import annotations

from typing import Any

from ircert.errors import IrcertError, UnsupportedModel
from ircert.frontends.onnx.convert import convert
from ircert.frontends.onnx.interface import Options
from ircert.frontends.onnx.read import read_model
from ircert.ir.graph import Graph


def from_onnx(source: Any, options: Options | None = None) -> Graph:
    """The graph of a path, of bytes or of a ModelProto.

    Weights are the stored numbers, widened to float64. Numbers that a rewriting of the model needs are rounded once,
    in float64: a division by a constant multiplies by the nearest double to its reciprocal, and batch normalisation
    becomes one factor and one offset per channel. Arithmetic among the file's constants is rounded as the file's types
    say. Casts of computed numbers between float types change nothing.
    """
    model, folder = read_model(source)
    try:
        return convert(model, folder, options or Options())
    except IrcertError:
        raise
    except Exception as error:  # whatever a damaged file leads to, the user learns that the file is the cause
        raise UnsupportedModel(
            f"the model cannot be understood ({type(error).__name__}: {error})",
            remedy="check it with onnx.checker and in onnxruntime",
        ) from error

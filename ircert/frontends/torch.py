"""torch modules: chains of linear layers from their weights, others through torch's own export to ONNX in memory."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from ircert.errors import MissingExtra, UnsupportedModel
from ircert.ir.graph import Graph

_ASK = "give an input of the right shape: from_torch(module, example=torch.zeros(1, …)), or shape=(1, …)"


def is_torch(model: object) -> bool:
    """Whether the object is a torch.nn.Module."""
    return any(kind.__name__ == "Module" and kind.__module__.split(".")[0] == "torch" for kind in type(model).__mro__)


def from_torch(module: Any, example: Any = None, *, shape: Sequence[int] | None = None) -> Graph:
    """The function that the module computes in eval mode, for one input of the example's shape.

    Without an example or a shape, a module that starts with a Linear or BatchNorm1d layer is taken as a function of
    one vector, (1, n). The graph is that of the file which torch.onnx.export would write: where the exporter folds
    layers into one another (batch normalisation into a convolution), it is torch that rounds. Chains of linear layers
    and activations need no exporter: their graph is made of their weights, and is the same.
    """
    from ircert.frontends.onnx import from_onnx
    from ircert.frontends.onnx.interface import checked_shape
    from ircert.frontends.torch_layers import chain, is_vector

    if any(kind.__name__ == "ScriptModule" for kind in type(module).__mro__):
        raise UnsupportedModel("TorchScript, whose code is not read", remedy="give the module that it was made of")
    given = None if shape is None else checked_shape(shape)
    if is_vector(given if example is None else np.shape(example), module):
        with quiet():
            direct = chain(module)
        if direct is not None:
            return direct
    _require_packages()
    return from_onnx(_exported(module, _example(module, example, given)))


def _require_packages() -> None:
    for package in ("torch", "onnxscript"):
        if find_spec(package) is None:
            raise MissingExtra(package, extra="torch", purpose="loading a torch module")


def _example(module: Any, example: Any, shape: Sequence[int] | None) -> Any:
    """The example as a tensor of the module's number type, on its device."""
    import torch

    if example is None:
        example = np.zeros(shape if shape is not None else first_layer_shape(module))
    like = next((p for p in module.parameters() if p.is_floating_point()), torch.zeros(1))
    return torch.as_tensor(example).detach().to(dtype=like.dtype, device=like.device)


def first_layer_shape(module: Any) -> tuple[int, int]:
    """(1, n) for the n inputs of the first layer with parameters, where that layer acts on vectors."""
    for layer in module.modules():
        if any(True for _ in layer.parameters(recurse=False)):
            size = getattr(layer, _SIZES.get(type(layer).__name__, ""), 0)
            if size > 0:
                return (1, int(size))
            raise UnsupportedModel(
                f"the first layer, {type(layer).__name__}, does not say what shape the input has", remedy=_ASK
            )
    raise UnsupportedModel("the module has no parameters that say what shape the input has", remedy=_ASK)


_SIZES = {"Linear": "in_features", "BatchNorm1d": "num_features"}


def _exported(module: Any, example: Any) -> Any:
    """The module as an ONNX ModelProto."""
    import torch

    with _eval_mode(module), torch.no_grad():
        try:
            module(example)  # a wrong shape fails here in one line, and in the exporter in a hundred
        except Exception as error:
            raise UnsupportedModel(
                f"the module does not accept an input of shape {tuple(example.shape)} ({_reason(error)})", remedy=_ASK
            ) from error
        try:
            return _model_proto(module, example)
        except Exception as error:
            raise UnsupportedModel(
                f"torch cannot export this module ({_reason(error)})",
                remedy="write its forward with operations that torch.onnx.export supports",
            ) from error


def _model_proto(module: Any, example: Any) -> Any:
    import torch

    with quiet():
        # The defaults otherwise: the same graph as from the file that torch.onnx.export writes.
        return torch.onnx.export(module, (example,), dynamo=True, verbose=False).model_proto


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings of other packages: deprecations of the exporter are nothing the user can act on."""
    before = logging.root.manager.disable
    logging.disable(max(before, logging.WARNING))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextmanager
def _eval_mode(module: Any) -> Iterator[None]:
    """Dropout off and batch statistics fixed; every part gets its own mode back."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def _reason(error: BaseException) -> str:
    """The first line of the error that the others were raised from."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__

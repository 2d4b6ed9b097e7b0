"""torch modules that are chains of linear layers and activations, read from their weights: no exporter is asked.

torch.fx follows one call of the module symbolically; where that shows anything but such a chain, nothing is read here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ircert.frontends.layers import from_layers
from ircert.frontends.named_arrays import as_array
from ircert.ir.graph import Graph

_PLAIN = {
    "ReLU": "relu",
    "ReLU6": "relu6",
    "Tanh": "tanh",
    "Sigmoid": "sigmoid",
    "SiLU": "silu",
    "SELU": "selu",
    "Mish": "mish",
    "Hardswish": "hard_swish",
    "Softsign": "softsign",
}
_NOTHING = ("Identity", "Dropout", "AlphaDropout")
_FUNCTIONS = {"relu": "relu", "tanh": "tanh", "sigmoid": "sigmoid", "silu": "silu", "sin": "sin", "cos": "cos"}
_OWN = ("torch.nn.modules.", "torch.nn.functional", "torch._C", "torch")
Layer = tuple[Any, Any]


def chain(module: Any) -> Graph | None:
    """The graph of a chain of linear layers with at most one activation behind each; None if it is something else."""
    hooks = ("_forward_hooks", "_forward_pre_hooks")
    hooked = any(getattr(part, name, None) for part in module.modules() for name in hooks)
    calls = None if hooked else _calls(module)
    if calls is None:
        return None
    layers: list[Layer] = []
    behind: list[str] = []
    for call in calls:
        if isinstance(call, tuple):
            layers.append(call)
            behind.append("identity")
        elif call != "identity":
            if not layers or behind[-1] != "identity":
                return None
            behind[-1] = call
    same = len({str(weight.dtype) for weight, _ in layers}) == 1
    return from_layers(layers, behind) if layers and same else None


def is_vector(shape: Any, module: Any) -> bool:
    """Whether an input of this shape (None: not given) is one vector of the chain's first layer."""
    first = next((part for part in module.modules() if type(part).__name__ == "Linear"), None)
    return first is not None and (shape is None or tuple(shape) in ((1, first.in_features), (first.in_features,)))


def _calls(module: Any) -> list[Layer | str] | None:
    """What is called in turn, each on the result of the one before: layers, and activations by name."""
    if type(module).__name__ == "Linear":
        layer = _part(module)
        return None if layer is None else [layer]
    try:
        from torch import fx
    except ImportError:
        return None
    try:
        graph = fx.symbolic_trace(module).graph
    except Exception:  # the module looks at its numbers, or takes several inputs: the exporter may know what to do
        return None
    parts = dict(module.named_modules())
    found: list[Layer | str] = []
    before = None
    for node in graph.nodes:
        if node.op == "placeholder":
            if before is not None:
                return None
        elif node.op == "output":
            return found if node.args == (before,) else None
        else:
            call = _call(node, parts) if node.args[:1] == (before,) else None
            if call is None:
                return None
            found.append(call)
        before = node
    return None


def _call(node: Any, parts: Mapping[str, Any]) -> Layer | str | None:
    """The layer or activation of one call; None if it is none that is known."""
    if node.op == "call_module":
        return _part(parts[node.target]) if len(node.args) == 1 and not node.kwargs else None
    named = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
    own = node.op == "call_method" or getattr(node.target, "__module__", "").startswith(_OWN)
    others = [value for key, value in node.kwargs.items() if key != "inplace"] + list(node.args[1:])
    return _FUNCTIONS.get(named) if node.op in ("call_function", "call_method") and own and not others else None


def _part(part: Any) -> Layer | str | None:
    name = type(part).__name__
    if not type(part).__module__.startswith("torch.nn.modules."):
        return None
    if name == "Linear":
        if str(part.weight.dtype) not in ("torch.float32", "torch.float64"):  # narrower ones compute in wider types
            return None
        bias = None if part.bias is None else as_array(part.bias, "bias")
        return as_array(part.weight, "weight"), bias
    if name in _NOTHING:
        return "identity"
    return _PLAIN.get(name) or (_NUMBERED[name](part) if name in _NUMBERED else None)


_NUMBERED: dict[str, Callable[[Any], str | None]] = {
    "LeakyReLU": lambda part: f"leaky_relu:{float(part.negative_slope)!r}",
    "ELU": lambda part: f"elu:{float(part.alpha)!r}",
    "GELU": lambda part: "gelu" if part.approximate == "none" else "gelu_tanh",
    "Hardtanh": lambda part: "hard_tanh" if (part.min_val, part.max_val) == (-1.0, 1.0) else None,
    "Softplus": lambda part: "softplus" if part.beta == 1 and part.threshold >= 20 else None,
}
"""Activations that have numbers; None where they are others than can be named."""

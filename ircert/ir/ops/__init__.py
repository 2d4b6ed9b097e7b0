"""The operations of the IR, by their word in the text form."""

from __future__ import annotations

from ircert.errors import OpError
from ircert.ir.ops.base import ElementwiseOp, Op, SizeMismatch
from ircert.ir.ops.core import Add, Affine, Concat, Input, Relu, Select
from ircert.ir.ops.curves import CURVES as WITHOUT_NUMBERS
from ircert.ir.ops.curves import Curve, SmoothOp
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.gates import GATES
from ircert.ir.ops.image import AveragePool, Conv, ImageOp, LinearImageOp, MaxPool
from ircert.ir.ops.piecewise import Abs, Clip, LeakyRelu, Max, Min
from ircert.ir.ops.smooth import SMOOTH, Product
from ircert.ir.ops.square import Square
from ircert.plugins import Registry

ALL: tuple[type[Op], ...] = (
    *(Input, Affine, Relu, Add, Concat, Select),
    *(LeakyRelu, Abs, Max, Min, Clip),
    *(Conv, AveragePool, MaxPool),
    *SMOOTH,
    *GATES,
    *(Square, Exp),
)
CURVES: tuple[type[Curve], ...] = (*WITHOUT_NUMBERS, *GATES)
"""Those with a table."""
BY_KIND: dict[str, type[Op]] = {op.kind: op for op in ALL}


REGISTRY: Registry[Op] = Registry(
    ("operation", "operations"),
    "ircert.operations",
    {op.kind: f"{op.__module__}:{op.__name__}" for op in ALL},
    "ircert.ir.ops.base:Op",
    OpError,
    word="kind",
)
"""Other packages add operations through the entry-point group `ircert.operations`."""


def kinds() -> list[str]:
    """The words of all operations, those of other packages behind ours."""
    return [*BY_KIND, *(name for name in REGISTRY.names() if name not in BY_KIND)]


def operation(kind: str) -> type[Op]:
    """The operation of that word, plugins included; OpError if there is none."""
    return BY_KIND.get(kind) or REGISTRY.get(kind)


def is_smooth(op: Op) -> bool:
    """Whether searches take an operation that has no linear pieces: a curve, or a product, which becomes squares."""
    return isinstance(op, Curve | Product)


__all__ = [
    "ALL",
    "BY_KIND",
    "CURVES",
    "REGISTRY",
    "Abs",
    "Add",
    "Affine",
    "AveragePool",
    "Clip",
    "Concat",
    "Conv",
    "Curve",
    "ElementwiseOp",
    "Exp",
    "ImageOp",
    "Input",
    "LeakyRelu",
    "LinearImageOp",
    "Max",
    "MaxPool",
    "Min",
    "Op",
    "Product",
    "Relu",
    "Select",
    "SizeMismatch",
    "SmoothOp",
    "Square",
    "is_smooth",
    "kinds",
    "operation",
]

"""The operations of the IR, by their word in the text form."""

from __future__ import annotations

from ircert.ir.ops.base import ElementwiseOp, Op, SizeMismatch
from ircert.ir.ops.core import Add, Affine, Concat, Input, Relu, Select
from ircert.ir.ops.image import AveragePool, Conv, ImageOp, LinearImageOp, MaxPool
from ircert.ir.ops.piecewise import Abs, Clip, LeakyRelu, Max, Min
from ircert.ir.ops.smooth import SMOOTH, Product, SmoothOp

ALL: tuple[type[Op], ...] = (
    *(Input, Affine, Relu, Add, Concat, Select),
    *(LeakyRelu, Abs, Max, Min, Clip),
    *(Conv, AveragePool, MaxPool),
    *SMOOTH,
)
BY_KIND: dict[str, type[Op]] = {op.kind: op for op in ALL}

__all__ = [
    "ALL",
    "BY_KIND",
    "Abs",
    "Add",
    "Affine",
    "AveragePool",
    "Clip",
    "Concat",
    "Conv",
    "ElementwiseOp",
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
]

"""From torch's operations to the ONNX nodes that mean the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from ircert.errors import UnsupportedModel
from ircert.frontends.assembly import Assembly
from ircert.frontends.pt2.call import Call
from ircert.frontends.pt2.layout import LAYOUT
from ircert.frontends.pt2.linear import LINEAR
from ircert.frontends.pt2.pointwise import POINTWISE
from ircert.frontends.pt2.program import Program, Ref

OPERATIONS = {**POINTWISE, **LAYOUT, **LINEAR}


def translated(program: Program) -> Any:
    """The program as an onnx.ModelProto, with the names of its tensors."""
    sheet = Assembly()
    for name in program.inputs:
        meta = program.metas[name]
        if meta.dtype is None:
            raise UnsupportedModel("it takes numbers that are not real", where=f"input `{name}`")
        sheet.input(name, meta.dtype, meta.shape)
    for name in _read(program):
        sheet.constant(np.asarray(program.constants[name]), name)
    for node in program.nodes:
        call = Call(node, program, sheet)
        if not node.outputs:
            continue  # an assertion about sizes
        if node.target not in OPERATIONS:
            raise call.refuse("this operation is not read")
        OPERATIONS[node.target](call)
    return sheet.model(program.outputs)


def _read(program: Program) -> list[str]:
    """The stored arrays that some call takes."""
    taken = {ref.name for node in program.nodes for value in node.arguments.values() for ref in _refs(value)}
    return [name for name in program.constants if name in taken or name in program.outputs]


def _refs(value: Any) -> list[Ref]:
    return [ref for ref in (value if isinstance(value, list) else [value]) if isinstance(ref, Ref)]

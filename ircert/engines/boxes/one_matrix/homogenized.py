"""A network made homogeneous around a point c: F(u, s) = s f(c + u / s) for s > 0, one more input and no bias.

relu(s z) = s relu(z), so that F is the network with all biases times s: every map W z + b becomes W z + s b, and the
input x becomes u + s c. No number is computed, so that nothing rounds. The neurons of F at (u, s) are those of f at
c + u / s, times s, and the derivative of F by u is that of f there. At s = 0 are the directions in which f goes on.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ircert.ir.arrays import Array, Matrix
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine


def homogenized(graph: Graph, center: Array) -> Graph:
    """F for a canonical graph; its inputs are those of f, and s."""
    n = graph.input_dim
    build = Builder(n + 1, name=graph.input)
    scale = build.select(build.input, [n])
    here = {graph.input: build.affine(build.input, np.column_stack([np.eye(n), center]))}
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        operands = [here[name] for name in node.operands]
        if isinstance(node.op, Affine):
            weight = node.op.weight
            if node.op.bias.any():
                weight, operands = _with_column(weight, node.op.bias), [build.concat(*operands, scale)]
            here[node.name] = build.affine(operands[0], weight, name=node.name)
        else:
            here[node.name] = build.node(node.op, *operands, name=node.name)
    return build.graph(here[graph.output])


def _with_column(weight: Matrix, column: Array) -> Matrix:
    if isinstance(weight, np.ndarray):
        return np.column_stack([weight, column])
    return sparse.csr_array(sparse.hstack([weight, column[:, None]]))

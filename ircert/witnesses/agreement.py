"""Whether a network has equal outputs at two exact points: by exact values and, behind curves, by what they read.

tanh has no exact value at a rational point, but one value at equal numbers: an entry that reads nothing but entries in
which both points agree is the same at both.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import numpy as np

from ircert.errors import UnsupportedModel
from ircert.ir.arrays import Mask
from ircert.ir.graph import Graph
from ircert.ir.rational import Rationals
from ircert.structure.reading import Reading

Values = tuple[Rationals, Rationals]


def outputs_agree(graph: Graph, x: list[Fraction], y: list[Fraction]) -> bool:
    """Whether f(x) = f(y), for sure; False where the outputs differ or it cannot be told."""
    reading = Reading(graph)
    values: dict[str, Values | None] = {graph.input: (Rationals.of_fractions(x), Rationals.of_fractions(y))}
    same: dict[str, Mask] = {graph.input: np.array([a == b for a, b in zip(x, y, strict=True)])}
    for node in graph.nodes:
        if not node.operands:
            continue
        found = None
        operands = [values[name] for name in node.operands]
        given = [pair for pair in operands if pair is not None]
        if len(given) == len(operands):
            with suppress(UnsupportedModel):  # a curve
                found = node.op.exact(*(a for a, _ in given)), node.op.exact(*(b for _, b in given))
        values[node.name] = found
        if found is None:
            same[node.name] = reading.computed(node, [same[name] for name in node.operands])
        else:
            pairs = zip(found[0].fractions(), found[1].fractions(), strict=True)
            same[node.name] = np.array([a == b for a, b in pairs])
    return bool(same[graph.output].all())

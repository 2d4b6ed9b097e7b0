"""Where the outputs that must not differ cannot: what they read is 0 for both points of a pair, whatever those are."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ircert.engines.boxes.problem.setting import Phases, Setting, neurons_that_matter
from ircert.ir.arrays import Array, Mask, Matrix, nonzeros, walkable
from ircert.ir.interpret import GivenBack
from ircert.ir.ops import Affine


class UnknownOutputs:
    """The ways that lead from the inputs to the unknown outputs of a setting (`transform`).

    An entry *counts* where an unknown output is reached from it through nonzero weights and no neuron that is off. If
    no input counts, no difference of two points is passed on: entries that count are equal for both.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        nodes = setting.graph.nodes if setting.unknowns else ()
        self.read = neurons_that_matter(setting, unknown=True)
        """Neurons on these ways."""
        self._readers = {node.name: _readers(node.op.weight) for node in nodes if isinstance(node.op, Affine)}

    def agree(self, off: Mask) -> Mask:
        """Whether they are equal for both points of a pair, for sure, given what is off for both (neurons, pairs)."""
        pairs = off.shape[1]
        if not self.setting.unknowns:
            return np.zeros(pairs, dtype=bool)
        passed = ~off | self.setting.curved[:, None]  # a curve is 0 nowhere for sure

        # sums may be infinite: whether there is a way is passed on, not how many there are
        def affine(name: str, counts: Array) -> Array:
            return np.asarray(self._readers[name] @ (counts > 0) > 0, dtype=np.float64)

        def neuron(name: str, counts: Array) -> Array:
            return np.asarray((counts > 0) & passed[self.setting.relus[name]], dtype=np.float64)

        counts = np.zeros((self.setting.graph.output_dim, pairs))
        counts[self.setting.unknowns] = 1.0
        with np.errstate(over="ignore"):
            found = GivenBack[Array](affine, neuron, curves=True).walk(self.setting.graph, counts)
        return np.ones(pairs, dtype=bool) if found is None else np.asarray((found == 0).all(axis=0))

    def agree_with(self, first: Phases, second: Phases) -> bool:
        """Whether they are equal for both points of all pairs with these phases, for sure."""
        return bool(self.agree(((first < 0) & (second < 0))[:, None])[0])


def _readers(weight: Matrix) -> Matrix:
    """For each entry that an affine map reads, a 1 for each of its results that depends on it."""
    return walkable(csr_array(abs(nonzeros(weight).sign()).T))

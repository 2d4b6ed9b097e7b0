"""fold-residual: any arrangement of skips becomes a plain MLP, affine and relu in turn.

The identity x = relu(x) - relu(-x) carries a value past a relu layer, and what is already nonnegative passes a relu
unchanged: relu(relu(z)) = relu(z). So a skip over k layers costs two neurons per entry and layer, or one where it
starts behind a relu. (In the paper's proof the middle layers should read diag(W, I, I): with -I in the last block the
relu would erase the negative part.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from ircert.ir.arrays import Array, Indices, Matrix, economical, freeze
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.linear import INPUT, Expression, Source, linear_sources
from ircert.passes.properties import ALL as PROPERTIES


@dataclass(frozen=True)
class FoldResidual(GraphPass):
    """The same function as a plain MLP: x -> affine -> (relu -> affine)*.

    Chains of affine maps that cannot be multiplied out without rounding are kept exact by carrying the value between
    them through a relu layer as a pair relu(z), relu(-z).
    """

    name = "fold-residual"
    requires = ("canonical",)
    ensures = ("canonical", "plain-mlp")

    def run(self, source: Graph) -> Rewrite[Graph]:
        """Find the sources of each layer, then write down the layers."""
        if PROPERTIES["plain-mlp"].broken_by(source) is None:
            return Rewrite(source)
        sources, output = linear_sources(source)
        pairs = [s.name for s in sources.values() if s.signed and s.name != INPUT]
        notes = (f"carried {', '.join(f'`{name}`' for name in pairs)} as pairs: fusing would round",) if pairs else ()
        return Rewrite(_Layers(source.input_dim, sources, output).graph(source.input), notes=notes)


@dataclass(frozen=True)
class _Block:
    """Neurons of one layer that hold sign * (entries of a source), after relu."""

    source: str
    sign: float
    entries: Indices


class _Layers:
    """The layers of the MLP: in layer k the sources of depth k, and the earlier ones that are still to be read."""

    def __init__(self, inputs: int, sources: dict[str, Source], output: Expression) -> None:
        self.inputs = inputs
        self.sources = sources
        self.output = output
        self.depth = {INPUT: 0}
        for source in sources.values():
            if source.name != INPUT:
                self.depth[source.name] = 1 + self._level(source.definition)

    def graph(self, input_name: str) -> Graph:
        build = Builder(self.inputs, name=input_name)
        x, before = build.input, [_Block(INPUT, 1.0, np.arange(self.inputs))]
        for k in range(1, self._level(self.output) + 1):
            blocks = self._blocks(k)
            rows = [self._rows(block, k, before) for block in blocks]
            weight = economical(freeze(vstack([weight for weight, _ in rows], format="csr")))
            x = build.affine(x, weight, np.concatenate([bias for _, bias in rows]), name=f"h{k}")
            x = build.relu(x, name=f"a{k}")
            before = blocks
        weight, bias = self._read(self.output, before)
        return build.graph(build.affine(x, economical(freeze(csr_array(weight))), bias, name="y"))

    def _level(self, expression: Expression) -> int:
        return max((self.depth[name] for name in expression.terms), default=0)

    def _blocks(self, k: int) -> list[_Block]:
        """What layer k holds: only entries that a later layer or the output reads."""
        blocks = []
        for source in self.sources.values():
            depth = self.depth[source.name]
            entries = self._read_after(source, k)
            if depth <= k and len(entries):
                signs = (1.0, -1.0) if source.signed else (1.0,)
                blocks += [_Block(source.name, sign, entries) for sign in signs]
        return blocks

    def _read_after(self, source: Source, k: int) -> Indices:
        readers = [s.definition for s in self.sources.values() if self.depth[s.name] > k and s.name != INPUT]
        used = np.zeros(source.size, dtype=np.bool_)
        for reader in [*readers, self.output]:
            if source.name in reader.terms:
                used[np.unique(reader.terms[source.name].indices)] = True
        return np.flatnonzero(used)

    def _rows(self, block: _Block, k: int, before: list[_Block]) -> tuple[Matrix, Array]:
        """The affine map from the layer before to a block, before its relu."""
        source = self.sources[block.source]
        if self.depth[source.name] == k:
            weight, bias = self._read(source.definition.take(block.entries), before)
            return block.sign * weight, block.sign * bias
        if self.depth[source.name] == 0 and k == 1:
            return self._place(block, before[0], block.sign), np.zeros(len(block.entries))
        parts = [self._place(block, b, float(b.source == block.source and b.sign == block.sign)) for b in before]
        return hstack(parts, format="csr"), np.zeros(len(block.entries))

    def _place(self, block: _Block, earlier: _Block, value: float) -> Matrix:
        """value * (the entries of `block` found among those of an earlier block)."""
        columns = np.searchsorted(earlier.entries, block.entries) if value else np.zeros(0, dtype=np.int64)
        rows = np.arange(len(columns))
        shape = (len(block.entries), len(earlier.entries))
        return csr_array((np.full(len(columns), value), (rows, columns)), shape=shape)

    def _read(self, expression: Expression, before: list[_Block]) -> tuple[Matrix, Array]:
        """An expression as an affine map of the layer before; a block belongs to one source, so nothing is added."""
        parts = []
        for block in before:
            term = expression.terms.get(block.source)
            empty = csr_array((len(expression.bias), len(block.entries)))
            parts.append(empty if term is None else block.sign * term.tocsc()[:, block.entries])
        return hstack(parts, format="csr"), expression.bias

"""fold-residual: any arrangement of skips becomes a plain MLP, affine and relu in turn.

The identity x = relu(x) - relu(-x) carries a value past a relu layer, and what is already nonnegative passes a relu
unchanged: relu(relu(z)) = relu(z). So a skip over k layers costs two neurons per entry and layer, or one where it
starts behind a relu. (In the paper's proof the middle layers should read diag(W, I, I): with -I in the last block the
relu would erase the negative part.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from ircert.ir.arrays import Indices, economical, freeze
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.linear import INPUT, Expression, LinearParts, linear_parts
from ircert.passes.properties import ALL as PROPERTIES


@dataclass(frozen=True)
class FoldResidual(GraphPass):
    """The same function as a plain MLP: x -> affine -> (relu -> affine)*.

    A value that is needed again behind a relu layer passes it as a pair relu(z), relu(-z), or through the relus it is
    made of, whichever takes fewer neurons. Chains of affine maps that cannot be multiplied out without rounding are
    kept exact in the same way.
    """

    name = "fold-residual"
    requires = ("canonical",)
    ensures = ("canonical", "plain-mlp")

    def run(self, source: Graph) -> Rewrite[Graph]:
        """Find the sources of each layer, then write down the layers."""
        if PROPERTIES["plain-mlp"].broken_by(source) is None:
            return Rewrite(source)
        parts = linear_parts(source)
        pairs = [f"`{s.name}`" for s in parts.sources.values() if s.signed and s.name != INPUT]
        notes = (f"carried {', '.join(pairs)} as pairs relu(z), relu(-z)",) if pairs else ()
        return Rewrite(_Layers(parts, source.input_dim).graph(source.input), notes=notes)


@dataclass(frozen=True)
class _Block:
    """Neurons of one layer, from `start` on, that hold relu(sign * entries of a source)."""

    source: str
    sign: float
    entries: Indices
    start: int


class _Layers:
    """The layers of the MLP: in layer k the sources of depth k, and the earlier ones that are still to be read."""

    def __init__(self, parts: LinearParts, inputs: int) -> None:
        self.parts = parts
        self.inputs = inputs
        self.levels = max((parts.depth[name] for name in parts.output.terms), default=0)
        self.last_read = {source.name: np.zeros(source.size, dtype=np.int64) for source in parts.sources.values()}
        self._note_readers(parts.output, self.levels + 1)
        for source in parts.sources.values():
            if source.name != INPUT:
                self._note_readers(source.definition, parts.depth[source.name])

    def _note_readers(self, reader: Expression, depth: int) -> None:
        for name, term in reader.terms.items():
            entries = np.unique(term.indices)
            self.last_read[name][entries] = np.maximum(self.last_read[name][entries], depth)

    def graph(self, input_name: str) -> Graph:
        build = Builder(self.inputs, name=input_name)
        x, before = build.input, [_Block(INPUT, 1.0, np.arange(self.inputs), 0)]
        for k in range(1, self.levels + 1):
            blocks = self._blocks(k)
            h = self._affine(build, x, [self._before_relu(block, k) for block in blocks], before, f"h{k}")
            x, before = build.relu(h, name=f"a{k}"), blocks
        return build.graph(self._affine(build, x, [self.parts.output], before, "y"))

    def _blocks(self, k: int) -> list[_Block]:
        """What layer k holds: only entries that a later layer or the output reads."""
        blocks, start = [], 0
        for source in self.parts.sources.values():
            entries = np.flatnonzero(self.last_read[source.name] > k)
            if self.parts.depth[source.name] <= k and len(entries):
                for sign in (1.0, -1.0) if source.signed else (1.0,):
                    blocks.append(_Block(source.name, sign, entries, start))
                    start += len(entries)
        return blocks

    def _before_relu(self, block: _Block, k: int) -> Expression:
        """What a block's relu is applied to: the source's definition where it is new, else what carried it so far.

        Of a pair, relu(z) is carried by relu(z) alone: reading z = relu(z) - relu(-z) would hide its sign.
        """
        source = self.parts.sources[block.source]
        if self.parts.depth[block.source] == k:
            return source.definition.take(block.entries).scaled(block.sign)
        if self.parts.depth[block.source] == 0 and k == 1:
            return Expression.of(INPUT, source.size).take(block.entries).scaled(block.sign)
        return Expression.of(_half(block.source, block.sign), source.size).take(block.entries)

    def _affine(self, build: Builder, x: str, rows: list[Expression], before: list[_Block], name: str) -> str:
        """The expressions, one below the other, as an affine map of the layer before.

        A block belongs to one source, so no two coefficients are added.
        """
        places = _places(before)
        data, places_i, places_j = [np.zeros(0)], [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        start = 0
        for row in rows:
            for source, term in row.terms.items():
                for block in places[source]:
                    part = term.tocsc()[:, block.entries].tocoo()
                    data.append(block.sign * part.data)
                    places_i.append(part.coords[0] + start)
                    places_j.append(part.coords[1] + block.start)
            start += len(row.bias)
        where = (np.concatenate(places_i), np.concatenate(places_j))
        weight = coo_array((np.concatenate(data), where), shape=(start, build.size(x))).tocsr()
        return build.affine(x, economical(freeze(weight)), np.concatenate([row.bias for row in rows]), name=name)


def _half(source: str, sign: float) -> str:
    """One relu of a pair as a source; node names hold no blanks."""
    return f"{source} {sign:+.0f}"


def _places(blocks: list[_Block]) -> dict[str, list[_Block]]:
    """Where each source, and each half of a pair, is found in a layer."""
    found: dict[str, list[_Block]] = {}
    for block in blocks:
        found.setdefault(block.source, []).append(block)
        found[_half(block.source, block.sign)] = [_Block(block.source, 1.0, block.entries, block.start)]
    return found

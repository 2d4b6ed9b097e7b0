"""dual-copy: one graph of both points of a question, with the differences that the question is about.

    local:      (x, y)  ->  (f(x) - f(y),  x - y)
    pseudo:      x      ->  (f(x) - f(c),  x - c)
    transform:  (x, y)  ->  (f(x) - f(y),  g(x) - g(y))

A violation is an input at which the first part, of as many entries as f has outputs, is zero and the second is not. The
result is an ordinary graph: it evaluates, prints, and saves as ONNX for any other verifier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.sparse import csr_array, hstack

from ircert.errors import PassError
from ircert.ir.arrays import Array, identity
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.node_bounds import NodeBounds
from ircert.passes.base import Function, GraphPass, Lift, Points, Rewrite, exactly


@dataclass(frozen=True)
class DualCopy(GraphPass):
    """The network at two points (for `pseudo`: at one and at the centre), and what differs.

    other: the network g of `transform`; a pipeline's text cannot hold it
    """

    name = "dual-copy"
    keeps_bounds = True
    problem: Literal["local", "pseudo", "transform"] = "local"
    center: tuple[float, ...] | None = None
    other: Graph | None = None

    def run(self, source: Graph) -> Rewrite[Graph]:
        """Two copies side by side; every difference is that of two numbers, which does not round."""
        self._check(source)
        copies = _Copies(source, self.center)
        outputs = copies.difference(source, "")
        second = copies.inputs() if self.other is None else copies.difference(self.other, "other.")
        graph = copies.build.graph(copies.build.concat(outputs, second, name="differences"))
        return Rewrite(graph.with_bounds(copies.bounds(graph)), Lift(point=self._points, function=self._function))

    def _check(self, source: Graph) -> None:
        if (self.problem == "pseudo") != (self.center is not None):
            wanted = "needs its centre" if self.problem == "pseudo" else "takes no centre"
            raise PassError(
                f"the problem `{self.problem}` {wanted}", pass_name=self.name, remedy="center=[…] is for pseudo"
            )
        if (self.problem == "transform") != (self.other is not None):
            wanted = "needs another network" if self.problem == "transform" else "takes no other network"
            remedy = "other=… in Python, --other on the command line, is for transform"
            raise PassError(f"the problem `{self.problem}` {wanted}", pass_name=self.name, remedy=remedy)
        sizes = [] if self.center is None else [("the centre", len(self.center))]
        sizes += [] if self.other is None else [("the other network", self.other.input_dim)]
        for what, size in sizes:
            if size != source.input_dim:
                problem = f"{what} has {size} coordinates, the graph {source.input_dim}"
                raise PassError(problem, pass_name=self.name, remedy="give one number per input")

    def _points(self, z: Points) -> Points:
        """The two points, as rows."""
        return np.stack(self._pair(np.asarray(z)), axis=-2)

    def _pair(self, z: Points) -> tuple[Points, Points]:
        if self.center is None:
            half = z.shape[-1] // 2
            return z[..., :half], z[..., half:]
        center = np.array(self.center)
        return z, np.broadcast_to(exactly(center) if z.dtype == object else center, z.shape)

    def _function(self, old: Function) -> Function:
        def differences(z: Points) -> Points:
            x, y = self._pair(np.asarray(z))
            outputs = old(x) - old(y)
            exact = outputs.dtype == object
            if self.other is not None:
                ends = (self.other.exact(x), self.other.exact(y)) if exact else (self.other(x), self.other(y))
            else:
                ends = (exactly(x), exactly(y)) if exact else (x, y)
            return np.concatenate([outputs, ends[0] - ends[1]], axis=-1)

        return differences


class _Copies:
    """Copies of networks at two points, called after them: `h1.x` and `h1.y`."""

    def __init__(self, source: Graph, center: tuple[float, ...] | None) -> None:
        self.size, self.center = source.input_dim, center
        self.build = Builder(source.input_dim * (1 if center else 2), name=source.input)
        self.source = source
        self.here: list[tuple[Graph, dict[str, str]]] = []
        self.gaps: list[tuple[str, str, str]] = []
        self.ends = self._ends(source.input)

    def _ends(self, name: str) -> tuple[str, str]:
        whole = self.build.input
        if self.center is not None:
            nothing = csr_array((self.size, self.size))
            return whole, self.build.affine(whole, nothing, np.array(self.center), name=f"{name}.y")
        first = self.build.select(whole, np.arange(self.size), name=f"{name}.x")
        return first, self.build.select(whole, np.arange(self.size, 2 * self.size), name=f"{name}.y")

    def inputs(self) -> str:
        """x - y."""
        return self._minus(self.ends[0], self.ends[1], f"{self.source.input}.d")

    def difference(self, graph: Graph, prefix: str) -> str:
        """f(x) - f(y)."""
        made = [self._copy(graph, prefix, tag, end) for tag, end in zip("xy", self.ends, strict=True)]
        return self._minus(made[0], made[1], f"{prefix}{graph.output}.d")

    def _copy(self, graph: Graph, prefix: str, tag: str, end: str) -> str:
        here = {graph.input: end}
        for node in graph.nodes:
            if node.name != graph.input:
                operands = (here[name] for name in node.operands)
                here[node.name] = self.build.node(node.op, *operands, name=f"{prefix}{node.name}.{tag}")
        self.here.append((graph, here))
        return here[graph.output]

    def _minus(self, a: str, b: str, name: str) -> str:
        unit = identity(self.build.size(a))
        both = self.build.concat(a, b, name=f"{name}.both")
        made = self.build.affine(both, hstack([unit, -unit], format="csr"), name=name)
        self.gaps.append((made, a, b))
        return made

    def bounds(self, made: Graph) -> NodeBounds | None:
        """The bounds of the network, once for each point, where both points lie where they hold."""
        known = self.source.bounds
        if known is None or (self.center is not None and not known.region.contains(self.center)):
            return None
        low: dict[str, Array] = {}
        high: dict[str, Array] = {}
        for graph, here in self.here:
            if graph.bounds is not None and graph.bounds.region == known.region:
                low |= {here[name]: values for name, values in graph.bounds.low.items() if here[name] in made}
                high |= {here[name]: values for name, values in graph.bounds.high.items() if here[name] in made}
        for gap, a, b in self.gaps:
            if a in low and b in low:
                low[gap] = np.nextafter(low[a] - high[b], -np.inf)
                high[gap] = np.nextafter(high[a] - low[b], np.inf)
        finite = [name for name in low if np.isfinite(low[name]).all() and np.isfinite(high[name]).all()]
        region = replace(known.region, copies=known.region.copies * (1 if self.center else 2))
        return NodeBounds(region, known.method, {n: low[n] for n in finite}, {n: high[n] for n in finite})

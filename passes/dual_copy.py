"""dual-copy: one graph of both points of a question, with the differences that the question is about.

    local:      (x, y)  ->  (f(x) - f(y),  x - y)
    pseudo:      x      ->  (f(x) - f(c),  x - c)
    transform:  (x, y)  ->  (f(x) - f(y),  g(x) - g(y))

A violation is an input at which the first part, of as many entries as f has outputs, is zero and the second is not. The
result is an ordinary graph: it evaluates, prints, and saves as ONNX for any other verifier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ircert.errors import PassError
from ircert.ir.graph import Graph
from ircert.passes.base import Function, GraphPass, Lift, Points, Rewrite, exactly
from ircert.passes.copies import OTHER, Copies


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
        copies = Copies(source, self.center)
        outputs = copies.difference(source, "")
        second = copies.inputs() if self.other is None else copies.difference(self.other, OTHER)
        graph = copies.graph(copies.concat("differences", outputs, second))
        return Rewrite(graph, Lift(point=self._points, function=self._function))

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

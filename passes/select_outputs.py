"""select-outputs: keep some outputs, and only what they need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.errors import PassError
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.passes.base import GraphPass, Lift, Points, Rewrite
from ircert.passes.rebuilding import kept_if_identical
from ircert.passes.shrinking import Shrinker


@dataclass(frozen=True)
class SelectOutputs(GraphPass):
    """new(x)_i = old(x)_keep[i]; nodes and entries that the kept outputs do not read are dropped."""

    name = "select-outputs"
    keep: tuple[int, ...]

    def __post_init__(self) -> None:
        whole = all(isinstance(i, int | np.integer) and not isinstance(i, bool) for i in self.keep)
        if not self.keep or not whole:
            raise PassError(
                f"`keep` must be a non-empty list of output numbers, got {list(self.keep)}", pass_name=self.name
            )
        object.__setattr__(self, "keep", tuple(int(i) for i in self.keep))

    def run(self, source: Graph) -> Rewrite[Graph]:
        """Append the selection, then drop what it does not read."""
        wrong = [i for i in self.keep if not 0 <= i < source.output_dim]
        if wrong:
            raise PassError(
                f"there is no output {wrong[0]}",
                pass_name=self.name,
                remedy=f"this graph has outputs 0 to {source.output_dim - 1}",
            )
        kept = list(self.keep)

        def value(y: Points) -> Points:
            return np.asarray(y)[..., kept]

        if kept == list(range(source.output_dim)):
            return Rewrite(source)
        build = Builder(source.input_dim, name=source.input)
        selected = build.graph(build.select(build.insert(source, build.input), kept))
        return Rewrite(kept_if_identical(source, Shrinker(selected, merge=False).run()), Lift(value=value))

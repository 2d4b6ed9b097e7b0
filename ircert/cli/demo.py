"""`ircert demo`: the main job on a bundled network."""

from __future__ import annotations

import numpy as np

from ircert.data.networks import bundled
from ircert.ir.printer import outline
from ircert.passes.pipeline import Pipeline

NETWORK = "vanderpol-2-10-10-2"
POINT = (0.5, -1.25)


def demo() -> int:
    """Load, show, rewrite and evaluate; 0 if every check holds, which a bug alone can prevent."""
    graph = bundled(NETWORK)
    print(f"The bundled network {NETWORK}: {graph.input_dim} inputs, {graph.output_dim} outputs, as a graph.\n")
    print(outline(graph))
    value, exact = graph(POINT), graph.exact(POINT)
    print(f"f{POINT} = {value.tolist()} in float64")
    error = max(abs(float(e) - v) for e, v in zip(exact, value, strict=True))
    print(f"the same in exact rationals differs by {error:.1e}; the first output is\n  {exact[0]}\n")
    step = graph.fix({1: POINT[1]}).select([0])
    print(f"With input 1 fixed at {POINT[1]} and output 0 selected: {step!r}")
    folded = Pipeline.parse("canonicalize,fold-residual,eliminate-zeros")(step)
    same = list(folded.exact([POINT[0]])) == list(exact[:1])
    print(f"After canonicalize, fold-residual and eliminate-zeros: {folded!r}")
    print(f"Its exact value at the same point is {'the same number' if same else 'DIFFERENT: a bug'}.")
    return 0 if same and bool(np.isfinite(value).all()) else 70

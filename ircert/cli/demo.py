"""`ircert demo`: the main job on a bundled network."""

from __future__ import annotations

import ircert
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
    build = ircert.Builder(graph.input_dim)
    residual = build.graph(build.add(build.input, build.insert(graph, build.input)))
    print(f"The residual network x + f(x):    {residual!r}")
    folded = Pipeline.parse("fold-residual")(residual)
    print(f"folded into a plain MLP:          {folded!r}")
    same = list(folded.exact(POINT)) == list(residual.exact(POINT))
    print(f"Its exact value at the same point is {'the same number' if same else 'DIFFERENT: a bug'}.")
    return 0 if same else 70

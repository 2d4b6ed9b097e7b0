"""brusselator: the Euler map, its cubic, a network with the parameter b as an input, and what their preimages do."""

from __future__ import annotations

from ircert.data.networks import bundled
from ircert.ir.graph import Graph
from ircert.reproduction.experiments.parts.appendix import appendix, inverses_along
from ircert.reproduction.experiments.parts.attractors import attractors
from ircert.reproduction.experiments.parts.balls import balls
from ircert.reproduction.experiments.parts.published import published, published_network
from ircert.reproduction.frame.report import Comparison, Part, Report, Settings

NETWORK = "brusselator-3-32-32-2"
SMALL, SMALL_B = "brusselator-3-24-24-2", 2.2
"""Preimages far outside the training box differ from network to network; here they have the paper's structure."""
PAPER_B = 2.1
TEXT = (
    "The Euler step of the Brusselator (a = 1, τ = 0.15) and relu networks that learned (x, y, b) to the next "
    f"(x, y), with b fixed by the pass fix-inputs: {NETWORK}, and {SMALL} at b = {SMALL_B:g} for the structure of the "
    "appendix. That depends on how a network continues far outside its training data; this network and this b were "
    "chosen because they show it. The attractor is an invariant circle; the "
    "preimages of its points under the map are roots of its cubic, and J₀ of the map is followed by continuation. "
    "For networks preimages, J₀ and radii come from the linear regions. Squares are balls of the ∞-norm."
)
PUBLISHED = (
    "The authors' network (3-64-64-2) and its radii are those they published with their code; it is read where "
    "IRCERT_REFERENCE_DATA names it."
)


def run(settings: Settings) -> Report:
    """The attractor and its preimages, squares around its points, and the appendix."""
    network = bundled(NETWORK)
    parts: dict[str, Part] = {
        "attractors": attractors(settings, network),
        "balls": balls(settings, network),
        "structure": appendix(settings, bundled(SMALL), SMALL_B, f"the network {SMALL}", "structure"),
        "chosen": _chosen(settings, network),
    }
    if settings.reference is not None:
        authors = published_network(settings.reference)
        parts["published"] = published(settings, authors)
        parts["published_structure"] = appendix(settings, authors, PAPER_B, "the authors' network", "authors-structure")
    text = TEXT if settings.reference is None else f"{TEXT} {PUBLISHED}"
    return Report.of("The Brusselator and its preimages", text, parts)


def _chosen(settings: Settings, network: Graph) -> Part:
    """That b is not the paper's, and what the networks do at other values."""
    settings.say("inverses for other networks and values of b")
    small = bundled(SMALL)
    asked = [(SMALL, small, PAPER_B), (SMALL, small, SMALL_B), (NETWORK, network, PAPER_B), (NETWORK, network, SMALL_B)]
    why = "chosen; the last table has what networks trained here do at other values"
    return Part(
        claims=(),
        comparisons=(Comparison("b of the appendix's structure, network trained here", PAPER_B, SMALL_B, why),),
        tables=(inverses_along(asked[:2] if settings.quick else asked),),
    )

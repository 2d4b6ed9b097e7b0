"""brusselator: the Euler map, its cubic, a network with the parameter b as an input, and what their preimages do."""

from __future__ import annotations

from ircert.data.networks import bundled
from ircert.reproduction.attractors import attractors
from ircert.reproduction.balls import balls
from ircert.reproduction.report import Report, Settings

NETWORK = "brusselator-3-32-32-2"


def run(settings: Settings) -> Report:
    """All parts."""
    network = bundled(NETWORK)
    return Report.of(
        "The Brusselator",
        "text",
        {"attractors": attractors(settings, network), "balls": balls(settings, network)},
    )

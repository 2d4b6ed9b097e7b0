"""`ircert demo`: an example on bundled networks."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ircert.cli.streams import say

if TYPE_CHECKING:
    from ircert.result.result import Result

NETWORK = "vanderpol-2-32-32-2"
TWIN = "vanderpol-2-32-32-2-pruned-50-3"
CENTER = (0.0, 0.0)


def add_demo_options(parser: argparse.ArgumentParser) -> None:
    """Nothing: `ircert demo` asks its own questions."""


def demo(options: argparse.Namespace) -> int:
    """Ask the three questions about a network and its pruned twin; 0 if all were answered, 3 if not."""
    import ircert
    from ircert.data.networks import bundled

    network, twin = bundled(NETWORK), bundled(TWIN)
    say(f"The bundled network {NETWORK}: the flow of the Van der Pol oscillator over time 0.2, learned from 1000")
    say("points by scikit-learn (scripts/train_vanderpol.py). Where can it be inverted?\n")
    asked = [
        ("How far around 0 is it injective?", ircert.certify(network, CENTER)),
        (
            "How far around (3.5, 0.75), behind the fold, does no other point have the same output?",
            ircert.certify(network, (3.5, 0.75), problem="pseudo"),
        ),
        (
            "Half of its weights were pruned away. Where is the pruned output a function of the original one?",
            ircert.certify(network, CENTER, problem="transform", other=twin),
        ),
    ]
    for question, result in asked:
        say(f"{question}\n\n{_indented(result)}\n")
    say("Your own network: ircert certify MODEL --center 0,0   (.onnx, .npz or .ir; see ircert certify --help)")
    return 0 if all(result.verdict == "certified" for _, result in asked) else 3


def _indented(result: Result) -> str:
    return "\n".join(f"    {line}" for line in result.summary().splitlines())

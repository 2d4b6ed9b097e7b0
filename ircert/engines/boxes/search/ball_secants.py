"""One test for a whole ball: no secant of two of its points has a kernel.

A ball is convex, so that f(x) - f(y) = J(λ) (x - y) for all its points, with slopes λ in [0, 1] at the neurons that
switch in it and 0 or 1 at the others. Where few of them switch, the determinants at the corners of this cube decide:
for one neuron that is no fold they always do, with many inputs too.
"""

from __future__ import annotations

from ircert.engines.boxes.trees.parts import center_part, part_of
from ircert.engines.boxes.trees.phase_tree import Tools, slopes


def closed_by_secants(tools: Tools, radius: float) -> bool:
    """Whether that shows that a ball is good."""
    setting = tools.setting
    tools.counts.nodes += 1
    first = part_of(setting, radius, *setting.ball(radius).box)
    second = center_part(setting) if setting.pseudo else first
    return tools.secants.injective(slopes(setting, tools.matter, first.phases, second.phases))

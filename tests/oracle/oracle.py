"""Exact answers for small networks, from all linear regions and all pairs of them; nothing of ircert is used.

On a pair of cells (P, Q) the pairs with f(x) = f(y) form a polytope K. The property fails on it iff g(x) != g(y) at
some vertex of K, where g is the identity (`local`) or the other network (`transform`); then such pairs are dense in K,
and the infimum of their radii is the least max(|x - c|, |y - c|) on K.
"""

from __future__ import annotations

from typing import Any

from tests.oracle.cells import Layers, cells
from tests.oracle.rational import number
from tests.oracle.search import holds_on_round_ball, nearest_preimage, search, violations
from tests.oracle.setting import Answer, Setting

__all__ = ["Answer", "closed_ball", "local_radius", "pseudo_radius", "transform_radius"]


def local_radius(layers: Layers, center: Any, norm: Any = "inf", domain: Any = None, limit: Any = 16) -> Answer:
    """The supremum of the radii r <= limit for which f is injective on the ball (cut with the domain)."""
    return transform_radius(layers, None, center, norm, domain, limit)


def transform_radius(
    layers1: Layers, layers2: Layers | None, center: Any, norm: Any = "inf", domain: Any = None, limit: Any = 16
) -> Answer:
    """The supremum of the radii r <= limit for which f2 (None: the identity) is a function of f1 on the ball."""
    setting = Setting(center, norm, domain, layers1)
    other = None if layers2 is None else setting.exact(layers2)
    reach = number(limit)
    found = cells(setting.box(reach), setting.network, other)
    return setting.answer(search(setting, found, setting.size(reach)), reach)


def pseudo_radius(layers: Layers, center: Any, norm: Any = "inf", domain: Any = None, limit: Any = 16) -> Answer:
    """The supremum of the radii r <= limit for which no other point of the ball has the centre's image."""
    setting = Setting(center, norm, domain, layers)
    reach = number(limit)
    found = cells(setting.box(reach), setting.network)
    return setting.answer(nearest_preimage(setting, found), reach)


def closed_ball(
    layers: Layers,
    center: Any,
    radius: Any,
    norm: Any = "inf",
    problem: str = "local",
    layers2: Layers | None = None,
    domain: Any = None,
) -> bool | None:
    """Whether the property holds on the closed ball; None for a tie in norm 2 that brackets cannot decide."""
    setting = Setting(center, norm, domain, layers)
    reach = number(radius)
    if reach == 0:
        return True
    assert (problem == "transform") == (layers2 is not None)
    found = cells(setting.ball(reach), setting.network, None if layers2 is None else setting.exact(layers2))
    if problem == "pseudo":
        best = nearest_preimage(setting, found)
        return best is None or best.upper > setting.size(reach)
    if setting.norm == "2":
        return holds_on_round_ball(setting, found, setting.size(reach))
    return all(cell.determined for cell in found) and not any(True for _ in violations(found))

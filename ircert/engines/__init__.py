"""Engines by name; each is imported when it is first asked for.

One line here per engine; other packages add theirs through the entry-point group `ircert.engines`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ircert.errors import QueryError
from ircert.plugins import Registry

if TYPE_CHECKING:
    from ircert.engines.base import Engine

BUILT_IN = {
    "auto": "ircert.engines.auto.engine:Auto",
    "boxes": "ircert.engines.boxes.engine:Boxes",
    "milp": "ircert.engines.milp.engine:Milp",
    "regions": "ircert.engines.regions.engine:Regions",
}
REGISTRY: Registry[Engine] = Registry(
    ("engine", "engines"), "ircert.engines", BUILT_IN, "ircert.engines.base:Engine", QueryError
)


def names() -> list[str]:
    """All engines that may be named, plugins included."""
    return REGISTRY.names()


def kind(name: Any) -> type[Engine]:
    """The class of an engine; QueryError if there is none of that name."""
    return REGISTRY.get(name)


def get(name: Any) -> Engine:
    """The engine of that name."""
    with REGISTRY.blaming(name):
        return kind(name)()

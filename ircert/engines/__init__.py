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


def _refusal(name: str, problem: str, remedy: str) -> QueryError:
    return QueryError(problem, where=f"engine `{name}`", remedy=remedy)


def _registry() -> Registry[Engine]:
    # not at the top, because naming engines must not load what they need
    from ircert.engines.base import Engine

    return Registry(("engine", "engines"), "ircert.engines", BUILT_IN, Engine, _refusal)


def names() -> list[str]:
    """All engines that may be named, plugins included."""
    return _registry().names()


def kind(name: Any) -> type[Engine]:
    """The class of an engine; QueryError if there is none of that name."""
    return _registry().get(name)


def get(name: Any) -> Engine:
    """The engine of that name."""
    return kind(name)()

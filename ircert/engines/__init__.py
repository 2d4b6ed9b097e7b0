"""Engines by name; each is imported when it is first asked for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ircert.errors import QueryError

if TYPE_CHECKING:
    from ircert.engines.base import Engine

HOMES = {
    "auto": "ircert.engines.auto:Auto",
    "milp": "ircert.engines.milp:Milp",
    "regions": "ircert.engines.regions:Regions",
}


def names() -> list[str]:
    """The engines that are there."""
    return [name for name, home in HOMES.items() if find_spec(home.partition(":")[0])]


def get(name: str) -> Engine:
    """The engine of that name."""
    from importlib import import_module

    if name not in names():
        raise QueryError(f"there is no engine {str(name)[:60]!r}", remedy=f"the engines are {', '.join(names())}")
    module, _, attribute = HOMES[name].partition(":")
    engine: Engine = getattr(import_module(module), attribute)()
    return engine

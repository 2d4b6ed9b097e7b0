"""Backends: what answers a program or writes it down, by name.

One line here per backend; other packages add theirs through the entry-point group `ircert.backends`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from ircert.backends.base import Backend
from ircert.errors import BackendError

if __name__ != "ircert.backends":
    raise ImportError("import this package as `ircert.backends`, not as `backends`")

BUILT_IN = {
    "gurobi": "ircert.backends.gurobi:Gurobi",
    "highs": "ircert.backends.highs:Highs",
    "lp": "ircert.backends.lp:Lp",
    "mip": "ircert.backends.mip:Mip",
    "mip-highs": "ircert.backends.mip:MipHighs",
    "mps": "ircert.backends.mps:Mps",
    "scip": "ircert.backends.scip:Scip",
}
DEFAULT = "highs"


def names() -> list[str]:
    """All backends that may be named, plugins included, installed or not."""
    return sorted({*BUILT_IN, *(point.name for point in _plugins())})


def get(name: str) -> Backend:
    """A backend by name; BackendError if there is none. Its solver is imported only when it is used."""
    if name in BUILT_IN:
        module, _, kind = BUILT_IN[name].partition(":")
        found: type[Backend] = getattr(import_module(module), kind)
        return found()
    for point in _plugins():
        if point.name == name:
            return _load_plugin(point)
    raise BackendError("there is no such backend", backend=name[:60], remedy=f"the backends are {', '.join(names())}")


def _plugins() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group="ircert.backends"))


def _load_plugin(point: EntryPoint) -> Backend:
    try:
        found = point.load()
    except Exception as error:
        raise BackendError(
            f"the plugin {point.value} cannot be loaded ({type(error).__name__}: {error})", backend=point.name
        ) from error
    if not (isinstance(found, type) and issubclass(found, Backend) and getattr(found, "name", None) == point.name):
        raise BackendError(f"the plugin {point.value} is not a Backend named `{point.name}`", backend=point.name)
    return found()

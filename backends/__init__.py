"""Backends: what answers a program or writes it down, by name.

One line here per backend; other packages add theirs through the entry-point group `ircert.backends`.
"""

from __future__ import annotations

from ircert.backends.base import Backend
from ircert.errors import BackendError
from ircert.plugins import Registry

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


def _refusal(name: str, problem: str, remedy: str) -> BackendError:
    return BackendError(problem, backend=name, remedy=remedy)


REGISTRY: Registry[Backend] = Registry(("backend", "backends"), "ircert.backends", BUILT_IN, Backend, _refusal)


def names() -> list[str]:
    """All backends that may be named, plugins included, installed or not."""
    return REGISTRY.names()


def get(name: str) -> Backend:
    """A backend by name; BackendError if there is none. Its solver is imported only when it is used."""
    return REGISTRY.get(name)()

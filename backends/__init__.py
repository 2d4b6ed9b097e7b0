"""Backends: what answers a program or writes it down, by name.

One line here per backend; other packages add theirs through the entry-point group `ircert.backends`.
"""

from __future__ import annotations

import os

from ircert.backends.base import Backend, Solver, Writer
from ircert.errors import BackendError, FileError, QueryError
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
REGISTRY: Registry[Backend] = Registry(
    ("backend", "backends"), "ircert.backends", BUILT_IN, "ircert.backends.base:Backend", BackendError, key="backend"
)


def names() -> list[str]:
    """All backends that may be named, plugins included, installed or not."""
    return REGISTRY.names()


def get(name: str) -> Backend:
    """A backend by name; BackendError if there is none. Its solver is imported only when it is used."""
    return REGISTRY.get(name)()


def solver(name: object) -> Solver:
    """The solver of that name, which is installed; QueryError says which there are where it names none."""
    if name not in names():
        raise QueryError(f"there is no solver {str(name)[:60]!r}", remedy=f"the solvers are {_solvers()}")
    found = get(str(name))
    if not isinstance(found, Solver):
        problem = f"the backend `{name}` writes files and solves nothing"
        raise QueryError(problem, remedy=f"the solvers are {_solvers()}")
    found.check_available()
    return found


def writer_for(path: str | os.PathLike[str]) -> Writer:
    """The writer of files with this name's ending, plugins included; FileError lists the endings if there is none."""
    given, writers = os.fspath(path).lower(), _writers()
    found = [writer for writer in writers if given.endswith(writer.suffixes)]
    if not found:
        known = sorted({suffix for writer in writers for suffix in writer.suffixes})
        raise FileError("unknown kind of file", path=path, remedy=f"use a name ending in {' or '.join(known)}")
    mine = [writer for writer in found if writer.name in BUILT_IN] or found
    if len(mine) > 1:
        several = " and ".join(f"`{name}`" for name in sorted(writer.name for writer in mine))
        raise FileError(f"files of this kind are written by {several}", path=path, remedy="uninstall one of them")
    return mine[0]


def _writers() -> list[Writer]:
    """All writers; a plugin that cannot be loaded is named and passed over."""
    return [kind() for kind in _loadable() if issubclass(kind, Writer) and kind.suffixes]


def _solvers() -> str:
    """The names of all solvers, installed or not."""
    return ", ".join(sorted({kind.name for kind in _loadable() if issubclass(kind, Solver)}))


def _loadable() -> list[type[Backend]]:
    return [*(REGISTRY.get(name) for name in sorted(BUILT_IN)), *REGISTRY.others()]

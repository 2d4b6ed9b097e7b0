"""The bundled networks; `networks/README.md` says how each was made."""

from __future__ import annotations

from importlib.resources import as_file, files

from ircert.errors import FileError
from ircert.ir.graph import Graph
from ircert.ir.sidecar import load_ir


def names() -> list[str]:
    """The names of the bundled networks."""
    folder = files("ircert.data") / "networks"
    return sorted(entry.name.removesuffix(".ir") for entry in folder.iterdir() if entry.name.endswith(".ir"))


def bundled(name: str) -> Graph:
    """A bundled network by name."""
    if name not in names():
        raise FileError(
            "there is no bundled network of this name", path=name, remedy=f"there are: {', '.join(names())}"
        )
    with as_file(files("ircert.data") / "networks" / f"{name}.ir") as path:
        return load_ir(path)

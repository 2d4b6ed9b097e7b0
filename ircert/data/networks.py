"""The bundled networks; `networks/README.md` says how each was made."""

from __future__ import annotations

from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import PurePath

from ircert.errors import FileError
from ircert.frontends.load import load
from ircert.ir.graph import Graph


def names() -> list[str]:
    """The names of the bundled networks."""
    return sorted(_entries())


def bundled(name: str) -> Graph:
    """A bundled network by name."""
    entries = _entries()
    if name not in entries:
        raise FileError(
            "there is no bundled network of this name", path=name, remedy=f"there are: {', '.join(sorted(entries))}"
        )
    with as_file(entries[name]) as path:
        return load(path)


def _entries() -> dict[str, Traversable]:
    """The file of each network."""
    folder = files("ircert.data") / "networks"
    return {PurePath(e.name).stem: e for e in folder.iterdir() if PurePath(e.name).suffix in (".ir", ".onnx")}

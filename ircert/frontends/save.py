"""`ircert.save`: write a graph to a file that `ircert.load` reads back."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ircert.errors import FileError
from ircert.ir.graph import Graph
from ircert.ir.sidecar import save_ir

WRITERS: dict[str, Callable[[Graph, str | os.PathLike[str]], None]] = {
    ".ir": save_ir,
}


def save(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write the graph; the name's ending says in which format."""
    writer = WRITERS.get(Path(path).suffix.lower())
    if writer is None:
        raise FileError("unknown kind of file", path=path, remedy=f"use a name ending in {', '.join(WRITERS)}")
    writer(graph, path)

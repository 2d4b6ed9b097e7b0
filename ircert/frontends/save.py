"""`ircert.save`: write a graph to a file that `ircert.load` reads back."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ircert.errors import FileError
from ircert.files import check_writable
from ircert.ir.graph import Graph
from ircert.ir.sidecar import save_ir


def _save_onnx(graph: Graph, path: str | os.PathLike[str]) -> None:
    from ircert.frontends.onnx_export import save_onnx  # only here: `import ircert` stays light

    save_onnx(graph, path)


WRITERS: dict[str, Callable[[Graph, str | os.PathLike[str]], None]] = {
    ".ir": save_ir,
    ".onnx": _save_onnx,
}


def save(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write the graph; the name's ending says in which format."""
    check_savable(path)
    WRITERS[Path(path).suffix.lower()](graph, path)


def check_savable(path: str | os.PathLike[str]) -> None:
    """FileError unless a graph could be written there, so that a long run does not end in a refusal."""
    target = Path(path)
    if target.suffix.lower() not in WRITERS:
        raise FileError("unknown kind of file", path=path, remedy=f"use a name ending in {', '.join(WRITERS)}")
    check_writable(path)

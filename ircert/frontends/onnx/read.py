"""From a path, bytes or ModelProto to a model of which everything but the ops is checked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import onnx
import onnx.inliner
from google.protobuf.message import DecodeError

from ircert.errors import FileError, UnsupportedModel
from ircert.files import read_packed

OLDEST = 7
MOST_NODES = 2**18


def read_model(source: Any) -> tuple[Any, Path | None]:
    """The model, its local functions inlined, and the folder of its external data (None in memory)."""
    if isinstance(source, onnx.ModelProto):
        return _checked(source, "the model"), None
    if isinstance(source, bytes):
        return _checked(_parsed(source, "the bytes"), "the bytes"), None
    path = Path(os.fspath(source))
    return _checked(_parsed(read_packed(path), path), path), path.parent


def opset_of(model: Any) -> int:
    """The version of the standard operator set that the model imports."""
    return max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)


def require_opset(version: int) -> None:
    """Refuse versions of the standard operator set whose ops mean something else."""
    newest = onnx.defs.onnx_opset_version()
    if not OLDEST <= version <= newest:
        raise UnsupportedModel(
            f"the model uses operator set {version}; {OLDEST} to {newest} are read",
            remedy="convert it with onnx.version_converter" if version < OLDEST else "install a newer onnx",
        )


def _parsed(data: bytes, path: object) -> Any:
    if not data:
        raise FileError("the file is empty", path=path, remedy="export the model again")
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, ValueError) as error:
        raise FileError("not an ONNX model, or a truncated one", path=path, remedy="export it again") from error
    return model


def _checked(model: Any, path: object) -> Any:
    if not model.HasField("graph") or not model.graph.output:
        raise FileError("not an ONNX model: it has no graph with outputs", path=path, remedy="export it again")
    return _inlined(model, path) if model.functions else model


def _inlined(model: Any, path: object) -> Any:
    """Local functions replaced by their bodies."""
    try:
        if _Expansion(model.functions).size(model.graph.node) > MOST_NODES:
            raise ValueError("functions that call functions: too many nodes")
        return onnx.inliner.inline_local_functions(model)
    except Exception as error:  # the inliner is native code and raises whatever it likes
        raise UnsupportedModel(
            "its local functions cannot be inlined", where=str(path), remedy="export the model without functions"
        ) from error


class _Expansion:
    """How many nodes a model has once its functions are replaced by their bodies: a few can stand for billions."""

    def __init__(self, functions: Any) -> None:
        self._bodies = {(f.domain, f.name, f.overload): f.node for f in functions}
        self._sizes: dict[tuple[str, str, str], int] = {}

    def size(self, nodes: Any) -> int:
        """The number of nodes; more than the limit where a function calls itself."""
        total = 0
        for node in nodes:
            total += self._of_call((node.domain, node.op_type, node.overload))
            for attribute in node.attribute:
                total += sum(self.size(graph.node) for graph in (attribute.g, *attribute.graphs))
        return min(total, MOST_NODES + 1)

    def _of_call(self, called: tuple[str, str, str]) -> int:
        if called not in self._bodies:
            return 1
        if called not in self._sizes:
            self._sizes[called] = MOST_NODES + 1  # until it is known: what a call of itself would find
            self._sizes[called] = self.size(self._bodies[called])
        return self._sizes[called]

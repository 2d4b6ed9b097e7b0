"""Programs that torch exports (.pt2), read without torch: a graph in JSON, and raw numbers beside it.

The graph is of torch's own operations (aten); each is written as the ONNX nodes that mean the same, and the model is
read as ONNX is. Parts of the archive that are pickles (sample inputs) are never opened.
"""

from __future__ import annotations

import io
import os
import warnings
from typing import Any

from ircert.errors import FileError
from ircert.files import understood
from ircert.frontends.archives import archive
from ircert.frontends.base import in_file
from ircert.frontends.onnx import from_onnx
from ircert.frontends.onnx.interface import Options
from ircert.frontends.pt2.program import program_of
from ircert.frontends.pt2.translate import translated
from ircert.ir.graph import Graph


def from_pt2(source: str | os.PathLike[str] | bytes, options: Options | None = None) -> Graph:
    """The graph of a .pt2 file, or of its bytes."""
    shown = "the exported program" if isinstance(source, bytes) else source
    with archive(source, ".pt2") as members:
        found = program_of(members, shown)
    with understood(shown, ".pt2"):
        return in_file(shown, lambda: from_onnx(translated(found), options))


def from_exported(program: Any, options: Options | None = None) -> Graph:
    """The graph of a torch.export.ExportedProgram: that of the file which torch.export.save writes."""
    import torch

    buffer = io.BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about devices and storages, which change no number
            torch.export.save(program, buffer)
    except Exception as error:
        raise FileError(
            f"torch cannot save it ({type(error).__name__})", path="the exported program", remedy="export it again"
        ) from error
    return from_pt2(buffer.getvalue(), options)

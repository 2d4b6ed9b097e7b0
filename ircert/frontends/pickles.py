"""Files that are refused, each with what to do: pickles run code when they are read, and it is never run here."""

from __future__ import annotations

import os
import zipfile

from ircert.errors import FileError
from ircert.files import opened, understood

_PICKLE = "a pickle, which runs code when it is read, and is never opened here"
_TORCH = (
    "in torch, save its weights with safetensors.torch.save_file(model.state_dict(), …), "
    'or all of it with torch.export.save(torch.export.export(model, (x,)), "net.pt2")'
)


def refusal(path: str | os.PathLike[str]) -> FileError:
    """Why the file is not read, and in what form it would be."""
    name = os.fspath(path).lower()
    with opened(path) as file, understood(path, "model"):
        names = _members(file)
    if name.endswith((".h5", ".hdf5")):
        return FileError("an old kind of Keras file", path=path, remedy="in Keras 3, save the model as .keras")
    if any("/code/" in member for member in names):
        return FileError(
            "TorchScript, whose code is not read",
            path=path,
            remedy="export the module itself: torch.export.save to .pt2",
        )
    if any(member.endswith("archive_format") for member in names):
        return FileError("an exported program under another name", path=path, remedy="let its name end in .pt2")
    if name.endswith((".pt", ".pth", ".bin", ".ckpt")):
        return FileError(_PICKLE, path=path, remedy=_TORCH)
    return FileError(
        _PICKLE,
        path=path,
        remedy="load the model yourself and give the object to ircert.load, or save it as .onnx or .npz",
    )


def _members(file: object) -> list[str]:
    """The names in an archive; none if it is no archive."""
    try:
        with zipfile.ZipFile(file) as archive:  # type: ignore[call-overload]
            return [str(name) for name in archive.namelist()]
    except zipfile.BadZipFile:
        return []

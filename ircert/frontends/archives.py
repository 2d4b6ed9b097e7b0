"""Models in zip archives: their members, of which no claim about sizes is believed."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from ircert.files import LARGEST_FILE, LARGEST_TEXT, RATIO, UNPACKED, opened, size_of, understood

_MOST_MEMBERS = 2**16
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Archive:
    """The members of an archive; ValueError where one is missing, damaged or too large."""

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self._archive = archive
        members = archive.infolist()
        self.names = [info.filename for info in members]
        unpacked = sum(info.file_size for info in members)
        if len(members) > _MOST_MEMBERS or len(set(self.names)) < len(members):
            raise ValueError("it has too many members, or two of one name")
        if unpacked > min(LARGEST_FILE, max(UNPACKED, RATIO * size)):
            raise ValueError(f"its {size} bytes claim to hold {unpacked}")
        if any(info.compress_type not in _PACKED or info.flag_bits & 1 for info in members):
            raise ValueError("a member is encrypted, or packed in an unusual way")

    def read(self, name: str, most: int = LARGEST_FILE) -> bytes:
        """A member; its checksum is verified."""
        if name not in self.names:
            raise ValueError(f"`{name}` is missing")
        if self._archive.getinfo(name).file_size > most:
            raise ValueError(f"`{name}` has more than {most} bytes")
        return self._archive.read(name)

    def text(self, name: str) -> str:
        """A member that is text."""
        return self.read(name, LARGEST_TEXT).decode()

    def json(self, name: str) -> Any:
        """A member that is JSON."""
        return json.loads(self.text(name))


@contextmanager
def archive(source: str | os.PathLike[str] | bytes, kind: str) -> Iterator[Archive]:
    """The archive in a file or in memory; whatever is wrong with it is one FileError."""
    if isinstance(source, bytes):
        with understood("the bytes", kind):
            yield from _members(io.BytesIO(source), len(source))
        return
    with opened(source) as file, understood(source, kind):
        if size_of(file) > LARGEST_FILE:
            raise ValueError(f"it has more than {LARGEST_FILE} bytes")
        yield from _members(file, size_of(file))


def _members(file: IO[bytes], size: int) -> Iterator[Archive]:
    with zipfile.ZipFile(file) as found:
        yield Archive(found, size)

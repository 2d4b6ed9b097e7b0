"""The text of a certificate's file, unpacked if its name ends in .gz, as far as it is not too long (C-1, C-6)."""

from __future__ import annotations

import os
import zlib

from ircert.files import LARGEST_TEXT, read_bytes, read_text


def text_of(path: str | os.PathLike[str]) -> str:
    """ValueError where it is not packed as it says; FileError where it cannot be read."""
    if not os.fspath(path).endswith(".gz"):
        return read_text(path)
    try:
        unpacking = zlib.decompressobj(16 + zlib.MAX_WBITS)
        found = unpacking.decompress(read_bytes(path, LARGEST_TEXT), LARGEST_TEXT)
    except zlib.error as error:
        raise ValueError(f"it is not packed by gzip ({error})") from None
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError(f"its packed text is not whole, or has more than {LARGEST_TEXT} bytes")
    return found.decode()

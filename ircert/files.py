"""Reading and writing files: whole or not at all, and never believing a file about its own size."""

from __future__ import annotations

import math
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from numpy.lib import format as npy
from numpy.typing import NDArray

from ircert.errors import FileError


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The whole file; FileError if there is none."""
    with readable(path):
        return Path(path).read_bytes()


def read_text(path: str | os.PathLike[str]) -> str:
    """The whole file as UTF-8 text."""
    try:
        return read_bytes(path).decode("utf-8-sig")  # some editors put a byte-order mark in front
    except UnicodeDecodeError as error:
        raise FileError(f"not a text file (byte {error.start} is not UTF-8)", path=path) from None


@contextmanager
def readable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn the operating system's refusal to read into a FileError."""
    try:
        yield
    except FileNotFoundError:
        raise FileError("no such file", path=path, remedy="check the path") from None
    except IsADirectoryError:
        raise FileError("this is a folder, not a file", path=path) from None
    except OSError as error:
        raise FileError(f"cannot be read ({error.strerror or error})", path=path) from None


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A temporary file beside `path` that takes its name once all is written; pipes and devices are written to."""
    target = Path(os.path.realpath(path))  # write through links
    temporary: str | None = None
    try:
        if target.exists() and not target.is_file():
            with open(target, "wb") as special:
                yield special
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise FileError(f"cannot be written ({error.strerror or error})", path=path) from None
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def check_writable(path: str | os.PathLike[str]) -> None:
    """FileError unless a file could be written there, so that a long run does not end in a refusal."""
    target = Path(path)
    if target.is_dir():
        raise FileError("this is a folder, not a file", path=path)
    if not os.access(target.parent, os.W_OK):
        raise FileError("its folder does not exist or cannot be written", path=path, remedy="choose another place")


def read_npz(path: str | os.PathLike[str]) -> Mapping[str, NDArray[Any]]:
    """All arrays of an .npz file; a claimed shape must match the bytes that are there."""
    with readable(path):
        try:
            with zipfile.ZipFile(path) as archive:
                return {info.filename.removesuffix(".npy"): _member(archive, info) for info in archive.infolist()}
        except OSError:
            raise
        except MemoryError:
            raise FileError("its arrays do not fit into memory", path=path) from None
        except Exception as error:  # zip, zlib and the header's parser have a dozen ways to say no
            raise FileError(f"not a readable .npz file ({str(error).splitlines()[0][:200]})", path=path) from None


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(info) as member:
        version = npy.read_magic(member)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read_header(member)
        if dtype.hasobject:
            raise ValueError(f"{info.filename} holds Python objects")
        if math.prod(shape) * dtype.itemsize != info.file_size - member.tell():
            raise ValueError(f"{info.filename} claims shape {shape} but holds another number of bytes")
    with archive.open(info) as member:
        array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
        return array


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current

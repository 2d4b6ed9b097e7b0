"""Reading and writing files: whole or not at all, and never believing a file about its own size."""

from __future__ import annotations

import io
import math
import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from numpy.lib import format as npy
from numpy.typing import NDArray

from ircert.errors import FileError, IrcertError, NoText

LARGEST_TEXT = 2**27
"""Bytes of a text: in memory its numbers take up to a dozen times as much."""
LARGEST_FILE = 2**31
"""Bytes of any file that is read whole: as much as one ONNX file can have."""
UNPACKED, RATIO = 2**26, 100
"""An archive may unpack to this many bytes, or this many times its own: weights hardly shrink, what is made to fill
memory does."""
_LONGEST_NAME, _LONGEST_HEADER = 255, 2**14
IN_FOLDER = "name a file in it"
"""What to do where a folder is named."""


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A regular file, to be read; pipes and devices are refused: one may wait for ever, another never end."""
    with readable(path):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            mode = os.fstat(handle).st_mode
            if stat.S_ISDIR(mode):
                raise IsADirectoryError
            if not stat.S_ISREG(mode):
                raise FileError("a pipe or device, not a file", path=path, remedy="write what it gives to a file first")
            with os.fdopen(handle, "rb", closefd=False) as file:
                yield file
        finally:
            os.close(handle)


def size_of(file: IO[bytes]) -> int:
    """How many bytes an open file has."""
    return os.fstat(file.fileno()).st_size


def read_bytes(path: str | os.PathLike[str], most: int = LARGEST_FILE) -> bytes:
    """The whole file, of at most so many bytes; FileError if there is none."""
    with opened(path) as file:
        if size_of(file) > most:
            raise FileError(f"it has more than {most} bytes", path=path, remedy="check that it is the file you mean")
        return file.read()


def read_packed(path: str | os.PathLike[str], most: int = LARGEST_FILE) -> bytes:
    """The whole file, unpacked where its name ends in .gz: what is packed is whole, and of a reasonable size."""
    data = read_bytes(path, most)
    if not os.fspath(path).lower().endswith(".gz"):
        return data
    room_for = min(most, max(UNPACKED, RATIO * len(data)))
    unpacking = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        found = unpacking.decompress(data, room_for)
    except zlib.error as error:
        raise FileError(f"not packed by gzip, or damaged ({error})", path=path, remedy="pack it again") from None
    if not unpacking.eof:
        too_much = bool(unpacking.unconsumed_tail)
        problem = f"its {len(data)} bytes unpack to more than {room_for}" if too_much else "it ends too early"
        raise FileError(problem, path=path, remedy="unpack it yourself" if too_much else "copy it again")
    if unpacking.unused_data:
        raise FileError("something follows what is packed", path=path, remedy="pack it again")
    return found


def read_text(path: str | os.PathLike[str]) -> str:
    """The whole file as UTF-8 text, unpacked where its name ends in .gz."""
    try:
        return read_packed(path, LARGEST_TEXT).decode("utf-8-sig")  # some editors put a byte-order mark in front
    except UnicodeDecodeError as error:
        problem = f"not a text file (byte {error.start} is not UTF-8)"
        raise NoText(problem, path=path, remedy="check that it is the file you mean") from None


def beside(folder: Path, name: str, what: str, owner: str = "the model") -> Path:
    """The file that another in `folder` asks for; what leads out of the folder, by `..` or by a link, is refused."""
    if len(name.encode("utf-8", "replace")) > _LONGEST_NAME:
        raise FileError(
            f"{what} asks for a data file whose name has {len(name)} characters",
            path=f"{name[:40]}…",
            remedy=f"{owner} is damaged; export it again",
        )
    try:
        path = (folder / name).resolve()
        inside = name != "" and path.is_relative_to(folder.resolve()) and not Path(name).is_absolute()
    except (OSError, ValueError, RuntimeError):
        inside = False
    if not inside:
        raise FileError(
            f"{what} asks for data outside {owner}'s folder", path=name, remedy=f"keep external data beside {owner}"
        )
    return path


@contextmanager
def readable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn the operating system's refusal to read into a FileError."""
    try:
        yield
    except FileNotFoundError:
        raise FileError("no such file", path=path, remedy="check the path") from None
    except IsADirectoryError:
        raise FileError("this is a folder, not a file", path=path, remedy=IN_FOLDER) from None
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
        raise FileError(problem, path=path, remedy="check the path, and who may read it") from None


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
        problem = f"cannot be written ({error.strerror or error})"
        raise FileError(problem, path=path, remedy="choose another place") from None
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def check_writable(path: str | os.PathLike[str]) -> None:
    """FileError unless a file could be written there, so that a long run does not end in a refusal."""
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise FileError("this is a folder, not a file", path=path, remedy=IN_FOLDER)
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise FileError("it cannot be written", path=path, remedy="choose another place")
    special = os.path.exists(target) and not os.path.isfile(target)  # a pipe or a device, which is not replaced
    if not special and not os.access(os.path.dirname(target), os.W_OK):
        raise FileError("its folder does not exist or cannot be written", path=path, remedy="choose another place")


def read_npz(path: str | os.PathLike[str], most: int = LARGEST_FILE) -> Mapping[str, NDArray[Any]]:
    """All arrays of an .npz file; what they claim to hold must be there, within reason for the file's size, and take
    at most so many bytes as float64."""
    with opened(path) as file, understood(path, ".npz"):
        if size_of(file) > most:
            raise ValueError(f"it has more than {most} bytes")
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _require_reason(members, size_of(file))
            _require_room(archive, members, most)
            arrays = {info.filename.removesuffix(".npy"): _member(archive, info) for info in members}
        if len(arrays) < len(members):
            raise ValueError("two arrays have the same name")
        return arrays


def room(shape: tuple[int, ...], itemsize: int) -> int:
    """How many bytes an array takes once its numbers are float64."""
    return math.prod(shape) * max(8, itemsize)


def read_npy(path: str | os.PathLike[str]) -> NDArray[Any]:
    """The array of an .npy file; what it claims to hold must be there."""
    with opened(path) as file, understood(path, ".npy"):
        if size_of(file) > LARGEST_TEXT:
            raise ValueError(f"it has more than {LARGEST_TEXT} bytes")
        _require_bytes(file, size_of(file), "it")
        file.seek(0)
        array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
        return array


@contextmanager
def understood(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Turn whatever a damaged file leads to into a FileError."""
    try:
        yield
    except (OSError, IrcertError):
        raise
    except MemoryError:
        raise FileError("its arrays do not fit into memory", path=path) from None
    except Exception as error:  # zip, zlib and the header's parser have a dozen ways to say no
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise FileError(f"not a readable {kind} file ({problem})", path=path) from None


def _require_reason(members: list[zipfile.ZipInfo], size: int) -> None:
    unpacked = sum(info.file_size for info in members)
    if unpacked > max(UNPACKED, RATIO * size):
        raise ValueError(f"its {size} bytes claim to hold {unpacked}; store it uncompressed, with numpy.savez")
    foreign = [info for info in members if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]
    if foreign:
        raise ValueError(f"{foreign[0].filename} is compressed as numpy does not; write it with numpy.savez")


def _require_room(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], most: int) -> None:
    taken = 0
    for info in members:
        with archive.open(info) as member:
            taken += _require_bytes(member, info.file_size, info.filename)
        if taken > most:
            raise ValueError(f"its arrays take more than {most} bytes")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(info) as member:
        array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
        return array


def _require_bytes(file: IO[bytes], size: int, name: str) -> int:
    """How much room an array takes; ValueError unless its header fits the bytes that follow it."""
    start = io.BytesIO(file.read(_LONGEST_HEADER))  # a header may claim to be gigabytes long
    version = npy.read_magic(start)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read_header(start)
    if dtype.hasobject:
        raise ValueError(f"{name} holds Python objects")
    if math.prod(shape) * dtype.itemsize != size - start.tell():
        raise ValueError(f"{name} claims shape {shape} but holds another number of bytes")
    return room(shape, dtype.itemsize)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current

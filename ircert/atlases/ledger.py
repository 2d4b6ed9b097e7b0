"""The file of an atlas: rows are added as they come, each with its hash and a checksum, and none is ever changed.

The first line says what was asked, where; the others are rows. A line that an interruption cut short, or that was
damaged, does not fit its checksum and counts as not there: its centre is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ircert.atlases.row import Row
from ircert.errors import FileError
from ircert.files import IN_FOLDER, LARGEST_FILE, read_bytes, replacing

SCHEMA = "ircert.atlas/1"


def line_of(content: Mapping[str, Any]) -> bytes:
    """One line with its checksum."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False)
    return f'{{"sum": "{_sum(text)}", "line": {text}}}\n'.encode()


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def content_of(line: bytes) -> dict[str, Any] | None:
    """What a line says; None where it is not whole."""
    try:
        outer = json.loads(line)
        content = outer["line"]
        text = json.dumps(content, ensure_ascii=True, allow_nan=False)
        return content if isinstance(content, dict) and outer["sum"] == _sum(text) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def is_atlas(text: str) -> bool:
    """Whether a text begins as a file of rows does."""
    header = content_of(text.partition("\n")[0].encode())
    return header is not None and header.get("schema") == SCHEMA


@dataclass
class Ledger:
    """The rows of one atlas, or of a shard of it; `header` says which atlas that is.

    broken: how many lines did not fit their checksums
    """

    header: dict[str, Any]
    rows: dict[str, Row] = field(default_factory=dict)
    path: Path | None = None
    broken: int = 0
    _handle: int | None = field(default=None, repr=False)

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Ledger:
        """A file of rows; the first of several rows for one centre counts."""
        lines = read_bytes(path, LARGEST_FILE).split(b"\n")
        header = content_of(lines[0])
        if header is None or header.get("schema") != SCHEMA:
            raise FileError("not a file of rows of an atlas", path=path, remedy="name one that `ircert atlas` wrote")
        ledger = Ledger(header, path=Path(path))
        for content in map(content_of, lines[1:-1]):
            ledger._take(content)
        ledger.broken += bool(lines[-1])
        return ledger

    def _take(self, content: dict[str, Any] | None) -> None:
        try:
            row = None if content is None else Row.from_json(content)
        except (ValueError, KeyError, TypeError):
            row = None
        if row is None:
            self.broken += 1
        else:
            self.rows.setdefault(row.key, row)

    @staticmethod
    def opened(path: str | os.PathLike[str], header: Mapping[str, Any]) -> Ledger:
        """The file to go on with, or a new one; FileError where it is of another atlas, or somebody else's just now."""
        wanted = json.loads(json.dumps({"schema": SCHEMA, **header}))
        handle = _locked(path)
        try:
            if _is_new(handle, line_of(wanted)):
                os.ftruncate(handle, 0)
                os.write(handle, line_of(wanted))
                ledger = Ledger(wanted, path=Path(path))
            else:
                ledger = Ledger.read(path)
                if ledger.header != wanted:
                    raise FileError(
                        f"it holds another atlas ({_difference(ledger.header, wanted)})",
                        path=path,
                        remedy="name another file, or ask for the same",
                    )
                _end_line(handle)
        except BaseException:
            os.close(handle)
            raise
        ledger._handle = handle
        return ledger

    def add(self, rows: Iterable[Row]) -> None:
        """Write rows that are not there yet, in one go, and see that they are on the disk."""
        new = [row for row in rows if row.key not in self.rows]
        if not new or self._handle is None:
            return
        data = memoryview(b"".join(line_of(row.to_json()) for row in new))
        try:
            while data:
                data = data[os.write(self._handle, data) :]
            os.fsync(self._handle)
        except OSError as error:
            raise FileError(f"cannot be written ({error.strerror or error})", path=self.path) from None
        self.rows |= {row.key: row for row in new}

    def close(self) -> None:
        """Let others have the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def merged(paths: Iterable[str | os.PathLike[str]]) -> Ledger:
    """The rows of several files of one atlas; FileError where they are of different ones."""
    found: Ledger | None = None
    for path in paths:
        ledger = Ledger.read(path)
        if found is None:
            found = ledger
        elif ledger.header != found.header:
            difference = _difference(ledger.header, found.header)
            raise FileError(
                f"it is of another atlas than {found.path} ({difference})", path=path, remedy="merge shards of one run"
            )
        else:
            found.broken += ledger.broken
            found.rows = {**ledger.rows, **found.rows}
    if found is None:
        raise FileError("there is nothing to merge", path="--merge", remedy="name files that `ircert atlas` wrote")
    return found


def write(path: str | os.PathLike[str], ledger: Ledger) -> None:
    """A file with these rows, in the order of their centres."""
    with replacing(path) as file:
        for line in lines_of(ledger):
            file.write(line)


def lines_of(ledger: Ledger) -> Iterator[bytes]:
    """The lines of such a file."""
    yield line_of({"schema": SCHEMA, **ledger.header})
    for row in sorted(ledger.rows.values(), key=lambda row: row.at):
        yield line_of(row.to_json())


def _locked(path: str | os.PathLike[str]) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    except IsADirectoryError:
        raise FileError("this is a folder, not a file", path=path, remedy=IN_FOLDER) from None
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})"
        raise FileError(problem, path=path, remedy="choose another place") from None
    try:
        import fcntl
    except ImportError:  # where there are no such locks, one process at a time is up to the user
        return handle
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise FileError(
            "another process writes to it", path=path, remedy="wait for it, or give each process a file of its own"
        ) from None
    return handle


def _is_new(handle: int, first: bytes) -> bool:
    """Whether there is nothing yet, or a first line that was cut short."""
    size = os.fstat(handle).st_size
    return size < len(first) and os.read(handle, size) == first[:size]


def _end_line(handle: int) -> None:
    """A last line that was cut short becomes a broken one: what follows begins anew."""
    size = os.fstat(handle).st_size
    os.lseek(handle, size - 1, os.SEEK_SET)
    if os.read(handle, 1) != b"\n":
        os.write(handle, b"\n")


def _difference(mine: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    names = sorted(name for name in {*mine, *other} if mine.get(name) != other.get(name))
    for name in names:
        inner, outer = mine.get(name), other.get(name)
        if isinstance(inner, dict) and isinstance(outer, dict):
            return f"{name}: {_difference(inner, outer)}"
    return f"different {', '.join(names)}"

"""The variables of a .mat file of versions 5 to 7: numbers, texts, cells and structs.

Every claim is checked before it is believed: elements lie within the file, what is packed unpacks to a reasonable size,
and no array has more entries than bytes. (scipy's reader may end the process where a file is damaged.)
"""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any

import numpy as np

from ircert.files import RATIO, UNPACKED

_MATRIX, _COMPRESSED = 14, 15
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""How numbers are stored, by the type of an element."""
_NUMBERS = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
"""What numbers they are, by the class of an array."""
_TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16-le", 16: "utf-8", 17: "utf-16-le"}
_CELL, _STRUCT, _CHAR = 1, 2, 4
_COMPLEX = 0x800
_DEEPEST = 8

Element = tuple[int, bytes]


class Unread:
    """A variable that only MATLAB can read: an object, a function, a sparse or complex array."""


def variables(data: bytes) -> dict[str, Any]:
    """Arrays of numbers; texts as arrays with a string for each row; cells as arrays of objects; structs as dicts."""
    left = max(UNPACKED, RATIO * len(data))
    found: dict[str, Any] = {}
    for kind, body in _elements(data[128:]):
        inner = [(kind, body)]
        if kind == _COMPRESSED:
            packed = zlib.decompressobj()
            body = packed.decompress(body, left + 1)
            left -= len(body)
            if left < 0:
                raise ValueError(f"its {len(data)} bytes unpack to far more")
            if not packed.eof:
                raise ValueError("what is packed is cut off")
            inner = _elements(body)
        for element in inner:
            if element[0] == _MATRIX:
                name, value = _matrix(element[1], 0)
                found[name] = value
    return found


def _elements(data: bytes) -> list[Element]:
    """Types and contents of elements that lie one behind the other; small ones keep their content in the tag."""
    found, place = [], 0
    while place + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, place)
        if kind >> 16:  # both in four bytes
            kind, size, start, step = kind & 0xFFFF, kind >> 16, place + 4, 8
        else:
            start, step = place + 8, 8 + (size if kind == _COMPRESSED else -(-size // 8) * 8)
        if start + size > len(data) or (start == place + 4 and size > 4):
            raise ValueError("an element is longer than the file")
        found.append((kind, data[start : start + size]))
        place += step
    return found


def _matrix(content: bytes, depth: int) -> tuple[str, Any]:
    """The name and the value of an array."""
    if not content:
        return "", np.zeros((0, 0))
    if depth > _DEEPEST:
        raise ValueError("its cells are nested too deep")
    parts = _elements(content)
    if len(parts) < 3 or len(parts[0][1]) < 8:
        raise ValueError("an array has no sizes")
    flags = struct.unpack_from("<I", parts[0][1])[0]
    sizes = struct.unpack(f"<{len(parts[1][1]) // 4}i", parts[1][1][: len(parts[1][1]) // 4 * 4])
    if len(sizes) < 2 or min(sizes) < 0 or math.prod(sizes) > len(content):
        raise ValueError(f"an array claims the sizes {list(sizes)[:8]} and has {len(content)} bytes")
    return parts[2][1].decode("latin-1"), _value(flags, sizes, parts[3:], depth)


def _value(flags: int, sizes: tuple[int, ...], rest: list[Element], depth: int) -> Any:
    kind = flags & 0xFF
    if kind == _CELL:
        return _cell(sizes, rest, depth)
    if kind == _STRUCT:
        return _fields(sizes, rest, depth)
    if kind == _CHAR:
        return _text(sizes, _first(rest))
    if kind not in _NUMBERS or flags & _COMPLEX:
        return Unread()
    stored, body = _first(rest)
    if stored not in _STORED:
        raise ValueError(f"numbers are stored in a way {stored} that is not known")
    numbers = np.frombuffer(body[: len(body) // _size(stored) * _size(stored)], dtype=f"<{_STORED[stored]}")
    if len(numbers) != math.prod(sizes):
        raise ValueError(f"an array of the sizes {list(sizes)[:8]} has {len(numbers)} numbers")
    return numbers.astype(_NUMBERS[kind]).reshape(sizes, order="F")


def _size(stored: int) -> int:
    return int(_STORED[stored][1])


def _first(rest: list[Element]) -> Element:
    if not rest:
        raise ValueError("an array has no content")
    return rest[0]


def _cell(sizes: tuple[int, ...], rest: list[Element], depth: int) -> Any:
    values = _matrices(rest, math.prod(sizes), depth)
    found = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        found[k] = value
    return found.reshape(sizes, order="F")


def _fields(sizes: tuple[int, ...], rest: list[Element], depth: int) -> Any:
    """A struct by the names of its fields; several in an array are of no use here."""
    if math.prod(sizes) != 1:
        return Unread()
    if len(rest) < 2 or len(rest[0][1]) < 4:
        raise ValueError("a struct has no names of fields")
    length = struct.unpack_from("<i", rest[0][1])[0]
    if length < 1:
        raise ValueError("the names of fields have no length")
    names = [rest[1][1][k : k + length].split(b"\0")[0].decode("latin-1") for k in range(0, len(rest[1][1]), length)]
    return dict(zip(names, _matrices(rest[2:], len(names), depth), strict=True))


def _matrices(rest: list[Element], count: int, depth: int) -> list[Any]:
    if len(rest) != count or any(kind != _MATRIX for kind, _ in rest):
        raise ValueError(f"a cell or struct with {count} entries has {len(rest)}")
    return [_matrix(body, depth + 1)[1] for _, body in rest]


def _text(sizes: tuple[int, ...], element: Element) -> Any:
    """A string for each row."""
    kind, body = element
    if kind not in _TEXTS:
        raise ValueError(f"a text is stored in a way {kind} that is not known")
    text = body.decode(_TEXTS[kind])
    if len(sizes) != 2 or len(text) != math.prod(sizes):
        raise ValueError(f"a text of the sizes {list(sizes)[:8]} has {len(text)} characters")
    return np.array([text[row :: sizes[0]] for row in range(sizes[0])])

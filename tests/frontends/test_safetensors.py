""".safetensors files: what they claim must be there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ircert.errors import FileError
from ircert.frontends.safetensors import read_safetensors


def entry(first: int, last: int, shape: Any = (1,), dtype: str = "F64") -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [first, last]}


def written(path: Path, header: object, body: bytes, length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + body)
    return path


@pytest.mark.rule("F-1")
def test_numbers_are_those_stored(tmp_path: Path) -> None:
    one = np.array([0.1, -2.0])
    body = one.tobytes() + one.astype("<f4").tobytes() + one.astype("<f2").tobytes() + b"\xcd\x3d\x00\xc0"
    header = {"__metadata__": {"format": "pt"}, "a": entry(0, 16, (2,)), "b": entry(16, 24, (1, 2), "F32")}
    header |= {"c": entry(24, 28, (2,), "F16"), "d": entry(28, 32, (2, 1), "BF16")}
    found = read_safetensors(written(tmp_path / "a.safetensors", header, body))
    assert found["a"].tolist() == one.tolist()
    assert found["b"].tolist() == [one.astype(np.float32).tolist()]
    assert found["c"].tolist() == one.astype(np.float16).tolist()
    assert found["d"].tolist() == [[0.10009765625], [-2.0]]


@pytest.mark.rule("F-6")
@pytest.mark.parametrize(
    ("header", "body", "says"),
    [
        ({"a": entry(0, 8)}, b"1234", "its arrays claim 8 bytes, and there are 4"),
        ({"a": entry(0, 8)}, b"12345678more", "its arrays claim 8 bytes, and there are 12"),
        ({"a": entry(0, 8, (2,))}, b"12345678", r"claims the shape \(2,\) and has 8 bytes"),
        ({"a": entry(0, 8), "b": entry(4, 12)}, b"1" * 12, "overlap"),
        ({"a": entry(8, 0)}, b"", "overlap"),
        ({"a": entry(0, 8, (-1,))}, b"12345678", "-1 where a size is meant"),
        ({"a": entry(0, 8, (1e3,))}, b"12345678", "where a size is meant"),
        ({"a": entry(0, 8, (1,), "I64")}, b"12345678", "'I64' numbers; store weights as F64"),
        ({"a": {}}, b"", "not a readable .safetensors"),
        ({"a": 3}, b"", "not a readable .safetensors"),
        ([1], b"", "no JSON object"),
        (b'{"a": 1, "a": 2}', b"", "a name twice"),
        (b"[" * 100_000, b"", "not a readable .safetensors"),
        (b"{", b"", "not a readable .safetensors"),
    ],
)
def test_what_is_claimed_must_be_there(header: object, body: bytes, says: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=says):
        read_safetensors(written(tmp_path / "a.safetensors", header, body))


@pytest.mark.parametrize("length", [2**63, 100])
def test_the_header_is_not_longer_than_the_file(length: int, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="longer than the file"):
        read_safetensors(written(tmp_path / "a.safetensors", {}, b"", length))

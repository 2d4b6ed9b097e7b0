"""Archives whose claims about sizes are not believed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ircert.errors import FileError
from ircert.frontends.archives import archive


def written(path: Path, packing: int = zipfile.ZIP_DEFLATED, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", packing) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return path


def test_members_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.zip", a=b'{"b": [1]}')
    with archive(path, ".zip") as members:
        assert members.names == ["a"]
        assert members.json("a") == {"b": [1]}
    with archive(path.read_bytes(), ".zip") as members:
        assert members.read("a") == b'{"b": [1]}'


@pytest.mark.rule("F-6")
def test_a_small_file_does_not_hold_a_large_one(tmp_path: Path) -> None:
    path = written(tmp_path / "a.zip", a=bytes(2**26), b=bytes(2**20))
    with pytest.raises(FileError, match=r"claim to hold"), archive(path, ".zip"):
        pass


def test_unusual_archives_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="unusual"), archive(written(tmp_path / "a", zipfile.ZIP_LZMA, a=b"1"), ".zip"):
        pass
    twice = written(tmp_path / "b", aa=b"1", ab=b"2")
    twice.write_bytes(twice.read_bytes().replace(b"ab", b"aa"))
    with pytest.raises(FileError, match="two of one name"), archive(twice, ".zip"):
        pass


@pytest.mark.parametrize("name", ["b", "a"])
def test_members_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a.zip", zipfile.ZIP_STORED, a=b"12345678")
    path.write_bytes(path.read_bytes().replace(b"12345678", b"12345679"))
    says = r"not a readable \.zip file \(.*(is missing|Bad CRC)"
    with pytest.raises(FileError, match=says), archive(path, ".zip") as members:
        members.read(name)


def test_no_archive_at_all(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text")
    for source in (tmp_path / "a", b"text"):
        with pytest.raises(FileError, match="not a readable"), archive(source, ".zip"):
            pass

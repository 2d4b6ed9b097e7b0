"""Pickles and their like are refused without being opened."""

from __future__ import annotations

import os
import pickle
import zipfile
from pathlib import Path

import pytest

import ircert
from ircert.errors import FileError


class Bomb:
    """Makes a folder when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (os.mkdir, (str(self.path),))


@pytest.mark.rule("F-13")
@pytest.mark.parametrize("suffix", [".pt", ".pth", ".pkl", ".joblib", ".ckpt", ".bin", ".h5"])
def test_nothing_in_them_is_run(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"net{suffix}"
    path.write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    with pytest.raises(FileError, match=r"never opened here|old kind") as caught:
        ircert.load(path)
    assert caught.value.remedy
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("member", "says"), [("net/code/a.py", "TorchScript"), ("net/archive_format", r"end in \.pt2")]
)
def test_archives_are_told_apart_by_their_names(member: str, says: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "net.pt", "w") as archive:
        archive.writestr(member, "pt2")
    with pytest.raises(FileError, match=says):
        ircert.load(tmp_path / "net.pt")


def test_a_missing_file_is_missing() -> None:
    with pytest.raises(FileError, match="no such file"):
        ircert.load("nowhere.pt")

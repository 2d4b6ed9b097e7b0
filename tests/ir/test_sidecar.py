"""Files of graphs: large arrays beside the text, and writes that leave nothing half done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import FileError, IrcertError, ParseError
from ircert.files import replacing, write_text
from ircert.passes.rebuilding import identical
from tests.ir.test_parser import large_network


def save_arrays(path: Path, arrays: dict[str, Any]) -> None:
    np.savez(path, **arrays)


@pytest.mark.rule("IR-16")
@pytest.mark.parametrize("sparse", [False, True])
def test_large_arrays_lie_in_a_sidecar(tmp_path: Path, sparse: bool) -> None:
    graph = large_network(sparse)
    ircert.save(graph, tmp_path / "net.ir")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.ir", "net.ir.npz"]
    text = (tmp_path / "net.ir").read_text()
    assert '@"net.ir.npz:h1/weight"' in text
    assert len(text) < 15_000
    assert identical(ircert.load(tmp_path / "net.ir"), graph)
    with pytest.raises(ParseError, match=r"lies in another file; load the \.ir file with ircert\.load"):
        ircert.parse(text)


@pytest.mark.rule("IR-16")
def test_small_graphs_are_one_file(tmp_path: Path) -> None:
    graph = ircert.load([([[1.0]], None)])
    ircert.save(graph, tmp_path / "net.ir")
    assert [path.name for path in tmp_path.iterdir()] == ["net.ir"]
    assert f'sha256 "{graph.sha256}"' in (tmp_path / "net.ir").read_text()


@pytest.mark.rule("IR-16")
def test_damaged_files_are_refused(tmp_path: Path) -> None:
    net, sidecar = tmp_path / "net.ir", tmp_path / "net.ir.npz"
    ircert.save(large_network(), net)
    text, arrays = net.read_text(), sidecar.read_bytes()

    def refused(says: str) -> None:
        with pytest.raises(IrcertError) as caught:
            ircert.load(net)
        assert says in str(caught.value)
        assert "net.ir" in str(caught.value)

    sidecar.unlink()
    refused("keep both files together")
    sidecar.write_bytes(arrays[: len(arrays) // 2])
    refused("not a readable .npz file")
    sidecar.write_bytes(b"")
    refused("not a readable .npz file")
    np.savez(sidecar, other=np.zeros(3))
    refused("has no array `h1/weight`")
    save_arrays(sidecar, {"h1/weight": np.zeros((80, 70))})
    refused("sha256")
    save_arrays(sidecar, {"h1/weight": np.array([{}], dtype=object)})
    refused("Python objects")
    sidecar.write_bytes(arrays)
    for reference in ("../net.ir.npz:h1/weight", "/etc/passwd:x", "a/b.npz:x", "..:x", ":x", "C:\\\\x.npz:y"):
        net.write_text(text.replace("net.ir.npz:h1/weight", reference))
        refused("file in the same folder" if reference[0] != "C" else "net.ir")
    net.write_bytes(b"\xff\xfe\x00")
    refused("not UTF-8")
    net.write_bytes(text.encode("utf-8-sig"))
    assert ircert.load(net) == large_network()


@pytest.mark.rule("IR-16")
def test_links_are_written_through(tmp_path: Path) -> None:
    (tmp_path / "link.ir").symlink_to("net.ir")
    ircert.save(ircert.load([([[1.0]], None)]), tmp_path / "link.ir")
    assert (tmp_path / "link.ir").is_symlink()
    assert (tmp_path / "net.ir").is_file()


@pytest.mark.rule("IR-16")
def test_sparse_parts_must_fit_together(tmp_path: Path) -> None:
    net = tmp_path / "net.ir"
    ircert.save(large_network(sparse=True), net)
    arrays = dict(np.load(tmp_path / "net.ir.npz"))
    for part, value in (
        ("indices", np.full(5600, 99)),
        ("indptr", np.zeros(3, dtype=int)),
        ("indices", np.zeros(5600, dtype=int)),
        ("indices", np.arange(5600.0)),
        ("indices", np.zeros((2, 3), dtype=int)),
        ("shape", np.array([-1, 2])),
    ):
        save_arrays(tmp_path / "net.ir.npz", {**arrays, f"h1/weight/{part}": value})
        with pytest.raises(IrcertError, match="not a sparse array"):
            ircert.load(net)


@pytest.mark.rule("IR-16")
def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "net.ir"
    target.write_text("old")

    def write_half() -> None:
        with replacing(target) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["net.ir"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="optional: pipes with names")
def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    target = tmp_path / "pipe"
    os.mkfifo(target)
    reader = os.open(target, os.O_RDONLY | os.O_NONBLOCK)
    write_text(target, "text")
    assert os.read(reader, 100) == b"text"
    os.close(reader)
    assert target.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("missing/net.ir", "does not exist"),
        (".", "unknown kind of file"),
        ("net.txt", "ending in .ir"),
        ("folder.ir", "folder, not a file"),
    ],
)
def test_places_that_cannot_be_written(tmp_path: Path, path: str, says: str) -> None:
    (tmp_path / "folder.ir").mkdir()
    with pytest.raises(FileError, match=says):
        ircert.save(ircert.load([([[1.0]], None)]), tmp_path / path)
    with pytest.raises(FileError):
        write_text(tmp_path / "missing" / "x", "text")

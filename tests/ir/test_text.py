from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import ircert
from ircert.errors import FileError, IrcertError, ParseError
from ircert.files import replacing, write_text
from ircert.ir.graph import Graph
from ircert.ir.printer import outline
from ircert.passes.rebuilding import identical
from ircert.testing import assert_round_trips, graphs

BAD = sorted((Path(__file__).parent / "bad").glob("*.ir"))


@pytest.mark.rule("IR-14")
@given(graphs())
def test_text_round_trips(graph: Graph) -> None:
    assert_round_trips(graph)


@pytest.mark.rule("IR-14")
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_every_double_survives(numbers: list[float]) -> None:
    graph = ircert.load([(np.array([numbers]), None)])
    back = ircert.parse(str(graph))
    assert back == graph
    assert back.nodes[1].op.weight.tolist() == [[v + 0.0 for v in numbers]]  # type: ignore[attr-defined]


@pytest.mark.rule("IR-14")
def test_a_small_network_is_readable() -> None:
    graph = ircert.load([([[1.0, -1.0], [0.5, 2.0]], [0.0, 1.0]), (csr_array(np.array([[0.0, 3.0]])), None)])
    specification = (Path(__file__).parents[2] / "spec" / "ir.md").read_text()
    assert str(graph) in specification.replace("```\n", "")


@pytest.mark.rule("IR-14")
def test_comments_and_free_layout_are_read() -> None:
    text = "# a net\nircert.ir/1 # version\n return_ = input (length = 2 ) y=relu( return_ )#end\nreturn y # done"
    assert [node.name for node in ircert.parse(text).nodes] == ["return_", "y"]
    keyword = "ircert.ir/1\nreturn = input(length=1)\nsha256 = relu(return)\nreturn sha256"
    assert [node.name for node in ircert.parse(keyword).nodes] == ["return", "sha256"]


@pytest.mark.rule("IR-15")
@pytest.mark.parametrize("path", BAD, ids=lambda p: p.stem)
def test_faults_are_pointed_at(path: Path) -> None:
    """The first line of each file says what the error must say; the line counts."""
    text = path.read_text()
    wanted = text.split("\n")[0].removeprefix("# error: ")
    with pytest.raises(IrcertError) as caught:
        ircert.parse(text)
    assert str(caught.value).startswith(wanted)


@pytest.mark.rule("IR-15")
@given(st.text(max_size=200) | st.text("ircet./1x=input(leg2)\n[]{},@\"'-0.5#", max_size=200))
def test_any_text_is_a_graph_or_an_error(text: str) -> None:
    for candidate in (text, f"ircert.ir/1\n{text}"):
        with pytest.raises(IrcertError):
            ircert.parse(candidate)


@pytest.mark.rule("IR-15")
@given(graphs(), st.data())
def test_a_damaged_text_is_a_graph_or_an_error(graph: Graph, data: st.DataObject) -> None:
    text = str(graph)
    start = data.draw(st.integers(0, len(text)))
    damaged = (
        text[:start] + data.draw(st.text('(),=[]x01.-"@#\n', max_size=3)) + text[start + data.draw(st.integers(0, 5)) :]
    )
    with suppress(IrcertError):
        assert_round_trips(ircert.parse(damaged))


@pytest.mark.rule("IR-15")
@pytest.mark.parametrize(
    "garbage",
    [
        "\x00" * 3_000_000,
        "a" * 3_000_000,
        "[" * 3_000_000,
        "# " * 1_500_000,
        " \n" * 1_500_000,
        "ircert.ir/1" + "\n# c" * 700_000,
        "ircert.ir/1\n" + "x = input(" * 300_000,
        "ircert.ir/1\n" + "x" * 3_000_000 + " = input(length=1)",
        "ircert.ir/1\nx = input(length=" + "[" * 100_000,
        "ircert.ir/1\nx = input(length=" + "9" * 1_000_000 + ")\nreturn x",
    ],
    ids=range(10),
)
def test_megabytes_of_garbage_are_refused(garbage: str) -> None:
    """Quadratic behaviour would take hours here."""
    with pytest.raises(IrcertError) as caught:
        ircert.parse(garbage)
    assert len(str(caught.value)) < 400


def test_parse_wants_text() -> None:
    with pytest.raises(TypeError, match=r"ircert\.load"):
        ircert.parse(Path("net.ir"))  # type: ignore[arg-type]


# --- files ------------------------------------------------------------------------------------------------------------


def save_arrays(path: Path, arrays: dict[str, Any]) -> None:
    np.savez(path, **arrays)


def large_network(sparse: bool = False) -> Graph:
    rng = np.random.default_rng(1)
    weight = rng.standard_normal((80, 70))
    return ircert.load(
        [(csr_array(weight) if sparse else weight, rng.standard_normal(80)), (rng.standard_normal((2, 80)), None)]
    )


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


def test_the_outline_is_short_and_says_so(tmp_path: Path) -> None:
    shown = outline(large_network(sparse=True))
    assert "<80x70 sparse, 5600 nonzeros>" in shown
    with pytest.raises(ParseError, match=r"left out for display; write the graph with ircert\.save"):
        ircert.parse(shown)

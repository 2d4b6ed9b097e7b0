"""Files of other kinds than ONNX, made by their own tools: each agrees with its tool; damaged ones get one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.cli.main import run
from tests.frontends.test_fixtures import FIXTURES, assert_close, values

RELU = {"activation": "relu"}
UNITS = {"normalisation": "affine"}
KINDS: dict[str, dict[str, Any]] = {
    "torch_files/mlp.onnx.gz": {},
    "torch_files/mlp.safetensors": RELU,
    "torch_files/mlp.pt2": {},
    "torch_files/bfloat16.safetensors": RELU,
    "nnet/mlp.nnet": UNITS,
    "nnet/mlp.nnet.gz": {"normalisation": "clipped"},
    "keras_files/dense.keras": {},
    "keras_files/conv.keras": {},
    "keras_files/nested.keras": {},
    "keras_files/chain.keras": {},
    "mat/numbered.mat": RELU,
    "mat/cells.mat": {},
    "mat/nnv.mat": {},
    "mat/controller.mat": {},
}
REFUSED = {
    "torch_files/refused_pickle.pt": "never opened here; in torch, save",
    "torch_files/refused_script.pt": "TorchScript",
}


def stored(name: str) -> Path:
    """The values beside a file; a packed file has those of the plain one."""
    return FIXTURES / name.removesuffix(".gz")


@pytest.mark.parametrize("name", KINDS)
def test_it_agrees_with_its_own_tool(name: str) -> None:
    x, y = values(stored(name))
    assert len(x) >= 6
    assert_close(ircert.load(FIXTURES / name, **KINDS[name])(x), y)


@pytest.mark.rule("F-12")
def test_twins_have_one_digest() -> None:
    twins = ("mlp.onnx", "mlp.onnx.gz", "mlp.pt2", "mlp.safetensors")
    graphs = [ircert.load(FIXTURES / "torch_files" / name, **KINDS.get(f"torch_files/{name}", {})) for name in twins]
    assert len({graph.sha256 for graph in graphs}) == 1


@pytest.mark.rule("F-16")
@pytest.mark.parametrize("path", sorted((FIXTURES / "torch_export").iterdir()), ids=lambda path: path.stem)
def test_a_program_is_its_onnx_file(path: Path) -> None:
    other = FIXTURES / "torch_dynamo" / f"{path.stem}.onnx"
    graph = ircert.load(path)
    assert graph.sha256 == ircert.load(other).sha256
    x, y = values(other)
    assert_close(graph(x), y)


@pytest.mark.rule("F-9", "F-13")
@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_the_remedy(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["opt", str(FIXTURES / name)]) == 2
    assert REFUSED[name] in one_line(capsys)


def truncated(data: bytes) -> bytes:
    return data[: len(data) * 3 // 5]


def overwritten(data: bytes) -> bytes:
    return b"\x8f\x01{]" * 50 + data[200:]


def longer(data: bytes) -> bytes:
    return data + b"\x00, and more"


def emptied(data: bytes) -> bytes:
    return b""


@pytest.mark.rule("F-9")
@pytest.mark.parametrize("damage", [truncated, overwritten, longer, emptied])
@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_gets_one_line(
    name: str, damage: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / Path(name).name
    path.write_bytes(damage((FIXTURES / name).read_bytes()))
    options = [part for key, value in KINDS[name].items() for part in (f"--{key}", value)]
    archive = name.endswith((".pt2", ".keras")) and damage is longer  # zip files may have something behind them
    assert run(["opt", str(path), *options]) == (0 if archive else 2)
    if not archive:
        assert str(path) in one_line(capsys)


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ircert: error: ")
    assert err.count("\n") == 1
    return err


def test_every_file_is_of_a_known_kind() -> None:
    """Nothing lies in the folders that no test reads."""
    known = {*KINDS, *REFUSED}
    files = [file for folder in {Path(name).parent for name in known} for file in (FIXTURES / folder).iterdir()]
    names = {str(file.relative_to(FIXTURES)) for file in files if file.suffix not in (".npz", ".onnx", ".md")}
    assert names == known


def test_numbers_in_memory_are_those_of_the_file() -> None:
    path = FIXTURES / "torch_files" / "mlp.safetensors"
    from ircert.frontends.safetensors import read_safetensors

    arrays = read_safetensors(path)
    assert ircert.load(arrays, activation="relu") == ircert.load(path, activation="relu")
    assert all(array.dtype == np.float32 for array in arrays.values())

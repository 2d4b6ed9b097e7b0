"""Archives of torch.export.save: what they claim must be there, and pickles stay closed."""

from __future__ import annotations

import copy
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import FileError
from ircert.frontends.archives import archive
from ircert.frontends.pt2.program import program_of
from tests.frontends.test_fixtures import FIXTURES

MLP = FIXTURES / "torch_files" / "mlp.pt2"
MODEL, CONFIG = "archive/models/model.json", "archive/data/weights/model_weights_config.json"


def contents() -> dict[str, bytes]:
    with zipfile.ZipFile(MLP) as members:
        return {name: members.read(name) for name in members.namelist()}


def written(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return path


def changed(path: Path, member: str, change: Callable[[Any], None]) -> Path:
    members = contents()
    content = copy.deepcopy(json.loads(members[member]))
    change(content)
    return written(path, members | {member: json.dumps(content).encode()})


def weight(content: Any) -> Any:
    return content["config"]["0.weight"]


def set_sizes(content: Any) -> None:
    weight(content)["tensor_meta"]["sizes"] = [{"as_int": 2**20}, {"as_int": 2**20}]


def set_strides(content: Any) -> None:
    weight(content)["tensor_meta"]["strides"] = [{"as_int": 300}, {"as_int": 1}]


def set_offset(content: Any) -> None:
    weight(content)["tensor_meta"]["storage_offset"] = {"as_int": -4}


def set_expanded(content: Any) -> None:
    meta = weight(content)["tensor_meta"]
    meta["sizes"], meta["strides"] = [{"as_int": 2**20}, {"as_int": 3}], [{"as_int": 0}, {"as_int": 1}]


@pytest.mark.rule("F-6")
@pytest.mark.parametrize("change", [set_sizes, set_strides, set_offset, set_expanded])
def test_no_array_is_larger_than_its_numbers(change: Any, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"claims the sizes|where a size is meant"):
        ircert.load(changed(tmp_path / "net.pt2", CONFIG, change))


def test_strides_are_followed(tmp_path: Path) -> None:
    def turn(content: Any) -> None:
        meta = weight(content)["tensor_meta"]
        meta["strides"] = [{"as_int": 1}, {"as_int": 8}]

    with archive(changed(tmp_path / "net.pt2", CONFIG, turn), ".pt2") as members:
        turned = program_of(members, "net.pt2").constants["p_0_weight"]
    with archive(MLP, ".pt2") as members:
        plain = program_of(members, "net.pt2").constants["p_0_weight"]
    assert np.array_equal(turned, plain.ravel().reshape(3, 8).T)


@pytest.mark.rule("F-13")
def test_pickled_weights_are_not_opened(tmp_path: Path) -> None:
    def pickled(content: Any) -> None:
        weight(content)["use_pickle"] = True

    with pytest.raises(FileError, match=r"`0\.weight` is pickled, and pickles are never opened; save it again"):
        ircert.load(changed(tmp_path / "net.pt2", CONFIG, pickled))
    sample = {name: b"no pickle" if "sample_inputs" in name else data for name, data in contents().items()}
    assert ircert.load(written(tmp_path / "net.pt2", sample)) == ircert.load(MLP)


@pytest.mark.parametrize(
    ("member", "data", "says"),
    [
        ("archive/archive_format", b"pt3", "no archive of torch.export.save"),
        ("archive/byteorder", b"big", "big-endian"),
        (MODEL, b"{}", "not a readable .pt2"),
        (MODEL, b"[" * 100_000, "not a readable .pt2"),
        (MODEL, None, "it holds 0 programs"),
        (CONFIG, b'{"config": {}}', "`0.weight` is not stored"),
        (CONFIG, None, "is missing"),
        ("archive/data/weights/weight_0", None, "is missing"),
        ("archive/data/weights/weight_0", b"12345678", "claims the sizes"),
        ("archive/models/second.json", b"{}", "it holds 2 programs"),
    ],
)
def test_what_is_missing_or_different(member: str, data: bytes | None, says: str, tmp_path: Path) -> None:
    members = contents() | ({} if data is None else {member: data})
    members = {name: content for name, content in members.items() if data is not None or name != member}
    with pytest.raises(FileError, match=says):
        ircert.load(written(tmp_path / "net.pt2", members))


def test_older_files_are_told_apart(tmp_path: Path) -> None:
    old = {"serialized_exported_program.json": b"{}", "serialized_state_dict.pt": b""}
    with pytest.raises(FileError, match=r"an older torch wrote it, with pickled weights; save it again"):
        ircert.load(written(tmp_path / "net.pt2", old))
    members = contents() | {"archive/data/weights/model.pt": b""}
    del members[CONFIG]
    with pytest.raises(FileError, match=r"an older torch wrote it, with pickled weights; save it again"):
        ircert.load(written(tmp_path / "net.pt2", members))

    def newer(content: Any) -> None:
        content["schema_version"]["major"] = 9

    with pytest.raises(FileError, match="schema version 9, and 8 is read"):
        ircert.load(changed(tmp_path / "net.pt2", MODEL, newer))


def test_options_are_those_of_onnx() -> None:
    inner = ircert.load(MLP, outputs=["relu"])
    assert inner.output_dim == 8
    with pytest.raises(ircert.IrcertError, match="has no value `nothing`"):
        ircert.load(MLP, outputs=["nothing"])

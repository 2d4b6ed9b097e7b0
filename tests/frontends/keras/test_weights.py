"""Weights in HDF5: of this file alone, and no larger than it."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import MissingExtra
from ircert.frontends.keras import weights as module
from ircert.frontends.keras.weights import stored_weights
from tests.frontends.test_fixtures import FIXTURES

h5py = pytest.importorskip("h5py")


def written(fill: Any) -> bytes:
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        fill(file)
    return buffer.getvalue()


def test_arrays_by_the_names_of_layers() -> None:
    def fill(file: Any) -> None:
        for key, name in (("dense", "first"), ("dense_1", "second")):
            variables = file.create_group(f"layers/{key}/vars")
            variables.attrs["name"] = name
            variables["0"] = np.full((2, 3), len(name), dtype=np.float32)
        file.create_group("layers/empty")

    found = stored_weights(written(fill))
    assert list(found) == ["first", "second"]
    assert found["second"][0].tolist() == [[6.0] * 3] * 2


def test_models_in_models() -> None:
    def fill(file: Any) -> None:
        for key in ("layers/dense", "layers/part/layers/dense"):
            file[f"{key}/vars/0"] = np.full(2, len(key), dtype=np.float32)
        file.create_group("layers/part/vars").attrs["name"] = "step"

    found = stored_weights(written(fill))
    assert found["dense"][0].tolist() == [12.0, 12.0]
    assert found["step"]["dense"][0].tolist() == [24.0, 24.0]


@pytest.mark.rule("F-6")
def test_groups_that_hold_themselves_are_refused() -> None:
    def fill(file: Any) -> None:
        group = file.create_group("layers/a")
        group.create_group("vars")
        group["layers"] = file["layers"]

    with pytest.raises(ValueError, match="too many layers"):
        stored_weights(written(fill))


@pytest.mark.rule("F-6")
def test_claims_and_links_are_refused(tmp_path: Any) -> None:
    def large(file: Any) -> None:
        file.create_dataset("layers/a/vars/0", shape=(2**30,), dtype="f4", chunks=True)

    def linked(file: Any) -> None:
        file.create_group("layers/a/vars")["0"] = h5py.ExternalLink("/etc/passwd", "/x")

    def soft(file: Any) -> None:
        file["other"] = np.ones(2)
        file.create_group("layers/a/vars")["0"] = h5py.SoftLink("/other")

    def integers(file: Any) -> None:
        file["layers/a/vars/0"] = np.ones(2, dtype=int)

    def twice(file: Any) -> None:
        for key in "ab":
            file.create_group(f"layers/{key}/vars").attrs["name"] = "same"

    for fill, says in (
        (large, "too large"),
        (linked, "something else"),
        (soft, "something else"),
        (integers, "no real numbers"),
        (twice, "two layers are named"),
        (lambda file: None, "no layers"),
    ):
        with pytest.raises(ValueError, match=says):
            stored_weights(written(fill))


def test_damaged_weights_are_one_line() -> None:
    whole = written(lambda file: file.create_group("layers/a/vars"))
    with pytest.raises(ValueError, match="its weights cannot be read"):
        stored_weights(whole[:-20])


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"`h5py`.*pip install 'ircert\[keras\]'"):
        stored_weights(b"")
    with pytest.raises(MissingExtra):
        ircert.load(FIXTURES / "keras_files" / "dense.keras")

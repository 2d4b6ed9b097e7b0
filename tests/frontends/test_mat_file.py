"""Variables of .mat files, against scipy where that is safe; damaged files are refused and end nothing."""

from __future__ import annotations

import io
import zlib
from typing import Any

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from ircert.frontends.mat_file import Unread, variables
from tests.frontends.test_fixtures import FIXTURES

RANDOM = np.random.default_rng(3)
NUMBERS = {
    "double": RANDOM.normal(size=(3, 4)),
    "single": RANDOM.normal(size=(2, 3)).astype(np.float32),
    "small": np.arange(6, dtype=np.int8).reshape(2, 3),
    "large": np.array([[2**40, -1]], dtype=np.int64),
    "whole": np.array([[1.0, 2.0, 300.0]]),
    "solid": RANDOM.normal(size=(2, 3, 4)),
    "empty": np.zeros((0, 3)),
}


def saved(content: dict[str, Any], **options: Any) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, content, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("packed", [False, True])
def test_numbers_are_those_of_scipy(packed: bool) -> None:
    data = saved(NUMBERS, do_compression=packed)
    expected, found = loadmat(io.BytesIO(data)), variables(data)
    assert set(found) == set(NUMBERS)
    for name in NUMBERS:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_array_equal(found[name], expected[name])


def test_texts_cells_and_structs() -> None:
    cell = np.empty((1, 2), dtype=object)
    cell[0, 0], cell[0, 1] = np.eye(2), "relu"
    found = variables(saved({"rows": ["relu", "tanh  "], "cell": cell, "net": {"W": cell, "n": 3.0}, "umlaut": "für"}))
    assert [row.strip() for row in found["rows"]] == ["relu", "tanh"]
    np.testing.assert_array_equal(found["cell"][0, 0], np.eye(2))
    assert found["cell"][0, 1].tolist() == ["relu"]
    assert found["net"]["n"].tolist() == [[3.0]]
    assert found["net"]["W"].shape == (1, 2)
    assert found["umlaut"].tolist() == ["für"]


def test_what_only_matlab_reads() -> None:
    from scipy.sparse import csc_array

    found = variables(saved({"sparse": csc_array(np.eye(3)), "complex": np.array([[1j]])}))
    assert all(isinstance(value, Unread) for value in found.values())


@pytest.mark.rule("F-6")
@pytest.mark.parametrize("name", ["numbered", "cells", "nnv", "controller"])
def test_damage_ends_nothing(name: str) -> None:
    data, random = (FIXTURES / "mat" / f"{name}.mat").read_bytes(), np.random.default_rng(1)
    refused = 0
    for _ in range(300):
        changed = np.frombuffer(data, dtype=np.uint8).copy()
        changed[random.integers(128, len(data), size=random.integers(1, 6))] ^= np.uint8(1 << random.integers(8))
        try:
            variables(changed.tobytes()[: random.integers(130, len(data) + 1)])
        except (ValueError, zlib.error):
            refused += 1
    assert refused > 100

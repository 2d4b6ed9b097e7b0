from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import ircert
from ircert.backends.mps import Mps
from ircert.programs.build import ProgramBuilder
from tests.backends import emitting
from tests.backends.file_programs import example


@pytest.mark.parametrize(("name", "quadratic"), [("linear.mps", False), ("quadratic.mps", True)])
def test_golden(name: str, quadratic: bool, tmp_path: Path, update_golden: bool) -> None:
    emitting.assert_golden(Mps(), example(quadratic), name, tmp_path, update_golden)


def test_golden_minimising_form(tmp_path: Path, update_golden: bool) -> None:
    emitting.assert_golden(Mps(minimise=True), example(True), "minimising.mps", tmp_path, update_golden)


def test_it_is_found_by_name() -> None:
    assert isinstance(ircert.backends.get("mps"), Mps)


def test_a_minimising_program_is_written_as_it_is(tmp_path: Path) -> None:
    program = example(quadratic=True, maximise=False)
    text = emitting.emitted(Mps(), program, tmp_path)
    assert "OBJSENSE" not in text
    assert text == emitting.emitted(Mps(minimise=True), program, tmp_path)


def test_nothing_at_all(tmp_path: Path) -> None:
    text = emitting.emitted(Mps(), ProgramBuilder().program(), tmp_path)
    assert "COLUMNS\n one obj 0.0\nRHS\nBOUNDS\n LO bnd one 1.0\n UP bnd one 1.0\nENDATA\n" in text


def test_warns_of_numbers_that_readers_change(tmp_path: Path) -> None:
    emitting.assert_warns_of_numbers(Mps(), tmp_path)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    emitting.assert_refuses_bad_places(Mps(), tmp_path)


def test_a_failure_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    emitting.assert_leaves_the_old_file(Mps(), tmp_path, monkeypatch, "ircert.backends.mps")


def test_memory_is_bounded(tmp_path: Path) -> None:
    """The transposed matrix is there too: 12 to 16 bytes per nonzero, where the file has 40."""
    emitting.assert_memory_is_bounded(Mps(), tmp_path, share=0.5)


def test_huge_quadratics_are_refused(tmp_path: Path) -> None:
    huge = replace(example(), quadratic=csr_array(np.diag([1e308] + [0.0] * 7)))
    emitting.assert_refuses_huge_quadratics(Mps(), huge, tmp_path)


def test_chunks_join_seamlessly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = emitting.emitted(Mps(), example(quadratic=True), tmp_path)
    for chunk in (1, 2, 3):
        monkeypatch.setattr("ircert.backends.text.CHUNK", chunk)
        assert emitting.emitted(Mps(), example(quadratic=True), tmp_path) == whole

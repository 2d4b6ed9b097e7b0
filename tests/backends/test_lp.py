from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import ircert
from ircert.backends.lp import Lp
from ircert.errors import ProgramError
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Block, Program, QuadraticRow
from tests.backends import emitting
from tests.backends.file_programs import example


@pytest.mark.parametrize(("name", "quadratic"), [("linear.lp", False), ("quadratic.lp", True)])
def test_golden(name: str, quadratic: bool, tmp_path: Path, update_golden: bool) -> None:
    emitting.assert_golden(Lp(), example(quadratic), name, tmp_path, update_golden)


def test_it_is_found_by_name() -> None:
    assert isinstance(ircert.backends.get("lp"), Lp)


@given(st.floats(2e-9, 9e14))
def test_every_double_is_written_exactly(number: float) -> None:
    with TemporaryDirectory() as folder:
        text = emitting.emitted(Lp(), emitting.one_row(-number, rhs=-number), Path(folder))
    left, right = text.partition("r_0: - ")[2].splitlines()[0].split(" x_0 <= ")
    assert float(left) == number
    assert float(right) == -number


def test_a_stored_zero_and_a_repeated_entry(tmp_path: Path) -> None:
    program = emitting.one_row(1.0)
    odd = csr_array((np.array([1.0, 0.0, 2.0]), np.array([0, 0, 0]), np.array([0, 3])), shape=(1, 1))
    assert " r_0: + 3.0 x_0 <= 1.0\n" in emitting.emitted(Lp(), replace(program, matrix=odd), tmp_path)
    assert odd.nnz == 3


def test_nothing_at_all(tmp_path: Path) -> None:
    text = emitting.emitted(Lp(), ProgramBuilder().program(), tmp_path)
    assert text.endswith("Maximize\n obj:\n  + 0.0 one\nSubject To\nBounds\n one = 1\nEnd\n")


def test_warns_of_numbers_that_readers_change(tmp_path: Path) -> None:
    emitting.assert_warns_of_numbers(Lp(), tmp_path)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    emitting.assert_refuses_bad_places(Lp(), tmp_path)


def test_a_failure_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    emitting.assert_leaves_the_old_file(Lp(), tmp_path, monkeypatch, "ircert.backends.lp")


def test_memory_is_bounded(tmp_path: Path) -> None:
    emitting.assert_memory_is_bounded(Lp(), tmp_path, share=0.35)


def test_huge_quadratics_are_refused(tmp_path: Path) -> None:
    huge = replace(example(), quadratic=csr_array(np.diag([1e308] + [0.0] * 7)))
    emitting.assert_refuses_huge_quadratics(Lp(), huge, tmp_path)


@pytest.mark.parametrize("length", [1, 30, 80])
def test_lines_stay_short(length: int, tmp_path: Path) -> None:
    program = example(quadratic=True)
    blocks = tuple(replace(b, name=letter * length) for b, letter in zip(program.variables, "abcd", strict=True))
    rows = (replace(program.rows[0], name="r" * length),)
    balls = tuple(replace(row, name=letter * length) for row, letter in zip(program.quadratic_rows, "pq", strict=True))
    text = emitting.emitted(Lp(), replace(program, variables=blocks, rows=rows, quadratic_rows=balls), tmp_path)
    assert max(map(len, text.splitlines())) < 255


def test_chunks_join_seamlessly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = example(quadratic=True)
    whole = emitting.emitted(Lp(), program, tmp_path)
    for chunk in (1, 2, 3):
        monkeypatch.setattr("ircert.backends.text.CHUNK", chunk)
        parts = emitting.emitted(Lp(), program, tmp_path)
        # Only the objective's lines depend on where a chunk ends.
        assert parts.split() == whole.split()


@pytest.mark.parametrize(
    "name", ["e1", "E.x", "inf", "info", "nano", "free", "st", "Bounds", "obj", "2x", "a b", "ü", "a" * 81]
)
def test_names_that_readers_misunderstand_are_refused(name: str) -> None:
    with pytest.raises(ProgramError, match="cannot name a block of variables"):
        renamed_block(name)
    ball = QuadraticRow(name, csr_array(np.eye(1)), np.zeros(1), 1.0)
    with pytest.raises(ProgramError, match="cannot name a quadratic row"):
        replace(emitting.one_row(1.0), quadratic_rows=(ball,))


def renamed_block(name: str) -> Program:
    return replace(emitting.one_row(1.0), variables=(Block(name, 0, 1),))


def test_a_quadratic_row_has_a_name_of_its_own() -> None:
    ball = QuadraticRow("r_0", csr_array(np.eye(1)), np.zeros(1), 1.0)
    with pytest.raises(ProgramError, match="two rows are called `r_0`"):
        replace(emitting.one_row(1.0), quadratic_rows=(ball,))

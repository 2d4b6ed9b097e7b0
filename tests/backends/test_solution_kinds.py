"""Solution files of GLPK and CPLEX; `test_solution.py` has those of other solvers, and how all are read."""

from __future__ import annotations

from pathlib import Path

import pytest

import ircert
from ircert.backends.solution import complete, read_solution
from ircert.errors import FileError
from tests.cli.commands import ircert_command

FOLD = "ircert.ir/1\nx = input(length=2)\na = abs(x)\nreturn a\n"
QUESTION = ("fold.ir", "--center", "0.25,2", "--radius", "1")
SOLUTIONS = Path(__file__).parent / "solutions"
"""What GLPK 5.0 writes for this question, exported as .lp: glp_print_mip and glp_write_mip."""
CPLEX = """<?xml version = "1.0" encoding="UTF-8" standalone="yes"?>
<CPLEXSolution version="1.2">
 <header problemName="q.lp" objectiveValue="1.5" solutionStatusString="integer optimal solution"/>
 <variables>
  <variable name="x_0" index="0" value="0.75"/>
  <variable name="x_1" index="1" value="1"/>
  <variable name="y_0" index="5" value="-0.75"/>
  <variable name="y_1" index="6" value="1.0000000000000002"/>
 </variables>
</CPLEXSolution>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fold.ir").write_text(FOLD)
    for name in ("glpk", "glpk_raw"):
        (tmp_path / name).write_text((SOLUTIONS / f"{name}.txt").read_text())
    (tmp_path / "cplex").write_text(CPLEX)
    (tmp_path / "cplex_pool").write_text(f"<CPLEXSolutions>{CPLEX.partition('?>')[2]}</CPLEXSolutions>")
    return tmp_path


@pytest.mark.parametrize("kind", ["glpk", "glpk_raw", "cplex", "cplex_pool"])
def test_all_kinds_prove_the_same_collision(folder: Path, kind: str) -> None:
    run = ircert_command("replay", *QUESTION, "--solution", kind, cwd=folder)
    assert run.returncode == 1, run.stderr
    assert "exactly -3/4, 1" in run.stdout


def test_places_and_names_are_the_same(folder: Path) -> None:
    program = ircert.program(ircert.parse(FOLD), ircert.Query("local", [0.25, 2.0], 1.0))
    named, placed = (complete(read_solution(folder / name), program, name) for name in ("glpk", "glpk_raw"))
    assert named == pytest.approx(placed, abs=1e-6)  # tables have six digits
    assert len(named) == len(program.column_names)


@pytest.mark.parametrize(
    ("kind", "old", "new", "words"),
    [
        ("glpk", "INTEGER OPTIMAL", "INTEGER EMPTY", "the solver says: INTEGER EMPTY"),
        ("glpk", "Column name", "Colum name", "incomplete"),
        ("glpk", "x_0                      0.75", "x_0                      0,75", "not a finite number"),
        ("glpk_raw", "s mip 19 15 o", "s mip 19 15 n", "status n"),
        ("glpk_raw", "s mip 19 15 o", "s mip 19 16 o", "incomplete"),
        ("glpk_raw", "j 2 ", "j 3 ", "not a line"),
        ("cplex", "</variables>", "", "not readable as XML"),
        ("cplex", "<CPLEXSolution", '<!DOCTYPE a [<!ENTITY b "c">]><CPLEXSolution', "entities"),
        ("cplex", 'name="x_0"', 'nam="x_0"', "no name"),
        ("cplex", "variable ", "variabl ", "no solution inside"),
        ("cplex", '"x_0"', '"z_0"', "not in the program"),
    ],
)
def test_bad_files_are_one_line(folder: Path, kind: str, old: str, new: str, words: str) -> None:
    text = (folder / kind).read_text()
    assert old in text
    (folder / kind).write_text(text.replace(old, new))
    run = ircert_command("replay", *QUESTION, "--solution", kind, cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert words in run.stderr
    assert run.stderr.count("\n") == 1


def test_places_of_another_program_are_refused(folder: Path) -> None:
    program = ircert.program(ircert.parse(FOLD), ircert.Query("pseudo", [0.25, 2.0], 1.0))
    with pytest.raises(FileError, match="15 variables, the program"):
        complete(read_solution(folder / "glpk_raw"), program, "glpk_raw")

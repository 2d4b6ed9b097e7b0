from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert.backends.lp import Lp
from ircert.backends.solution import complete, read_solution
from ircert.errors import FileError
from ircert.programs.build import ProgramBuilder
from tests.backends.file_programs import example

HIGHS = """Model status
Optimal

# Primal solution values
Feasible
Objective 3
# Columns 3
x_0 0.3333333333333
x_1 -2e-07
relu.h1.x_0 0
# Rows 1
r_0 -2.5

# Dual solution values
None

# Basis
HiGHS_basis_file v2
None
"""
HIGHS_SPARSE = HIGHS.partition("# Rows")[0].replace("# Columns 3", "# Columns -2").replace("relu.h1.x_0 0\n", "")
HIGHS_TABLE = """Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                  -1     0.333333     0.333333               Continuous  x_0
        1     BS         -inf          inf       -2e-07            0  Continuous  x_1
        2                   0            1            0               Integer     relu.h1.x_0
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0                -inf            1     -2.46667               r_0

Model status: Optimal

Objective value: 3
"""
CBC = """Optimal - objective value 3.00000000
      0 x_0              0.33333333                       1
**    1 x_1                  -2e-07                       0
"""
SCIP = """solution status: optimal solution found
objective value:                                    3
x_1                                            -2e-07 \t(obj:0)
x_0                                 0.333333333333333 \t(obj:1)
"""
GUROBI = """# Solution for model obj
# Objective value = 3
x_0 3.3333333333333331e-01
x_1 -2e-07
relu.h1.x_0 0
"""
GUROBI_JSON = json.dumps(
    {"SolutionInfo": {"Status": 2}, "Vars": [{"VarName": "x_0", "X": 0.33333333}, {"VarName": "x_1", "X": -2e-7}]}
)
TEXTS = {
    "highs": HIGHS,
    "highs-sparse": HIGHS_SPARSE,
    "highs-table": HIGHS_TABLE,
    "cbc": CBC,
    "cbc-time": CBC.replace("Optimal", "Stopped on time"),
    "python-mip": CBC.replace("Optimal - objective value", "Feasible solution - objective"),
    "scip": SCIP,
    "scip-bare": SCIP.partition("\n")[2],
    "gurobi": GUROBI,
    "gurobi-json": GUROBI_JSON,
    "plain": "x_0 0.333333333\n\nx_1 -0.2e-6 # near zero\n",
    "json": '{"x_0": 0.33333333, "x_1": "-1/5000000"}',
    "windows": GUROBI.replace("\n", "\r\n"),
}


def read(text: str, folder: Path, **options: Any) -> dict[str, Any]:
    path = folder / "answer.sol"
    path.write_bytes(text.encode())
    return read_solution(path, **options)


@pytest.mark.parametrize("kind", TEXTS)
def test_kinds_of_files(kind: str, tmp_path: Path) -> None:
    values = read(TEXTS[kind], tmp_path)
    assert values["x_0"] == pytest.approx(1 / 3, abs=1e-6)
    assert values["x_1"] == -2e-7
    assert values.get("relu.h1.x_0", 0.0) == 0
    assert values.keys() <= {"x_0", "x_1", "relu.h1.x_0"}
    exact = read(TEXTS[kind], tmp_path, exact=True)
    assert exact["x_1"] == Fraction(-2, 10**7)
    assert {name: float(value) for name, value in exact.items()} == values


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file is empty"),
        (" \n\t\n", "the file is empty"),
        ("no solution available\n", "there is no solution inside"),
        ("solution status: infeasible\nno solution available\n", r"no solution inside \(the solver says: infeasible\)"),
        ("solution status: infeasible\n", "no solution inside"),
        ("Infeasible - objective value 2.0\n 0 x_0 1 1\n", r"\(the solver says: Infeasible\)"),
        ("Integer infeasible - objective value 2.0\n", "no solution inside"),
        ("Stopped on time (no integer solution - continuous used) - objective value 2.0\n", "no solution inside"),
        ("Model status\nInfeasible\n\n# Primal solution values\nNone\n", r"\(the solver says: Infeasible\)"),
        ("Model status\nUnknown\n# Primal solution values\nInfeasible\n# Columns 0\n", "no solution inside"),
        ("Model status", "no solution inside"),
        (HIGHS_TABLE.replace("0.333333               ", " " * 23).replace("Optimal", "Infeasible"), "says: Infeasible"),
        ("Columns\n", "not a solution file"),
        ("# Objective value = 3\n", "there is no solution inside"),
        ("{}", "there is no solution inside"),
        ('{"SolutionInfo": {"Status": 3}}', "there is no solution inside"),
        (HIGHS.replace("x_1 -2e-07\n", ""), "3 variables are announced but 2 follow"),
        ("x_0 1\nx_0 2\n", "`x_0` has two values"),
        ('{"x_0": 1, "x_0": 1}', "`x_0` has two values"),
        ("x_0 nan\n", "the value of `x_0` is not a finite number: 'nan'"),
        ("x_0 inf\n", "not a finite number"),
        ("x_0 1e999\n", "not a finite number"),
        ("x_0 1e999999999999\n", "not a finite number"),
        ("x_0 1/0\n", "not a finite number"),
        (f"x_0 {'9' * 5000}\n", "not a finite number"),
        ("x_0 ٣\n", "not a finite number"),
        ("x_0 1_0\n", "not a finite number"),
        (SCIP.replace("-2e-07", "unknown"), "`x_1` is not a finite number: 'unknown'"),
        ('{"x_0": NaN}', "not a finite number"),
        ('{"x_0": [1]}', "not a finite number"),
        ('{"x_0": true}', "not a finite number"),
        ('{"Vars": [3]}', "no `VarName`"),
        ('{"x_0": 1', "not readable as JSON"),
        ("{" * 100_000, "not readable as JSON"),
        ('{"a":' * 100_000, "not readable as JSON"),
        ("one two three\n", "not a line of a solution file: 'one two three'"),
        ("Optimal - objective value 1\nx_0 1\n", "not a line"),
        ("solution status: fine\nobjective value: 1\nx_0 1 2 3\n", "not a line"),
        ("\x00\x01\n", "not a line"),
    ],
)
def test_what_is_not_a_solution(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=says) as caught:
        read(text, tmp_path)
    assert "answer.sol" in str(caught.value)
    assert len(str(caught.value)) < 500


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        read_solution(tmp_path / "missing.sol")
    with pytest.raises(FileError, match="folder"):
        read_solution(tmp_path)
    (tmp_path / "binary.sol").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="not UTF-8"):
        read_solution(tmp_path / "binary.sol")


@given(st.sampled_from(sorted(TEXTS)), st.data())
def test_damaged_files_give_values_or_a_file_error(kind: str, data: st.DataObject) -> None:
    text = TEXTS[kind]
    start = data.draw(st.integers(0, len(text)))
    damage = data.draw(st.text(' \n#{}[]":-e.019x', max_size=4))
    with TemporaryDirectory() as folder, suppress(FileError):
        values = read(text[:start] + damage + text[start + data.draw(st.integers(0, 9)) :], Path(folder))
        assert all(np.isfinite(value) for value in values.values())


@given(
    st.dictionaries(
        st.sampled_from(["x_0", "x_1", "y.a_3"]), st.floats(allow_nan=False, allow_infinity=False), min_size=1
    )
)
def test_every_double_survives(values: dict[str, float]) -> None:
    with TemporaryDirectory() as folder:
        lines = "".join(f"{name} {value!r}\n" for name, value in values.items())
        assert read(lines, Path(folder)) == values
        assert read(json.dumps(values), Path(folder)) == values
        exact = read(lines, Path(folder), exact=True)
        assert exact == {name: Fraction(repr(value)) for name, value in values.items()}


def test_variables_that_are_left_out_are_zero() -> None:
    builder = ProgramBuilder()
    builder.variables("x", 2, 0.0, 1.0)
    program = builder.program()
    assert complete({"x_1": 0.5, "one": 1.0}, program, "a.sol") == {"x_0": 0.0, "x_1": 0.5}
    exact = complete({"x_1": Fraction(1, 3)}, program, "a.sol")
    assert exact == {"x_0": 0, "x_1": Fraction(1, 3)}
    assert isinstance(exact["x_0"], Fraction)
    assert complete({}, program, "a.sol") == {"x_0": 0.0, "x_1": 0.0}
    with pytest.raises(FileError, match=r"a\.sol: 1 of its variables are not in the program \(`z_0`\)"):
        complete({"z_0": 1.0}, program, "a.sol")


def solve_with_highs(model: Path, answer: Path) -> None:
    highspy = pytest.importorskip("highspy")
    solver = highspy.Highs()
    solver.silent()
    solver.readModel(str(model))
    solver.run()
    solver.writeSolution(str(answer), 1 if "table" in answer.name else 0)


def solve_with_scip(model: Path, answer: Path) -> None:
    pyscipopt = pytest.importorskip("pyscipopt")
    solver = pyscipopt.Model()
    solver.hideOutput()
    solver.readProblem(str(model))
    solver.optimize()
    solver.writeBestSol(str(answer))


def solve_with_gurobi(model: Path, answer: Path) -> None:
    gurobipy = pytest.importorskip("gurobipy", reason="optional: gurobipy")
    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.read(str(model), env) as solver:
        solver.optimize()
        solver.write(str(answer))


@pytest.mark.parametrize(
    ("solve", "answer"),
    [
        (solve_with_highs, "highs.sol"),
        (solve_with_highs, "table.sol"),
        (solve_with_scip, "scip.sol"),
        (solve_with_gurobi, "gurobi.sol"),
        (solve_with_gurobi, "gurobi.json"),
    ],
)
def test_what_solvers_write_today(solve: Callable[[Path, Path], None], answer: str, tmp_path: Path) -> None:
    program = example()
    Lp().emit(program, tmp_path / "model.lp")
    solve(tmp_path / "model.lp", tmp_path / answer)
    values = complete(read_solution(tmp_path / answer), program, answer)
    point = np.array([values[name] for name in program.column_names])
    assert program.objective @ point + program.constant == pytest.approx(3.0, abs=1e-5)
    assert point[:3] == pytest.approx([1 / 3, 1.1, 7.5], abs=1e-5)

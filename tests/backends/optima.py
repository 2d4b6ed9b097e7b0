"""The optimum of a file, by solvers that read it themselves."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest


def highs(path: Path) -> float:
    """Through highspy."""
    highspy = pytest.importorskip("highspy")
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("mip_rel_gap", 0.0)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


def scip(path: Path) -> float:
    """Through PySCIPOpt."""
    pyscipopt = pytest.importorskip("pyscipopt")
    model = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.optimize()
    assert model.getStatus() == "optimal"
    return float(model.getObjVal())


def gurobi(path: Path) -> float:
    """Through gurobipy."""
    gurobipy = pytest.importorskip("gurobipy", reason="optional: gurobipy")
    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.read(str(path), env) as model:
        model.Params.MIPGap = 0
        model.optimize()
        assert model.Status == gurobipy.GRB.OPTIMAL
        return float(model.ObjVal)


def cbc(path: Path) -> float:
    """Through python-mip."""
    mip = pytest.importorskip("mip")
    model = mip.Model(solver_name="CBC")
    model.verbose = 0
    model.read(str(path))
    assert model.num_cols > 0
    assert model.optimize() == mip.OptimizationStatus.OPTIMAL
    return float(model.objective_value)


def command_line(binary: str, path: Path) -> float:
    """Through the programs `cbc` and `glpsol`, where they are installed."""
    if shutil.which(binary) is None:
        pytest.skip(f"optional: the program {binary}")
    answer = path.with_suffix(".answer")
    if binary == "cbc":
        command = [binary, str(path), "-solve", "-solution", str(answer)]
        wanted = r"Optimal.* - objective value (\S+)"
    else:
        command = [binary, "--lp" if path.suffix == ".lp" else "--freemps", str(path), "-w", str(answer)]
        wanted = r"(?m)^s mip \d+ \d+ o (\S+)"
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    match = re.search(wanted, answer.read_text())
    assert match is not None
    return float(match[1])

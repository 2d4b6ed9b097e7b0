"""`ircert export` and `ircert replay` as a user runs them: file, solver, solution, judgement."""

from __future__ import annotations

from pathlib import Path

import highspy
import numpy as np
import pytest

import ircert
from ircert import backends
from ircert.backends.base import Solver
from tests.cli.commands import ROOT, ircert_command

NET = str(ROOT / "ircert" / "data" / "networks" / "vanderpol-2-10-10-2.ir")
FOLD = "ircert.ir/1\nx = input(length=3)\na = abs(x)\ny = select(a, indices=[0, 1])\nreturn y\n"


@pytest.fixture
def fold(tmp_path: Path) -> Path:
    """(|x1|, |x2|) with a third input to fix."""
    (tmp_path / "fold.ir").write_text(FOLD)
    (tmp_path / "same.ir").write_text(FOLD.replace("a = abs(x)", "a = affine(x, weight=[[1,0,0],[0,1,0],[0,0,1]])"))
    return tmp_path


QUESTION = ["fold.ir", "--fix", "2=0.5", "--center", "-0.25,2", "--radius", "1"]


def solved_by_highs(folder: Path, name: str) -> float:
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.readModel(str(folder / name))
    model.run()
    model.writeSolution(str(folder / "out.sol"), 0)
    return float(model.getInfo().objective_function_value)


@pytest.mark.rule("PR-9")
@pytest.mark.parametrize("kind", ["lp", "mps"])
@pytest.mark.parametrize("norm", ["inf", "1"])
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
def test_from_question_to_judgement(fold: Path, problem: str, norm: str, kind: str) -> None:
    other = ["--other", "same.ir"] if problem == "transform" else []
    asked = [*QUESTION, "--problem", problem, "--norm", norm, *other]
    run = ircert_command("export", *asked, "-o", f"q.{kind}", cwd=fold)
    assert run.returncode == 0, run.stderr
    assert f"problem {problem}" in run.stdout
    assert solved_by_highs(fold, f"q.{kind}") == pytest.approx({"local": 1.5, "pseudo": 0.5, "transform": 1.5}[problem])
    run = ircert_command("replay", *asked, "--solution", "out.sol", cwd=fold)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "collision proved in exact arithmetic" in run.stdout


@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("norms", [("2", "2"), ("2", "inf"), ("inf", "2"), ("2", "1")])
def test_quadratic_files_hold_what_the_solver_in_process_gets(fold: Path, problem: str, norms: tuple[str, str]) -> None:
    norm, objective = norms
    asked = [*QUESTION, "--problem", problem, "--norm", norm, "--objective-norm", objective]
    run = ircert_command("export", *asked, "-o", "q.lp", cwd=fold)
    assert run.returncode == 0, run.stderr
    from pyscipopt import Model

    model = Model()
    model.hideOutput()
    model.readProblem(str(fold / "q.lp"))
    model.optimize()
    graph = ircert.parse(FOLD).fix({2: 0.5})
    program = ircert.program(graph, ircert.Query(problem, [-0.25, 2.0], 1.0, norm, objective_norm=objective))
    scip = backends.get("scip")
    assert isinstance(scip, Solver)
    assert model.getObjVal() == pytest.approx(scip.solve(program).value, abs=1e-5)


def test_an_injective_ball_proves_nothing(fold: Path) -> None:
    asked = ["fold.ir", "--fix", "2=0.5", "--center", "5,5", "--radius", "1"]
    ircert_command("export", *asked, "-o", "q.lp", cwd=fold)
    assert solved_by_highs(fold, "q.lp") == pytest.approx(0.0, abs=1e-6)
    run = ircert_command("replay", *asked, "--solution", "out.sol", cwd=fold)
    assert run.returncode == 3
    assert "no collision proved" in run.stdout


def test_centres_come_from_files_too(fold: Path) -> None:
    np.save(fold / "c.npy", np.array([-0.25, 2.0]))
    (fold / "c.csv").write_text("-0.25, 2\n")
    texts = []
    for center in ("-0.25,2", "@c.npy", "@c.csv"):
        run = ircert_command(
            "export", "fold.ir", "--fix", "2=0.5", "--center", center, "--radius", "1", "-o", "q.lp", cwd=fold
        )
        assert run.returncode == 0, run.stderr
        texts.append((fold / "q.lp").read_text())
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--radius", "0"], "radius must be a positive number"),
        (["--radius", "nan"], "radius must be a positive number"),
        (["--radius", "-1"], "radius must be a positive number"),
        (["--center", "1,2,3"], "the centre has 3 coordinates but the network has 2 inputs"),
        (
            ["--center", "1;2"],
            "--center takes numbers separated by commas, got '1;2'; write for example --center 0,1.5",
        ),
        (["--center", "@missing.npy"], "no such file"),
        (["--center", "@fold.ir"], "takes numbers"),
        (["--norm", "3"], "there is no norm '3'"),
        (["--problem", "transform"], "needs an other network"),
        (["--fix", "9=1"], "there is no input 9"),
        (["--fix", "x"], "--fix takes I=V"),
        (["--fix", "0=1", "--fix", "0=2"], "--fix names input 0 twice"),
        (["--select", "x"], "--select takes integers separated by commas, got 'x'; write for example --select 0,2"),
        (["--select", "7"], "there is no output 7"),
        (["--domain", "0"], "--domain takes LO:HI"),
        (
            ["--domain", "1:0"],
            "low <= high everywhere; --domain takes LO:HI, numbers or one number per input, such as 0:1",
        ),
        (["--domain", "0:1"], "outside the domain"),
        (["-o", "q.txt"], "ending in .lp or .mps"),
        (["-o", "missing/q.lp"], "missing"),
        (["-o", "."], "ending in .lp"),
    ],
)
def test_bad_questions_are_one_line_and_write_nothing(fold: Path, arguments: list[str], says: str) -> None:
    before = sorted(fold.iterdir())
    run = ircert_command("export", *QUESTION, "-o", "q.lp", *arguments, cwd=fold)
    assert run.returncode == 2
    assert says in run.stderr
    assert "Traceback" not in run.stderr
    assert sorted(fold.iterdir()) == before


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "no such file"), ("garbage\n", ""), ("x_0 nan\n", ""), ("unknown_7 1.0\n", "")],
)
def test_bad_solutions(fold: Path, content: str | None, says: str) -> None:
    if content is not None:
        (fold / "s.sol").write_text(content)
    run = ircert_command("replay", *QUESTION, "--solution", "s.sol", cwd=fold)
    assert run.returncode == 2
    assert says in run.stderr
    assert "s.sol" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_minimising_mps_file(fold: Path) -> None:
    assert ircert_command("export", *QUESTION, "-o", "q.mps", "--minimise", cwd=fold).returncode == 0
    assert solved_by_highs(fold, "q.mps") == pytest.approx(-1.5)
    assert ircert_command("replay", *QUESTION, "--solution", "out.sol", cwd=fold).returncode == 1
    refused = ircert_command("export", *QUESTION, "-o", "q.lp", "--minimise", cwd=fold)
    assert refused.returncode == 2
    assert "--minimise is for .mps files" in refused.stderr


def test_scip_solutions_of_quadratic_objectives_are_read(fold: Path) -> None:
    from pyscipopt import Model

    asked = [*QUESTION, "--objective-norm", "2"]
    for kind in ("lp", "mps"):
        assert ircert_command("export", *asked, "-o", f"q.{kind}", cwd=fold).returncode == 0
        model = Model()
        model.hideOutput()
        model.readProblem(str(fold / f"q.{kind}"))
        model.optimize()
        model.writeBestSol(str(fold / "scip.sol"))
        run = ircert_command("replay", *asked, "--solution", "scip.sol", cwd=fold)
        assert run.returncode == 1, run.stderr


def test_infinite_sides_of_a_domain(fold: Path) -> None:
    assert ircert_command("export", *QUESTION, "--domain", "-inf:3", "-o", "q.lp", cwd=fold).returncode == 0


@pytest.mark.rule("PR-14")
@pytest.mark.parametrize("kind", ["lp", "mps"])
@pytest.mark.parametrize("norm", ["inf", "1"])
@pytest.mark.parametrize("problem", ["local", "pseudo"])
def test_tangent_files(fold: Path, problem: str, norm: str, kind: str) -> None:
    """(|x1|, |x2|) at (-0.25, 2): folds 0.25 away, and f(0.25, 2) = f(-0.25, 2)."""
    asked = [*QUESTION, "--problem", problem, "--norm", norm, "--formulation", "tangent"]
    run = ircert_command("export", *asked, "-o", f"q.{kind}", cwd=fold)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("minimise: ")
    wanted = {"local": 0.25, "pseudo": 0.5}[problem]
    assert solved_by_highs(fold, f"q.{kind}") == pytest.approx(wanted)
    run = ircert_command("replay", *asked, "--solution", "out.sol", cwd=fold)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "collision proved in exact arithmetic" in run.stdout


@pytest.mark.rule("PR-14")
def test_a_tangent_is_no_collision_by_itself(tmp_path: Path) -> None:
    """A tangent where slopes that cannot be are free: relu(x) - relu(-x) as different rows, which are the identity."""
    text = "ircert.ir/1\nx = input(length=1)\na = affine(x, weight=[[3.0], [-1.0]])\nh = relu(a)\n"
    (tmp_path / "same.ir").write_text(text + "y = affine(h, weight=[[1.0, -3.0]])\nreturn y\n")
    asked = ["same.ir", "--center", "0.5", "--radius", "1", "--formulation", "tangent"]
    assert ircert_command("export", *asked, "-o", "q.lp", cwd=tmp_path).returncode == 0
    assert solved_by_highs(tmp_path, "q.lp") == pytest.approx(0.5)
    run = ircert_command("replay", *asked, "--solution", "out.sol", cwd=tmp_path)
    assert run.returncode == 3
    assert "it is no collision by itself" in run.stdout


@pytest.mark.parametrize("kind", ["lp", "mps"])
def test_a_cone_in_a_file_is_read_as_one(fold: Path, kind: str) -> None:
    from pyscipopt import Model

    asked = ["fold.ir", "--fix", "2=0.5", "--center", "-0.25,2", "--radius", "1", "--norm", "2"]
    run = ircert_command("export", *asked, "--formulation", "tangent", "-o", f"q.{kind}", cwd=fold)
    assert run.returncode == 0, run.stderr
    model = Model()
    model.hideOutput()
    model.readProblem(str(fold / f"q.{kind}"))
    model.optimize()
    assert model.getObjVal() == pytest.approx(0.25, abs=1e-5)


@pytest.mark.rule("FO-2")
def test_the_pipeline_is_shown_and_taken(fold: Path) -> None:
    asked = ("export", *QUESTION)
    shown = ircert_command(*asked, "--print-pipeline", cwd=fold)
    assert shown.returncode == 0, shown.stderr
    line = "canonicalize,fuse-affine,interval-bounds{center=[-0.25, 2.0], radius=1.0},dual-copy\n"
    assert shown.stdout == line
    assert ircert_command(*asked, "-o", "a.lp", cwd=fold).returncode == 0
    assert ircert_command(*asked, "--pipeline", line, "-o", "b.lp", cwd=fold).returncode == 0
    assert (fold / "a.lp").read_text() == (fold / "b.lp").read_text()
    refused = ircert_command(*asked, cwd=fold)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "no file is named; write -o FILE.lp, or --print-pipeline alone" in refused.stderr
    wrong = ircert_command(*asked, "--pipeline", "canonicalize,dual-copy", "-o", "c.lp", cwd=fold)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "end it with `interval-bounds`" in wrong.stderr
    assert not (fold / "c.lp").exists()


@pytest.mark.rule("FO-2")
def test_the_pipeline_behind_fixed_inputs_is_one_of_opt(fold: Path) -> None:
    shown = ircert_command("export", *QUESTION, "--select", "1", "--print-pipeline", cwd=fold)
    before = "fix-inputs{values={2: 0.5}},select-outputs{keep=[1]}"
    assert shown.returncode == 0, shown.stderr
    assert f"for `ircert opt -p` write {before},… in front" in shown.stderr
    run = ircert_command("opt", "fold.ir", "-p", f"{before},{shown.stdout.strip()}", cwd=fold)
    assert run.returncode == 0, run.stderr


@pytest.mark.rule("FO-1")
def test_a_formulation_with_options(fold: Path) -> None:
    run = ircert_command("export", *QUESTION, "--formulation", "apart{separation=0.5}", "-o", "q.lp", cwd=fold)
    assert run.returncode == 0, run.stderr
    assert "formulation apart" in run.stdout
    refused = ircert_command("export", *QUESTION, "--formulation", "twin", "-o", "t.lp", cwd=fold)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "the formulations are apart, paper, tangent" in refused.stderr

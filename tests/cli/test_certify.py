from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import ircert
from ircert import engines
from ircert.cli import progress
from ircert.cli.main import run
from ircert.engines.base import Answer, Cause, Progress, Question, Stop
from ircert.result.radius import End
from tests.cli.commands import ircert_command
from tests.engines.fake import Scripted
from tests.result.support import fold, read, read_both


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Fold", "Scripted"):
        monkeypatch.setitem(engines.BUILT_IN, name.lower(), f"tests.engines.fake:{name}")


@pytest.fixture
def net(tmp_path: Path) -> str:
    ircert.save(fold(), tmp_path / "fold.ir")
    return str(tmp_path / "fold.ir")


def certify(*arguments: str) -> int:
    return run(["certify", *arguments])


def test_a_search_in_words(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert certify(net, "--center", "-0.75", "--engine", "fold") == 0
    captured = capsys.readouterr()
    for part in ("certified", "0.75", "a closed form", "trust", "exact", "witness", "time"):
        assert part in captured.out
    assert captured.err == ""


@pytest.mark.rule("R-7")
def test_json_alone_on_stdout(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert certify(net, "--center", "0.75", "--engine", "fold", "--json", "-") == 0
    found = read(capsys.readouterr().out)
    assert (found["verdict"], found["radius"]["certified"]) == ("certified", 0.75)


def ask_both(net: str, *rest: str) -> int:
    pair = (net, "--other", net, "--problem", "transform", "--both")
    return certify(*pair, "--center", "0.75", "--engine", "scripted", "--json", "-", *rest)


@pytest.mark.rule("R-8")
@pytest.mark.parametrize("cause", [Cause.UNDECIDED, Cause.INTERRUPTED])
def test_both_directions_share_the_time(
    cause: Cause, net: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is for both; Ctrl-C ends both."""
    left: list[float] = []

    def answer(question: Question) -> Answer:
        left.append(question.deadline.left())
        stop = Stop(cause if len(left) == 1 else Cause.UNDECIDED, "no idea")
        return Answer(None, End(0.25, "a guess"), None, None, "exact", stop=stop)

    monkeypatch.setattr(Scripted, "script", staticmethod(answer), raising=False)
    assert ask_both(net, "--time-limit", "1000") == 3
    found = json.loads(capsys.readouterr().out)
    assert left[0] <= 500
    if cause is Cause.UNDECIDED:
        assert 500 < left[1] <= 1000
    else:
        assert left[1] == 0
        assert found["backward"]["reason"] == "interrupted"
        left.clear()
        assert ask_both(net) == 3
        assert left == [math.inf, 0]
    assert ask_both(net, "--time-limit", "-1") == 2
    assert "got -1.0" in capsys.readouterr().err


@pytest.mark.rule("R-8")
def test_both_directions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """(x, y) determines x, and x does not determine (x, y); between x and 3 x the relation is invertible."""
    for name, weight in (("plane", np.eye(2)), ("first", [[1.0, 0.0]]), ("thrice", [[3.0, 0.0]])):
        ircert.save(ircert.load([(weight, None)]), tmp_path / f"{name}.ir")

    def asked(first: str, second: str, *rest: str) -> int:
        files = (str(tmp_path / f"{first}.ir"), "--other", str(tmp_path / f"{second}.ir"))
        return certify(*files, "--center", "0,0", "--problem", "transform", "--both", *rest)

    assert asked("plane", "first", "--json", "-") == 1
    found = read_both(capsys.readouterr().out)
    assert (found["schema"], found["verdict"]) == ("ircert.both/1", "refuted")
    assert found["radius"] == {"certified": 0.0, "refuted": 0.0}
    for direction, radius in (("forward", "inf"), ("backward", 0.0)):
        assert read(json.dumps(found[direction]))["radius"]["certified"] == radius
    assert asked("plane", "first") == 1
    assert "refuted: the relation between the outputs is invertible on no ball" in capsys.readouterr().out
    assert asked("plane", "first", "--radius", "1") == 1
    assert "not invertible on this ball" in capsys.readouterr().out
    assert asked("first", "thrice", "--json", str(tmp_path / "both.json")) == 0
    assert "invertible on the open ball of radius inf" in capsys.readouterr().out
    assert json.loads((tmp_path / "both.json").read_text())["radius"] == {"certified": "inf", "refuted": None}
    assert asked("first", "thrice", "--certificate", str(tmp_path / "c.json")) == 2


@pytest.mark.rule("R-2")
def test_a_search_that_finds_no_good_ball_is_refuted(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert certify(net, "--center", "0", "--engine", "fold") == 1
    assert capsys.readouterr().out.startswith("refuted: the network is not injective on any ball")


@pytest.mark.parametrize(("radius", "code"), [("0.75", 0), ("0.8", 1)])
def test_a_ball_and_its_exit_code(net: str, tmp_path: Path, radius: str, code: int) -> None:
    target = tmp_path / "r.json"
    assert certify(net, "--center", "0.75", "--radius", radius, "--engine", "fold", "--json", str(target)) == code
    assert read(target.read_text())["asked"]["radius"] == float(radius)


@pytest.mark.rule("C-4", "C-5")
@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("ball", [[], ["--radius", "2"]])
def test_a_certificate_is_verified(net: str, tmp_path: Path, problem: str, ball: list[str]) -> None:
    target = str(tmp_path / "c.json")
    question = ["--center", "0.75", "--problem", problem, "--domain", "-1:2", "--engine", "fold", *ball]
    if ball:
        question[5] = "-2:3"
    assert certify(net, *question, "--certificate", target) == (1 if ball else 0)
    assert run(["check", target]) == 0
    content = json.loads(Path(target).read_text())
    collision = content if ball else content["parts"][1]
    collision["x"] = ["1/7"]
    Path(target).write_text(json.dumps(content))
    assert run(["check", target]) == 4


@pytest.mark.rule("C-15", "R-14")
@pytest.mark.parametrize("name", ["c.json", "c.json.gz"])
def test_a_good_ball_has_a_certificate(net: str, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    target, told = tmp_path / name, tmp_path / "r.json"
    question = ("--center", "0.75", "--radius", "0.5", "--engine", "fold", "--json", str(told))
    assert certify(net, *question, "--certificate", str(target)) == 0
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    assert f"written and checked; sha256 {digest}" in capsys.readouterr().out
    found = read(told.read_text())["certificate"]
    assert (found["sha256"], found["reason"], found["size"]) == (digest, None, target.stat().st_size)
    assert run(["check", "--explain", str(target)]) == 0
    assert "1 positive definite" in capsys.readouterr().out


@pytest.mark.rule("R-14")
def test_no_proof_no_certificate(net: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "c.json"
    arguments = ("--center", "0.75", "--radius", "0.5", "--engine", "fold", "--certificate", str(target))
    few = ("--time-limit", "1e-9")
    certify(net, *arguments, *few)
    assert not target.exists()
    assert "note: no certificate is written: no proof of the good end" in capsys.readouterr().err
    target.write_text("older")
    certify(net, *arguments, *few)
    assert target.read_text() == "older"
    assert "is unchanged" in capsys.readouterr().err


def test_unresolved_is_three(net: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ircert.save(many_inputs(), tmp_path / "many.ir")
    few = ("--time-limit", "0.001")
    assert certify(str(tmp_path / "many.ir"), "--center", "0,0,0", *few, "--json", "-") == 3
    assert read(capsys.readouterr().out)["reason"]


def many_inputs() -> ircert.Graph:
    """Full rank around the origin, and folds further out: nothing that a cheap argument decides."""
    weight = np.array([[1.0, 2.0, 0.5], [0.0, 1.0, 3.0], [1.0, 1.0, 1.0], [2.0, 0.0, 1.0]])
    return ircert.load([(weight, np.ones(4)), (np.ones((4, 4)) + np.eye(4), None)])


BAD = """
    --center 0,0; --center x; --center @none.csv; --center 0.5 --norm 7; --center 0.5 --radius -1
    --center 0.5 --radius nan; --center 0.5 --max-radius -3; --center 0.5 --tol 2; --center 0.5 --tol -1
    --center 0.5 --engine magic; --center 0.5 --backend magic; --center 0.5 --formulation magic
    --center 0.5 --time-limit -1; --center 0.5 --threads 0; --center 0.5 --seed -1; --center 0.5 --both
    --center 0.5 --problem transform; --center 0.5 --problem transform --both; --center 0.5 --domain 2:1
    --center 0.5 --domain 1:2; --center 0.5 --domain 1; --center 0.5 --domain 0,0,0:1; --center 0.5 --domain 0:1:2
    --center 0.5 --fix 0; --center 0.5 --select 4; --center 0.5 --select x
    --center 0.5 --certificate -; --center 0.5 --backend lp; --center 0.5 --seed 3000000000; --center nan
    --center 0.5 --radius 0; --center 0.5 --max-radius -inf; --center 0.5 --domain nan:1; --center 0.5 --fix 0=nan
    --center 0.5 --time-limit nan; --center 0.5 --other none.ir; --center @; --center 0.5 --select -1
"""


@pytest.mark.parametrize("wrong", [words.split() for words in BAD.strip().replace("\n", ";").split(";")])
def test_bad_questions_write_nothing(
    net: str, tmp_path: Path, wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.json"
    assert certify(net, *wrong, "--json", str(target)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert captured.err.startswith("ircert: error: ")
    assert re.search(r"; | must be | takes ", captured.err)  # what to do
    assert "{" not in captured.err  # as Python writes it
    assert not target.exists()


@pytest.mark.parametrize("target", ["none/out.json", "."])
@pytest.mark.parametrize("option", ["--json", "--certificate"])
def test_files_that_cannot_be_written_are_refused_first(net: str, tmp_path: Path, option: str, target: str) -> None:
    assert certify(net, "--center", "0.5", option, str(tmp_path / target)) == 2


def test_one_file_for_two_purposes(net: str, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    assert certify(net, "--center", "0.5", "--json", str(target), "--certificate", str(target)) == 2
    assert not target.exists()


def test_the_same_seed_gives_the_same_answer(net: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ircert.save(many_inputs(), tmp_path / "many.ir")
    found = []
    for _ in range(2):
        certify(str(tmp_path / "many.ir"), "--center", "1,0.5,0.25", "--tol", "1e-3", "--seed", "5", "--json", "-")
        found.append(json.loads(capsys.readouterr().out))
    for result in found:
        del result["seconds"], result["stats"]
    assert found[0] == found[1]


def test_the_help_says_what_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        certify("--help")
    text = capsys.readouterr().out
    for part in ("injective", "default: 1e-6", "regions", "boxes", "highs", "examples:", "exit codes: 0 certified"):
        assert part in text


def test_radius_and_max_radius_exclude_each_other(tmp_path: Path, net: str) -> None:
    run = ircert_command("certify", net, "--center", "0.5", "--radius", "1", "--max-radius", "2", cwd=tmp_path)
    assert run.returncode == 2
    assert "not allowed with" in run.stderr


def test_unreadable_models(tmp_path: Path) -> None:
    (tmp_path / "bad.ir").write_text("nonsense")
    run = ircert_command("certify", "bad.ir", "--center", "0.5", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert "Traceback" not in run.stderr


def test_a_broken_engine_is_an_internal_error(
    net: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.engines.fake import Scripted
    from tests.engines.test_certify import PAIR, answer

    monkeypatch.setattr(
        Scripted, "script", staticmethod(lambda q: answer(verdict="certified", witness=PAIR)), raising=False
    )
    assert certify(net, "--center", "0", "--radius", "1", "--engine", "scripted") == 70
    assert "no verdict" in capsys.readouterr().err


def test_progress_is_for_terminals() -> None:
    with progress.shown() as report:
        assert report is None
    assert str(Progress(0.5, None, "cells 3")) == "radius between 0.5 and ?  cells 3"
    assert str(Progress(0.5, 1.0)) == "radius between 0.5 and 1"

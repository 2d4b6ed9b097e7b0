"""`ircert reproduce`, with an experiment that is over at once."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ircert import reproduction
from ircert.cli.main import run
from ircert.reproduction.frame.page import page
from ircert.reproduction.frame.report import Settings

TOYS = {"toy": "tests.reproduction.frame.toy", "twin": "tests.reproduction.frame.toy"}


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(reproduction, "EXPERIMENTS", TOYS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("IRCERT_REFERENCE_DATA", raising=False)
    return tmp_path


@pytest.mark.rule("X-3", "X-6")
def test_the_folder_of_an_experiment(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "toy", "-o", "found", "--quick"]) == 0
    home = toys / "found" / "toy"
    assert {path.name for path in home.iterdir()} == {
        "results.json", "report.md", "line.png", "line.svg", "again.png", "again.svg",
    }  # fmt: skip
    results = json.loads((home / "results.json").read_text())
    assert (results["schema"], results["name"], results["met"]) == ("ircert.reproduction/1", "toy", True)
    assert results["facts"] == {"quick": True, "seed": 0, "limit": "inf"}
    assert results["claims"][0] == {"text": "1 + 1 = 2", "met": True, "detail": "2"}
    report = (home / "report.md").read_text()
    assert report == page(results)
    for part in (
        "# A toy, counted\n",
        "* met: 1 + 1 = 2 — 2\n",
        "| a radius | 0.157 | ∞ | another \\| network |",
        "| 2 | 4 |",
        "![The same line.](again.png)",
        "`ircert reproduce toy --quick`",
    ):
        assert part in report
    captured = capsys.readouterr()
    assert "met      1 + 1 = 2 (2)" in captured.out
    assert captured.err == ""


@pytest.mark.rule("X-4", "X-8")
def test_a_claim_that_is_not_met(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "toy", "--seed", "3"]) == 3
    assert "NOT MET  the seed is even\n" in capsys.readouterr().out
    assert "* **not met**: the seed is even\n" in (toys / "reproduction" / "toy" / "report.md").read_text()


@pytest.mark.rule("X-8")
@pytest.mark.parametrize("asked", [[], ["all"], ["twin", "toy", "twin"], ["toy", "all"]])
def test_which_experiments_run(toys: Path, asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", *asked]) == 0
    assert re.findall(r"^\w+(?=:)", capsys.readouterr().out, flags=re.M) == ["toy", "twin"]


@pytest.mark.rule("X-7")
def test_the_page_of_all(toys: Path) -> None:
    assert run(["reproduce", "twin", "--docs", "docs/all.md"]) == 0
    first = (toys / "docs" / "all.md").read_text()
    assert first.count("\n## A toy, counted\n") == 1
    assert "[`twin`](#a-toy-counted) | A toy, counted | 2 of 2 |" in first
    assert "![A line.](all/twin/line.png)" in first
    assert "again" not in first
    assert {path.name for path in (toys / "docs" / "all" / "twin").iterdir()} == {"results.json", "line.png"}
    assert run(["reproduce", "toy", "--seed", "1", "--docs", "docs/all.md"]) == 3
    both = (toys / "docs" / "all.md").read_text()
    assert both.index("`toy`") < both.index("`twin`")
    assert "1 of 2" in both


@pytest.mark.rule("X-8")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nonsense"], "there is no experiment 'nonsense'; there are: toy, twin, and all"),
        (["toy", "--docs", "page.html"], "use a name ending in .md"),
        (["toy", "-o", "file"], "the folder cannot be made"),
        (["toy", "--seed", "-1"], "the seed must be an integer from 0"),
        (["toy", "--seed", "99999999999"], "the seed must be an integer from 0"),
        (["toy", "--time-limit", "0"], "a positive number of seconds"),
    ],
)
def test_bad_usage_runs_nothing(
    toys: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    (toys / "file").touch()
    assert run(["reproduce", *arguments]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.out == ""
    assert [path.name for path in toys.iterdir()] == ["file"]


@pytest.mark.rule("X-5")
def test_reference_data_must_exist(
    toys: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("IRCERT_REFERENCE_DATA", str(toys / "absent"))
    assert run(["reproduce", "toy"]) == 2
    assert "IRCERT_REFERENCE_DATA names no folder" in capsys.readouterr().err
    monkeypatch.setenv("IRCERT_REFERENCE_DATA", str(toys))
    assert run(["reproduce", "toy"]) == 0
    assert json.loads((toys / "reproduction" / "toy" / "results.json").read_text())["reference_data"] is True


@pytest.mark.rule("X-1", "X-2")
def test_what_is_being_done_is_told(toys: Path) -> None:
    told: list[str] = []
    report, seconds = reproduction.run("toy", Settings(say=told.append))
    assert told == ["counting"]
    assert report.met
    assert seconds >= 0
    assert reproduction.run("toy", Settings())[0].facts == report.facts
    assert list(toys.iterdir()) == []

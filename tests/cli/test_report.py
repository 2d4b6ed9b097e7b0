"""`ircert report` as people run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import ircert_command

FOLD = "ircert.ir/1\nx = input(length=3)\na = abs(x)\ny = select(a, indices=[0, 1])\nreturn y\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fold.ir").write_text(FOLD)
    asked = ("fold.ir", "--fix", "2=0.5", "--center", "0.25,2")
    assert ircert_command("certify", *asked, "--json", "a.json", cwd=tmp_path).returncode == 0
    both = ("--problem", "transform", "--other", "fold.ir", "--both", "--json", "b.json")
    assert ircert_command("certify", *asked, *both, cwd=tmp_path).returncode == 0
    return tmp_path


def test_results_become_a_page_with_pictures(folder: Path) -> None:
    run = ircert_command("report", "a.json", "b.json", "-o", "out.html", "--title", "Folds", cwd=folder)
    assert run.returncode == 0, run.stderr
    text = (folder / "out.html").read_text()
    assert text.count("<section") == 3
    assert text.count("data:image/png") == 3
    assert "<h1>Folds</h1>" in text
    assert "MODEL2 determines MODEL" in text
    plain = ircert_command("report", "a.json", "-o", "plain.html", "--no-pictures", cwd=folder)
    assert plain.returncode == 0
    assert "data:image/png" not in (folder / "plain.html").read_text()


def test_an_atlas_is_drawn(folder: Path) -> None:
    (folder / "plane.ir").write_text(FOLD.replace("length=3", "length=2"))
    asked = ("atlas", "plane.ir", "--grid", "0.5:2:3,0.5:2:3", "--results", "rows.jsonl")
    assert ircert_command(*asked, cwd=folder).returncode == 0
    alone = ircert_command("report", "rows.jsonl", "-o", "out.html", cwd=folder)
    assert alone.returncode == 2
    assert "--model" in alone.stderr
    run = ircert_command("report", "rows.jsonl", "a.json", "--model", "plane.ir", "-o", "out.html", cwd=folder)
    assert run.returncode == 0, run.stderr
    text = (folder / "out.html").read_text()
    assert "9 centres, local" in text
    assert text.count("data:image/png") == 2


def test_networks_that_are_gone_are_missed_in_words(folder: Path) -> None:
    (folder / "fold.ir").rename(folder / "moved.ir")
    run = ircert_command("report", "a.json", "-o", "out.html", cwd=folder)
    assert run.returncode == 0
    assert "name it with --model" in run.stderr
    assert "data:image/png" not in (folder / "out.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.json", "-o", "out.pdf"], "ending in .html"),
        (["a.json", "-o", "none/out.html"], "none"),
        (["fold.ir", "-o", "out.html"], "no saved result"),
        (["missing.json", "-o", "out.html"], "missing.json"),
        (["a.json"], "required"),
    ],
)
def test_refusals_are_one_line(folder: Path, arguments: list[str], words: str) -> None:
    before = sorted(folder.iterdir())
    run = ircert_command("report", *arguments, cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert words in run.stderr
    assert run.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before

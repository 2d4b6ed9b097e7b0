"""`ircert plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import ircert
from ircert.cli.main import run
from tests.plotting import stand_in

FOLD = "ircert.ir/1\nx = input(length=3)\na = abs(x)\ny = select(a, indices=[0, 2])\nreturn y\n"
QUESTION = ["plot", "fold.ir", "--fix", "1=0.5", "--center", "-0.5,1"]

pytestmark = pytest.mark.usefixtures("geometry")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "fold.ir").write_text(FOLD)
    (tmp_path / "same.ir").write_text(FOLD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def texts(path: Path) -> set[str]:
    root = ElementTree.fromstring(path.read_bytes())
    return {"".join(element.itertext()).strip() for element in root.iter("{http://www.w3.org/2000/svg}text")}


def test_a_picture(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*QUESTION, "-o", "a.svg"]) == 0
    shown = texts(folder / "a.svg")
    assert {"x₀", "x₂", "centre c", "f injective: r = 0.4999 (∞-norm)"} <= shown
    assert not any("preimage" in text for text in shown)
    out = capsys.readouterr().out
    assert "local, inf-norm: certified up to 0.49999995, refuted from 0.5\n" in out
    assert "written to a.svg" in out


def test_png_and_the_same_bytes(folder: Path) -> None:
    assert run([*QUESTION, "-o", "a.png"]) == run([*QUESTION, "-o", "b.png"]) == 0
    assert (folder / "a.png").read_bytes() == (folder / "b.png").read_bytes()


def test_labels_and_what_lies_outside(folder: Path) -> None:
    assert run([*QUESTION, "--radius", "0.25", "--labels", "angle,speed", "-o", "a.svg"]) == 0
    shown = texts(folder / "a.svg")
    assert {"angle", "speed", "centre c"} <= shown
    assert "fold" not in " ".join(shown)  # there are folds, but outside
    assert run([*QUESTION, "-o", "b.svg"]) == 0
    assert "fold" in " ".join(texts(folder / "b.svg"))


@pytest.mark.parametrize("norms", [["--norm", "inf,1,2"], ["--norm", "1", "--norm", "2,1", "--norm", "inf"]])
def test_several_norms(folder: Path, norms: list[str]) -> None:
    assert run([*QUESTION, *norms, "-o", "a.svg"]) == 0
    balls = {text for text in texts(folder / "a.svg") if "injective" in text}
    assert {text.split("(")[1] for text in balls} == {"1-norm)", "2-norm)", "∞-norm)"}


def test_preimages_bring_the_pseudo_ball(folder: Path) -> None:
    assert run([*QUESTION, "--preimages", "-o", "a.svg"]) == 0
    assert {"preimages of f(c)", "no second preimage: R = 0.9999 (∞-norm)"} <= texts(folder / "a.svg")


def test_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def certify(graph: ircert.Graph, center: Any, **options: Any) -> Any:
        asked.append((graph.input_dim, center.tolist(), options))
        return stand_in.certify(graph, center, **options)

    monkeypatch.setattr(ircert, "certify", certify)
    transform = ["--problem", "transform", "--other", "same.ir", "--norm", "2", "--preimages"]
    assert run([*QUESTION, *transform, "--domain", "-3:4", "--time-limit", "7", "--radius", "2", "-o", "a.png"]) == 0
    (_, center, first), (_, _, second) = asked
    assert center == [-0.5, 1.0]
    assert (first["problem"], second["problem"]) == ("transform", "pseudo")
    assert first["other"] == ircert.load("same.ir").fix({1: 0.5})
    assert second["other"] is None
    for options in (first, second):
        assert options["norm"] == "2"
        assert options["time_limit"] == 7
        np.testing.assert_array_equal(options["domain"], [[-3, -3], [4, 4]])


def test_one_free_input(folder: Path) -> None:
    assert run(["plot", "fold.ir", "--fix", "0=0,1=0", "--select", "1", "--center", "0.5", "-o", "a.svg"]) == 0
    assert {"rising", "falling", "turning points", "x₂", "f(x₂)"} <= texts(folder / "a.svg")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "a.gif"], "ending in .png or .svg or .pdf"),
        (["-o", "missing/a.png"], "folder does not exist"),
        (["-o", "."], "ending in .png or .svg"),
        (["--labels", "a"], "--labels has 1 names"),
        (["--center", "1,2,3"], "the centre has 3 coordinates"),
        (["--norm", "3"], "there is no norm '3'"),
        (["--norm", "inf,"], "there is no norm ''"),
        (["--radius", "-1"], "radius must be a positive number"),
        (["--radius", "0"], "radius must be a positive number"),
        (["--problem", "transform"], "needs an other network"),
        (["--domain", "0:1"], "outside the domain"),
        (["--fix", "7=1"], "there is no input 7"),
    ],
)
def test_bad_questions_write_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    before = sorted(folder.iterdir())
    assert run([*QUESTION, "-o", "a.png", *arguments]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.out == ""
    assert sorted(folder.iterdir()) == before


def test_too_many_inputs_name_fix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "wide.ir").write_text("ircert.ir/1\nx = input(length=4)\nreturn x\n")
    assert run(["plot", "wide.ir", "--center", "0,0,0,0", "-o", "a.png"]) == 2
    assert "--fix" in capsys.readouterr().err
    assert not (folder / "a.png").exists()

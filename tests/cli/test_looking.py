"""What commands say about a ball is what the functions of the same names say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ircert
from ircert.data.networks import bundled
from tests.cli.commands import Ran, ircert_command

FOLD = "ircert.ir/1\nx = input(length=2)\na = abs(x)\nreturn a\n"
"""(|x1|, |x2|): four regions, four fold facets, four preimages of (1/4, 1/8)."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fold.ir").write_text(FOLD)
    ircert.save(bundled("vanderpol-tanh-2-32-32-2"), tmp_path / "tanh.onnx")
    return tmp_path


BALL = ("--center", "0,0", "--radius", "1")


def told(folder: Path, *arguments: str) -> dict[str, Any]:
    run = ircert_command(*arguments, "--json", "-", cwd=folder)
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    assert found["schema"] == f"ircert.{arguments[0]}/1"
    return found


def test_regions_are_all_there(folder: Path) -> None:
    found = told(folder, "regions", "fold.ir", *BALL)
    assert found["count"] == len(found["regions"]) == 4
    assert found["signs"] == {"positive": 2, "singular": 0, "negative": 2}
    assert sorted(abs(region["determinant"]) for region in found["regions"]) == [1, 1, 1, 1]
    of_domain = told(folder, "regions", "fold.ir", "--domain", "0.5:1,2")
    assert of_domain["count"] == 1
    run = ircert_command("regions", "fold.ir", *BALL, cwd=folder)
    assert run.stdout == "4 linear regions: 2 keep the orientation, 2 turn it over, 0 are singular\n"


def test_folds_are_segments_or_boxes(folder: Path) -> None:
    found = told(folder, "folds", "fold.ir", *BALL)
    assert len(found["segments"]) == 4
    assert not found["singular"]
    assert all(0 in (start[0], start[1]) and 0 in (end[0], end[1]) for start, end in found["segments"])
    smooth = told(folder, "folds", "tanh.onnx", "--center", "0,0", "--radius", "5", "--width", "0.2")
    assert smooth["width"] <= 0.2
    assert len(smooth["boxes"]) == len(smooth["crossed"]) > 0


def test_preimages_of_a_point_hold_it(folder: Path) -> None:
    found = told(folder, "preimages", "fold.ir", *BALL, "--of", "-0.25,0.125")
    assert found["complete"]
    points = {tuple(each["point"]) for each in found["preimages"]}
    assert points == {(a, b) for a in (-0.25, 0.25) for b in (-0.125, 0.125)}
    assert {text for each in found["preimages"] for text in each["exact"]} == {"1/4", "-1/4", "1/8", "-1/8"}
    assert not told(folder, "preimages", "fold.ir", *BALL, "--value", "-0.25,0.125")["preimages"]
    smooth = told(folder, "preimages", "tanh.onnx", *BALL, "--of", "0.5,0.25")
    assert [[round(v, 9) for v in each["point"]] for each in smooth["preimages"]] == [[0.5, 0.25]]


def test_lipschitz_says_what_the_function_says(folder: Path) -> None:
    found = told(folder, "lipschitz", "fold.ir", "--center", "2,2", "--radius", "1", "--quotient-norm", "2")
    assert found["norm"] == "2"
    assert found["upper"]["low"] == pytest.approx(1)
    assert found["lower"]["high"] == pytest.approx(1)
    folded = told(folder, "lipschitz", "fold.ir", *BALL)
    assert folded["constant"]["high"] == "inf"


def test_observations_have_verdicts(folder: Path) -> None:
    asked = ("observe", "fold.ir", "--center", "2,2", "--given-outputs", "0", "--given-inputs", "1")
    run = ircert_command(*asked, "--json", "out.json", cwd=folder)
    assert run.returncode == 0, run.stderr
    found = json.loads((folder / "out.json").read_text())
    assert found["unknown"] == {"inputs": [0], "outputs": []}
    assert found["result"]["radius"]["refuted"] == pytest.approx(2)
    blind = ircert_command("observe", "fold.ir", "--center", "0,2", "--given-outputs", "0", "--radius", "1", cwd=folder)
    assert blind.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["regions", "fold.ir"], "--domain LO:HI"),
        (["regions", "fold.ir", "--center", "0,0"], "both --center and --radius"),
        (["folds", "fold.ir", *BALL, "--width", "1"], "leave it out"),
        (["preimages", "fold.ir", *BALL], "--value"),
        (["preimages", "fold.ir", *BALL, "--of", "1"], "2 inputs; give one number per input"),
        (["lipschitz", "fold.ir", "--center", "0", "--radius", "1"], "one number per input"),
        (["observe", "fold.ir", "--center", "0,0"], "name at least one"),
        (["observe", "fold.ir", "--center", "0,0", "--given-inputs", "a"], "write for example --given-inputs 0,2"),
        (["regions", "fold.ir", *BALL, "--json", "fold.ir"], "choose another place"),
        (["regions", "fold.ir", *BALL, "--json", "nowhere/out.json"], "nowhere"),
    ],
)
def test_refusals_are_one_line(folder: Path, arguments: list[str], words: str) -> None:
    run: Ran = ircert_command(*arguments, cwd=folder)
    assert run.returncode == 2
    assert words in run.stderr
    assert run.stderr.count("\n") == 1
    assert (folder / "fold.ir").read_text() == FOLD


@pytest.mark.rule("SS-4")
def test_steps(folder: Path) -> None:
    lines = ["ircert.ir/1", "x = input(length=1)", "a = relu(x)", "b = affine(a, weight=[[-2]])", "return b", ""]
    (folder / "g.ir").write_text("\n".join(lines))
    found = told(folder, "step-size", "g.ir", "--center", "0", "--radius", "1")
    assert found["verdict"] == "certified"
    assert found["refuted"]["value"] == 0.5
    everywhere = ircert_command("step-size", "g.ir", cwd=folder)
    assert everywhere.returncode == 0
    assert "on the whole space" in everywhere.stdout
    wrong = ircert_command("step-size", "g.ir", "--center", "0", cwd=folder)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)

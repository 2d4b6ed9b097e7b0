"""Pictures of three inputs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import ircert
from ircert.analysis.solids import cells
from ircert.cli.main import run
from ircert.errors import QueryError
from ircert.plotting import plot_three
from tests.analysis.solids.networks import ABS, bent, network
from tests.plotting.support import answer, drawn, vertices
from tests.plotting.test_command import texts

RESULT = answer(ABS, [0.5, 0.5, 0.5], 0.5, 0.5)


def titles(figure: Figure) -> list[str]:
    return [ax.get_title() for ax in figure.axes if ax.get_title()]


def words(figure: Figure) -> set[str]:
    return {text.get_text() for legend in figure.legends for text in legend.get_texts()}


def test_planes_through_the_centre_and_the_fold_set() -> None:
    pair: Any = {"x": (0.5, 0.5, 0.25), "y": (0.5, 0.5, -0.25)}
    result = answer(ABS, [0.5, 0.5, 0.5], 0.5, 0.5, witness=type("Pair", (), pair))
    figure = plot_three(result)
    assert titles(figure) == ["x₂ = 0.5", "x₁ = 0.5", "x₀ = 0.5", "the fold set"]
    assert words(figure) == {
        *("f injective: r = 0.5 (∞-norm)", "centre c", "fold set J₀", "fold facets"),
        "witness: f(x) = f(y) (projected onto slices)",
    }
    first, *_, solid = [ax for ax in figure.axes if ax.get_title()]
    assert (first.get_xlabel(), first.get_ylabel(), solid.get_zlabel()) == ("x₀", "x₁", "x₂")  # type: ignore[attr-defined]
    np.testing.assert_allclose(vertices(drawn(first, "certified-ball")[0])[:2], [[0, 0], [1, 0]])
    np.testing.assert_allclose(first.get_xlim(), (-1.0, 2.0))  # the witness fits in twice
    assert len(drawn(solid, "fold-facets")) == len(drawn(solid, "certified-ball")) == len(drawn(solid, "witness")) == 1


@pytest.mark.parametrize(("norm", "half"), [("inf", 0.5), (1, 0.3), (2, np.sqrt(0.25 - 0.04))])
def test_planes_cut_balls(norm: Any, half: float) -> None:
    result = answer(ABS, [0.5, 0.5, 0.5], 0.5, 0.5, norm=norm)
    figure = plot_three(result, slices={2: [0.7, 1.2]}, solid=False, window=1.0)
    near, far = figure.axes[:2]
    outline = vertices(drawn(near, "certified-ball")[0])
    assert np.abs(outline - 0.5).max() == pytest.approx(half)
    assert not drawn(far, "certified-ball")
    assert not drawn(near, "center")  # it does not lie in this plane


@pytest.mark.parametrize("norm", ["inf", 1, 2])
@pytest.mark.parametrize("domain", [None, (0.25, 2.0)])
def test_balls_from_outside(norm: Any, domain: Any) -> None:
    result = answer(ABS, [0.5, 0.5, 0.5], 0.5, 0.5, norm=norm, domain=domain)
    (ax,) = plot_three(result, slices={}, solid=True).axes
    (ball,) = drawn(ax, "certified-ball")
    corners = np.concatenate([np.asarray(line) for line in ball._segments3d])
    np.testing.assert_allclose(corners.min(axis=0), 0.0 if domain is None else 0.25, atol=0.02)
    np.testing.assert_allclose(corners.max(axis=0), 1.0, atol=1e-9)


def test_smooth_networks_and_other_numbers_of_outputs() -> None:
    figure = plot_three(answer(bent(), [0.0, 0.0, 0.0], 0.5, 1.0))
    assert {"det Df = 0 (in floats)", "fold set, in floats"} <= words(figure)
    assert titles(figure)[-1] == "the fold set"
    assert titles(plot_three(answer(bent(), [3.0, 0.0, 0.0], 0.5, None)))[-1] == "no fold here"
    figure = plot_three(answer(network(0).select([0, 1]), [0.0, 0.0, 0.0], 0.5, None))
    assert titles(figure) == ["x₂ = 0", "x₁ = 0", "x₀ = 0"]


def test_singular_cells_are_grey() -> None:
    flat = ircert.parse("ircert.ir/1\nx = input(length=3)\ny = relu(x)\nreturn y\n")
    figure = plot_three(answer(flat, [0.5, 0.5, 0.5], 0.5, None))
    assert "singular cells" in words(figure)
    assert len(drawn(figure.axes[0], "singular")) == 1


def test_too_many_regions_leave_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MOST", 3)
    with pytest.warns(UserWarning, match="not drawn from outside: there are more than 3 linear regions"):
        figure = plot_three(RESULT)
    assert len(titles(figure)) == 3
    with pytest.raises(QueryError, match="more than 3 linear regions"):
        plot_three(RESULT, solid=True)


def test_results_plot_themselves() -> None:
    figure = ircert.certify(ABS, [0.5, 0.5, 0.5]).plot(slices={0: 0.5}, solid=False)
    assert titles(figure) == ["x₀ = 0.5"]


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "abs.ir").write_text(str(ABS))
    (tmp_path / "wide.ir").write_text("ircert.ir/1\nx = input(length=4)\ny = abs(x)\nreturn y\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMAND = ["plot", "abs.ir", "--center", "0.5,0.5,0.5", "-o", "a.svg"]


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*COMMAND, "--labels", "a,b,c"]) == 0
    assert {"a", "b", "c", "a = 0.5", "b = 0.5", "c = 0.5", "the fold set"} <= texts(folder / "a.svg")
    assert "written to a.svg" in capsys.readouterr().out
    assert run([*COMMAND, "--slice", "2=0.75", "--slice", "0=0.25,0=0.5"]) == 0
    shown = texts(folder / "a.svg")
    assert {"x₂ = 0.75", "x₀ = 0.25", "x₀ = 0.5"} <= shown
    assert "the fold set" not in shown
    assert run([*COMMAND, "--solid"]) == 0
    assert "x₂ = 0.5" not in texts(folder / "a.svg")


def test_slices_count_the_inputs_of_the_model(folder: Path) -> None:
    arguments = ["plot", "wide.ir", "--fix", "1=0.5", "--select", "0,2,3", "--center", "0.5,0.5,0.5", "-o", "a.svg"]
    assert run([*arguments, "--slice", "3=0.25"]) == 0
    assert {"x₃ = 0.25", "x₀", "x₂"} <= texts(folder / "a.svg")


def test_the_same_bytes(folder: Path) -> None:
    one = ["--slice", "2=0.75"]
    assert run([*COMMAND[:-1], "a.png", *one]) == run([*COMMAND[:-1], "b.png", *one]) == 0
    assert (folder / "a.png").read_bytes() == (folder / "b.png").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--slice", "9"], "--slice takes I=V, got '9'; write for example --slice 2=2.1"),
        (["--slice", "3=0"], "--slice names input 3, which is not free; the free ones are 0, 1, 2"),
        (["--slice", "2=9"], "the slice x₂ = 9 lies outside the picture, which goes from -0.5 to 1.5"),
        (["--slice", "2=nan"], "lies outside the picture"),
        (["--preimages"], "preimages are drawn for one or two free inputs"),
        (["--fix", "2=0", "--center", "0.5,0.5", "--solid"], "are for three free inputs, this network has 2"),
        (["--select", "0,1", "--solid"], "--solid draws the fold set, which needs three outputs, not 2"),
        (["--labels", "a,b"], "--labels has 2 names"),
    ],
)
def test_bad_questions_write_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert run([*COMMAND, *arguments]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""
    assert not (folder / "a.svg").exists()


def test_too_many_regions_are_said(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "MOST", 3)
    with warnings.catch_warnings():
        assert run(COMMAND) == 0
    assert "warning: the fold set is not drawn from outside" in capsys.readouterr().err

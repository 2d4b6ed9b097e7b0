"""Pairs of images: what is drawn, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.cli.main import run
from ircert.errors import QueryError
from ircert.plotting import image_shape, plot_pair


def layers(*sizes: int) -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(0)
    return [(rng.normal(size=(b, a)) / 2, np.zeros(b)) for a, b in pairwise(sizes)]


@pytest.fixture
def result() -> ircert.Result:
    """Two images of 2 x 3 pixels with one output."""
    return ircert.certify(ircert.load(layers(6, 4, 2)), np.full(6, 0.5), radius=0.25, domain=(0.0, 1.0), time_limit=10)


def test_the_pair_its_difference_and_outputs(result: ircert.Result) -> None:
    figure = result.plot(image=(2, 3))
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[:3] == ["x", "y", "x − y"]
    assert result.witness is not None
    drawn = figure.axes[2].images[0].get_array()
    assert np.array_equal(drawn, (result.witness.x - result.witness.y).reshape(2, 3))
    bars = [[bar.get_height() for bar in ax.patches] for ax in figure.axes if ax.patches]
    assert len(bars) == 1
    assert np.allclose(bars[0][:2], bars[0][2:], atol=1e-9), "the outputs are equal"


def test_without_networks_there_are_points_alone(result: ircert.Result) -> None:
    read = ircert.Result.from_json(result.to_json())
    assert read.optimum == result.optimum
    assert read.optimum is not None
    assert result.optimum is not None
    assert read.optimum.evidence == result.optimum.evidence
    assert not any(ax.patches for ax in plot_pair(read, "2x3").axes)


@pytest.mark.parametrize("shape", ["2x4", "6", "2x3x2", "axb", 6, (2, -3), None])
def test_shapes_that_do_not_fit(result: ircert.Result, shape: Any) -> None:
    with pytest.raises(QueryError, match="image"):
        image_shape(shape, 6)
    assert image_shape("1x2x3", 6) == (1, 2, 3)


def test_the_command(result: ircert.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, saved, picture = tmp_path / "net.ir", tmp_path / "r.json", tmp_path / "pair.svg"
    model.write_text(str(result.graph))
    saved.write_text(result.to_json())
    assert run(["plot", str(model), "--result", str(saved), "--image", "2x3", "-o", str(picture)]) == 0
    with_outputs = picture.read_text()
    assert run(["plot", str(saved), "--image", "2x3", "-o", str(picture)]) == 0
    assert "outputs of f" in with_outputs
    assert "outputs of f" not in picture.read_text()
    picture.unlink()
    for wrong in (["--result", str(saved)], ["--image", "3x3", "--result", str(saved)], ["--image", "2x3"], []):
        assert run(["plot", str(model), *wrong, "-o", str(picture)]) == 2
        assert not picture.exists()
        assert len(capsys.readouterr().err.strip().splitlines()) == 1

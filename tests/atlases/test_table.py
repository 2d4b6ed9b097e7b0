"""The table as text, frames and pictures, and the command that makes it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import ircert
from ircert.atlases.layout import grid, trajectory
from ircert.cli.main import run
from ircert.data.networks import bundled
from ircert.errors import QueryError

MODEL = str(Path(ircert.__file__).parent / "data" / "networks" / "vanderpol-2-10-10-2.ir")


def test_columns_and_text(tmp_path: Path) -> None:
    graph = bundled("vanderpol-2-10-10-2")
    atlas = ircert.atlas(graph, grid((-1, 1, 3), (0, 1, 2)))
    rows = list(csv.DictReader(io.StringIO(atlas.to_csv(tmp_path / "a.csv"))))
    assert [float(row["certified"]) for row in rows] == atlas.certified.tolist()
    assert atlas.shape == (3, 2)
    assert bool(atlas) is atlas.resolved is True
    assert "6 certified" in atlas.summary()
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = atlas.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["refuted"].tolist() == atlas.refuted.tolist()


@pytest.mark.rule("A-9")
def test_the_command_resumes_shards_and_merges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["atlas", MODEL, "--grid", "-2:2:16,-2:2:18"]
    parts = [str(tmp_path / f"{i}.jsonl") for i in (1, 2)]
    for i, part in enumerate(parts, 1):
        assert run([*given, "--shard", f"{i}/2", "--results", part]) == 0  # its own brackets are closed
        assert "of the unresolved belong to other shards" in capsys.readouterr().out
    whole, picture = str(tmp_path / "all.jsonl"), str(tmp_path / "all.png")
    capsys.readouterr()
    assert run(["atlas", MODEL, "--merge", *parts, "--results", whole, "--csv", "-", "--plot", picture]) == 0
    merged = capsys.readouterr().out
    assert Path(picture).stat().st_size > 1000
    assert run([*given, "--results", whole, "--csv", "-"]) == 0  # nothing is left to do
    assert capsys.readouterr().out == merged
    assert run(["atlas", MODEL, "--merge", parts[0], "--csv", "-"]) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["--grid", "-1:1"],
        ["--grid", "-1:1:3"],
        ["--grid", "-1:1:3,0:1:2,0:1:2"],
        ["--grid", "1:0:3,0:1:2"],
        ["--trajectory", "1,2"],
        ["--trajectory", "1,2", "--steps", "-1"],
        ["--centers", "missing.npy"],
        ["--merge", MODEL],
        ["--grid", "0:1:2,0:1:2", "--shard", "3/2"],
        ["--grid", "0:1:2,0:1:2", "--workers", "0"],
        ["--grid", "0:1:2,0:1:2", "--results", MODEL],
        ["--grid", "0:1:2,0:1:2", "--plot", "a.txt"],
    ],
)
def test_bad_usage_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["atlas", MODEL, *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("ircert: error: ")
    assert said.err.count("\n") == 1


def test_centres_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.csv").write_text("# x, y\n0, 0.5\n1 -1\n")
    np.save(tmp_path / "c.npy", np.array([[0, 0.5], [1, -1]]))
    assert run(["atlas", MODEL, "--centers", str(tmp_path / "c.csv"), "--csv", "-"]) == 0
    first = capsys.readouterr().out.splitlines()
    assert run(["atlas", MODEL, "--centers", str(tmp_path / "c.npy"), "--csv", "-"]) == 0
    second = capsys.readouterr().out.splitlines()
    assert [line.split(",")[:4] for line in first] == [line.split(",")[:4] for line in second]
    (tmp_path / "bad.csv").write_text("# x, y\n\n0, 0.5\n1 two\n")
    assert run(["atlas", MODEL, "--centers", str(tmp_path / "bad.csv")]) == 2
    assert "line 4" in capsys.readouterr().err, "as an editor counts"


def test_pictures() -> None:
    graph = bundled("vanderpol-2-10-10-2")
    ax = ircert.atlas(graph, grid((-9, 9, 8), (-9, 9, 8))).plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert any("fold set" in label for label in labels)
    curves = ircert.atlas(graph, trajectory(graph, [1, 1], 9)).plot()
    assert curves.get_xlabel() == "step"
    scattered = ircert.atlas(graph, [[0, 0], [1, 1], [0.5, 0]])
    assert scattered.plot(folds=False, attractor=False).collections
    with pytest.raises(QueryError):
        scattered.plot(what="nothing")


def test_slices_of_larger_grids() -> None:
    graph = ircert.load([(np.eye(3), np.zeros(3))])
    atlas = ircert.atlas(graph, grid((0, 1, 3), (0, 1, 2), (0, 1, 2)))
    assert "x₂" in atlas.plot().get_title()
    assert atlas.plot(slices={0: 1}).get_xlabel() == "x₁"
    with pytest.raises(QueryError, match="no slice"):
        atlas.plot(slices={5: 0})
    with pytest.raises(QueryError, match="grid"):
        ircert.atlas(graph, np.zeros((2, 3))).plot()

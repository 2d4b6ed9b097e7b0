"""The notebooks of docs/tutorials run as they stand, and show what they gave when they were stored."""

from __future__ import annotations

import json
import linecache
import re
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from tests.cli.commands import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
MOST = 600_000
"""Bytes of all notebooks together."""


def code_of(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook that are Python."""
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def executed(path: Path) -> dict[str, Any]:
    """The namespace after all cells; sources are kept where `inspect` looks, as a notebook does."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(code_of(path), 1):
        source, name = "".join(cell["source"]), f"<{path.stem} {number}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), namespace)
    return namespace


def test_there_are_four_small_ones() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["custom_pass", "export_and_replay", "learned_flow", "pruned_twins"]
    assert sum(path.stat().st_size for path in NOTEBOOKS) < MOST


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("agg")
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    executed(path)
    pyplot.close("all")
    assert not list(tmp_path.iterdir())  # what a tutorial writes goes to a folder that it removes


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stored(path: Path) -> None:
    cells = code_of(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        if re.search(r"^\s*print\(", "".join(cell["source"]), re.MULTILINE):
            assert any(output["output_type"] == "stream" for output in cell["outputs"]), cell["source"]
    kinds = {kind for cell in cells for output in cell["outputs"] for kind in output.get("data", {})}
    assert "image/png" in kinds or path.stem != "learned_flow"
    assert "text/html" in kinds or path.stem not in ("export_and_replay", "pruned_twins")
    assert not re.search(r"/tmp/|/home/|Traceback", path.read_text())

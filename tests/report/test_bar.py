"""Progress bars: as text on a terminal, and in a real notebook kernel with and without widgets."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

import ircert
from ircert.data.networks import bundled
from ircert.engines.base import Progress
from ircert.report import bar as bars

CELL = """
import ircert, sys
from ircert.data.networks import bundled
{before}
graph = bundled("vanderpol-2-16-16-2")
r = ircert.certify(graph, [0.5, 0.25], engine="boxes", progress=ircert.Bar())
a = ircert.atlas(graph, [[0.1, 0.2], [0.3, 0.4]], progress=ircert.Bar())
"""
WITHOUT = """
import ircert.report.bar as bars
bars.find_spec = lambda name: None
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    bar = ircert.Bar()
    bar(1, 4)
    bar(2, 4)  # too soon after the first
    bar(4, 4)
    shown = terminal.getvalue().split("\r\x1b[K")
    assert shown == ["", f"[{'#' * 8}{'.' * 22}] 1 of 4 centres", f"[{'#' * 30}] 4 of 4 centres\n"]


def test_nothing_where_nobody_reads(capsys: pytest.CaptureFixture[str]) -> None:
    ircert.certify(bundled("vanderpol-2-16-16-2"), [0.5, 0.25], progress=ircert.Bar())
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("progress", "share"),
    [(Progress(1.0, 2.0), 0.5), (Progress(1.0, None), 0.0), (Progress(0.0, 0.0), 0.0), (Progress(3.0, 2.0), 1.0)],
)
def test_how_much_of_a_search_is_done(progress: Progress, share: float) -> None:
    assert bars._step(progress, None) == (share, str(progress))


def _outputs(before: str) -> list[dict[str, Any]]:
    """What a cell of a real kernel shows."""
    nbformat = pytest.importorskip("nbformat", reason="notebooks are run by nbclient and ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="notebooks are run by nbclient and ipykernel")
    pytest.importorskip("ipykernel", reason="notebooks are run by nbclient and ipykernel")
    cell = nbformat.v4.new_code_cell(CELL.format(before=before))
    notebook = nbformat.v4.new_notebook(cells=[cell, nbformat.v4.new_code_cell("a"), nbformat.v4.new_code_cell("r")])
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3")
    client.execute()
    shown = [output["data"] for part in notebook.cells for output in part.outputs if "data" in output]
    assert all("text/html" in data for data in shown[-2:])
    return shown[:-2]


def test_text_in_a_notebook_overwrites_itself() -> None:
    search, atlas = _outputs(WITHOUT)
    assert search["text/plain"].startswith("[")
    assert atlas["text/plain"] == f"[{'#' * 30}] 2 of 2 centres"


def test_widgets_in_a_notebook() -> None:
    pytest.importorskip("ipywidgets", reason="bars are text without widgets")
    shown = _outputs("")
    assert len(shown) == 2
    assert all("application/vnd.jupyter.widget-view+json" in data for data in shown)

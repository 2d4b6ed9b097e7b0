"""Files: PNG and SVG, the same bytes every time, whole or not at all; and whose figures they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import ircert
from ircert.errors import FileError, MissingExtra
from ircert.plotting import draw_regions, figure, new_axes, plot_result, save
from tests.plotting.support import FOLD, quarters

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("geometry")


def picture() -> Figure:
    made = plot_result(ircert.certify(FOLD, [0.5, 1.0]), preimages=True).figure
    assert isinstance(made, Figure)
    return made


def test_png(tmp_path: Path) -> None:
    save(picture(), tmp_path / "a.png")
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert data.endswith(b"IEND\xaeB`\x82")


def test_svg_is_xml_with_its_text(tmp_path: Path) -> None:
    save(picture(), tmp_path / "a.SVG")
    root = ElementTree.fromstring((tmp_path / "a.SVG").read_bytes())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = {"".join(element.itertext()).strip() for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"x₀", "x₁", "det Df", "centre c", "fold set J₀", "f injective: r = 0.4999 (∞-norm)"} <= texts
    ids = {element.get("id") for element in root.iter()}
    assert {"cells", "center", "preimages"} <= ids


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_the_same_picture_is_the_same_bytes(tmp_path: Path, name: str) -> None:
    written = []
    for _ in range(2):
        save(picture(), tmp_path / name)
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    assert b"dc:date" not in written[0]


def test_many_cells_do_not_make_a_huge_svg(tmp_path: Path) -> None:
    for count in (5000, 5001):
        save(draw_regions(new_axes(), quarters(*np.linspace(1, 2, count))), tmp_path / f"{count}.svg")
    assert (tmp_path / "5000.svg").read_bytes().count(b"<path") > 5000
    assert (tmp_path / "5001.svg").read_bytes().count(b"<path") < 1000
    assert b"<image" in (tmp_path / "5001.svg").read_bytes()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a.gif", "ending in .png or .svg or .pdf"),
        ("a", "ending in .png"),
        ("missing/a.png", "folder does not exist"),
        ("folder.png", "this is a folder"),
    ],
)
def test_nothing_is_written_on_errors(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(FileError, match=says):
        save(picture(), tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == ["folder.png"]


def test_a_failure_while_drawing_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(b"old")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of ink")

    monkeypatch.setattr(Figure, "savefig", broken)
    with pytest.raises(RuntimeError, match="out of ink"):
        save(picture(), tmp_path / "a.png")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.png", b"old")]


def test_axes_of_a_subfigure_are_saved_with_their_figure(tmp_path: Path) -> None:
    left: Any = Figure().subfigures(1, 1)
    save(draw_regions(left.add_subplot(), quarters(1.0, -1.0)), tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000


def python(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


AXES = "from ircert.plotting import new_axes; axes = new_axes()"
AGG = "import matplotlib; matplotlib.use('agg')"
LOADED = "import sys; print('matplotlib.pyplot' in sys.modules)"


def test_figures_are_pyplots_where_pyplot_is_used() -> None:
    unasked = f"{AGG}; {AXES.replace('new_axes()', 'new_axes(pyplot=False)')}; {LOADED}"
    known = f"from matplotlib import pyplot; {AXES.replace('new_axes()', 'new_axes(pyplot=False)')}"
    numbers = "print(pyplot.get_fignums(), pyplot.gcf() is axes.figure)"
    said = python(f"{unasked}; {known}; print(pyplot.get_fignums()); {AXES}; {numbers}")
    assert said == "False\n[]\n[1] True\n"
    asked = AXES.replace("new_axes()", "new_axes(pyplot=True)")
    assert python(f"{AXES}; {LOADED}; {AGG}; {asked}; {LOADED}") == "False\nTrue\n"


@pytest.mark.parametrize("shell", [None, "a shell"])
def test_ipython_is_noticed(monkeypatch: pytest.MonkeyPatch, shell: str | None) -> None:
    """There the first figure starts pyplot, because a plain Figure would not show itself."""
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not figure.in_ipython()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert figure.in_ipython() == (shell is not None)


def test_without_matplotlib_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import ircert\n"
        "try:\n    ircert.plotting\n"
        "except ircert.IrcertError as error:\n    print(type(error).__name__, error)"
    )
    output = python(code)
    assert output.startswith(MissingExtra.__name__)
    assert "pip install 'ircert[plot]'" in output
    run = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from ircert.cli.main import run\n"
        "sys.stderr = sys.stdout; print(run(['plot', 'missing.ir', '--center', '0,0', '-o', 'a.png']))"
    )
    assert python(run).endswith("pip install 'ircert[plot]'\n2\n")

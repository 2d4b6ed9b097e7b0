"""The documentation site: pages are assembled whole, and mkdocs builds them without a warning where it is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import ircert
from scripts.build_site import FENCE, LINK, assemble
from tests.cli.commands import ROOT

CONFIGURATION = (ROOT / "mkdocs.yml").read_text()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    assemble(folder)
    return folder


def test_pages_of_the_menu_are_there(pages: Path) -> None:
    named = re.findall(r": (\S+\.md)$", CONFIGURATION, re.MULTILINE)
    assert len(named) > 8
    assert [name for name in named if not (pages / name).is_file()] == []


def test_links_lead_to_files(pages: Path) -> None:
    found = [
        (page, target.partition("#")[0])
        for page in pages.rglob("*.md")
        for text in FENCE.split(page.read_text())[::2]
        for _, _, target in LINK.findall(text)
    ]
    own = [(page, target) for page, target in found if target and ":" not in target]
    assert len(own) > 60
    assert [(page.name, target) for page, target in own if not (page.parent / target).is_file()] == []


def test_notebooks_and_docstrings_are_pages(pages: Path) -> None:
    flow = (pages / "docs" / "tutorials" / "learned_flow.md").read_text()
    assert "```python\n" in flow
    assert "```text\n14 centres" in flow
    assert (pages / "docs" / "tutorials" / re.findall(r"!\[.*\]\((.*)\)", flow)[0]).read_bytes().startswith(b"\x89PNG")
    assert not list(pages.rglob("*.ipynb"))
    assert set(re.findall(r"^::: [\w.]+\.(\w+)$", (pages / "api.md").read_text(), re.MULTILINE)) == set(ircert._MODULES)


@pytest.mark.skipif(find_spec("mkdocstrings") is None, reason="optional: mkdocs, of the extra `docs`")
def test_mkdocs_builds_without_warnings(pages: Path, tmp_path: Path) -> None:
    places = {"build/pages": pages, "build/site": tmp_path / "site", '"."': f'"{ROOT}"'}
    text = CONFIGURATION
    for before, after in places.items():
        text = text.replace(before, str(after))
    (tmp_path / "mkdocs.yml").write_text(text)
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert "ircert.certification.certify" in (tmp_path / "site" / "api.html").read_text()

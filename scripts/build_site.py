"""Builds the documentation site: pages are assembled in build/pages; mkdocs makes build/site of them (extra `docs`).

Pages keep their places in the repository, so that their links stay true; notebooks become Markdown, folders that are
linked get a list of their pages, and links to what is no page of the site become plain text.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "pages"
FILES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "PERFORMANCE.md")
FOLDERS = {"docs/tutorials": "Tutorials", "docs/performance": "Measurements", "spec": "Specification"}
LINK = re.compile(r"(!?)\[([^\]\n]*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def assemble(pages: Path = PAGES) -> None:
    """All pages of the site, in a new folder."""
    shutil.rmtree(pages, ignore_errors=True)
    for folder in ("docs", "spec"):
        shutil.copytree(ROOT / folder, pages / folder)
    for name in FILES:
        shutil.copy(ROOT / name, pages / name)
    for notebook in pages.rglob("*.ipynb"):
        notebook.with_suffix(".md").write_text(markdown_of(notebook))
        notebook.unlink()
    for folder, title in FOLDERS.items():
        (pages / folder / "index.md").write_text(_listed(pages / folder, title))
    (pages / "api.md").write_text(_reference())
    for page in pages.rglob("*.md"):
        page.write_text(_adapted(page, pages))


def markdown_of(notebook: Path) -> str:
    """A notebook as Markdown; pictures are written beside it."""
    parts: list[str] = []
    for number, cell in enumerate(json.loads(notebook.read_text())["cells"]):
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            parts.append(_output(output, notebook.with_name(f"{notebook.stem}-{number}.png")))
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any], picture: Path) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        picture.write_bytes(base64.b64decode(data["image/png"]))
        return f"![what the cell above draws]({picture.name})"
    text = "".join(output.get("text") or data["text/plain"])
    return f"```text\n{text.rstrip()}\n```"


def _listed(folder: Path, title: str) -> str:
    """The pages of a folder, by their headings."""
    pages = [page for page in sorted(folder.glob("*.md")) if page.name != "index.md"]
    return f"# {title}\n\n" + "".join(f"* [{_heading(page)}]({page.name})\n" for page in pages)


def _heading(page: Path) -> str:
    found = re.search(r"^# (.+)$", page.read_text(), re.MULTILINE)
    return found[1].replace("`", "") if found else page.stem


def _reference() -> str:
    """What `ircert` exports, from the docstrings."""
    sys.path.insert(0, str(ROOT))
    import ircert

    names = sorted(ircert._MODULES.items(), key=lambda item: item[0].lower())
    return "# API\n\n" + "".join(f"::: {module}.{name}\n\n" for name, module in names)


def _adapted(page: Path, pages: Path) -> str:
    """A page with links that hold on the site, and a blank line before each list, which Python's Markdown wants."""
    parts = FENCE.split(page.read_text())
    for k in range(0, len(parts), 2):
        text = LINK.sub(lambda link: _linked(link, page, pages), parts[k])
        parts[k] = re.sub(r"^(?!\s*[*\d-]|\s*$| )(.+)\n(?=[*-] |\d+\. )", r"\1\n\n", text, flags=re.MULTILINE)
    return "".join(parts)


def _linked(link: re.Match[str], page: Path, pages: Path) -> str:
    mark, text, target = link.groups()
    path, _, anchor = target.partition("#")
    if not path or ":" in path:
        return link[0]
    goal = Path(os.path.normpath(page.parent / path.replace(".ipynb", ".md")))
    if goal.is_dir() and (goal / "index.md").exists():
        goal /= "index.md"
    if not goal.is_file() or not goal.is_relative_to(pages):
        return text
    return f"{mark}[{text}]({os.path.relpath(goal, page.parent)}{'#' + anchor if anchor else ''})"


def main() -> int:
    """Assemble and build; every warning of mkdocs is an error (with `--quiet` it would count none)."""
    if find_spec("mkdocs") is None or find_spec("mkdocstrings") is None:
        print("mkdocs and mkdocstrings are needed: pip install 'ircert[docs]'", file=sys.stderr)
        return 2
    assemble()
    return subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict"], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())

"""Runs the notebooks of docs/tutorials and stores what they print, return and draw: `run_tutorials.py [NAME…]`.

Cells are plain Python, executed in one namespace; neither Jupyter nor a kernel is needed.
"""

from __future__ import annotations

import ast
import base64
import io
import json
import linecache
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib

FOLDER = Path(__file__).parents[1] / "docs" / "tutorials"
DPI = 64
"""Of pictures, which are kept small."""


def run(path: Path) -> float:
    """Execute a notebook in place; the seconds of processor time it took."""
    notebook = json.loads(path.read_text())
    namespace: dict[str, Any] = {"__name__": "__main__"}
    started = time.process_time()
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, 1):
        cell["execution_count"] = number
        cell["outputs"] = outputs_of("".join(cell["source"]), namespace, number)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    return time.process_time() - started


def outputs_of(source: str, namespace: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """What a cell prints, the value of its last expression unless a semicolon follows it, and its open figures."""
    tree, name = ast.parse(source), f"<cell {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)  # hypothesis reads sources
    shown = tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";")
    last = ast.Expression(tree.body.pop().value) if shown else None  # type: ignore[attr-defined]
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, name, "exec"), namespace)
        value = eval(compile(last, name, "eval"), namespace) if last else None
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None:
        found.append({"output_type": "execute_result", "execution_count": number, **_shown(value)})
    return found + [{"output_type": "display_data", **_drawn(figure)} for figure in _figures()]


def lines(text: str) -> list[str]:
    """Text as notebooks store it."""
    return text.splitlines(keepends=True)


def _shown(value: object) -> dict[str, Any]:
    data = {"text/plain": lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = lines(value._repr_html_())
    return {"data": data, "metadata": {}}


def _figures() -> list[Any]:
    from matplotlib import pyplot

    return [pyplot.figure(number) for number in pyplot.get_fignums()]


def _drawn(figure: Any) -> dict[str, Any]:
    from matplotlib import pyplot

    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=DPI, bbox_inches="tight")
    pyplot.close(figure)
    return {"data": {"image/png": base64.b64encode(picture.getvalue()).decode()}, "metadata": {}}


def main(names: list[str]) -> None:
    """Run the notebooks of these names, or all."""
    matplotlib.use("agg")
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            print(f"{path.name}: {run(path):.1f} s, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Results as text for people: the report of one experiment, and the page of all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

DIGITS = 7
"""Significant digits of numbers in tables."""

HEAD = """\
# The paper, reproduced

Each experiment of *Certified Invertibility in Neural Networks via Mixed-Integer Programming*, run and compared. This
page and the files in `{folder}/` are written by `ircert reproduce all --docs docs/reproduction.md`, not by hand.
"""


def page(results: Mapping[str, Any], *, folder: str = "", level: int = 1) -> str:
    """One experiment as Markdown; `folder` is where its figures lie, `level` that of its heading."""
    parts = [
        f"{'#' * level} {results['title']}",
        results["text"],
        _claims(results["claims"]),
        _comparisons(results["comparisons"]),
        *(f"{table['title']}:\n\n{_table(table['columns'], table['rows'])}" for table in results["tables"]),
        *(_picture(picture, folder) for picture in results["pictures"] if picture["page"] or level == 1),
        _made_by(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def document(all_results: Sequence[Mapping[str, Any]], folder: str) -> str:
    """The page of several experiments; the figures lie in folder/name/."""
    rows = [
        (f"[`{r['name']}`](#{_anchor(r['title'])})", r["title"], _tally(r["claims"]), f"{r['seconds']:.0f} s")
        for r in all_results
    ]
    summary = _table(("experiment", "", "claims met", "time"), rows)
    pages = [page(r, folder=f"{folder}/{r['name']}/", level=2) for r in all_results]
    return "\n".join([HEAD.format(folder=folder), summary + "\n", *pages])


def _claims(claims: Sequence[Mapping[str, Any]]) -> str:
    lines = (f"* {'met' if c['met'] else '**not met**'}: {c['text']}" + _after(" — ", c["detail"]) for c in claims)
    return "\n".join(lines)


def _tally(claims: Sequence[Mapping[str, Any]]) -> str:
    return f"{sum(c['met'] for c in claims)} of {len(claims)}"


def _comparisons(comparisons: Sequence[Mapping[str, Any]]) -> str:
    if not comparisons:
        return ""
    rows = [(c["what"], c["paper"], c["ours"], c["why"]) for c in comparisons]
    return _table(("", "paper", "ours", "why they differ"), rows)


def _table(columns: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    columns = list(columns)
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(shown(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _picture(picture: Mapping[str, Any], folder: str) -> str:
    return f"![{picture['caption']}]({folder}{picture['name']}.png)\n\n*{picture['caption']}*"


def _made_by(results: Mapping[str, Any]) -> str:
    options = "".join([" --quick" if results["quick"] else "", f" --seed {results['seed']}" if results["seed"] else ""])
    return f"Made by `ircert reproduce {results['name']}{options}` in {results['seconds']:.0f} s."


def _after(mark: str, text: str) -> str:
    return mark + text if text else ""


def _anchor(title: str) -> str:
    """The name a heading has in rendered Markdown."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def shown(value: Any) -> str:
    """A cell: numbers with a few digits, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}" if math.isfinite(value) else "∞"
    if isinstance(value, list | tuple):
        return ", ".join(shown(item) for item in value)
    return {"inf": "∞", "-inf": "−∞"}.get(value, value) if isinstance(value, str) else str(value)

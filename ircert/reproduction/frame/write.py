"""A report as files: results.json, report.md and the figures."""

from __future__ import annotations

import json
import os
import platform
import shutil
from pathlib import Path
from typing import Any

from ircert import __version__
from ircert.errors import FileError
from ircert.files import read_text, write_text
from ircert.reproduction.frame.page import document, page
from ircert.reproduction.frame.report import Report, Settings
from ircert.result.json_form import plain

SCHEMA = "ircert.reproduction/1"
RESULTS = "results.json"
FINE, ROUGH = 200, 80
"""Dots per inch, of full and of quick pictures."""


def write_report(name: str, report: Report, settings: Settings, seconds: float, folder: Path) -> Path:
    """Write the folder of an experiment (`folder`/name) and return it."""
    from ircert.plotting import save

    home = make_folder(folder / name)
    for picture in report.pictures:
        for ending in ("png", "svg"):
            save(picture.figure, home / f"{picture.name}.{ending}", dpi=ROUGH if settings.quick else FINE)
    results = _results(name, report, settings, seconds)
    write_text(home / RESULTS, json.dumps(results, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    write_text(home / "report.md", page(results))
    return home


def write_document(path: Path, order: list[str], homes: list[Path]) -> None:
    """Write the page of all experiments, and beside it (`stem`/name/) the results it is made of and its figures.

    `homes` are folders of experiments that were written just now; what lies beside the page from earlier runs stays.
    """
    beside = path.parent / path.stem
    for home in homes:
        kept = make_folder(beside / home.name)
        results = json.loads(read_text(home / RESULTS))
        shown = [f"{picture['name']}.png" for picture in results["pictures"] if picture["page"]]
        for old in kept.glob("*.png"):
            old.unlink()
        shutil.copyfile(home / RESULTS, kept / RESULTS)
        for file in shown:
            _copy_small(home / file, kept / file)
    write_text(path, document(read_results(beside, order), path.stem))


def _copy_small(source: Path, target: Path) -> None:
    """A picture with 256 colours, a third of its size; the octree keeps those of thin lines."""
    from PIL import Image  # comes with matplotlib

    with Image.open(source) as picture:
        few = picture.convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(target, format="png", optimize=True)


def read_results(folder: Path, order: list[str]) -> list[dict[str, Any]]:
    """The results of every experiment in a folder, in the given order."""
    files = [folder / name / RESULTS for name in order]
    return [json.loads(read_text(file)) for file in files if file.is_file()]


def make_folder(path: Path) -> Path:
    """A folder that can be written to, made if need be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"the folder cannot be made ({error.strerror or error})", path=path) from None
    if not os.access(path, os.W_OK):
        raise FileError("the folder cannot be written to", path=path, remedy="choose another place")
    return path


def _results(name: str, report: Report, settings: Settings, seconds: float) -> dict[str, Any]:
    found: dict[str, Any] = plain(
        {
            "schema": SCHEMA,
            "name": name,
            "title": report.title,
            "text": report.text,
            "met": report.met,
            "claims": [{"text": c.text, "met": c.met, "detail": c.detail} for c in report.claims],
            "comparisons": [
                {"what": c.what, "paper": c.paper, "ours": c.ours, "why": c.why} for c in report.comparisons
            ],
            "tables": [{"title": t.title, "columns": t.columns, "rows": t.rows} for t in report.tables],
            "pictures": [{"name": p.name, "caption": p.caption, "page": p.page} for p in report.pictures],
            "facts": report.facts,
            "quick": settings.quick,
            "seed": settings.seed,
            "time_limit": settings.time_limit,
            "reference_data": settings.reference is not None,
            "seconds": round(seconds, 1),
            "versions": {"ircert": __version__, "python": platform.python_version()},
        }
    )
    return found

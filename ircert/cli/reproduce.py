"""`ircert reproduce`: the paper's experiments, each as a folder of results, a report and figures."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from ircert.cli.options import add_seed, add_time_limit
from ircert.cli.progress import working
from ircert.cli.streams import say
from ircert.errors import FileError
from ircert.reproduction import check_name, names, run
from ircert.reproduction.frame.report import Report, Settings, silent

NOT_MET = 3
REFERENCE_DATA = "IRCERT_REFERENCE_DATA"


def add_reproduce_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert reproduce` takes."""
    parser.add_argument(
        "names", metavar="NAME", nargs="*", default=["all"], help=f"{', '.join(names())}, or all (the default)"
    )
    parser.add_argument("-o", "--output", metavar="FOLDER", default="reproduction", help="(default: reproduction)")
    parser.add_argument("--quick", action="store_true", help="small versions, a few seconds each")
    add_seed(parser)
    add_time_limit(parser, "for each certification (default: 120)", 120.0)
    parser.add_argument("--docs", metavar="FILE.md", help="also write the page of all experiments there")


def reproduce(options: argparse.Namespace) -> int:
    """Run the experiments; 0 if all claims are met, 3 if one is not."""
    from ircert.answering import check_limits
    from ircert.reproduction.frame.write import make_folder, write_document

    chosen = _chosen(options.names)
    check_limits(options.time_limit, options.seed)
    page = None if options.docs is None else _page(options.docs)
    import_module("ircert.plotting")  # without the extra for figures nothing is written
    folder = make_folder(Path(options.output))
    if page is not None:
        make_folder(page.parent)
    homes, met = [], True
    for name in chosen:
        report, home = _run_one(name, options, folder)
        homes.append(home)
        met = met and report.met
    if page is not None:
        write_document(page, names(), homes)
        say(f"written to {page}")
    return 0 if met else NOT_MET


def _run_one(name: str, options: argparse.Namespace, folder: Path) -> tuple[Report, Path]:
    from ircert.reproduction.frame.write import write_report

    with working(name) as line:
        settings = Settings(
            quick=options.quick,
            seed=options.seed,
            time_limit=options.time_limit,
            reference=_reference(),
            say=silent if line is None else lambda text: line(f"{name}: {text}"),
        )
        report, seconds = run(name, settings)
        home = write_report(name, report, settings, seconds, folder)
    say(_summary(name, report, seconds, home))
    return report, home


def _chosen(given: Sequence[str]) -> list[str]:
    """The experiments that were asked for, each once and in the paper's order; `all` is all of them."""
    for name in given:
        if name != "all":
            check_name(name)
    return [name for name in names() if "all" in given or name in given]


def _page(given: str) -> Path:
    path = Path(given)
    if path.suffix != ".md":
        raise FileError("the page is a Markdown file", path=path, remedy="use a name ending in .md")
    return path


def _reference() -> Path | None:
    """Where the authors' published networks are, if the environment says so."""
    given = os.environ.get(REFERENCE_DATA)
    if not given:
        return None
    if not Path(given).is_dir():
        raise FileError(f"{REFERENCE_DATA} names no folder", path=given, remedy="correct or unset it")
    return Path(given)


def _summary(name: str, report: Report, seconds: float, home: Path) -> str:
    lines = [f"{name}: {report.title} ({seconds:.1f} s)"]
    for claim in report.claims:
        detail = f" ({claim.detail})" if claim.detail else ""
        lines.append(f"  {'met    ' if claim.met else 'NOT MET'}  {claim.text}{detail}")
    return "\n".join([*lines, f"  written to {home}"])

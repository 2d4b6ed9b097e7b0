"""The paper's experiments by name; the module of each is imported when it runs.

An experiment is a module with one function `run(settings) -> Report`. It draws but writes nothing: `write_report` does.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING

from ircert.errors import QueryError

if TYPE_CHECKING:
    from ircert.reproduction.frame.report import Report, Settings

EXPERIMENTS = {
    "1d": "ircert.reproduction.experiments.one_dimension",
    "euler": "ircert.reproduction.experiments.euler",
    "brusselator": "ircert.reproduction.experiments.brusselator",
    "timestep": "ircert.reproduction.experiments.timestep",
    "vanderpol": "ircert.reproduction.experiments.vanderpol",
    "histories": "ircert.reproduction.experiments.histories",
    "resnet": "ircert.reproduction.experiments.resnet",
    "iresnet": "ircert.reproduction.experiments.iresnet",
    "smooth": "ircert.reproduction.experiments.smooth",
}
"""In the paper's order, then what goes beyond it; one line adds an experiment."""


def names() -> list[str]:
    """The experiments that are there."""
    return list(EXPERIMENTS)


def check_name(name: str) -> None:
    """QueryError unless there is such an experiment."""
    if name not in EXPERIMENTS:
        raise QueryError(f"there is no experiment {name[:60]!r}", remedy=f"there are: {', '.join(names())}, and all")


def run(name: str, settings: Settings) -> tuple[Report, float]:
    """Run one experiment; its report, and the seconds it took."""
    check_name(name)
    start = time.perf_counter()
    report: Report = import_module(EXPERIMENTS[name]).run(settings)
    return report, time.perf_counter() - start

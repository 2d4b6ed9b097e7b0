"""What a search does, for Python's `logging`: the logger `ircert`.

INFO has the question, every change of the bracket and the answer, DEBUG every step. Nothing is written unless somebody
listens, and texts are made only then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeAlias

from ircert.engines.base import Progress, silent

LOG = logging.getLogger("ircert")
LOG.addHandler(logging.NullHandler())
Report: TypeAlias = Callable[[Progress], None]


def logged(report: Report | None) -> Report:
    """A function that gets the progress of one search: it writes it down, where somebody reads, and reports it."""
    if not LOG.isEnabledFor(logging.INFO):
        return silent if report is None else report
    last: tuple[float, float | None] | None = None

    def both(progress: Progress) -> None:
        nonlocal last
        ends = (progress.certified, progress.refuted)
        LOG.log(logging.DEBUG if ends == last else logging.INFO, "%s", progress)
        last = ends
        if report is not None:
            report(progress)

    return both

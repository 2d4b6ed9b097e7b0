"""Searches that end early: no time, the user, too many cells; what was reached is returned, and is true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ircert.engines.base import Progress
from ircert.engines.regions import growth
from ircert.engines.regions.complex import build
from tests.engines.regions.asking import ask
from tests.oracle.build import Network, line, plain, summed


def deep() -> Network:
    return summed(line(2, 2), plain(np.random.default_rng(0), [2, 12, 12, 2], True), 0.02)


@pytest.mark.rule("G-8")
def test_no_time_at_all() -> None:
    found = ask(deep(), [0.0, 0.0], seconds=0.0)
    assert (found.verdict, found.certified, found.refuted) == (None, 0.0, None)
    assert "time limit" in str(found.reason)
    assert ask(deep(), [0.0, 0.0], radius=1.0, seconds=0.0).verdict == "unresolved"
    assert ask(deep(), [0.0, 0.0], seconds=0.0, problem="pseudo").refuted is None


@pytest.mark.rule("G-8")
@pytest.mark.parametrize("calls", [0, 1, 2])
def test_interrupted_by_the_user(calls: int) -> None:
    """The bracket that was reached is returned, and it is no larger than the truth."""
    seen: list[Progress] = []

    def report(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) > calls:
            raise KeyboardInterrupt

    whole = ask(deep(), [0.0, 0.0], max_radius=1e4)
    found = ask(deep(), [0.0, 0.0], max_radius=1e4, report=report)
    assert len(seen) == calls + 1
    assert "interrupted" in str(found.reason)
    assert 0 < float(found.certified) == seen[-1].certified <= float(whole.certified)
    assert [p.certified for p in seen] == sorted(p.certified for p in seen)


def test_interrupted_while_cells_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(growth, "build", stop)
    found = ask(deep(), [0.0, 0.0])
    assert (found.certified, found.refuted) == (0.0, None)
    assert "interrupted" in str(found.reason)


def test_too_many_cells_are_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "build", lambda *a, **k: build(*a, **{**k, "most": 20}))
    found = ask(deep(), [0.0, 0.0], max_radius=1e4)
    assert found.refuted is None
    assert "more than 20 linear regions" in str(found.reason)
    whole = ask(deep(), [0.0, 0.0], max_radius=1e4)
    assert found.certified <= whole.certified

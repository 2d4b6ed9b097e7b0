"""A worker on its own: shares in, replies out."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest

from ircert.engines.boxes.search.divisible import Subject
from ircert.engines.boxes.search.orientation import Orientation
from ircert.engines.boxes.search.pair_search import PairSearch
from ircert.engines.boxes.workers import worker as workers
from ircert.engines.boxes.workers.worker import KEPT, Worker
from ircert.processes import Failure
from tests.engines.boxes.making import fold, setting_of


def subject(kind: str = "inside") -> Subject:
    setting = setting_of(fold(), [0.0, 0.0])
    return Subject(kind, (setting,), (setting,))  # type: ignore[arg-type]


def test_each_kind_of_search() -> None:
    worker = Worker(lambda: False)
    assert isinstance(worker._search(subject("inside")), Orientation)
    assert isinstance(worker._search(subject("pairs")), PairSearch)


def test_time_ends_with_the_clock_or_with_the_parent() -> None:
    gone = False
    worker = Worker(lambda: gone, end=np.inf)
    assert not worker._over()
    gone = True
    assert worker._over()
    assert Worker(lambda: False, end=0.0)._over()


def test_only_the_latest_searches_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        def work_on(self, *_: object) -> str:
            return "done"

    monkeypatch.setattr(Worker, "_search", lambda *_: Silent())
    worker = Worker(lambda: False)
    for number in range(KEPT + 3):
        order = workers.Order(number, subject(), None, 1, 1.0)  # type: ignore[arg-type]
        assert worker.answer(order) == "done"  # type: ignore[comparison-overlap]
    assert list(worker.searches) == list(range(3, KEPT + 3))


def test_an_error_is_a_reply() -> None:
    """An order for a search that nobody described."""
    order = workers.Order(7, None, None, 1, 1.0)  # type: ignore[arg-type]
    target = io.BytesIO()
    workers._serve(Worker(lambda: False), io.BytesIO(pickle.dumps(order)), target)
    reply = pickle.loads(target.getvalue())
    assert isinstance(reply, Failure)
    assert "KeyError" in str(reply)

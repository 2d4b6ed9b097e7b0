"""A worker on its own: shares in, replies out."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest

from ircert.engines.boxes.cutting.orientation import Orientation
from ircert.engines.boxes.cutting.pair_search import PairSearch
from ircert.engines.boxes.effort.divisible import Subject
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.one_matrix.cover import Cover
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.outcome import Counts
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


@pytest.mark.rule("E-11", "E-15")
def test_a_cover_has_the_same_matrix_everywhere() -> None:
    """… to the last bit: boxes that different matrices close say nothing about pairs across them."""
    setting = setting_of(fold(), [0.0, 0.0])
    matrix = np.array([[0.1, 1 / 3], [5e-324, -1e300]])
    cover = Cover(OneMatrix(Batches(setting), matrix, 0.1), Points(setting), Counts(), lambda: None)
    found = Worker(lambda: False)._search(pickle.loads(pickle.dumps(cover.subject)))
    assert isinstance(found, Cover)
    assert found.matrix.matrix.tobytes() == matrix.tobytes()
    assert found.matrix.least == 0.1
    other = Cover(OneMatrix(Batches(setting), np.nextafter(matrix, np.inf)), Points(setting), Counts(), lambda: None)
    assert cover.subject == cover.subject != other.subject


@pytest.mark.rule("E-11", "E-15")
def test_covers_that_close_boxes_in_another_way_are_not_shared() -> None:
    class Stricter(OneMatrix):
        pass

    setting = setting_of(fold(), [0.0, 0.0])
    cover = Cover(Stricter(Batches(setting), np.eye(2)), Points(setting), Counts(), lambda: None)
    with pytest.raises(TypeError, match="Stricter are not shared"):
        _ = cover.subject


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

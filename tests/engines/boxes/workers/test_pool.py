"""Frontiers shared by several processes: the same answers as one, and an end in every case."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import closing
from signal import Signals
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.data.networks import bundled
from ircert.engines.boxes.cutting.orientation import Orientation
from ircert.engines.boxes.effort.divisible import Reply, Share, Subject
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.one_matrix import cover as cover_module
from ircert.engines.boxes.one_matrix import covering
from ircert.engines.boxes.one_matrix.cover import Cover
from ircert.engines.boxes.one_matrix.domination import Closed, OneMatrix
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.search import search
from ircert.engines.boxes.search.prover import Prover
from ircert.engines.boxes.workers import pool as pool
from ircert.engines.boxes.workers.worker import Order, Worker
from ircert.result.result import Result
from ircert.result.stop import Cause
from tests.engines.boxes.making import fold, residual, setting_of
from tests.engines.boxes.test_engine import LIMIT, NORMS, agree, problems, truth
from tests.oracle.families import FAMILIES, sample
from tests.processes import SIGNALS, last_line

COUPLED, UNICYCLE = "coupled-vanderpol-4-32-32-4", "unicycle-5-64-64-64-5"
MOVING = [0, 0, 0, 1, 0]


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small frontiers are shared as well, a little at a time."""
    for name, value in {"ENOUGH": 0, "FEWEST": 1, "LOT": 32, "EFFORT": 1_000}.items():
        monkeypatch.setattr(pool, name, value)


class Beside(pool.WorkerPool):
    """Workers in this process; orders and replies travel as bytes all the same."""

    workers: list[Worker]

    def __post_init__(self) -> None:
        self.workers = [Worker(lambda: False) for _ in range(self.threads)]

    def wants(self, pieces: int, effort: int) -> bool:
        return True

    def round(self, subject: Subject, deal: Callable[[int, int], Share]) -> list[Reply]:
        self.rounds += 1
        number, new = self._number(subject)
        orders = [
            Order(number, subject if new else None, deal(i, self.threads), pool.EFFORT, self.left())
            for i in range(self.threads)
        ]
        pairs = zip(self.workers, orders, strict=True)
        try:
            return [_travelled(worker.answer(_travelled(order))) for worker, order in pairs]
        except (
            BaseException
        ):  # the limit of this process reaches its workers here: they are gone, as processes would be
            self.close()
            self.__post_init__()
            raise


def _travelled(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))


@pytest.mark.rule("E-11")
@pytest.mark.parametrize("index", range(len(FAMILIES)))
def test_shares_never_change_what_is_true(index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Families of 1 to 4 inputs in all problems, every wave dealt out to three workers; time may leave them open."""
    monkeypatch.setattr(search, "WorkerPool", Beside)
    monkeypatch.setattr(covering, "CHEAP", 30)  # covers of tried matrices are not shared
    given = sample(np.random.default_rng(7000 + index), index)
    norm: Any = NORMS[index % 3]
    other = None if given.other is None else ircert.load(given.other)
    options: dict[str, Any] = {"norm": norm, "other": other, "tol": 1e-4, "max_radius": LIMIT, "threads": 3}
    for problem in problems(given):
        found = ircert.certify(
            ircert.load(given.layers), given.center, problem, engine="boxes", time_limit=0.5, **options
        )
        agree(found, truth(given, problem, norm))
        assert found.trust == "exact"


def cover_of(
    graph: ircert.Graph, matrix: Any, processes: pool.WorkerPool | None, alone: int = 0, radius: float = 1.0
) -> Cover:
    """A cover of a ball that is shared after some waves."""
    setting = setting_of(graph, np.zeros(graph.input_dim))
    made = OneMatrix(Batches(setting), np.asarray(matrix))
    cover = Cover(made, Points(setting), Counts(), lambda: None)
    cover.begin(radius)
    for _ in range(alone):
        assert cover.step(radius, lambda: False) is None
    cover.processes = processes
    return cover


@pytest.mark.rule("E-11", "E-15")
def test_a_shared_cover_has_every_box_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no box closed, what comes back covers the ball as often as before: once."""
    monkeypatch.setattr(cover_module, "ENOUGH", 10**9)
    monkeypatch.setattr(cover_module, "FEW_OPEN", -1)  # no trees
    cover = cover_of(fold(), np.eye(2), Beside(3, lambda: 60.0), alone=4)
    monkeypatch.setattr(OneMatrix, "closed", nothing_closed)
    before = cover.open_share(1.0)
    for _ in range(3):
        assert cover.step(1.0, lambda: False) is None
        assert cover.open_share(1.0) == before
    assert cover.processes.rounds == 3  # type: ignore[union-attr]
    assert cover.spent == cover.counts.boxes


def nothing_closed(self: OneMatrix, slopes: Slopes, known: Any = None) -> Closed:
    none = np.zeros(slopes.middle.shape[1], dtype=bool)
    corners = slopes.middle.T.copy()
    return Closed(none, np.ones(slopes.middle.shape), corners, np.arange(len(none)), 0, np.ones(len(none)))


@pytest.mark.rule("E-11", "E-15")
@pytest.mark.parametrize("enough", [1, 12, 10**9])
def test_a_shared_cover_stops_at_a_fold(enough: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """C is wrong beyond 1/2, as some worker sees or all of them together."""
    monkeypatch.setattr(cover_module, "ENOUGH", enough)
    cover = cover_of(fold(at=0.5), np.eye(2), Beside(3, lambda: 60.0))
    outcomes = [cover.step(1.0, lambda: False) for _ in range(4)]
    assert "closed" not in outcomes
    assert ("violated" in outcomes) == (enough < 10**9)
    assert cover.reached <= 0.5
    assert cover.reached > 0.4 or enough == 1
    failing = np.concatenate(cover.failing)
    assert (failing[:, 0] > 0.5).all()


@pytest.mark.rule("E-11", "E-15")
def test_a_shared_cover_closes_what_one_process_closes() -> None:
    graph = residual(np.random.default_rng(3), 3, 10, scale=0.4)
    matrix = np.linalg.inv(Points(setting_of(graph, np.zeros(3))).reference(0.5))
    shared = cover_of(graph, matrix, Beside(3, lambda: 60.0), radius=0.5)
    alone = cover_of(graph, matrix, None, radius=0.5)
    for cover in (shared, alone):
        assert cover.advance(0.5, lambda: False) == "closed"
        assert cover.reached == 0.5
    assert shared.counts.boxes == alone.counts.boxes


# --- other processes -------------------------------------------------------------------------------------------------


@pytest.mark.rule("E-11")
@pytest.mark.parametrize("problem", ["local", pytest.param("pseudo", marks=pytest.mark.slow)])
def test_the_same_bracket_with_two_processes(problem: str) -> None:
    graph = bundled("vanderpol-2-10-10-2")
    results = [
        ircert.certify(graph, [0.25, -0.5], problem, engine="boxes", tol=1e-3, max_radius=20, threads=threads)
        for threads in (1, 2, 2)
    ]
    alone, first, second = results
    assert "processes" not in alone.stats
    assert first.stats["processes"] == 2
    assert first.stats["rounds"] > 0
    assert first.verdict == alone.verdict == "certified"
    assert float(first.radius.certified) == pytest.approx(float(alone.radius.certified), rel=2e-3)
    assert first.radius == second.radius
    times = {"seconds": None, "busiest": None}
    assert {**first.stats, **times} == {**second.stats, **times}


def inside(graph: ircert.Graph, center: Any, processes: pool.WorkerPool) -> Orientation:
    setting = setting_of(graph, center)
    descent = Descent(setting, ExactMaps(setting))
    prover = Prover(setting, descent, Counts(), lambda: False, lambda: None, processes=processes)
    assert prover.orientation is not None
    return prover.orientation


@pytest.mark.rule("E-11")
def test_a_collision_is_found_by_another_process() -> None:
    """… and known in this one; a smaller ball is closed."""
    with closing(pool.WorkerPool(2, lambda: 60.0)) as processes:
        found = inside(bundled("vanderpol-2-10-10-2"), [0.25, -0.5], processes)
        assert found.advance(0.5, lambda: False) == "closed"
        assert found.reached == 0.5
        assert found.advance(3.0, lambda: False) == "violated"
    assert found.descent.has_within(3.0)
    assert found.counts.boxes > 0


@pytest.mark.rule("E-7", "E-11")
def test_the_time_limit_ends_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """… however much effort a round has and whatever is left to do: what was dealt out is still open."""
    monkeypatch.setattr(pool, "EFFORT", 10**12)
    with closing(pool.WorkerPool(2, lambda: 0.0)) as processes:
        found = inside(bundled(COUPLED), np.zeros(4), processes)
        # only the other processes know of the limit
        assert found.advance(1.9, lambda: False) == "stopped"
        assert processes.rounds == 1
    assert found.reached < 1.9
    assert found.step(1.9, lambda: True) == "stopped"


def large(threads: int = 2, **options: Any) -> Result:
    """A question that takes minutes, after two seconds in one process."""
    return ircert.certify(bundled(UNICYCLE), MOVING, engine="boxes", radius=1.5, threads=threads, **options)


@pytest.mark.rule("E-7", "E-11")
def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = pools_made(monkeypatch)

    def press(_: object) -> None:
        if pools and pools[0].rounds > 2:
            raise KeyboardInterrupt

    found = large(progress=press)
    assert (found.verdict, found.interrupted) == ("unresolved", True)
    assert not pools[0]._running


@pytest.mark.rule("E-11")
def test_an_error_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = pools_made(monkeypatch)
    wrong = "from ircert.engines.boxes.workers import worker; worker.Worker.answer = lambda *_: [][1]; worker.main()"
    monkeypatch.setattr(
        pool, "START", pool.START.replace("from ircert.engines.boxes.workers.worker import main; main()", wrong)
    )
    with pytest.raises(IndexError, match="list index out of range") as caught:
        large()
    assert "Traceback" in caught.value.__notes__[0]
    assert not pools[0]._running


@pytest.mark.rule("E-11")
def test_another_process_that_ends() -> None:
    """What is known so far is the answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "START", "import os; os._exit(3)")
        found = large()
    assert found.verdict == "unresolved"
    assert found.stop is not None
    assert found.stop.cause is Cause.PROCESS
    assert "another process ended by itself (exit code 3); one thread needs no other process" in str(found.reason)


def pools_made(monkeypatch: pytest.MonkeyPatch) -> list[pool.WorkerPool]:
    """Where the pools of questions will be found."""
    made: list[pool.WorkerPool] = []

    def make(threads: int, left: Callable[[], float]) -> pool.WorkerPool:
        made.append(pool.WorkerPool(threads, left))
        return made[-1]

    monkeypatch.setattr(search, "WorkerPool", make)
    return made


SCRIPT = f"""
import signal, sys
signal.signal(signal.SIGTERM, signal.default_int_handler)
import ircert
from ircert.data.networks import bundled
from ircert.engines.boxes.workers import pool as pool
pool.ENOUGH, pool.FEWEST, pool.LOT, pool.EFFORT = 0, 1, 32, 1000
old = pool.WorkerPool.round
def told(self, *given):
    if self.rounds:
        print("working", flush=True)
    return old(self, *given)
pool.WorkerPool.round = told
print(ircert.certify(bundled("{UNICYCLE}"), {MOVING}, engine="boxes", radius=1.5, threads=2).reason)
"""


@pytest.mark.rule("E-7", "E-11")
@pytest.mark.parametrize("how", SIGNALS)
def test_no_process_is_left(how: Signals) -> None:
    said = last_line(SCRIPT, how)
    assert said is None or said.startswith("interrupted after ")

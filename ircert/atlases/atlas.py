"""`ircert.atlas`: the largest good radius around each of many centres."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ircert.answering import EngineName, check_limits
from ircert.atlases.asked import Asked
from ircert.atlases.blocks import shard as shard_of
from ircert.atlases.blocks import split
from ircert.atlases.joining import joined
from ircert.atlases.layout import Layout, layout_of
from ircert.atlases.ledger import Ledger
from ircert.atlases.row import Row
from ircert.atlases.running import executor_for, rows_of
from ircert.atlases.table import Atlas, header_of
from ircert.atlases.task import Task, block_size, packed
from ircert.errors import QueryError
from ircert.geometry.domain import DomainLike
from ircert.geometry.norm import NormLike
from ircert.ir.floats import Real
from ircert.limits import Deadline
from ircert.questions.query import Problem


def atlas(
    graph: Any,
    centers: Any,
    problem: Problem | str = "local",
    other: Any = None,
    norm: NormLike = "inf",
    max_radius: Real | None = None,
    domain: DomainLike | None = None,
    engine: EngineName | str = "auto",
    backend: str | None = None,
    formulation: str | None = None,
    tol: Real = 1e-6,
    time_limit: float | None = None,
    time_each: float | None = None,
    seed: int = 0,
    require: Literal["exact"] | None = None,
    workers: int | Executor = 1,
    results: str | os.PathLike[str] | None = None,
    shard: tuple[int, int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Atlas:
    """A bracket of the largest good radius around each centre, with what all centres share used for all.

    `centers` are rows of numbers (N, n), or a layout: `ircert.atlases.layout.grid((low, high, count), …)` or
    `trajectory(graph, start, steps)`. Options are those of `certify`; `time_each` is for one centre, and `time_limit`
    for all: centres that it does not suffice for have what their neighbours say.

    `workers` is a number of processes, or any `concurrent.futures.Executor` whose processes have ircert (that of a dask
    client: `client.get_executor()`). With `results`, a file, rows are written as they come, and those that are there
    already are not computed again; `shard=(i, n)` computes the i-th of n parts alone, from 1 on. `progress` is called
    with the number of centres that are done, and of all. Ctrl-C gives what is known.
    """
    start = time.perf_counter()
    check_limits(time_limit, seed)
    deadline = Deadline(math.inf if time_limit is None else float(time_limit))
    asked = Asked.of(
        graph,
        problem=problem,
        other=other,
        norm=norm,
        max_radius=max_radius,
        domain=domain,
        engine=engine,
        backend=backend,
        formulation=formulation,
        tol=tol,
        seed=seed,
        require=require,
        time_each=time_each,
    )
    given = layout_of(centers)
    layout = replace(given, centers=asked.checked(given.centers))
    part = _part(shard)
    with executor_for(workers) as (executor, ahead):
        ledger = None if results is None else Ledger.opened(results, header_of(asked, layout))
        work = _Work(asked, layout, ledger, part, progress)
        try:
            for rows in rows_of(work.tasks(), executor, ahead, deadline):
                work.take(rows)
            interrupted = work.missing > 0
        except KeyboardInterrupt:
            interrupted = True
        finally:
            if ledger is not None:
                ledger.close()
    seconds, own = time.perf_counter() - start, None if shard is None else work.keys
    return joined(asked, layout, work.rows, seconds, interrupted=interrupted, own=own)


class _Work:
    """What is done, and what is left to do."""

    def __init__(
        self,
        asked: Asked,
        layout: Layout,
        ledger: Ledger | None,
        part: tuple[int, int],
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._asked, self._layout, self._ledger, self._progress = asked, layout, ledger, progress
        # each centre once, however often it was given
        _, self._first = np.unique(layout.centers, axis=0, return_index=True)
        self._first.sort()
        points = layout.centers[self._first]
        blocks = split(points, block_size(asked, len(points)))
        self._blocks = [self._first[block] for block in shard_of(blocks, *part)]
        self._keys = {int(i): asked.key_of(layout.centers[i]) for block in self._blocks for i in block}
        self.rows: dict[str, Row] = {} if ledger is None else _wanted(ledger.rows, self._keys.values())

    @property
    def keys(self) -> frozenset[str]:
        """Of the centres to be answered."""
        return frozenset(self._keys.values())

    @property
    def missing(self) -> int:
        """How many centres have no row, or one that time ended."""
        return sum(key not in self.rows or not self.rows[key].final for key in self._keys.values())

    def tasks(self) -> list[Task]:
        """The blocks that have no row for one of their centres or more."""
        asked = packed(self._asked)
        found = []
        for block in self._blocks:
            numbers = tuple(block.tolist())
            if any(self._keys[i] not in self.rows for i in numbers):
                found.append(Task(asked, numbers, self._layout.centers[block]))
        return found

    def take(self, rows: Iterable[Row]) -> None:
        """Keep rows of a block; those that are there already stay."""
        new = [row for row in rows if row.key not in self.rows]
        self.rows |= {row.key: row for row in new}
        if self._ledger is not None:
            self._ledger.add(row for row in new if row.final)
        if self._progress is not None:
            self._progress(len(self._keys) - self.missing, len(self._keys))


def _wanted(rows: Mapping[str, Row], keys: Iterable[str]) -> dict[str, Row]:
    return {key: rows[key] for key in keys if key in rows}


def _part(given: Any) -> tuple[int, int]:
    if given is None:
        return 0, 1
    try:
        number, count = (int(v) for v in given)
    except (TypeError, ValueError):
        number = count = 0
    if not 1 <= number <= count:
        raise QueryError(f"a shard is (i, n) with 1 <= i <= n, got {given!r}", remedy="(1, 4) is the first of four")
    return number - 1, count

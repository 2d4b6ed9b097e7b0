"""The work of one process: a block of centres, with all that it needs, and the rows that come back."""

from __future__ import annotations

import math
import pickle
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ircert.atlases.asked import Asked
from ircert.atlases.blocks import chained
from ircert.atlases.chain import Chain
from ircert.atlases.plane_rows import plane_rows, serves
from ircert.atlases.row import Row
from ircert.ir.arrays import Array
from ircert.limits import Deadline, OutOfTime, until
from ircert.threads import one_thread


@dataclass(frozen=True, eq=False)
class Task:
    """A block of centres.

    asked:   the networks and the options, as bytes: the same for all tasks, and unpacked once in a process
    at:      the numbers of the centres
    until:   when the time for the whole atlas is over, in seconds of the clock
    """

    asked: bytes
    at: tuple[int, ...]
    centers: Array
    until: float = math.inf


def packed(asked: Asked) -> bytes:
    """What is asked, as bytes."""
    return pickle.dumps(asked, protocol=pickle.HIGHEST_PROTOCOL)


@lru_cache(maxsize=2)
def _unpacked(asked: bytes) -> Asked:
    found: Asked = pickle.loads(asked)
    return found


def work_on(task: Task) -> list[Row]:
    """The rows of a block; centres that time did not suffice for are left out."""
    asked, deadline = _unpacked(task.asked), Deadline(task.until - time.time())
    chain = Chain(asked, deadline)
    if serves(asked):
        with suppress(OutOfTime), until(deadline), one_thread(), np.errstate(all="ignore"):
            chain.rows += plane_rows(asked, task.at, task.centers)
    done = {row.at for row in chain.rows}
    left = [i for i, at in enumerate(task.at) if at not in done]
    order = [left[k] for k in chained(task.centers[left], asked.norm)] if left else []
    chain.add_all([(task.at[k], task.centers[k]) for k in order])
    return chain.rows


def block_size(asked: Asked, count: int) -> int:
    """How many centres a block has: large enough to share, small enough for many processes and interruptions."""
    if serves(asked):
        return min(1024, max(128, math.ceil(count / 16)))
    return min(64, max(8, math.ceil(count / 16)))

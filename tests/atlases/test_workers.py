"""Processes that are lost, and started again."""

from __future__ import annotations

import os

import pytest

from ircert.atlases.workers import Processes
from ircert.errors import ProcessError


def test_a_lost_process_is_replaced() -> None:
    pool = Processes(1)
    try:
        assert pool.submit(abs, -3).result() == 3
        with pytest.raises(ProcessError):
            pool.submit(os._exit, 9).result()
        assert pool.submit(abs, -4).result() == 4
        with pytest.raises(TypeError):
            pool.submit(abs, "a").result()  # type: ignore[arg-type]
        assert pool.submit(abs, -5).result() == 5
    finally:
        pool.shutdown(wait=False, cancel_futures=True)

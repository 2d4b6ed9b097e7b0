"""Threads of the libraries below numpy: proofs multiply many small matrices, where more than one only gets in the way.

On a busy machine two threads of OpenBLAS take up to eighty times as long as one for the same small decompositions.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  numpy and scipy bring a library each: both are to be found

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Linear algebra inside uses one thread."""
    return _libraries().limit(limits=1, user_api="blas")

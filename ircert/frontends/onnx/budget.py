"""How much memory the arrays of a model may take: in proportion to its files, so that a small file claims little."""

from __future__ import annotations

from pathlib import Path

from ircert.errors import UnsupportedModel

SPARE = 2**28
FACTOR = 8
"""Bytes for any model, and bytes for each byte of its files: stored as float16 a weight has two, as float64 eight."""


class Budget:
    """Counts what is taken; refuses what is too much."""

    def __init__(self, size: int) -> None:
        self._left = SPARE + FACTOR * size
        self._files: set[Path] = set()

    def allow_for(self, path: Path) -> None:
        """A data file beside the model, which counts once however often it is read."""
        if path not in self._files:
            self._files.add(path)
            self._left += FACTOR * path.stat().st_size

    def take(self, size: int, where: str) -> None:
        """Refuse the model once its arrays take more than its files make likely."""
        self._left -= size
        if self._left < 0:
            raise UnsupportedModel(
                "the arrays computed so far take far more memory than the model's files",
                where=where,
                remedy="check the shapes stored in the file; store large arrays instead of computing them",
            )

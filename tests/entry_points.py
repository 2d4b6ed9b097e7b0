"""Entry points of other packages, made up."""

from __future__ import annotations

from typing import Any


class FakePoint:
    """One that loads to something, or fails to."""

    dist = None

    def __init__(self, loaded: Any, name: str = "fake", value: str = "fake:thing") -> None:
        self.loaded, self.name, self.value = loaded, name, value

    def load(self) -> Any:
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded

"""What a front end is: something that knows models of one kind and reads them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from ircert.errors import FileError, UnsupportedModel
from ircert.ir.graph import Graph


class FrontEnd(ABC):
    """Reads models of one kind, files or objects.

    name:     its word, in entry points
    suffixes: how names of its files end, such as (".npz",), in small letters
    options:  the keywords of `ircert.load` that it knows; others are refused before it is asked
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[frozenset[str]] = frozenset()

    def accepts(self, model: object) -> bool:
        """Whether the model is one of its kind; for files the name says it, and nothing is opened to find out."""
        return isinstance(model, str | os.PathLike) and str(model).lower().endswith(self.suffixes or ("\0",))

    @abstractmethod
    def read(self, model: Any, **options: Any) -> Graph:
        """The graph of the model, with the exact numbers stored; UnsupportedModel or FileError where there is none."""


def in_file(path: object, read: Callable[[], Graph]) -> Graph:
    """What is wrong with the content of a file, said with the file's name."""
    try:
        return read()
    except UnsupportedModel as error:
        place = f"{error.where}: " if error.where else ""
        raise FileError(f"{place}{error.problem}", path=path, remedy=error.remedy) from None

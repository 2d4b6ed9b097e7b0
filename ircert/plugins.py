"""Things with a name that other packages may add: passes, formulations, backends, engines, operations, front ends."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract
from typing import Any, Generic, TypeVar

from ircert.errors import IrcertError
from ircert.limits import Undecided

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Registry(Generic[Kind]):
    """Classes by name: those built in (as "module:Class"), and those of the entry-point group; built-in names win.

    what:  the word for one, and for many
    base:  what a class must be derived from, as "module:Class": naming things does not load what they need
    error: of a name that there is not, or that cannot be loaded; it takes the name as `key`, or says where
    word:  the attribute of a class that holds its name
    """

    what: tuple[str, str]
    group: str
    built_in: Mapping[str, str]
    base: str
    error: type[IrcertError]
    key: str | None = None
    word: str = "name"

    def refusal(self, name: str, problem: str, remedy: str) -> IrcertError:
        """The error about a name."""
        place = {"where": f"{self.what[0]} `{name}`"} if self.key is None else {self.key: name}
        return self.error(problem, remedy=remedy, **place)

    def names(self) -> list[str]:
        """All names, plugins included."""
        return sorted({*self.built_in, *(point.name for point in self.plugins())})

    def plugins(self) -> tuple[EntryPoint, ...]:
        """What other packages announce."""
        return _announced(self.group, _search_path())

    def get(self, name: str) -> type[Kind]:
        """The class of that name; it is imported now."""
        if name in self.built_in:
            found: type[Kind] = _named(self.built_in[name])
            return found
        for point in self.plugins():
            if point.name == name:
                return self._loaded(point)
        problem, known = f"there is no such {self.what[0]}", f"the {self.what[1]} are {', '.join(self.names())}"
        raise self.refusal(str(name)[:60], problem, known)

    def loadable(self) -> list[type[Kind]]:
        """All classes, sorted by name; what cannot be loaded is named in a warning and passed over."""
        known = [*map(self.get, self.built_in), *self.others()]
        return sorted(known, key=lambda kind: str(getattr(kind, self.word)))

    def others(self) -> list[type[Kind]]:
        """The classes of other packages; one that cannot be loaded is named in a warning and passed over."""
        found = []
        for point in self.plugins():
            if point.name not in self.built_in:
                try:
                    found.append(self._loaded(point))
                except IrcertError as error:
                    warnings.warn(str(error), stacklevel=3)
        return found

    def origin(self, name: str) -> str | None:
        """The package that the plugin of this name comes from; None for what is built in, or announced by nobody."""
        if name in self.built_in:
            return None
        return next((_origin(point) for point in self.plugins() if point.name == name), None)

    @contextmanager
    def blaming(self, name: str) -> Iterator[None]:
        """What code of a plugin raises becomes an error that names it; what ircert itself raises stays as it is."""
        try:
            yield
        except (IrcertError, Undecided, MemoryError):
            raise
        except Exception as error:
            origin = self.origin(name)
            if origin is None:
                raise
            problem = f"the plugin of {origin} failed ({type(error).__name__}: {error})"
            raise self.refusal(name, problem, f"repair or uninstall {origin}") from error

    def _loaded(self, point: EntryPoint) -> type[Kind]:
        origin = _origin(point)
        try:
            found: Any = point.load()
        except Exception as error:
            problem = f"the plugin {point.value} of {origin} cannot be loaded ({type(error).__name__}: {error})"
            raise self.refusal(point.name, problem, f"repair or uninstall {origin}") from error
        base = self.base.replace(":", ".")
        if not isinstance(found, type) or not issubclass(found, _named(self.base)):
            problem = f"the plugin {point.value} of {origin} is no {base.split('.')[-1]}"
            raise self.refusal(point.name, problem, f"derive it from {base}")
        if isabstract(found):
            missing = ", ".join(f"`{name}`" for name in sorted(getattr(found, "__abstractmethods__", ())))
            problem = f"the plugin {point.value} of {origin} is not whole: it has no {missing}"
            raise self.refusal(point.name, problem, f"write what {base} asks for")
        if (named := getattr(found, self.word, None)) != point.name:
            problem = f"the plugin {point.value} of {origin} has the {self.word} {named!r}, its entry point another one"
            raise self.refusal(point.name, problem, "give both the same")
        loaded: type[Kind] = found
        return loaded


def _origin(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value


@cache
def _announced(group: str, _: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    """The entry points of a group; reading them anew takes longer than many an answer."""
    return tuple(entry_points(group=group))


def _search_path() -> tuple[tuple[str, int], ...]:
    """Where packages lie, and when one was last added or removed there."""
    return tuple((folder, _changed(folder)) for folder in sys.path)


def _changed(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


def _named(name: str) -> Any:
    """What "module:Class" names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)

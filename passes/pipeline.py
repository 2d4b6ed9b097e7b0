"""Pipelines: passes in a row, as data; the caller that checks every contract."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeAlias

from ircert.errors import ParseError, PassError
from ircert.ir.graph import Graph
from ircert.ir.verify import verify
from ircert.passes import REGISTRY, get
from ircert.passes.base import Lift, Pass, Rewrite
from ircert.passes.options import create, to_text, value_from_text
from ircert.passes.properties import ALL as PROPERTIES

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Step:
    """One pass of a run: what it was given, what it made of it, and how long that took."""

    used: Pass[Any, Any]
    before: Any
    rewrite: Rewrite[Any]
    seconds: float

    @property
    def changed(self) -> bool:
        """Whether the pass did anything."""
        return self.rewrite.result is not self.before


Hook: TypeAlias = Callable[[Step], None]


@dataclass(frozen=True)
class Pipeline:
    """Passes in a row. Calling it gives the result; `run` also gives the lift and the notes."""

    passes: tuple[Pass[Any, Any], ...] = ()
    hooks: tuple[Hook, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "passes", tuple(self.passes))
        for first, second in zip(self.passes, self.passes[1:], strict=False):
            if not issubclass(first.gives, second.takes):
                raise PassError(
                    f"it takes a {second.takes.__name__} but `{first.name}` before it gives a {first.gives.__name__}",
                    pass_name=second.name,
                    remedy="reorder the pipeline",
                )

    @property
    def gives(self) -> type:
        """What comes out of it."""
        return self.passes[-1].gives if self.passes else Graph

    @staticmethod
    def parse(text: str) -> Pipeline:
        """The pipeline `pass,pass{option=value, …},…`; no text is the pipeline that does nothing."""
        return Pipeline(tuple(create(get(name), options) for name, options in _Scanner(text).passes()))

    def __str__(self) -> str:
        return ",".join(to_text(used) for used in self.passes)

    def with_hooks(self, *hooks: Hook) -> Pipeline:
        """The same passes with hooks that are called after each of them (to print, time or dump)."""
        return Pipeline(self.passes, (*self.hooks, *hooks))

    def __call__(self, source: Any) -> Any:
        return self.run(source).result

    def run(self, source: Any) -> Rewrite[Any]:
        """Run all passes, checking each one's contract and the IR in between."""
        current, lift, notes = source, Lift(), list[str]()
        for used in self.passes:
            step = _run(used, current)
            for hook in self.hooks:
                hook(step)
            current = step.rewrite.result
            lift = step.rewrite.lift.after(lift)
            notes += [f"{used.name}: {note}" for note in step.rewrite.notes]
        return Rewrite(current, lift, tuple(notes))


def _run(used: Pass[Any, Any], source: Any) -> Step:
    _require_type(used, source, used.takes, "takes")
    _check_properties(used, source, used.requires, broken="needs")
    start = time.perf_counter()
    with REGISTRY.blaming(used.name):
        rewrite = used.run(source)
    seconds = time.perf_counter() - start
    if not isinstance(rewrite, Rewrite):
        raise PassError(f"it returned {type(rewrite).__name__} instead of a Rewrite", pass_name=used.name)
    _require_type(used, rewrite.result, used.gives, "gives")
    rewrite = _without_stale_bounds(used, source, rewrite)
    if isinstance(rewrite.result, Graph) and rewrite.result is not source:
        verify(rewrite.result)
    _check_properties(used, rewrite.result, used.ensures, broken="promises")
    return Step(used, source, rewrite, seconds)


def _without_stale_bounds(used: Pass[Any, Any], source: Any, rewrite: Rewrite[Any]) -> Rewrite[Any]:
    """Bounds of a graph that a pass made are believed only if the pass says that it keeps them (P-13)."""
    made = rewrite.result
    if used.keeps_bounds or made is source or not isinstance(made, Graph) or made.bounds is None:
        return rewrite
    return replace(rewrite, result=made.with_bounds(None))


def _require_type(used: Pass[Any, Any], value: Any, wanted: type, verb: str) -> None:
    if not isinstance(value, wanted):
        raise PassError(f"it {verb} a {wanted.__name__}, got {type(value).__name__}", pass_name=used.name)


def _check_properties(used: Pass[Any, Any], graph: Any, names: Iterable[str], *, broken: str) -> None:
    for name in names:
        known = PROPERTIES.get(name)
        if known is None:
            raise PassError(f"it names an unknown property `{name}`", pass_name=used.name)
        fault = known.broken_by(graph)
        if fault and broken == "needs":
            raise PassError(
                f"it needs a graph that is {name}, but {fault}",
                pass_name=used.name,
                remedy=known.remedy(graph),
            )
        if fault:
            raise PassError(f"it promises a graph that is {name}, but {fault}: a bug in the pass", pass_name=used.name)


def named(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the options of `name{option=value, …}`, which need not be a pass; ParseError if it is none."""
    found = _Scanner(text).passes()
    if len(found) != 1:
        raise ParseError(
            f"one name was expected, got {len(found)}", line=1, column=1, remedy="write name{option=value}"
        )
    return found[0]


class _Scanner:
    """Splits `a,b{k=v, k=[1,2]},c` into names and options."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def passes(self) -> list[tuple[str, dict[str, Any]]]:
        found: list[tuple[str, dict[str, Any]]] = []
        self._skip()
        while self.at < len(self.text) or found:
            name = self._word("the name of a pass")
            found.append((name, self._options() if self._take("{") else {}))
            self._skip()
            if self.at == len(self.text):
                return found
            if not self._take(","):
                self._fail("expected `,` between passes")
        return found

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        while not self._take("}"):
            if options and not self._take(","):
                self._fail("expected `,` or `}` after an option")
            key = self._word("the name of an option")
            if key in options:
                self._fail(f"the option `{key}` is given twice")
            if not self._take("="):
                self._fail("expected `=` after the option's name")
            options[key] = self._value()
        return options

    def _value(self) -> Any:
        """Everything up to a `,` or `}` outside brackets and quotes."""
        start, depth, quote = self.at, 0, ""
        while self.at < len(self.text):
            char = self.text[self.at]
            if quote:
                self.at += char == "\\"  # what is escaped does not end the string
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char in "[{(":
                depth += 1
            elif depth == 0 and char in ",}":
                break
            elif char in "]})":
                depth -= 1
            self.at += 1
        written = self.text[start : self.at].strip()
        try:
            return value_from_text(written)
        except ValueError as error:
            self.at = start
            self._fail(str(error), remedy="write a number, a word, a list [1, 2] or a dictionary {0: 1.5}")

    def _word(self, wanted: str) -> str:
        self._skip()
        match = _NAME.match(self.text, self.at)
        if match is None:
            self._fail(f"expected {wanted}")
        self.at = match.end()
        return match.group()

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _take(self, token: str) -> bool:
        self._skip()
        found = self.text.startswith(token, self.at)
        self.at += len(token) if found else 0
        return found

    def _fail(self, problem: str, *, remedy: str | None = None) -> NoReturn:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - self.text.rfind("\n", 0, self.at)
        raise ParseError(problem, line=line, column=column, source="pipeline: ", remedy=remedy)

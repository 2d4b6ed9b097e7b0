"""Options of passes, from text and to text: `name{key=value, key=value}`."""

from __future__ import annotations

import ast
import dataclasses
import math
import re
from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ircert.errors import PassError
from ircert.ir.graph import Graph
from ircert.passes.base import Pass

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


Made = TypeVar("Made")


def create(kind: type[Made], given: Mapping[str, Any]) -> Made:
    """A pass, or what else has a name and fields for options, with options checked; PassError names what is wrong."""
    fields, word = _options(kind), str(getattr(kind, "name", kind.__name__))
    hints = get_type_hints(kind) if fields else {}
    for name in given:
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise PassError(f"it has no option `{name[:60]}`", pass_name=word, remedy=f"its options are: {known}")
    for name, field in fields.items():
        if name not in given and not _has_default(field):
            raise PassError(f"the option `{name}` is missing", pass_name=word, remedy=f"write {word}{{{name}=…}}")
    return kind(**{name: _checked(word, name, value, hints[name]) for name, value in given.items()})


def _options(kind: Any) -> dict[str, dataclasses.Field[Any]]:
    return {f.name: f for f in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else {}


def value_from_text(text: str) -> Any:
    """A number, true, false, a quoted string, a list, a dictionary, or a bare word; ValueError otherwise."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        if _WORD.fullmatch(text):
            return text
        raise ValueError(f"{text[:60]!r} is not a value") from None


def to_text(pipeline_pass: Pass[Any, Any]) -> str:
    """The pass as it is written in a pipeline, with the options that differ from their defaults.

    A graph has no place in it: such an option is given in Python (`other=…`) or beside the pipeline (`--other`).
    """
    shown = [
        f"{name}={_value_text(getattr(pipeline_pass, name))}"
        for name, option in _options(type(pipeline_pass)).items()
        if getattr(pipeline_pass, name) != option.default and not isinstance(getattr(pipeline_pass, name), Graph)
    ]
    return pipeline_pass.name + (f"{{{', '.join(shown)}}}" if shown else "")


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        plain = _WORD.fullmatch(value) and value not in ("true", "false", "None", "True", "False")
        return value if plain else repr(value)
    return f"[{', '.join(map(_value_text, value))}]" if isinstance(value, tuple) else repr(value)


def _checked(word: str, name: str, value: Any, hint: Any) -> Any:
    try:
        return _converted(value, hint)
    except ValueError:
        raise PassError(
            f"the option `{name}` must be {_described(hint)}, got {str(value)[:60]!r}", pass_name=word
        ) from None


def _converted(value: Any, hint: Any) -> Any:
    """`value` as the annotated type, without guessing; ValueError if it is something else."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _first_fitting(value, arguments)
    if origin is Literal and value in arguments:
        return value
    if origin is tuple and isinstance(value, list | tuple):
        kinds = [arguments[0]] * len(value) if arguments[1:] == (...,) else list(arguments)
        if len(kinds) == len(value):
            return tuple(_converted(entry, kind) for entry, kind in zip(value, kinds, strict=True))
    if origin is dict and isinstance(value, dict):
        return {_converted(k, arguments[0]): _converted(v, arguments[1]) for k, v in value.items()}
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return _finite(value)
    if isinstance(hint, type) and hint is not float and type(value) is hint:
        return value
    raise ValueError


def _finite(value: int | float) -> float:
    """A number as a float, unless that would change it."""
    try:
        number = float(value)
    except OverflowError:
        raise ValueError from None
    if not math.isfinite(number) or (isinstance(value, int) and int(number) != value):
        raise ValueError
    return number


def _first_fitting(value: Any, hints: tuple[Any, ...]) -> Any:
    for hint in hints:
        try:
            return _converted(value, hint)
        except ValueError:
            continue
    raise ValueError


_WORDS: dict[Any, tuple[str, str]] = {
    int: ("an integer", "integers"),
    float: ("a finite number", "finite numbers"),
    bool: ("true or false", "values true or false"),
    str: ("a word", "words"),
    type(None): ("None", "values None"),
}
_COUNTS = {1: "one", 2: "two", 3: "three", 4: "four"}


def _described(hint: Any, *, example: bool = True) -> str:
    """A type of options in words, such as `a list of integers, such as [0, 2]`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(_described(a) for a in arguments)
    if origin is Literal:
        return "one of " + ", ".join(str(a) for a in arguments)
    if origin is tuple and not _is_uniform(hint):
        return f"a list of {', '.join(_described(a, example=False) for a in arguments)}"
    such = f", such as {_example(hint)}" if example and origin in (tuple, dict) else ""
    if origin is tuple:
        count = "" if arguments[1:] == (...,) else f"{_COUNTS.get(len(arguments), len(arguments))} "
        return f"a list of {count}{_many(arguments[0])}{such}"
    if origin is dict:
        return f"a dictionary from {_many(arguments[0])} to {_many(arguments[1])}{such}"
    return _WORDS[hint][0] if hint in _WORDS else f"a {hint.__name__}, which only Python can give"


def _is_uniform(hint: Any) -> bool:
    """Whether all entries of a tuple have one type."""
    arguments = get_args(hint)
    return arguments[1:] == (...,) or len(set(arguments)) == 1


def _many(hint: Any) -> str:
    """Several of a type, in words."""
    if hint in _WORDS:
        return _WORDS[hint][1]
    whole = _described(hint, example=False)
    return whole.replace("a list of", "lists of", 1).replace("a dictionary from", "dictionaries from", 1)


def _example(hint: Any) -> str:
    """A value of a type of lists or dictionaries."""
    if get_origin(hint) is dict:
        return "{0: 1.5}"
    entry = get_args(hint)[0]
    return "[[0, 0], [1, 1]]" if get_origin(entry) is tuple else "['a', 'b']" if entry is str else "[0, 2]"


def describe(kind: type[Pass[Any, Any]]) -> str:
    """A pass in a few lines: how it is written, the first sentence of its documentation, and its options."""
    options, hints = _options(kind), get_type_hints(kind)
    needed = ", ".join(f"{name}=…" for name, option in options.items() if not _has_default(option))
    summary = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    lines = [f"{kind.name}{{{needed}}}" if needed else kind.name, f"    {summary}"]
    width = max(map(len, options), default=0)
    lines += [f"      {name:<{width}}  {_option_text(option, hints[name])}" for name, option in options.items()]
    return "\n".join(lines)


def _option_text(option: dataclasses.Field[Any], hint: Any) -> str:
    if not _has_default(option):
        return _described(hint)
    if option.default is None:
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        return f"{' or '.join(map(_described, kinds))} (may be left out)"
    if option.default is dataclasses.MISSING:
        return f"{_described(hint)} (may be left out)"
    return f"{_described(hint)} (by default {_value_text(option.default)})"


def _has_default(option: dataclasses.Field[Any]) -> bool:
    return option.default is not dataclasses.MISSING or option.default_factory is not dataclasses.MISSING

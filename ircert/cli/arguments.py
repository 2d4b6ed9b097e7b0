"""The parser of arguments: what it does not understand is one line, with what to do."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from ircert.cli.streams import complain

BAD_USAGE = 2
NEAR = 0.7
"""How similar a name must be to be the one that was probably meant."""
CHOICE = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)")
NUMBER = re.compile(r"invalid (?P<kind>float|int) value: (?P<given>.*)")
BESIDE = re.compile(r"not allowed with argument (?P<other>\S+)")
NUMBERS = {"float": "a number", "int": "a whole number"}
EXAMPLES = {
    "CERTIFICATE": "proof.json",
    "I,…": "0,2",
    "I=V": "2=2.1",
    "LO:HI": "0:1",
    "LO:HI:N,…": "-1:1:9,-1:1:9",
    "MODEL": "net.onnx",
    "MODEL2": "other.onnx",
    "N,…": "1,32,32",
    "NORM": "inf",
    "NORM,…": "inf,2",
    "PIPELINE": "canonicalize",
    "X,…": "0,0",
    "Y,…": "0,0",
}
"""What may stand in the place of a word in help texts."""


class Arguments(argparse.ArgumentParser):
    """An argparse parser whose errors fit on a line; abbreviations of options are not taken, since they would change
    their meaning when options are added."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **{"allow_abbrev": False, **options})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As usual; an option that is not there is named before anything else is missed, and what is left over is
        refused here, where it is known which command was asked."""
        if self._subparsers is None and args is not None:
            self._check_names(list(args))
        found, left = super().parse_known_args(args, namespace)
        if left:
            self.error(self._left_over(left[0]))
        return found, left

    def _check_names(self, args: list[str]) -> None:
        for given in args[: args.index("--")] if "--" in args else args:
            name = given.partition("=")[0]
            if name.startswith("--") and " " not in name and name not in self._option_string_actions:
                self.error(self._no_option(name))

    def _no_option(self, name: str) -> str:
        known = self._option_string_actions
        near = [option for option in known if option.startswith(name)] if name.startswith("--") else []
        near = near or nearest(name, known)
        guess = f": did you mean {' or '.join(f'`{option}`' for option in near[:3])}?" if near else ""
        return f"there is no option `{name[:60]}`{guess}"

    def _left_over(self, given: str) -> str:
        if given.startswith("-"):
            return self._no_option(given.partition("=")[0])
        takes = [_word(action) for action in self._get_positional_actions()]
        other = ", and a second network by `--other MODEL2`" if "--other" in self._option_string_actions else ""
        what = " ".join(takes) + (other if takes == ["MODEL"] else "") if takes else "none"
        return f"`{given[:60]}` is one argument too many: `{self.prog}` takes {what}"

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
        complain(f"error: {self._in_words(message)}; see `{self.prog} --help`")
        self.exit(BAD_USAGE)

    def _in_words(self, message: str) -> str:
        """What argparse has to say, with what to do."""
        if message.endswith(" is required") or message.startswith("the following arguments are required"):
            return f"{message}: write for example `{self._example()}`"
        place, colon, problem = message.partition(": ")
        if not colon or not place.startswith("argument "):
            return message
        name = place.removeprefix("argument ")
        action = self._option_string_actions.get(name.split("/")[0])
        return _remedied(name, action, problem)

    def _example(self) -> str:
        """A command with all that is required."""
        needed = [action for action in self._actions if action.required and not isinstance(action, _COMMANDS)]
        groups = [group._group_actions for group in self._mutually_exclusive_groups if group.required]
        needed += [next(action for action in group if action.help != argparse.SUPPRESS) for group in groups]
        return " ".join([self.prog, *map(_written, sorted(needed, key=lambda action: bool(action.option_strings)))])


_COMMANDS = argparse._SubParsersAction


def nearest(given: str, known: Iterable[str]) -> list[str]:
    """The name that was probably meant, if there is one; what all names begin with says nothing."""
    names = {name.lstrip("-"): name for name in known}
    return [names[name] for name in difflib.get_close_matches(given.lstrip("-"), names, n=1, cutoff=NEAR)]


def _remedied(name: str, action: argparse.Action | None, problem: str) -> str:
    """What is wrong with an argument, and what to write; `action` is that of an option."""
    if match := CHOICE.search(problem):
        known = re.findall(r"[\w.-]+", match["known"])
        near = nearest(match["given"], known)
        guess = f"did you mean `{near[0]}`?" if near else f"choose from {', '.join(known)}"
        what = "there is no" if action is None else f"`{name}` does not take"
        return f"{what} `{match['given'][:60]}`: {guess}"
    if match := BESIDE.fullmatch(problem):
        return f"`{name}` is not allowed with `{match['other']}`: leave one of them out"
    if problem.startswith("ignored explicit argument"):
        return f"`{name}` takes no value: write its name alone"
    if action is not None and (match := NUMBER.fullmatch(problem)):
        return f"`{name}` takes {NUMBERS[match['kind']]} such as {_value(action)}, got {match['given'][:60]}"
    if action is not None and problem.startswith("expected "):
        return f"`{name}` takes a value, and there is none: write for example `{_written(action)}`"
    return f"`{name}`: {problem}"


def _written(action: argparse.Action) -> str:
    """An argument as it may be written."""
    if action.nargs == 0:
        return action.option_strings[0]
    return " ".join([*action.option_strings[:1], _value(action)])


def _value(action: argparse.Action) -> str:
    if action.choices:
        return str(next(iter(action.choices)))
    if action.type in (float, int):
        return f"{action.default or (0.5 if action.type is float else 1):g}"
    return EXAMPLES.get(_word(action), _word(action))


def _word(action: argparse.Action) -> str:
    """What help texts call it."""
    return action.metavar if isinstance(action.metavar, str) else action.dest.upper()

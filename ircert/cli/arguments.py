"""The parser of arguments: what it does not understand is one line, with what to do."""

from __future__ import annotations

import argparse
import difflib
import re
from typing import Any, NoReturn

from ircert.cli.streams import complain

BAD_USAGE = 2
CHOICE = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)")


class Arguments(argparse.ArgumentParser):
    """An argparse parser whose errors fit on a line; abbreviations of options are not taken, since they would change
    their meaning when options are added."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **{"allow_abbrev": False, **options})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As usual; an option that is not there is named before anything else is missed."""
        if self._subparsers is None and args is not None:
            self._check_names(list(args))
        return super().parse_known_args(args, namespace)

    def _check_names(self, args: list[str]) -> None:
        known = self._option_string_actions
        for given in args[: args.index("--")] if "--" in args else args:
            name = given.partition("=")[0]
            if name.startswith("--") and " " not in name and name not in known:
                near = [option for option in known if option.startswith(name)]
                near = near or difflib.get_close_matches(name, known, n=1)
                guess = f": did you mean {' or '.join(f'`{option}`' for option in near[:3])}?" if near else ""
                self.error(f"there is no option `{name[:60]}`{guess}")

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
        complain(f"error: {_with_guess(message)}; see `{self.prog} --help`")
        self.exit(BAD_USAGE)


def _with_guess(message: str) -> str:
    """The message, with the name that was probably meant where a name is not known."""
    match = CHOICE.search(message)
    if match is None:
        return message
    known = re.findall(r"[\w.-]+", match["known"])
    near = difflib.get_close_matches(match["given"], known, n=1)
    guess = f"did you mean `{near[0]}`?" if near else f"choose from {', '.join(known)}"
    return f"{message[: match.start()]}there is no `{match['given'][:60]}`: {guess}"

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

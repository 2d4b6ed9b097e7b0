"""`python -m ircert.checker FILE`: the checker alone; 0 passed, 2 unreadable, 3 interrupted, 4 rejected."""

from __future__ import annotations

import os
import sys

from ircert.checker import check_file
from ircert.errors import IrcertError

USAGE = "usage: python -m ircert.checker CERTIFICATE [CERTIFICATE ...]"


def main(arguments: list[str]) -> int:
    """Say whether each certificate passes; the worst exit code of all."""
    if not arguments:
        return _say(USAGE, 2)
    worst = 0
    for path in arguments:
        try:
            claim, fault = check_file(path)
        except IrcertError as error:
            worst = max(worst, _say(f"unreadable: {error}", 2))
            continue
        except KeyboardInterrupt:
            return _say("interrupted: nothing was decided", 3)
        passed = fault is None
        worst = max(worst, _say(f"passed: {claim}" if passed else f"rejected: {fault}", 0 if passed else 4))
    return worst


def _say(line: str, code: int) -> int:
    """Print a line that every stream has characters for; its exit code, whether or not anybody reads it."""
    try:
        print(line.encode("ascii", "backslashreplace").decode(), flush=True)
    except OSError as error:  # a reader that has gone, or a full disk
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would try once more at exit
        return code if isinstance(error, BrokenPipeError) else max(code, 2)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

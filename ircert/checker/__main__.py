"""`python -m ircert.checker FILE`: the checker alone; 0 passed, 2 unreadable, 3 interrupted, 4 rejected."""

from __future__ import annotations

import sys

from ircert.checker import check_file
from ircert.errors import IrcertError


def main(arguments: list[str]) -> int:
    """Say whether each certificate passes; the worst exit code of all."""
    worst = 0 if arguments else 2
    for path in arguments:
        try:
            claim, fault = check_file(path)
        except IrcertError as error:
            print(f"unreadable: {error}")
            worst = max(worst, 2)
            continue
        except KeyboardInterrupt:
            print("interrupted: nothing was decided")
            return 3
        print(f"passed: {claim}" if fault is None else f"rejected: {fault}")
        worst = max(worst, 0 if fault is None else 4)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

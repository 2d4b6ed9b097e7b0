"""`python -m ircert` and the `ircert` command."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; the exit code."""
    try:
        # before anything that takes time: a signal may come at any moment
        from ircert.cli.interrupts import INTERRUPTS
    except KeyboardInterrupt:
        print("ircert: interrupted", file=sys.stderr)
        return 3
    INTERRUPTS.install()
    from ircert.cli.main import process
    from ircert.cli.streams import make_readable

    make_readable()
    code = process(sys.argv[1:])
    INTERRUPTS.close()
    return code


if __name__ == "__main__":
    sys.exit(main())

"""`python -m ircert` and the `ircert` command."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; the exit code."""
    from ircert.cli.main import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

"""`ircert check`: the independent checker of certificates."""

from __future__ import annotations

import argparse

from ircert.cli.streams import say

REJECTED = 4


def check(options: argparse.Namespace) -> int:
    """Verify one certificate in exact arithmetic: 0 passed, 4 rejected."""
    from ircert.checker import check_file, explain

    claim, fault = (explain if options.explain else check_file)(options.certificate)
    if fault is not None:
        say(f"rejected: {fault}")
        return REJECTED
    say(f"passed: {claim}")
    return 0

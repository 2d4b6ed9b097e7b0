"""Scripts that start processes of their own, and what is left of them when they are told to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]


def last_line(script: str, how: signal.Signals) -> str | None:
    """What a script says last when it is told to end after "working"; None if it is killed.

    Ctrl-C and SIGTERM go to all its processes, a kill to the first alone. Its error output is open as long as one
    lives, so that this returns when none is left.
    """
    command, pipe = [sys.executable, "-c", script], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, start_new_session=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "working\n"
        if how is signal.SIGKILL:
            running.kill()
        else:
            os.killpg(running.pid, how)
        output, errors = running.communicate(timeout=60)
    assert errors == ""
    return None if how is signal.SIGKILL else output.splitlines()[-1]

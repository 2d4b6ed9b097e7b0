"""The command line, run in this process, or as a process of its own where that is what is tested."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from ircert.cli.main import process

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def ircert_command(*arguments: str, cwd: Path) -> Ran:
    """`ircert ARGUMENTS` in a folder, without the half second that a new process takes to import everything."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        code = process(arguments)
    return Ran(code, out.getvalue(), err.getvalue())


def ircert_process(*arguments: str, cwd: Path) -> Ran:
    """The same as a process of its own."""
    command = [sys.executable, "-m", "ircert", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)
    return Ran(run.returncode, run.stdout, run.stderr)

"""`ircert completion SHELL`: a script that completes commands, options and file names; made by the package shtab."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib.util import find_spec

from ircert.cli.streams import put
from ircert.errors import MissingExtra

SHELLS = ("bash", "zsh", "tcsh")
USE = """\
bash:  ircert completion bash > ~/.local/share/bash-completion/completions/ircert
zsh:   ircert completion zsh > ~/.zfunc/_ircert      (with `fpath+=~/.zfunc` before `compinit`)
tcsh:  ircert completion tcsh > ~/.ircert.csh        (and `source ~/.ircert.csh` in ~/.tcshrc)
"""
FILES = ("MODEL", "MODEL2", "FILE", "CERTIFICATE")
"""Words in help texts that stand for files."""


def add_completion_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert completion` takes."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def completion(options: argparse.Namespace) -> int:
    """Print the script for a shell."""
    if find_spec("shtab") is None:
        raise MissingExtra("shtab", extra="completion", purpose="writing completion scripts")
    import shtab

    _mark_files(options.parser, shtab.FILE)
    put(shtab.complete(options.parser, shell=options.shell) + "\n")
    return 0


def _mark_files(parser: argparse.ArgumentParser, kind: Mapping[str, object]) -> None:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _mark_files(command, kind)
        elif action.metavar in FILES:
            action.complete = kind  # type: ignore[attr-defined]

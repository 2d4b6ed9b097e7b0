"""`ircert COMMAND …`: arguments, exit codes, and errors as one line.

Commands import what they need when they run, so that `ircert --help` stays quick.
"""

from __future__ import annotations

import argparse
import re
import sys
import traceback
from collections.abc import Sequence
from contextlib import nullcontext

from ircert import __version__
from ircert.cli.arguments import BAD_USAGE, Arguments
from ircert.cli.commands import COMMANDS, Command
from ircert.cli.interrupts import INTERRUPTS, Ended
from ircert.cli.options import NUMERIC
from ircert.cli.streams import complain, drop
from ircert.cli.verbosity import add_verbosity_options, said
from ircert.errors import IrcertError

UNRESOLVED = 3
INTERNAL_ERROR = 70
"""Exit code for a bug: none of the codes that mean a verdict."""


def process(arguments: Sequence[str]) -> int:
    """Run one command as a process of its own; the exit code, which is never a verdict by accident."""
    try:
        return run(arguments)
    except SystemExit as end:  # argparse has printed help or an error
        return _flushed(end.code if isinstance(end.code, int) else 0)
    except Ended:
        complain("interrupted")
        return UNRESOLVED


def run(arguments: Sequence[str]) -> int:
    """Run one command; the exit code."""
    parser = _parser()
    options = parser.parse_args(_joined_negatives(arguments))
    options.arguments, options.parser = tuple(arguments), parser
    if not hasattr(options, "command"):
        parser.print_help(sys.stderr)
        return BAD_USAGE
    try:
        return _flushed(_run(options))
    except IrcertError as error:
        complain(f"error: {error}")
        return BAD_USAGE
    except BrokenPipeError:
        drop(sys.stdout)
        return 0
    except MemoryError:
        complain("error: this does not fit into memory")
        return BAD_USAGE
    except OSError as error:
        return _cannot_write(error)
    except (KeyboardInterrupt, Ended):
        complain("interrupted")
        return UNRESOLVED
    except Exception:
        complain(f"internal error: this is a bug, and no verdict\n{traceback.format_exc()}")
        return INTERNAL_ERROR


def _run(options: argparse.Namespace) -> int:
    if sys.stdout is None:  # the caller closed it
        raise OSError("standard output is closed")
    command: Command = options.command
    # a command that has something to say even then opens them itself
    with said(options), nullcontext() if command.holds_interrupts else INTERRUPTS.open():
        return command.run(options)


def _flushed(code: int) -> int:
    """The exit code once everything is written; a reader that has gone does not change it."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        drop(sys.stdout)
    except OSError as error:
        return _cannot_write(error)
    return code


def _cannot_write(error: OSError) -> int:
    drop(sys.stdout)
    complain(f"error: the output cannot be written ({error.strerror or error})")
    return BAD_USAGE


def _joined_negatives(arguments: Sequence[str]) -> list[str]:
    """`--center -1,2` as `--center=-1,2`: argparse would take the value for an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] in NUMERIC and re.match(r"-([\d.]|inf)", argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Arguments(
        prog="ircert", description="Prove where a trained neural network can be inverted, and where it cannot."
    )
    parser.add_argument("--name", action="version", version="ircert", help="print the name, as VNN-LIB wants it")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        own = commands.add_parser(
            command.name,
            help=command.listed,
            description=command.description,
            epilog=command.epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter if command.epilog else argparse.HelpFormatter,
        )
        command.add_options(own)
        add_verbosity_options(own)
        own.set_defaults(command=command)
    return parser

"""What `ircert opt` takes; the command itself imports passes, which would make `ircert --help` slow."""

from __future__ import annotations

import argparse

from ircert.cli.model import add_model_options
from ircert.cli.options import MODEL


def add_opt_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert opt` takes."""
    parser.add_argument("model", metavar="MODEL", nargs="?", help=MODEL)
    parser.add_argument("-p", "--passes", metavar="PIPELINE", default="", help='for example "canonicalize,fuse-affine"')
    parser.add_argument("-o", "--output", metavar="FILE", help="write the graph there instead of showing it")
    parser.add_argument("--stages", action="store_true", help="show the graph after each pass, not the last one alone")
    parser.add_argument("--other", metavar="MODEL2", help="the other network of dual-copy{problem=transform}")
    parser.add_argument("--full", action="store_true", help="show large arrays in full")
    parser.add_argument("--stats", action="store_true", help="show each pass's effect and time on stderr")
    parser.add_argument("--check", action="store_true", help="compare exact values before and after each pass")
    parser.add_argument("--list", action="store_true", help="list the passes and their options")
    parser.add_argument(
        "--explain-structure", action="store_true", help="show what the form of the graph alone says about injectivity"
    )
    add_model_options(parser)

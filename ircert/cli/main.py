"""`ircert COMMAND …`: arguments, exit codes, and errors as one line.

Commands import what they need when they run, so that `ircert --help` stays quick.
"""

from __future__ import annotations

import argparse
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from ircert import __version__
from ircert.cli.arguments import BAD_USAGE, Arguments
from ircert.cli.atlas import add_atlas_command
from ircert.cli.certify import EXAMPLES, add_certify_options, add_output_options
from ircert.cli.check import add_check_options
from ircert.cli.completion import USE, add_completion_options
from ircert.cli.difference import add_difference_command
from ircert.cli.interrupts import INTERRUPTS, Ended
from ircert.cli.looking import add_looking_commands
from ircert.cli.model import add_model_options
from ircert.cli.question import add_question_options
from ircert.cli.report import add_report_options
from ircert.cli.reproduce import add_reproduce_options
from ircert.cli.streams import complain, drop
from ircert.cli.verbosity import add_verbosity_options, said
from ircert.cli.vnnlib import add_supports_options, add_verify_options, add_vnnlib_export_options
from ircert.errors import IrcertError

UNRESOLVED = 3
NUMERIC = (
    "--center",
    "--domain",
    "--radius",
    "--max-radius",
    "--tol",
    "--epsilon",
    "--time-limit",
    "--seed",
    "--threads",
    "--value",
    "--of",
    *("--grid", "--trajectory", "--steps", "--time-each", "--workers"),
)
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
    options.arguments = tuple(arguments)
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
    command: Callable[[argparse.Namespace], int] = options.command
    # a command that has something to say even then opens them itself
    with said(options), nullcontext() if options.holds_interrupts else INTERRUPTS.open():
        return command(options)


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
    parser.set_defaults(holds_interrupts=False)
    parser.add_argument("--name", action="version", version="ircert", help="print the name, as VNN-LIB wants it")
    parser.add_argument("--version", action="version", version=f"ircert {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_demo(commands)
    _add_certify(commands)
    _add_check(commands)
    _add_opt(commands)
    _add_export(commands)
    _add_replay(commands)
    _add_plot(commands)
    add_looking_commands(commands)
    add_difference_command(commands)
    add_atlas_command(commands)
    _add_reproduce(commands)
    _add_report(commands)
    _add_verify(commands)
    _add_supports(commands)
    _add_completion(commands)
    for command in commands.choices.values():
        add_verbosity_options(command)
    return parser


def _add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "show an example on a bundled network"
    demo = commands.add_parser("demo", help=text, description=f"{text[0].upper()}{text[1:]}.")
    demo.set_defaults(command=_demo)


def _add_certify(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "prove where a network can be inverted (0: certified, 1: refuted, 3: unresolved)"
    certify = commands.add_parser(
        "certify",
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_certify_options(certify)
    certify.set_defaults(command=_certify, holds_interrupts=True)


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "verify a certificate in exact or interval arithmetic (0: passed, 4: rejected)"
    check = commands.add_parser("check", help=text, description=f"{text[0].upper()}{text[1:]}.")
    add_check_options(check)
    check.set_defaults(command=_check)


def _add_opt(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "show or write the IR after passes"
    opt = commands.add_parser("opt", help=text, description=f"{text[0].upper()}{text[1:]}.")
    opt.add_argument(
        "model",
        metavar="MODEL",
        nargs="?",
        help="a model file (.onnx, .pt2, .keras, .safetensors, .nnet, .mat, .npz, .ir)",
    )
    opt.add_argument("-p", "--passes", metavar="PIPELINE", default="", help='for example "canonicalize,fuse-affine"')
    opt.add_argument("-o", "--output", metavar="FILE", help="write the graph there instead of showing it")
    opt.add_argument("--stages", action="store_true", help="show the graph after each pass, not the last one alone")
    opt.add_argument("--other", metavar="MODEL2", help="the other network of dual-copy{problem=transform}")
    opt.add_argument("--full", action="store_true", help="show large arrays in full")
    opt.add_argument("--stats", action="store_true", help="show each pass's effect and time on stderr")
    opt.add_argument("--check", action="store_true", help="compare exact values before and after each pass")
    opt.add_argument("--list", action="store_true", help="list the passes and their options")
    opt.add_argument(
        "--explain-structure", action="store_true", help="show what the form of the graph alone says about injectivity"
    )
    add_model_options(opt)
    opt.set_defaults(command=_opt)


def _add_export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "write a question about a ball as .lp, .mps or what a plugin writes, for any solver"
    export = commands.add_parser("export", help=text, description=f"{text[0].upper()}{text[1:]}.")
    _add_program_options(export)
    export.add_argument("-o", "--output", metavar="FILE", help="FILE.lp, FILE.mps, FILE.vnnlib, …")
    export.add_argument("--print-pipeline", action="store_true", help="show what the network goes through")
    export.add_argument(
        "--minimise",
        action="store_true",
        help="write .mps with the objective negated, for GLPK and CBC, which ignore MAX",
    )
    add_vnnlib_export_options(export)
    export.set_defaults(command=_export)


def _add_replay(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "judge a solver's solution of an exported file on the network (1: collision proved, 3: not)"
    replay = commands.add_parser("replay", help=text, description=f"{text[0].upper()}{text[1:]}.")
    _add_program_options(replay)
    replay.add_argument(
        "--solution", required=True, metavar="FILE", help="of HiGHS, CBC, SCIP, Gurobi, GLPK or CPLEX, or `name value`"
    )
    add_output_options(replay)
    replay.set_defaults(command=_replay)


def _add_plot(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "draw regions, fold set, balls, witness and preimages of a network with one to three free inputs"
    plot = commands.add_parser("plot", help=text, description=f"{text[0].upper()}{text[1:]}.")
    add_question_options(plot, norms=True, center=False)
    plot.add_argument("--image", metavar="8x8", help="draw a pair of images of this shape, from a result of certify")
    plot.add_argument("--result", metavar="FILE", help="with --image: what `certify --json FILE` wrote about MODEL")
    plot.add_argument("--radius", type=float, metavar="R", help="half the width of the picture (default: all balls)")
    plot.add_argument(
        "--preimages", action="store_true", help="draw the preimages of f(centre), and the ball that holds no other one"
    )
    plot.add_argument(
        "--slice",
        action="append",
        metavar="I=V",
        help="of three inputs, draw the plane where input I is V, several times or 2=0,2=1 (default: three planes "
        "through the centre, and the fold set from outside)",
    )
    plot.add_argument("--solid", action="store_true", help="of three inputs, draw the fold set from outside")
    plot.add_argument("--time-limit", type=float, metavar="S", help="for each ball")
    plot.add_argument("-o", "--output", required=True, metavar="FILE", help="FILE.png, FILE.svg or FILE.pdf")
    plot.add_argument("--labels", metavar="NAME,…", help="of the axes, one for each free input")
    plot.set_defaults(command=_plot)


def _add_reproduce(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "run the paper's experiments (0: all claims are met, 3: one is not)"
    reproduce = commands.add_parser("reproduce", help=text, description=f"{text[0].upper()}{text[1:]}.")
    add_reproduce_options(reproduce)
    reproduce.set_defaults(command=_reproduce)


def _add_report(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "write saved results as one page to read, print and send"
    report = commands.add_parser("report", help=text, description=f"{text[0].upper()}{text[1:]}.")
    add_report_options(report)
    report.set_defaults(command=_report)


def _add_verify(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "answer a VNN-LIB query: sat, unsat, unknown or timed-out on the first line"
    verify = commands.add_parser("verify", help=text, description=f"{text[0].upper()}{text[1:]}.")
    add_verify_options(verify)
    verify.set_defaults(command=_verify)


def _add_supports(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "say which VNN-LIB queries and networks can be verified, for tools that ask"
    supports = commands.add_parser("supports", help=text, description=f"{text[0].upper()}{text[1:]}.")
    add_supports_options(supports)
    supports.set_defaults(command=_supports)


def _add_completion(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "print a script that completes commands and options in a shell"
    completion = commands.add_parser(
        "completion",
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=USE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_completion_options(completion)
    completion.set_defaults(command=_completion)


def _add_program_options(parser: argparse.ArgumentParser) -> None:
    """An export and its replay must be asked the same question."""
    add_question_options(parser)
    parser.add_argument("--radius", required=True, type=float, metavar="R", help="of the closed ball")
    parser.add_argument(
        "--objective-norm", metavar="NORM", help="of the distance that is maximised (default: the ball's)"
    )
    parser.add_argument(
        "--formulation", default="paper", metavar="NAME", help="paper, tangent, apart{separation=…}, … (default: paper)"
    )
    parser.add_argument("--pipeline", metavar="PIPELINE", help="passes to run instead of the formulation's own")
    parser.add_argument(
        "--bounds",
        default="symbolic",
        choices=("interval", "symbolic", "lp"),
        help="how neurons are bounded on the ball: interval (quick, wide), symbolic (default) or lp (slow, narrow)",
    )
    parser.add_argument(
        "--indicators",
        default="paper",
        choices=("paper", "half"),
        help="of the formulation paper: paper (default), or half, for local, where x and y can be swapped",
    )


def _certify(options: argparse.Namespace) -> int:
    from ircert.cli.certify import certify

    return certify(options)


def _check(options: argparse.Namespace) -> int:
    from ircert.cli.check import check

    return check(options)


def _export(options: argparse.Namespace) -> int:
    from ircert.cli.export import export

    return export(options)


def _replay(options: argparse.Namespace) -> int:
    from ircert.cli.replay import replay

    return replay(options)


def _plot(options: argparse.Namespace) -> int:
    from ircert.cli.plot import plot

    return plot(options)


def _reproduce(options: argparse.Namespace) -> int:
    from ircert.cli.reproduce import reproduce

    return reproduce(options)


def _report(options: argparse.Namespace) -> int:
    from ircert.cli.report import report

    return report(options)


def _verify(options: argparse.Namespace) -> int:
    from ircert.cli.vnnlib import verify

    return verify(options)


def _supports(options: argparse.Namespace) -> int:
    from ircert.cli.vnnlib import supports

    return supports(options)


def _completion(options: argparse.Namespace) -> int:
    from ircert.cli.completion import completion

    return completion(options.shell, _parser())


def _demo(options: argparse.Namespace) -> int:
    from ircert.cli.demo import demo

    return demo()


def _opt(options: argparse.Namespace) -> int:
    from ircert.cli.opt import opt

    return opt(options)

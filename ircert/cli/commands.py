"""The commands, one row each: name, what it does, its options, and who runs it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ircert.cli import atlas, certify, difference, looking
from ircert.cli.check import add_check_options, check
from ircert.cli.completion import USE, add_completion_options, completion
from ircert.cli.demo import add_demo_options, demo
from ircert.cli.export import add_export_options, export
from ircert.cli.opt_options import add_opt_options
from ircert.cli.plot import add_plot_options, plot
from ircert.cli.replay import add_replay_options, replay
from ircert.cli.report import add_report_options, report
from ircert.cli.reproduce import add_reproduce_options, reproduce
from ircert.cli.vnnlib import add_supports_options, add_verify_options, supports, verify

Run = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Command:
    """text: what it does, in a sentence without a full stop; codes: its exit codes, for the list of commands, where the
    epilog tells them at length; holds_interrupts: it answers Ctrl-C itself."""

    name: str
    text: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Run
    codes: str = ""
    epilog: str | None = None
    holds_interrupts: bool = False

    @property
    def listed(self) -> str:
        """Its line in the list of commands."""
        return f"{self.text} {self.codes}".rstrip()

    @property
    def description(self) -> str:
        """The first line of its help."""
        return f"{self.text[0].upper()}{self.text[1:]}."


def _opt(options: argparse.Namespace) -> int:
    from ircert.cli.opt import opt  # passes take long to import

    return opt(options)


COMMANDS = (
    Command("demo", "show an example on a bundled network", add_demo_options, demo),
    Command(
        "certify",
        "prove where a network can be inverted (0: certified, 1: refuted, 3: unresolved)",
        certify.add_certify_options,
        certify.certify,
        epilog=certify.EXAMPLES,
        holds_interrupts=True,
    ),
    Command(
        "check",
        "verify a certificate in exact or interval arithmetic (0: passed, 4: rejected)",
        add_check_options,
        check,
    ),
    Command("opt", "show or write the IR after passes", add_opt_options, _opt),
    Command(
        "export",
        "write a question about a ball as .lp, .mps, .vnnlib or what a plugin writes, for any solver",
        add_export_options,
        export,
    ),
    Command(
        "replay",
        "judge a solver's solution of an exported file on the network (1: collision proved, 3: not)",
        add_replay_options,
        replay,
    ),
    Command(
        "plot",
        "draw regions, fold set, balls, witness and preimages of a network with one to three free inputs",
        add_plot_options,
        plot,
    ),
    Command(
        "regions",
        "list the linear regions of a ball or domain (one or two inputs)",
        looking.add_regions_options,
        partial(looking.refused_first, looking.regions),
    ),
    Command(
        "folds",
        "list where the orientation turns over (one to three inputs)",
        looking.add_folds_options,
        partial(looking.refused_first, looking.folds),
    ),
    Command(
        "preimages",
        "find all points of a ball with a value (0: all are known, 3: some places are undecided)",
        looking.add_preimages_options,
        partial(looking.refused_first, looking.preimages),
    ),
    Command(
        "lipschitz",
        "bound how much distances change on a ball: L, L' and L*",
        looking.add_lipschitz_options,
        partial(looking.refused_first, looking.lipschitz),
    ),
    Command(
        "observe",
        "decide whether some inputs and outputs determine others (0: certified, 1: refuted, 3: unresolved)",
        looking.add_observe_options,
        partial(looking.refused_first, looking.observe),
    ),
    Command(
        "step-size",
        "bound how long steps x + h g(x) may be to be injective (0: both ends agree, 3: they do not)",
        looking.add_step_size_options,
        partial(looking.refused_first, looking.step_size),
    ),
    Command(
        "difference",
        "bracket how far two networks are apart on a ball",
        difference.add_difference_options,
        difference.difference,
        codes="(0: closed, or at most epsilon; 1: above; 3: open)",
        epilog=difference.EXAMPLES,
        holds_interrupts=True,
    ),
    Command(
        "atlas",
        "find the largest good radius around each of many centres: a grid, a file or a trajectory",
        atlas.add_atlas_options,
        atlas.atlas,
        codes="(0: all are known, 3: some are not)",
        epilog=atlas.EXAMPLES,
        holds_interrupts=True,
    ),
    Command(
        "reproduce",
        "run the paper's experiments (0: all claims are met, 3: one is not)",
        add_reproduce_options,
        reproduce,
    ),
    Command("report", "write saved results as one page to read, print and send", add_report_options, report),
    Command(
        "verify",
        "answer a VNN-LIB query: sat, unsat, unknown or timed-out on the first line",
        add_verify_options,
        verify,
    ),
    Command(
        "supports",
        "say which VNN-LIB queries and networks can be verified, for tools that ask",
        add_supports_options,
        supports,
    ),
    Command(
        "completion",
        "print a script that completes commands and options in a shell",
        add_completion_options,
        completion,
        epilog=USE,
    ),
)
"""In the order in which `ircert --help` lists them."""

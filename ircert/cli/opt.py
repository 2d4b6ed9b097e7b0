"""`ircert opt`: load a model, run passes, show or write the result."""

from __future__ import annotations

import argparse

import numpy as np

from ircert import passes
from ircert.cli.model import load_model
from ircert.cli.streams import complain
from ircert.errors import IrcertError, PassError
from ircert.frontends.save import check_savable, save
from ircert.ir.graph import Graph
from ircert.ir.ops import Relu
from ircert.ir.printer import outline
from ircert.passes.options import describe
from ircert.passes.pipeline import Pipeline, Step


def opt(options: argparse.Namespace) -> int:
    """Run the command; 0 if everything went well."""
    if options.list:
        print("\n".join(describe(passes.get(name)) for name in passes.names()))
        return 0
    if options.model is None:
        raise IrcertError("no model is given", remedy="write `ircert opt MODEL`, or `ircert opt --list` for the passes")
    pipeline = Pipeline.parse(options.passes)
    if options.output is not None:
        check_savable(options.output)
    hooks = [hook for hook, wanted in ((_report, options.stats), (_compare, options.check)) if wanted]
    rewrite = pipeline.with_hooks(*hooks).run(load_model(options.model, options))
    for note in rewrite.notes:
        complain(f"note: {note}")
    if options.output is not None:
        save(rewrite.result, options.output)
    else:
        print(str(rewrite.result) if options.full else outline(rewrite.result), end="")
    return 0


def _report(step: Step) -> None:
    effect = f"{_size(step.before)} -> {_size(step.rewrite.result)}" if step.changed else "nothing to do"
    complain(f"{step.used.name}: {effect} ({step.seconds:.3f} s)")


def _size(graph: Graph) -> str:
    neurons = sum(graph.sizes[node.name] for node in graph.nodes if isinstance(node.op, Relu))
    return f"{len(graph)} nodes, {neurons} neurons"


def _compare(step: Step) -> None:
    """Exact values before and after, at points of the new graph: what the pass promises, checked on this very graph."""
    after, lift = step.rewrite.result, step.rewrite.lift
    for x in np.random.default_rng(0).standard_normal((4, after.input_dim)):
        if list(after.exact(x)) != list(lift.value(step.before.exact(lift.point(x)))):
            raise PassError(f"it changed the value at {x.tolist()}: a bug in the pass", pass_name=step.used.name)

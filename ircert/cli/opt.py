"""`ircert opt`: load a model, run passes, show or write the result."""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ircert import passes
from ircert.cli.model import load_model
from ircert.cli.streams import complain
from ircert.errors import FileError, IrcertError, PassError
from ircert.frontends.save import check_savable, save
from ircert.ir.graph import Graph
from ircert.ir.ops import Relu
from ircert.ir.printer import outline
from ircert.passes.base import Pass
from ircert.passes.dual_copy import DualCopy
from ircert.passes.options import describe, to_text
from ircert.passes.pipeline import Hook, Pipeline, Step
from ircert.structure.known import Knowledge
from ircert.structure.parts import Head, listed


def opt(options: argparse.Namespace) -> int:
    """Run the command; 0 if everything went well."""
    if options.list:
        print("\n".join(map(describe, _known())))
        return 0
    if options.model is None:
        raise IrcertError("no model is given", remedy="write `ircert opt MODEL`, or `ircert opt --list` for the passes")
    pipeline = _with_other(Pipeline.parse(options.passes), options)
    _check_end(pipeline)
    if options.output is not None:
        _check_output(options)
    wanted = ((_report, options.stats), (_compare, options.check), (_shower(options.full), options.stages))
    graph = load_model(options.model, options)
    rewrite = pipeline.with_hooks(*(hook for hook, asked in wanted if asked)).run(graph)
    for note in rewrite.notes:
        complain(f"note: {note}")
    if options.output is not None:
        save(rewrite.result, options.output)
    if options.explain_structure:
        print(explained(Knowledge(rewrite.result)))
    elif options.output is None and not (options.stages and pipeline.passes):
        print(_text(rewrite.result, full=options.full).rstrip("\n"))
    return 0


def explained(knowledge: Knowledge) -> str:
    """The steps from the output to the input, and what they come to."""
    graph = knowledge.graph
    count = int(knowledge.known[graph.input].sum())
    if knowledge.is_injective:
        end = "injective on the whole space: all inputs follow from the output"
    else:
        end = f"nothing shown: {count} of {graph.input_dim} inputs follow from the output, by these rules"
    return "\n".join([*map(str, knowledge.steps), end, *_left_to_ask(knowledge)])


def _left_to_ask(knowledge: Knowledge) -> list[str]:
    """The cut that the output says as much as, and the parts before it."""
    if knowledge.is_injective or not knowledge.known[knowledge.graph.output].all():
        return []
    head = Head(knowledge)
    lines = [] if head.is_whole else [f"what is left is the network up to a cut: {_entries(head.entries)}"]
    parts = head.parts or []
    if len(parts) > 1 or (parts and head.given):
        for part in parts:
            beside = f", beside {listed(part.given)}" if part.given else ""
            lines.append(f"part of input {listed(part.own)}{beside}: {_entries(part.entries)}")
    return lines


def _entries(entries: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name}[{listed(chosen)}]" for name, chosen in entries.items())


def _check_output(options: argparse.Namespace) -> None:
    """A file that can be written and is none of those that are read."""
    check_savable(options.output)
    models = [os.path.realpath(path) for path in (options.model, options.other) if path is not None]
    if os.path.realpath(options.output) in models:
        raise FileError("this is the model itself", path=options.output, remedy="choose another place")


def _known() -> list[type[Pass[Any, Any]]]:
    """All passes; one of another package that cannot be loaded is named on stderr, and the others are listed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = passes.REGISTRY.loadable()
    for warning in caught:
        complain(f"warning: {warning.message}")
    return found


def _check_end(pipeline: Pipeline) -> None:
    """A pass of another package may give something else than a graph; here is nothing to show it with."""
    if not issubclass(pipeline.gives, Graph):
        problem = f"it gives a {pipeline.gives.__name__}, and this command is about graphs"
        raise PassError(problem, pass_name=pipeline.passes[-1].name, remedy="leave it out; programs: `ircert export`")


def _with_other(pipeline: Pipeline, options: argparse.Namespace) -> Pipeline:
    """The pipeline, with the other network where a pass asks for one."""
    if options.other is None:
        return pipeline
    other = load_model(options.other, options)
    filled = tuple(
        replace(used, other=other) if isinstance(used, DualCopy) and used.problem == "transform" else used
        for used in pipeline.passes
    )
    if filled == pipeline.passes:
        remedy = "write dual-copy{problem=transform}, or leave --other out"
        raise IrcertError("no pass takes another network", where="--other", remedy=remedy)
    return Pipeline(filled)


def _shower(full: bool) -> Hook:
    """Prints every stage, under the pass that made it; a comment line keeps the text readable by the parser."""

    def show(step: Step) -> None:
        changed = "" if step.changed else " (nothing to do)"
        print(f"# after {to_text(step.used)}{changed}\n{_text(step.rewrite.result, full=full)}")

    return show


def _text(graph: Graph, *, full: bool) -> str:
    return str(graph) if full else outline(graph)


def _report(step: Step) -> None:
    effect = f"{_size(step.before)} -> {_size(step.rewrite.result)}" if step.changed else "nothing to do"
    complain(f"{step.used.name}: {effect} ({step.seconds:.3f} s)")


def _size(made: Graph) -> str:
    neurons = sum(made.sizes[node.name] for node in made.nodes if isinstance(node.op, Relu))
    return f"{len(made)} nodes, {neurons} neurons"


def _compare(step: Step) -> None:
    """Exact values before and after, at points of the new graph: what the pass promises, checked on this very graph."""
    after, lift = step.rewrite.result, step.rewrite.lift
    for x in np.random.default_rng(0).standard_normal((4, after.input_dim)):
        if lift.holds(x) and list(after.exact(x)) != list(lift.reads(step.before.exact)(x)):
            raise PassError(f"it changed the value at {x.tolist()}: a bug in the pass", pass_name=step.used.name)

"""ircert proves, for a trained neural network, where it can be inverted and where it cannot.

Names are imported when they are first used: `import ircert` itself loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from ircert import backends as backends
    from ircert import passes as passes
    from ircert import plotting as plotting
    from ircert import testing as testing
    from ircert.analysis.difference.question import difference as difference
    from ircert.analysis.linear_regions import enumerate_regions as enumerate_regions
    from ircert.analysis.linear_regions import fold_set as fold_set
    from ircert.analysis.linear_regions import preimages as preimages
    from ircert.analysis.lipschitz.bilipschitz import bilipschitz as bilipschitz
    from ircert.analysis.observation import observability as observability
    from ircert.analysis.steps.step_size import step_size as step_size
    from ircert.atlases.atlas import atlas as atlas
    from ircert.certification import certify as certify
    from ircert.errors import IrcertError as IrcertError
    from ircert.frontends.load import load as load
    from ircert.frontends.save import save as save
    from ircert.ir.build import Builder as Builder
    from ircert.ir.compose import stack as stack
    from ircert.ir.graph import Graph as Graph
    from ircert.ir.graph import Node as Node
    from ircert.ir.parser import parse as parse
    from ircert.passes.pipeline import Pipeline as Pipeline
    from ircert.programs.formulations.program import pipeline_of as pipeline_of
    from ircert.programs.formulations.program import program as program
    from ircert.programs.program import Program as Program
    from ircert.questions.query import Query as Query
    from ircert.report.bar import Bar as Bar
    from ircert.result.result import Result as Result

_MODULES = {
    "Bar": "ircert.report.bar",
    "Builder": "ircert.ir.build",
    "Graph": "ircert.ir.graph",
    "IrcertError": "ircert.errors",
    "Node": "ircert.ir.graph",
    "Pipeline": "ircert.passes.pipeline",
    "Program": "ircert.programs.program",
    "Query": "ircert.questions.query",
    "Result": "ircert.result.result",
    "atlas": "ircert.atlases.atlas",
    "bilipschitz": "ircert.analysis.lipschitz.bilipschitz",
    "difference": "ircert.analysis.difference.question",
    "enumerate_regions": "ircert.analysis.linear_regions",
    "fold_set": "ircert.analysis.linear_regions",
    "certify": "ircert.certification",
    "load": "ircert.frontends.load",
    "observability": "ircert.analysis.observation",
    "parse": "ircert.ir.parser",
    "pipeline_of": "ircert.programs.formulations.program",
    "preimages": "ircert.analysis.linear_regions",
    "program": "ircert.programs.formulations.program",
    "save": "ircert.frontends.save",
    "stack": "ircert.ir.compose",
    "step_size": "ircert.analysis.steps.step_size",
}
_PACKAGES = ("backends", "passes", "plotting", "testing")

__all__ = ["__version__", *sorted(_MODULES), *_PACKAGES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name in _PACKAGES:
        return import_module(f"ircert.{name}")
    raise AttributeError(f"module 'ircert' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

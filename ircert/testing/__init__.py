"""Testing with ircert: strategies for graphs and points; checks for passes, backends, operations and engines.

>>> from hypothesis import given
>>> from ircert.testing import assert_preserves, graphs
>>> @given(graphs())
... def test_my_pass(graph):
...     assert_preserves(MyPass(), graph)
"""

from __future__ import annotations

from importlib.util import find_spec

from ircert.errors import MissingExtra

if find_spec("hypothesis") is None:
    raise MissingExtra("hypothesis", extra="testing", purpose="ircert.testing")

from ircert.testing.checks import assert_preserves, assert_round_trips, assert_same_function, sample_points
from ircert.testing.conformance import Report, cases_for, check_backend, check_case, check_outcome
from ircert.testing.engines import EngineReport, KnownRadius, check_engine, known_radii
from ircert.testing.invertible import invertible_networks
from ircert.testing.operations import check_operation
from ircert.testing.programs import CASES, Case, small_program
from ircert.testing.strategies import graphs, mlps, numbers, points, residual_networks, vectors
from ircert.testing.writers import check_writer, same_program

__all__ = [
    "CASES",
    "Case",
    "EngineReport",
    "KnownRadius",
    "Report",
    "assert_preserves",
    "assert_round_trips",
    "assert_same_function",
    "cases_for",
    "check_backend",
    "check_case",
    "check_engine",
    "check_operation",
    "check_outcome",
    "check_writer",
    "graphs",
    "invertible_networks",
    "known_radii",
    "mlps",
    "numbers",
    "points",
    "residual_networks",
    "same_program",
    "sample_points",
    "small_program",
    "vectors",
]

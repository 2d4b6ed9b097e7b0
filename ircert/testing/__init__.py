"""Property-based testing with ircert: strategies for graphs and points, and checks for passes.

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
from ircert.testing.strategies import graphs, mlps, numbers, points, residual_networks, vectors

__all__ = [
    "assert_preserves",
    "assert_round_trips",
    "assert_same_function",
    "graphs",
    "mlps",
    "numbers",
    "points",
    "residual_networks",
    "sample_points",
    "vectors",
]

from hypothesis import given, settings
from toy_pass import DoubleNegation

import ircert
from ircert.testing import assert_preserves, graphs


@settings(deadline=None)
@given(graphs())
def test_preserves(graph):
    assert_preserves(DoubleNegation(), graph)


def test_pairs_are_dropped():
    minus = [[-1.0, 0.0], [0.0, -1.0]]
    build = ircert.Builder(2)
    graph = build.graph(build.relu(build.affine(build.affine(build.input, minus), minus)))
    assert len(ircert.Pipeline.parse("double-negation")(graph)) == 2

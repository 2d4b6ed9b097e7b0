"""The graph without neurons that are multiples of others, under the name that proofs use."""

from ircert.passes.merge_multiples import merged as merged

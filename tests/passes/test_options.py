"""Options of passes: written, read back, and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert.errors import PassError
from ircert.ir.graph import Graph
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.canonicalize import Canonicalize
from ircert.passes.fix_inputs import FixInputs
from ircert.passes.options import create, to_text
from ircert.passes.pipeline import Pipeline, _Scanner
from ircert.passes.select_outputs import SelectOutputs


@pytest.mark.rule("P-7")
@given(
    st.dictionaries(st.integers(0, 9), st.floats(allow_nan=False, allow_infinity=False), max_size=3),
    st.lists(st.integers(0, 9), min_size=1),
)
def test_options_round_trip(values: dict[int, float], keep: list[int]) -> None:
    pipeline = Pipeline((FixInputs(values), SelectOutputs(tuple(keep)), Canonicalize()))
    assert Pipeline.parse(str(pipeline)) == pipeline


@pytest.mark.rule("P-8")
def test_option_types() -> None:
    @dataclass(frozen=True)
    class Many(GraphPass):
        name = "many"
        pair: tuple[int, str] = (0, "a")
        count: int = 1
        scale: float = 1.0
        on: bool = False
        word: str = "a"
        mode: Literal["fast", "slow"] = "fast"
        maybe: int | None = None
        table: dict[int, float] = field(default_factory=dict)

        def run(self, source: Graph) -> Rewrite[Graph]:
            return Rewrite(source)

    def built(options: dict[str, Any]) -> Any:
        return create(Many, options)

    assert built({"pair": [1, "b"], "count": 3, "scale": 2, "mode": "slow"}) == Many((1, "b"), 3, 2.0, mode="slow")
    assert type(built({"scale": 2}).scale) is float
    assert built({"maybe": None}) == Many()
    quoted = Many(word='it\'s "so", {or} not\\')
    assert create(Many, _Scanner(to_text(quoted)).passes()[0][1]) == quoted
    for options, says in (
        ({"pair": ["b", 1]}, "`pair` must be"),
        ({"pair": [1]}, "`pair` must be"),
        ({"count": 1.0}, "`count` must be an integer"),
        ({"count": True}, "`count` must be an integer"),
        ({"scale": "fast"}, "a finite number"),
        ({"scale": float("nan")}, "a finite number"),
        ({"on": 1}, "true or false"),
        ({"word": 1}, "a word"),
        ({"mode": "medium"}, "one of fast, slow"),
        ({"maybe": "x"}, "an integer or None"),
        ({"table": [1]}, "a dictionary"),
    ):
        with pytest.raises(PassError, match=says):
            built(options)

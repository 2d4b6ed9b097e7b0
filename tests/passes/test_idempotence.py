"""P-10: the passes that change nothing on their own result are those that the rule names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert import passes
from ircert.passes.options import create
from ircert.testing import graphs

TEXT = (Path(__file__).parents[2] / "spec" / "passes.md").read_text()
(RULE,) = re.findall(r"\*\*P-10\*\* (.*?)\n\*", TEXT, flags=re.S)
NAMED = re.findall(r"`([\w-]+)`", RULE)


def test_the_rule_names_passes() -> None:
    assert len(NAMED) >= 7
    assert set(NAMED) <= set(passes.BUILT_IN)


@pytest.mark.rule("P-10")
@pytest.mark.parametrize("name", NAMED)
@given(st.data())
def test_nothing_changes_the_second_time(name: str, data: st.DataObject) -> None:
    kind = passes.get(name)
    once = create(kind, {}).run(data.draw(graphs(rich="canonical" not in kind.requires))).result
    assert create(kind, {}).run(once).result is once

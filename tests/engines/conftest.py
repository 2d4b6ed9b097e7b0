from __future__ import annotations

from collections.abc import Callable

import pytest

from ircert import engines
from ircert.engines.base import Answer, Question
from tests.engines.fake import Scripted


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Fold", "Scripted"):
        monkeypatch.setitem(engines.BUILT_IN, name.lower(), f"tests.engines.fake:{name}")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Question], Answer] | Answer], None]:
    def put(given: Callable[[Question], Answer] | Answer) -> None:
        answer = given if callable(given) else lambda question: given
        monkeypatch.setattr(Scripted, "script", staticmethod(answer), raising=False)

    return put

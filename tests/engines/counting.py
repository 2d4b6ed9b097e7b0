"""Deadlines that come after a number of looks at them, and what is done after that: counted, not timed."""

from __future__ import annotations

import functools
import math
import sys
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from ircert import certification
from ircert.limits import Deadline

EXPENSIVE = {
    "relaxations solved": "ircert.engines.boxes.trees.relaxation:Relaxation.solve",
    "relaxations made": "ircert.engines.boxes.trees.relaxation:Relaxation._load",
    "exact maps": "ircert.engines.boxes.linear_regions.exact_map:ExactMaps._made",
    "walks forward": "ircert.engines.boxes.enclosures.batches:Batches.forward",
    "walks backward": "ircert.engines.boxes.enclosures.batches:Batches.backward",
    "symbolic bounds": "ircert.bounds.symbolic:_Backward.run",
    "secants": "ircert.engines.boxes.enclosures.secants:Secants.jacobians",
    "exact programs": "ircert.exact.linear_program:Program._pursued",
    "float programs": "ircert.exact.live_program:LiveProgram.maximise",
    "vertices": "ircert.exact.vertex:Vertex.__init__",
    "eliminations": "ircert.exact.elimination:Square._solved",
    "pivots": "ircert.exact.criss_cross:_Dictionary.pivot",
    "lifted digits": "ircert.exact.lifting:_Pieces.times",
    "echelons": "ircert.exact.residues:echelon",
    "exact rows": "ircert.exact.linear_regions:exact_rows",
    "exact patterns": "ircert.exact.linear_regions:pattern_at",
    "runs of solvers": "ircert.backends.base:Solver._shielded",
    "programs encoded": "ircert.programs.build:ProgramBuilder.program",
    "near programs": "ircert.witnesses.near_program:NearProgram._solved",
    "exact forms": "ircert.engines.regions.forms:exactly_applied",
    "planar programs": "ircert.engines.regions.coincidence:Polytope._program",
    "planar polytopes": "ircert.engines.regions.coincidence:Polytope.__init__",
    "rounds of cuts": "ircert.engines.regions.cutting:Cutter._round",
    "nearest of polygons": "ircert.engines.regions.metric:nearest_of_polygon",
    "exact values": "ircert.ir.evaluate:exact_values",
}
"""What takes long in large questions, by name."""


class Looks:
    """A moment that comes with a look at it, what begins after it, and how much begins between two looks, at most."""

    def __init__(self, most: float = math.inf) -> None:
        self.most = most
        self.taken = 0
        self.after: Counter[str] = Counter()
        self.between: Counter[str] = Counter()
        self._since: Counter[str] = Counter()

    @property
    def over(self) -> bool:
        """Whether it has come, without a look."""
        return self.taken >= self.most

    def look(self) -> bool:
        """Whether it has come."""
        self.taken += 1
        self._since.clear()
        return self.over

    def note(self, name: str) -> None:
        """Something expensive begins."""
        if self.over:
            self.after[name] += 1
        else:
            self._since[name] += 1
            self.between[name] = max(self.between[name], self._since[name])


class CountingDeadline(Deadline):
    """A deadline of Looks: hours are left until it comes."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks

    def left(self) -> float:
        """An hour, or nothing; a look as well, for what then takes no longer."""
        return 0.0 if self._looks.look() else 3600.0

    def passed(self) -> bool:
        """One look more."""
        return self._looks.look()


def counted(monkeypatch: pytest.MonkeyPatch, looks: Callable[[], Looks]) -> None:
    """Questions end with these looks, which learn what begins after their moment."""
    monkeypatch.setattr(certification, "Deadline", lambda _: CountingDeadline(looks()))
    for name, place in EXPENSIVE.items():
        module, _, path = place.partition(":")
        home = import_module(module)
        *outer, last = path.split(".")
        owner: Any = functools.reduce(getattr, outer, home)
        original = getattr(owner, last)
        noting = _noting(original, name, looks)
        for holder in [owner] if outer else _holders(last, original):
            monkeypatch.setattr(holder, last, noting)


def _noting(original: Any, name: str, looks: Callable[[], Looks]) -> Any:
    @functools.wraps(original)
    def noting(*given: Any, **options: Any) -> Any:
        looks().note(name)
        return original(*given, **options)

    return noting


def _holders(name: str, original: Any) -> list[Any]:
    """All modules that hold a function under its name."""
    return [
        m for key, m in list(sys.modules.items()) if key.startswith("ircert") and getattr(m, name, None) is original
    ]

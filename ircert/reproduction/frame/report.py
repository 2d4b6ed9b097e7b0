"""What an experiment is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def silent(text: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Settings:
    """How an experiment shall run.

    quick:      a small version, a few seconds long
    seed:       of everything random
    time_limit: seconds for each single certification, or None
    reference:  the folder of the authors' published networks, or None where there is none
    say:        called with a few words on what is being done, as often as the experiment likes
    """

    quick: bool = False
    seed: int = 0
    time_limit: float | None = 120.0
    reference: Path | None = None
    say: Callable[[str], None] = silent


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, whether it holds here, and the numbers that say so."""

    text: str
    met: bool
    detail: str = ""


@dataclass(frozen=True)
class Comparison:
    """A number (or a few words) of the paper beside ours, and why they differ."""

    what: str
    paper: Any
    ours: Any
    why: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of numbers or words under named columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A figure to be written as name.png and name.svg; the caption says what is to be seen.

    page: whether the documentation shows it, or only the experiment's own report
    """

    name: str
    caption: str
    figure: Any = field(repr=False)
    page: bool = True


@dataclass(frozen=True)
class Part:
    """What one part of an experiment found out; facts as JSON knows them after `ircert.result.json_form.plain`."""

    claims: tuple[Claim, ...]
    comparisons: tuple[Comparison, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Report(Part):
    """What an experiment found out; `text` says in a few sentences what was done."""

    title: str
    text: str

    @staticmethod
    def of(title: str, text: str, parts: Mapping[str, Part]) -> Report:
        """The report of several parts, one after the other; facts are kept under the names of their parts."""
        every = list(parts.values())
        return Report(
            title=title,
            text=text,
            claims=tuple(claim for part in every for claim in part.claims),
            comparisons=tuple(comparison for part in every for comparison in part.comparisons),
            tables=tuple(table for part in every for table in part.tables),
            pictures=tuple(picture for part in every for picture in part.pictures),
            facts={name: part.facts for name, part in parts.items()},
        )

    @property
    def met(self) -> bool:
        """Whether all claims are met."""
        return all(claim.met for claim in self.claims)

"""What `ircert.atlas` returns: a bracket of the largest good radius at each centre, as arrays, rows and pictures."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.atlases.asked import Asked
from ircert.atlases.layout import Layout
from ircert.atlases.region import Region
from ircert.atlases.row import OTHER_SHARD, Row
from ircert.errors import MissingExtra
from ircert.files import write_text
from ircert.ir.arrays import Array

FEW = 5
"""Centres that a summary names."""


@dataclass(frozen=True, eq=False)
class Atlas(Sequence[Row]):
    """The rows of all centres, in the order in which they were given.

    asked:       the question
    layout:      where the centres lie
    rows:        one for each centre
    seconds:     what it took
    interrupted: whether the user, or time, ended it before all centres were done; those have what their neighbours say
    """

    asked: Asked
    layout: Layout
    rows: tuple[Row, ...]
    seconds: float = 0.0
    interrupted: bool = False

    def __repr__(self) -> str:
        closed = sum(row.verdict != "unresolved" for row in self.rows)
        return f"<ircert.Atlas of {len(self)} centres, {self.asked.problem}, norm {self.asked.norm}: {closed} closed>"

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    # --- arrays ------------------------------------------------------------------------------------------------------

    @property
    def centers(self) -> Array:
        """(N, n)."""
        return self.layout.centers

    @cached_property
    def certified(self) -> Array:
        """(N,): the open ball of this radius is good."""
        return np.array([row.certified for row in self.rows])

    @cached_property
    def refuted(self) -> Array:
        """(N,): no ball of a larger radius is good; nan where no violation is known."""
        return np.array([math.nan if row.refuted is None else row.refuted for row in self.rows])

    @cached_property
    def verdicts(self) -> NDArray[np.str_]:
        """(N,): certified, refuted (no ball is good) or unresolved."""
        return np.array([row.verdict for row in self.rows])

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the grid; otherwise (N,)."""
        return self.layout.shape

    @property
    def resolved(self) -> bool:
        """Whether every bracket is closed."""
        return all(row.verdict != "unresolved" for row in self.rows)

    @property
    def finished(self) -> bool:
        """Whether every bracket is closed, but for those that belong to other shards."""
        return all(row.verdict != "unresolved" or row.reason == OTHER_SHARD for row in self.rows)

    def __bool__(self) -> bool:
        """Whether every bracket is closed, as a result is true where it is certified."""
        return self.resolved

    @cached_property
    def region(self) -> Region:
        """The union of the certified balls."""
        return Region.of(self.centers, self.certified, self.asked.norm)

    # --- text --------------------------------------------------------------------------------------------------------

    def columns(self) -> dict[str, list[Any]]:
        """The table, column by column."""
        inputs = {f"x{i}": self.centers[:, i].tolist() for i in range(self.centers.shape[1])}
        names = ("certified", "refuted", "verdict", "trust", "engine", "way", "seconds", "reason")
        rest: dict[str, list[Any]] = {name: [getattr(row, name) for row in self.rows] for name in names}
        rest["evidence_certified"] = [row.evidence[0] for row in self.rows]
        rest["evidence_refuted"] = [row.evidence[1] for row in self.rows]
        return {**inputs, **rest}

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("pandas", extra="pandas", purpose="a DataFrame") from None
        return pandas.DataFrame(self.columns()).astype({"certified": float, "refuted": float})

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The table as text with commas, written to a file where one is named; numbers are exact."""
        columns = self.columns()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        if path is not None:
            write_text(path, text.getvalue())
        return text.getvalue()

    def to_jsonl(self, path: str | os.PathLike[str] | None = None) -> str:
        """The rows with their witnesses, as a file that `ircert atlas --results` goes on with and `--merge` reads."""
        from ircert.atlases.ledger import Ledger, lines_of

        found = Ledger(header_of(self.asked, self.layout), {row.key: row for row in self.rows if row.final})
        text = b"".join(lines_of(found)).decode()
        if path is not None:
            write_text(path, text)
        return text

    def summary(self) -> str:
        """For people: how many centres have which verdict, and the range of the radii."""
        counts = {name: int((self.verdicts == name).sum()) for name in ("certified", "refuted", "unresolved")}
        said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        lines = [f"{len(self)} centres, {self.asked.problem}, norm {self.asked.norm}: {said}"]
        least, most = float(self.certified.min()), float(self.certified.max())
        lines.append(f"  certified radii from {least:.9g} to {most:.9g}")
        if not np.isnan(self.refuted).all():
            lines.append(f"  refuted from {np.nanmin(self.refuted):.9g} to {np.nanmax(self.refuted):.9g}")
        ways = {way: sum(row.way == way for row in self.rows) for way in sorted({row.way for row in self.rows})}
        lines.append(f"  found by: {', '.join(f'{way} {count}' for way, count in ways.items())}")
        lines += self._open()
        lines.append(f"  {self.seconds:.2f} s")
        return "\n".join(lines)

    def _open(self) -> list[str]:
        elsewhere = np.array([row.reason == OTHER_SHARD for row in self.rows])
        where = np.flatnonzero((self.verdicts == "unresolved") & ~elsewhere)
        lines = [f"  {elsewhere.sum()} of the unresolved belong to other shards"] if elsewhere.any() else []
        for i in where[:FEW].tolist():
            row = self.rows[i]
            upper = "?" if row.refuted is None else f"{row.refuted:.6g}"
            lines.append(f"  unresolved: centre {i}, between {row.certified:.6g} and {upper}: {row.reason}")
        return [*lines, f"  … and {len(where) - FEW} more"] if len(where) > FEW else lines

    def _repr_html_(self) -> str:
        """The summary in a notebook."""
        fragments = import_module("ircert.report.fragments")
        return str(fragments.notebook(fragments.of_atlas(self)))

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the radii: a heat map with fold set and attractor, curves along a trajectory, slices of larger grids.

        Options are those of `ircert.plotting.plot_atlas`: what ("certified" or "refuted"), folds, attractor, slices.
        """
        return import_module("ircert.plotting").plot_atlas(self, ax=ax, **options)


def header_of(asked: Asked, layout: Layout) -> dict[str, Any]:
    """The first line of a file of rows."""
    return {"asked": asked.facts, "centers": layout.facts}

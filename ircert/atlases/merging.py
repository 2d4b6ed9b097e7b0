"""Files of rows, of shards or of a run that was interrupted, made one atlas again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ircert.atlases.asked import Asked
from ircert.atlases.joining import joined
from ircert.atlases.layout import Layout
from ircert.atlases.ledger import merged
from ircert.atlases.table import Atlas
from ircert.errors import FileError
from ircert.ir.graph import Graph


def merge(graph: Graph, paths: Iterable[str | os.PathLike[str]], other: Graph | None = None) -> tuple[Atlas, int]:
    """The atlas that files of rows belong to, and how many of their lines were not whole.

    The files say what was asked and where, but not of which network: `graph` and `other` must have their hashes.
    """
    given = list(paths)
    ledger = merged(given)
    asked = _asked(graph, other, ledger.header["asked"], given[0])
    facts = ledger.header["centers"]
    rows = {row.at: row for row in ledger.rows.values()}
    axes = tuple(np.array(axis) for axis in facts["axes"])
    if axes:
        centers = np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)
    else:
        missing = facts["count"] - facts.get("repeated", 0) - len(rows)
        if missing > 0:
            raise FileError(
                f"{missing} of {facts['count']} centres have no row yet",
                path=given[0],
                remedy="name the files of all shards, or run the missing ones first",
            )
        centers = np.array([rows[at].center for at in sorted(rows)])
    layout = Layout(facts["kind"], centers, axes)
    seconds = sum(row.seconds for row in ledger.rows.values())
    keys = {asked.key_of(center) for center in centers}
    atlas = joined(asked, layout, ledger.rows, seconds, interrupted=not keys <= set(ledger.rows))
    return atlas, ledger.broken


def _asked(graph: Graph, other: Graph | None, facts: Mapping[str, Any], path: str | os.PathLike[str]) -> Asked:
    domain = facts["domain"]
    asked = Asked.of(
        graph,
        problem=facts["problem"],
        other=other,
        norm=facts["norm"],
        max_radius=None if facts["max_radius"] is None else float(facts["max_radius"]),
        domain=None
        if domain is None
        else {"low": [float(v) for v in domain[0]], "high": [float(v) for v in domain[1]]},
        engine=facts["engine"],
        backend=facts["backend"],
        formulation=facts["formulation"],
        tol=facts["tol"],
        seed=facts["seed"],
        require=facts["require"],
        time_each=facts["time_each"],
    )
    for name in ("format", "model", "other"):
        if asked.facts[name] != facts[name]:
            what = {"model": "another network", "other": "another second network", "format": "another version"}[name]
            raise FileError(f"it is of {what}", path=path, remedy="name the model that it was made with")
    asked.facts["ircert"] = facts["ircert"]  # the key is that of the version that wrote it
    return asked

"""What a program says of itself, in headers of files and in results."""

from __future__ import annotations

from ircert import __version__
from ircert.questions.query import Query


def about(query: Query, formulation: str, bounds: str, sha256: str, **more: str) -> dict[str, str]:
    """The facts about the program of a question: `bounds` is a line on the analysis, `more` goes before who made it."""
    facts = {
        "problem": query.problem,
        "formulation": formulation,
        "norm": query.norm,
        "center": ",".join(repr(v) for v in query.center.tolist()),
        "radius": repr(query.radius),
        **more,
        "bounds": bounds,
        "model sha256": sha256,
    }
    if query.other is not None:
        facts["other sha256"] = query.other.sha256
    return {**facts, "made by": f"ircert {__version__}"}

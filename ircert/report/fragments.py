"""Results, networks and programs as pieces of HTML, for notebooks and for reports.

Every text is escaped: names and sentences may come from anybody's files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ircert.result.summary import WORDS

if TYPE_CHECKING:
    from ircert.atlases.table import Atlas
    from ircert.result.radius import End
    from ircert.result.result import Result
    from ircert.result.witness import Witness

SHOWN = 12
"""Coordinates of a point that are shown."""
MARKS = {"certified": "✓", "refuted": "✗", "unresolved": "?"}
OK = {"certified": "good", "refuted": "bad", "unresolved": "open"}
STYLE = """\
.ircert {font-family: system-ui, sans-serif; line-height: 1.45; max-width: 60rem}
.ircert h3 {margin: .2em 0 .4em; font-size: 1.05em; font-weight: 600; overflow-wrap: anywhere}
.ircert table {border-collapse: collapse; margin: .4em 0; width: auto; max-width: 100%}
.ircert th {text-align: left; font-weight: 600; vertical-align: top; padding: .2em 1em .2em 0; white-space: nowrap}
.ircert td {text-align: left; vertical-align: top; padding: .2em .8em .2em 0; overflow-wrap: anywhere}
.ircert .why {opacity: .75; font-size: .92em}
.ircert .good {color: #0a7d4b} .ircert .bad {color: #c0392b} .ircert .open {color: #a66a00}
.ircert code {font-size: .92em; overflow-wrap: anywhere}
@media (prefers-color-scheme: dark) {
.ircert .good {color: #4fd39a} .ircert .bad {color: #ff8a7a} .ircert .open {color: #f0b54a}}
"""


def notebook(body: str) -> str:
    """A piece of HTML with its style, for a notebook's cell."""
    return f'<style>{STYLE}</style><div class="ircert">{body}</div>'


def of_result(result: Result) -> str:
    """What was asked, the bracket and its evidence, p*, the witness with its outputs, trust, certificate and time."""
    verdict, _, claim = str(result).partition(": ")
    mark = f'<span class="{OK[result.verdict]}">{MARKS[result.verdict]} {escape(verdict)}</span>'
    rows = [*_ends(result), *_optimum(result), ("trust", _trust(result))]
    if result.reason is not None:
        rows.insert(0, ("why", escape(result.reason)))
    rows += _certificate(result)
    rows.append(("time", f"{result.seconds:.3f} s with engine {escape(result.engine)}"))
    return f"<h3>{mark}: {escape(claim)}</h3>{table(rows)}{_witness(result)}"


def _ends(result: Result) -> list[tuple[str, str]]:
    return [("certified", _end(result.radius.certified)), ("refuted", _end(result.radius.refuted))]


def _end(end: End | None) -> str:
    return "none" if end is None else f'{float(end)!r}<br><span class="why">{escape(end.evidence)}</span>'


def _optimum(result: Result) -> list[tuple[str, str]]:
    found = result.optimum
    if found is None:
        return []
    why = f'<br><span class="why">{escape(found.evidence)}</span>' if found.evidence else ""
    return [("p*", f"between {found.value!r} and {found.bound!r}{why}")]


def _trust(result: Result) -> str:
    words = {"exact": "proved in exact arithmetic on the loaded numbers", "solver": "rests on floating-point bounds"}
    return f"{result.trust}: {words[result.trust]}"


def _certificate(result: Result) -> list[tuple[str, str]]:
    written = result.certificate
    if written is None:
        return []
    if written.sha256 is None:
        return [("certificate", f"none: {escape(str(written.reason))}")]
    again = f"ircert check {written.file}"
    return [
        ("certificate", f"{escape(written.file)}, sha256 <code>{written.sha256}</code><br><code>{escape(again)}</code>")
    ]


def _witness(result: Result) -> str:
    """Two points side by side, and what the networks make of them."""
    found = result.witness
    if found is None:
        return ""
    lines = [("x", point(found.x)), ("y", point(found.y))]
    lines.append(("apart", f"{WORDS[result.problem].apart} {found.separation:.6g} (norm {result.norm})"))
    lines += _outputs(result, found)
    boxes = "" if found.radii is None else ", somewhere in small boxes around these"
    return f"<p>Two points with the same output{boxes}:</p>{table(lines)}"


def _outputs(result: Result, witness: Witness) -> list[tuple[str, str]]:
    named = (("f", result.graph), ("g", result.other_graph))
    return [
        (f"{name}({letter})", point(graph(at)))
        for name, graph in named
        if graph is not None
        for letter, at in (("x", witness.x), ("y", witness.y))
    ]


def of_atlas(atlas: Atlas) -> str:
    """How many centres have which verdict, and the range of the radii."""
    first, *rest = atlas.summary().splitlines()
    return f"<h3>{escape(first)}</h3><p>{'<br>'.join(escape(line.strip()) for line in rest)}</p>"


def of_facts(title: str, facts: Iterable[tuple[str, Any]]) -> str:
    """Some facts about an object."""
    return f"<h3>{escape(title)}</h3>{table([(name, escape(str(value))) for name, value in facts])}"


def point(values: Any) -> str:
    """A point, cut where it is long."""
    numbers = [f"{float(v):.6g}" for v in values]
    more = f", … ({len(numbers)} numbers)" if len(numbers) > SHOWN else ""
    return f"({', '.join(numbers[:SHOWN])}{more})"


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Names and values, which are HTML."""
    return f"<table>{''.join(f'<tr><th>{escape(name)}</th><td>{value}</td></tr>' for name, value in rows)}</table>"

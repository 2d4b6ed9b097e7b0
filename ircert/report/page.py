"""`ircert report`: saved results as one self-contained page: no scripts, no fonts, nothing to fetch."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from ircert import __version__
from ircert.atlases.table import Atlas
from ircert.errors import IrcertError
from ircert.plotting.figure import METADATA
from ircert.report.fragments import STYLE, of_atlas, of_result, point, table
from ircert.result.result import Result

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
:root {{color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --line: #d5dae0; --soft: #f5f7f9}}
@media (prefers-color-scheme: dark) {{:root {{--paper: #14171b; --ink: #e8eaed; --line: #363c44; --soft: #1d2126}}}}
body {{background: var(--paper); color: var(--ink); margin: 0 auto; padding: 1rem; max-width: 60rem}}
h1 {{font: 600 1.5rem system-ui, sans-serif}}
section {{border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; margin: 1rem 0; overflow-x: auto}}
figure {{margin: .8rem 0}}
img {{max-width: 100%; height: auto; background: #ffffff; border-radius: .3rem}}
footer {{font: .85rem system-ui, sans-serif; opacity: .75; margin: 1.5rem 0}}
@media print {{section {{border: none; padding: 0; overflow: visible}} body {{max-width: none}}
h3 {{break-after: avoid}} tr, figure {{break-inside: avoid}} img {{max-height: 45vh}}
:root {{--paper: #ffffff; --ink: #000000}}}}
{style}</style>
</head>
<body>
<h1>{title}</h1>
{sections}
<footer>{footer}</footer>
</body>
</html>
"""
CLAIMS = """Claims are about real arithmetic on the numbers stored in the loaded network, which its sha256 names; what a
runtime computes in floats is not covered."""


@dataclass(frozen=True)
class Entry:
    """A result or an atlas, what it is called, and whether to draw it."""

    name: str
    result: Result | Atlas
    picture: bool = True

    @property
    def versions(self) -> dict[str, str]:
        """Those that the answer was made with."""
        if isinstance(self.result, Result):
            return dict(self.result.versions)
        return {"ircert": str(self.result.asked.facts["ircert"])}


def page(entries: Iterable[Entry], title: str = "Where can this network be inverted?") -> str:
    """The page."""
    found = list(entries)
    if not found:
        raise IrcertError("there is nothing to report", remedy="name a result that `ircert certify --json` wrote")
    versions = {name: version for entry in found for name, version in entry.versions.items()}
    made = ", ".join(f"{name} {version}" for name, version in versions.items())
    footer = f"{escape(CLAIMS)}<br>Report by ircert {__version__}; answers by {escape(made) or 'unknown versions'}."
    sections = "\n".join(_section(entry) for entry in found)
    return PAGE.format(title=escape(title), style=STYLE, sections=sections, footer=footer)


def _section(entry: Entry) -> str:
    found = entry.result
    alt = escape(str(found) if isinstance(found, Result) else found.summary().partition("\n")[0])
    picture = f'<figure><img alt="{alt}" src="{_drawn(found)}"></figure>' if entry.picture else ""
    if isinstance(found, Result):
        body, asked = of_result(found), _asked(found)
    else:
        body, asked = (
            of_atlas(found),
            [(name, escape(str(value))) for name, value in found.asked.facts.items() if value is not None],
        )
    return (
        f'<section class="ircert"><p class="why">{escape(entry.name)}</p>{body}{picture}'
        f"<details open><summary>What was asked</summary>{table(asked)}</details></section>"
    )


def _asked(result: Result) -> list[tuple[str, str]]:
    ball = f"up to {result.max_radius!r}" if result.asked_radius is None else f"{result.asked_radius!r}"
    rows = [
        ("problem", escape(result.problem)),
        ("centre", point(result.center)),
        ("radius", ball),
        ("norm", escape(str(result.norm))),
        ("tolerance", f"{result.tol!r}"),
        ("network", _facts(result.model)),
    ]
    if result.domain is not None:
        rows.insert(3, ("domain", f"{point(result.domain[0])} to {point(result.domain[1])}"))
    if result.other is not None:
        rows.append(("other network", _facts(result.other)))
    if result.command is not None:
        words = " ".join(["ircert", *map(str, result.command.get("arguments", ()))])
        rows.append(("command", f"<code>{escape(words)}</code>"))
    return rows


def _facts(model: object) -> str:
    sha256, inputs, outputs = (getattr(model, name) for name in ("sha256", "input_dim", "output_dim"))
    return f"{inputs} inputs, {outputs} outputs, sha256 <code>{escape(sha256)}</code>"


def _drawn(found: Result | Atlas) -> str:
    """The picture as a data URL."""
    from ircert.plotting import new_axes

    axes = found.plot(ax=new_axes(pyplot=False))
    buffer = io.BytesIO()
    options = {"dpi": 110, "bbox_inches": "tight", "metadata": METADATA["png"]}
    axes.figure.savefig(buffer, format="png", **options)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"

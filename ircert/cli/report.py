"""`ircert report`: saved results as one page."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ircert.cli.streams import complain, say
from ircert.errors import FileError, IrcertError

if TYPE_CHECKING:
    from ircert.ir.graph import Graph
    from ircert.report.page import Entry

DIRECTIONS = {"forward": "MODEL determines MODEL2", "backward": "MODEL2 determines MODEL"}


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert report` takes."""
    parser.add_argument(
        "results",
        metavar="FILE",
        nargs="+",
        help="what --json wrote (also of --both), and rows of an atlas",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="FILE.html")
    parser.add_argument("--title", metavar="TEXT", help="of the page")
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="MODEL",
        help="networks of the results, for pictures and outputs (default: the files that the results name)",
    )
    parser.add_argument("--no-pictures", action="store_true", help="texts and tables alone")


def report(options: argparse.Namespace) -> int:
    """Write the page; 0 when it is written."""
    from ircert.files import check_writable, write_text
    from ircert.report.page import page

    if not options.output.lower().endswith((".html", ".htm")):
        raise FileError("a report is a page", path=options.output, remedy="use a name ending in .html")
    check_writable(options.output)
    if os.path.realpath(options.output) in {os.path.realpath(path) for path in [*options.results, *options.model]}:
        raise FileError("this is one of the inputs", path=options.output, remedy="choose another place")
    networks = {graph.sha256: graph for graph in map(_loaded, options.model)}
    entries = [entry for path in options.results for entry in _entries(path, networks, not options.no_pictures)]
    title = {} if options.title is None else {"title": options.title}
    write_text(options.output, page(entries, **title))
    say(f"written to {options.output}: {len(entries)} result{'s' * (len(entries) != 1)}")
    return 0


def _loaded(path: str) -> Graph:
    from ircert.frontends.load import load

    return load(path)


def _entries(path: str, networks: dict[str, Graph], pictures: bool) -> list[Entry]:
    """The results of one file."""
    from ircert.atlases.ledger import is_atlas
    from ircert.files import read_text

    text = read_text(path)
    if is_atlas(text):
        return [_atlas(path, networks, pictures)]
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if isinstance(fields, dict) and fields.get("schema") == "ircert.both/1":
        return [
            _entry(f"{path}: {words}", json.dumps(fields.get(name)), networks, pictures)
            for name, words in DIRECTIONS.items()
        ]
    return [_entry(path, text, networks, pictures)]


def _atlas(path: str, networks: dict[str, Graph], pictures: bool) -> Entry:
    """An atlas of a file of rows; these do not say where their networks are."""
    from ircert.atlases.ledger import Ledger
    from ircert.atlases.merging import merge
    from ircert.report.page import Entry

    facts = Ledger.read(path).header["asked"]
    graph, other = networks.get(facts["model"]), networks.get(facts["other"])
    if graph is None or (other is None and facts["other"] is not None):
        raise FileError("the networks it was made with are needed", path=path, remedy="name these with --model")
    found = merge(graph, [path], other)[0]
    is_drawn = found.centers.shape[1] <= 2 or bool(found.layout.axes) or found.layout.kind == "trajectory"
    return Entry(path, found, picture=pictures and is_drawn)


def _entry(name: str, text: str, networks: dict[str, Graph], pictures: bool) -> Entry:
    from ircert.report.page import Entry
    from ircert.result.result import Result

    try:
        found = Result.from_json(text)
    except IrcertError as error:
        raise FileError(str(error), path=name) from None
    graphs = [
        _known(facts, found.command, key, networks) for facts, key in ((found.model, "model"), (found.other, "other"))
    ]
    found = Result.from_json(text, *graphs)
    drawn = pictures and graphs[0] is not None and found.model.input_dim <= 2
    if pictures and graphs[0] is None:
        complain(f"note: {name} has no picture: its network was not found; name it with --model")
    return Entry(name, found, picture=drawn)


def _known(facts: Any, command: Any, key: str, networks: dict[str, Graph]) -> Graph | None:
    """The network of a result: one that is named, or the file that it was asked about, if that is still the same."""
    if facts is None:
        return None
    path = None if command is None else command.get(key)
    if facts.sha256 not in networks and isinstance(path, str) and Path(path).is_file():
        try:
            shaped = _shaped(path, command)
        except IrcertError:
            return None
        networks[shaped.sha256] = shaped
    return networks.get(facts.sha256)


def _shaped(path: str, command: Any) -> Graph:
    """The file with inputs bound and outputs selected, as the question had them."""
    from ircert.cli.question import shaped

    asked = argparse.Namespace(fix=list(command.get("fix") or ()), select=command.get("select"))
    return shaped(_loaded(path), asked)

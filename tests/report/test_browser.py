"""The report in a real browser, where there is one: it renders, says nothing on the console and fetches nothing."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

import ircert
from ircert.atlases.layout import grid
from ircert.data.networks import bundled
from ircert.report.page import Entry, page

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
]
NOBODY = "not an origin"
SCHEMES = {"dark": "0", "light": "1"}

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="optional: there is no chromium on this machine (Debian: apt install chromium)"
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    graph = bundled("vanderpol-2-16-16-2")
    result = ircert.certify(graph, [0.5, 0.25])
    atlas = ircert.atlas(graph, grid((-1, 1, 4), (-1, 1, 4)))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page([Entry("a result", result), Entry("an atlas", atlas)]))
    return path


def _shown(report: Path, *flags: str) -> str:
    """What the browser wrote about a page, on its console and about requests."""
    assert CHROMIUM is not None
    home = report.parent / "profile"
    log = report.parent / "requests.json"
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={home}", f"--log-net-log={log}", *flags, report.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout + done.stderr


def _requests(report: Path) -> list[str]:
    """The addresses that the page asked for: the browser's own requests have no origin."""
    events = json.loads((report.parent / "requests.json").read_text())["events"]
    asked = [event.get("params", {}) for event in events]
    return [params["url"] for params in asked if params.get("initiator", NOBODY) != NOBODY]


def test_a_request_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<img src="http://127.0.0.1:9/picture.png">')
    _shown(page, "--dump-dom")
    assert "http://127.0.0.1:9/picture.png" in _requests(page)


@pytest.mark.parametrize("scheme", list(SCHEMES))
@pytest.mark.parametrize("width", [500, 1200])
def test_it_renders_without_a_word_or_a_request(report: Path, width: int, scheme: str) -> None:
    picture = report.parent / f"{width}-{scheme}.png"
    settings = f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}"
    said = _shown(report, settings, f"--window-size={width},2000", f"--screenshot={picture}")
    assert "CONSOLE" not in said
    assert _requests(report) == []
    size = struct.unpack(">II", picture.read_bytes()[16:24])
    assert size == (width, 2000)


def test_the_page_as_the_browser_reads_it(report: Path) -> None:
    text = _shown(report, "--dump-dom")
    assert "What was asked" in text
    assert "certified" in text
    assert "an atlas" in text


def test_it_prints(report: Path) -> None:
    printed = report.parent / "report.pdf"
    _shown(report, f"--print-to-pdf={printed}", "--no-pdf-header-footer")
    assert printed.read_bytes().startswith(b"%PDF")
    assert printed.stat().st_size > 10_000

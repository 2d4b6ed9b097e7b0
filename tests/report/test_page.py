"""Reports: complete, self-contained, and safe with any text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import ircert
from ircert.data.networks import bundled
from ircert.errors import IrcertError
from ircert.report.page import Entry, page
from tests.result.support import made

VOID = {"meta", "link", "img", "br"}


class Reader(HTMLParser):
    """The texts and attributes of a page whose tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)


def test_it_has_all_of_a_result_and_a_picture() -> None:
    result = ircert.certify(bundled("vanderpol-2-16-16-2"), [0.5, 0.25])
    found = Reader(page([Entry("a result", result)]))
    text = " ".join(found.texts)
    for words in (
        "a result",
        str(float(result.radius.certified)),
        result.radius.certified.evidence,
        result.model.sha256,
    ):
        assert words in text
    assert "f(x)" in text
    assert any(link.startswith("data:image/png;base64,") for link in found.links)


def test_nothing_is_fetched_and_nothing_runs() -> None:
    text = page(
        [Entry("a", made(), picture=False), Entry("b", made(verdict="unresolved", reason="time"), picture=False)]
    )
    found = Reader(text)
    assert all(link.startswith("data:") for link in found.links)
    assert "script" not in found.tags
    assert not re.search(r"https?://|@import|url\(", text)
    assert "viewport" in text
    assert "prefers-color-scheme" in text


def test_texts_are_only_texts() -> None:
    hostile = '<script>alert("x")</script>'
    result = made(reason=hostile, verdict="unresolved", engine=hostile, command={"arguments": [hostile]})
    found = Reader(page([Entry(hostile, result, picture=False)], title=hostile))
    assert "script" not in found.tags
    assert sum(hostile in text for text in found.texts) >= 4


def test_nothing_to_report_is_said() -> None:
    with pytest.raises(IrcertError, match="nothing to report"):
        page([])

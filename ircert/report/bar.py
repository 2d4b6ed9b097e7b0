"""How far a search or an atlas is, while it runs: in notebooks a bar, elsewhere a line that overwrites itself."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from html import escape
from importlib.util import find_spec
from typing import TypeAlias

from ircert.engines.base import Progress

OFTEN = 0.1
"""Seconds between two pictures: more than that nobody sees."""
CELLS = 30
"""Of a bar that is text."""
Show: TypeAlias = Callable[[float, str], None]


class Bar:
    """A progress bar, to be given as `progress` to `certify` or `atlas`.

    In a notebook it is a widget where ipywidgets is installed, and else text that overwrites itself; on a terminal a
    line on stderr; elsewhere nothing. Of a search it shows how much of the refuted radius is certified.
    """

    def __init__(self) -> None:
        self._show: Show | None = None
        self._next = 0.0

    def __call__(self, done: Progress | int, count: int | None = None) -> None:
        """Show a step: `certify` reports brackets, `atlas` how many centres of how many are done."""
        now = time.monotonic()
        if now < self._next and done != count:
            return
        self._next = now + OFTEN
        if self._show is None:
            self._show = _shown_here()
        self._show(*_step(done, count))


def _step(done: Progress | int, count: int | None) -> tuple[float, str]:
    """How much is done, from 0 to 1, and in words."""
    if isinstance(done, Progress):
        share = done.certified / done.refuted if done.refuted and done.refuted > 0 else 0.0
        return min(1.0, share), str(done)
    return (done / count if count else 1.0), f"{done} of {count} centres"


def _shown_here() -> Show:
    if _in_notebook():
        return _widget() if find_spec("ipywidgets") else _text()
    return _line() if sys.stderr is not None and sys.stderr.isatty() else lambda share, words: None


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def _widget() -> Show:
    import ipywidgets
    from IPython.display import display

    bar, label = ipywidgets.FloatProgress(min=0.0, max=1.0), ipywidgets.HTML()
    display(ipywidgets.HBox([bar, label]))

    def show(share: float, words: str) -> None:
        bar.value, label.value = share, escape(words)

    return show


def _text() -> Show:
    from IPython.display import Pretty, display

    handle = display(Pretty(""), display_id=True)
    return lambda share, words: handle.update(Pretty(drawn(share, words)))


def _line() -> Show:
    def show(share: float, words: str) -> None:
        sys.stderr.write(f"\r\x1b[K{drawn(share, words)}")
        if share >= 1:
            sys.stderr.write("\n")
        sys.stderr.flush()

    return show


def drawn(share: float, words: str) -> str:
    """A bar as text."""
    full = round(CELLS * share)
    return f"[{'#' * full}{'.' * (CELLS - full)}] {words}"

"""Backends: what answers or writes down a program. None is registered yet; they arrive with the program level."""

from __future__ import annotations

if __name__ != "ircert.backends":
    raise ImportError("import this package as `ircert.backends`, not as `backends`")

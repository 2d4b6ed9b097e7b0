"""Errors: one printable line with place and remedy, which survives the way to another process."""

from __future__ import annotations

import pickle

import pytest

from ircert import errors
from ircert.errors import FileError, GraphError, IrcertError, MissingExtra, NoText, ParseError, PassError

ALL = [
    (IrcertError("wrong", where="here", remedy="do this"), "here: wrong; do this"),
    (IrcertError("wrong"), "wrong"),
    (GraphError("wrong", rule="IR-3", node="h"), "node `h`: wrong [IR-3]"),
    (ParseError("wrong", line=2, column=5, source="net.ir: "), "net.ir: line 2, column 5: wrong"),
    (FileError("wrong", path="a\nb"), r"'a\nb': wrong"),
    (NoText("wrong", path="a", remedy="do this"), "a: wrong; do this"),
    (PassError("wrong", pass_name="fold"), "pass `fold`: wrong"),
    (MissingExtra("rich", extra="progress", purpose="this"), "pip install 'ircert[progress]'"),
]


@pytest.mark.parametrize(("error", "says"), ALL)
def test_place_problem_and_remedy_in_one_line(error: IrcertError, says: str) -> None:
    assert says in str(error)
    assert str(error).isprintable()


@pytest.mark.parametrize(("error", "says"), ALL)
def test_errors_survive_pickling_with_their_fields(error: IrcertError, says: str) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.__dict__) == (str(error), error.__dict__)


def test_control_characters_are_written_out() -> None:
    assert str(IrcertError("a\nb\x1b[31m")) == r"a\nb\x1b[31m"


def test_every_error_is_one_of_ours() -> None:
    found = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert all(issubclass(kind, IrcertError | Warning) for kind in found)

"""What the parser does not understand is one line, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import ircert_command


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["certfy"], "did you mean `certify`?"),
        (["nothing-like-it"], "choose from demo, certify"),
        (["certify"], "required: MODEL, --center; see `ircert certify --help`"),
        (["certify", "net.ir", "--center", "0", "--problem", "locl"], "did you mean `local`?"),
        (["certify", "net.ir", "--center", "0", "--radius", "far"], "--radius"),
        (["certify", "net.ir", "--center", "0", "--rad", "1"], "--rad"),
        (["certify", "net.ir", "--center", "0", "-q", "-v"], "not allowed with"),
    ],
)
def test_errors_fit_on_a_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    run = ircert_command(*arguments, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert words in run.stderr
    assert run.stderr.count("\n") == 1

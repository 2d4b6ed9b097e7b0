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
        (["certify", "net.ir", "--center", "0", "--rad", "1"], "there is no option `--rad`: did you mean `--radius`?"),
        (["certify", "net.ir", "--cent=0"], "there is no option `--cent`: did you mean `--center`?"),
        (["certify", "net.ir", "--ma", "1"], "there is no option `--ma`: did you mean `--max-radius`?"),
        (["plot", "net.ir", "--lables", "a"], "there is no option `--lables`: did you mean `--labels`?"),
        (["regions", "--s", "1"], "did you mean `--select` or `--shape`?"),
        (["check", "--zzz"], "there is no option `--zzz`; see `ircert check --help`"),
        (["certify", "net.ir", "--center", "0", "-q", "-v"], "not allowed with"),
    ],
)
def test_errors_fit_on_a_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    run = ircert_command(*arguments, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert words in run.stderr
    assert run.stderr.count("\n") == 1

"""Completion as a shell does it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ircert.cli import completion
from tests.cli.commands import ircert_command

COMPLETE = 'source ./script; COMP_WORDS=({words}); COMP_CWORD={last}; _shtab_ircert; echo "${{COMPREPLY[@]}}"'


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [("ircert cer", "certify"), ("ircert certify --cert", "--certificate"), ("ircert export --bounds ", "interval")],
)
def test_bash_completes(tmp_path: Path, words: str, wanted: str) -> None:
    (tmp_path / "script").write_text(ircert_command("completion", "bash", cwd=tmp_path).stdout)
    given = words.split(" ")
    asked = COMPLETE.format(words=" ".join(f"'{word}'" for word in given), last=len(given) - 1)
    run = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert wanted in run.stdout.split()


def test_other_shells_have_all_commands(tmp_path: Path) -> None:
    for shell in completion.SHELLS:
        text = ircert_command("completion", shell, cwd=tmp_path).stdout
        assert "certify" in text
        assert "reproduce" in text


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "find_spec", lambda name: None)
    run = ircert_command("completion", "bash", cwd=tmp_path)
    assert run.returncode == 2
    assert "ircert[completion]" in run.stderr

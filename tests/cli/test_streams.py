"""Output that cannot be encoded, readers that have gone, streams that are closed or full: the verdict stays."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ircert
from ircert.cli.main import process
from ircert.cli.streams import _escaped, encodable, make_readable
from tests.cli.commands import ROOT

Encoded = Callable[[str, str], tuple[int, bytes, bytes]]
"""A command and an encoding to the exit code, stdout and stderr."""
MANY = 12
"""Coordinates of a centre: more than are shown, so that the summary has an ellipsis."""
NAME = "é–δ…\U0001f600"
"""Of these characters ASCII has none, latin-1 the first, and cp1252 not all."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A network with many inputs that collapses beyond -1, and one whose names are no names."""
    weight = np.vstack([np.eye(MANY), -np.eye(MANY)[:1]])
    last = np.hstack([np.eye(MANY), np.eye(MANY)[:, :1] / 2])
    ircert.save(ircert.load([(weight, np.append(np.full(MANY, 1.0), 0.5)), (last, None)]), tmp_path / "net.ir")
    (tmp_path / "named.ir").write_text(f"ircert.ir/1\nx = input(length=1)\n{NAME} = relu(x)\n", encoding="utf-8")
    return tmp_path


def shell(command: str, folder: Path, encoding: str | None = None, **more: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "", **more}
    environment |= {} if encoding is None else {"PYTHONIOENCODING": encoding}
    command = command.replace("ircert", f"{sys.executable} -m ircert")
    return subprocess.run(command, shell=True, capture_output=True, cwd=folder, env=environment, check=False)


def question(last: str = "0") -> str:
    return f"ircert certify net.ir --center {','.join(['0'] * (MANY - 1) + [last])} --radius 0.25"


ENCODINGS = ["ascii:strict", "latin-1", "cp1252", "utf-8"]


@pytest.fixture
def encoded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Encoded:
    """Runs a command in this process, with streams of another encoding."""

    def run(command: str, encoding: str) -> tuple[int, bytes, bytes]:
        written = {name: io.BytesIO() for name in ("stdout", "stderr")}
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            for name, target in written.items():
                patch.setattr(sys, name, io.TextIOWrapper(target, encoding.partition(":")[0], "strict"))
            make_readable()
            code = process(command.split())
            sys.stdout.flush()
            sys.stderr.flush()
            return code, written["stdout"].getvalue(), written["stderr"].getvalue()

    return run


def is_verdict(text: str, verdict: str, encoding: str) -> None:
    assert text.startswith(f"{verdict}: ")
    ellipsis = "…" if encoding in ("cp1252", "utf-8") else "..."
    assert f"0.0, {ellipsis})" in text


VERDICTS = [("0", 0, "certified"), ("-2", 1, "refuted")]


@pytest.mark.rule("R-11")
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("last", "code", "verdict"), VERDICTS)
def test_the_verdict_in_any_encoding(encoded: Encoded, encoding: str, last: str, code: int, verdict: str) -> None:
    found, out, err = encoded(question(last).removeprefix("ircert "), encoding)
    assert (found, err) == (code, b"")
    is_verdict(out.decode(encoding.partition(":")[0]), verdict, encoding)


@pytest.mark.rule("R-11")
@pytest.mark.parametrize(("encoding", "last", "code", "verdict"), [("ascii:strict", *VERDICTS[0])])
def test_the_verdict_of_a_process(folder: Path, encoding: str, last: str, code: int, verdict: str) -> None:
    run = shell(question(last), folder, encoding)
    assert (run.returncode, run.stderr) == (code, b"")
    is_verdict(run.stdout.decode("ascii"), verdict, encoding)


@pytest.mark.rule("R-11")
@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_json_is_json_in_any_encoding(folder: Path, encoded: Encoded, encoding: str) -> None:
    asked = question().removeprefix("ircert ")
    found = json.loads(encoded(f"{asked} --json -", encoding)[1].decode("utf-8"))
    encoded(f"{asked} --json out.json", encoding)
    written = json.loads((folder / "out.json").read_bytes().decode("utf-8"))
    for result in (found, written):
        del result["seconds"], result["stats"], result["command"]["arguments"]
    assert found == written


@pytest.mark.rule("R-11")
def test_escapes_stand_for_the_same_json() -> None:
    text = json.dumps({"name": f'{NAME} \udcff \\ " \u2028'}, ensure_ascii=False)
    assert _escaped(text).isascii()
    assert json.loads(_escaped(text)) == json.loads(text)
    assert encodable(text).isascii()
    assert encodable(text.replace("\udcff", "")) == text.replace("\udcff", "")


@pytest.mark.rule("R-11")
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("opt named.ir", 2),
        ("opt --list", 0),
        ("certify --help", 0),
        ("certify named.ir --center 0", 2),
        ("opt missing-…é.ir", 2),
        ("export net.ir --help", 0),
        ("plot net.ir --center 0 -o picture.é", 2),
        ("reproduce …", 2),
    ],
)
def test_every_command_in_any_encoding(encoded: Encoded, encoding: str, command: str, code: int) -> None:
    found, *written = encoded(command, encoding)
    assert found == code
    out, err = (text.decode(encoding.partition(":")[0]) for text in written)
    assert out if code == 0 else err
    assert "Traceback" not in err


@pytest.mark.rule("R-11")
def test_who_asks_for_another_replacement_gets_it(folder: Path) -> None:
    assert b"0.0, ?)" in shell(question(), folder, "ascii:replace").stdout


@pytest.mark.rule("R-11")
def test_names_that_are_not_utf_8(folder: Path) -> None:
    os.rename(folder / "net.ir", os.fsencode(folder) + b"/\xff.ir")
    opt = [sys.executable, "-m", "ircert", "opt"]
    run = subprocess.run([*opt, b"\xff.ir", "-o", b"\xfe.ir"], capture_output=True, cwd=folder, check=False)
    assert (run.returncode, run.stderr) == (0, b"")
    assert os.path.exists(os.fsencode(folder) + b"/\xfe.ir")
    run = subprocess.run([*opt, b"\xfd.ir"], capture_output=True, cwd=folder, check=False)
    assert run.returncode == 2
    assert b"\\udcfd.ir" in run.stderr


# --- streams that fail -----------------------------------------------------------------------------------------------


@pytest.mark.rule("R-11")
@pytest.mark.parametrize("more", ["", "--json -"])
@pytest.mark.parametrize(("last", "code"), [("0", 0), ("-2", 1)])
def test_a_reader_that_has_gone_changes_no_verdict(folder: Path, last: str, code: int, more: str) -> None:
    """`| head -c0` has ended before the answer is there; each answer with and without buffers."""
    command = f"bash -c 'set -o pipefail; {question(last)} {more} | true'"
    run = shell(command, folder, PYTHONUNBUFFERED="1" if bool(more) == bool(code) else "")
    assert (run.returncode, run.stderr) == (code, b"")


@pytest.mark.rule("R-11")
@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-"])
def test_an_error_that_nobody_can_read_is_no_verdict(folder: Path, redirected: str) -> None:
    run = shell(f"ircert certify missing.ir --center 0 {redirected}", folder)
    assert (run.returncode, run.stdout) == (2, b"")


@pytest.mark.rule("R-11")
@pytest.mark.parametrize("redirected", [">/dev/full", ">&-"])
@pytest.mark.parametrize("command", [question(), "ircert opt net.ir"])
def test_an_output_that_cannot_be_written_is_no_verdict(folder: Path, command: str, redirected: str) -> None:
    run = shell(f"{command} {redirected}", folder)
    assert run.returncode == 2
    assert b"the output cannot be written" in run.stderr
    assert b"Traceback" not in run.stderr


def test_help_that_nobody_reads(folder: Path) -> None:
    run = shell("bash -c 'set -o pipefail; ircert certify --help | true'", folder)
    assert (run.returncode, run.stderr) == (0, b"")
    assert shell("ircert certify --help >/dev/full", folder).returncode == 2


def test_no_home_and_nowhere_to_write(folder: Path) -> None:
    """Nothing is written but what was asked for."""
    os.chmod(folder, 0o555)
    try:
        run = shell(f"env -u HOME -u TMPDIR {question()}", folder)
    finally:
        os.chmod(folder, 0o755)
    assert run.returncode == 0, run.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["named.ir", "net.ir"]

"""Every option of every command with values nobody should give: an answer, or one line and nothing written."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest

from ircert.cli import main
from ircert.cli.main import run
from tests.effort import PROFILE

WORDS = """
    nan inf -inf 1e999 1e-400 0 -1 x , ,, 1, 0,0 1,2,3 @ @. @none.npy @bytes.npy @text.npy @many.npy @lines.csv é…
    \udcff = 0= 1=2=3 0=nan 0=1,1=2 -1=2 99=1 1_000 ٣ 1:0 nan:nan 0,0,0:1 : :: 2.5 1e308 5e-324 folder folder.lp none/x
    empty.ir net.ir /dev/null out.txt - lp tangent regions transform
    canonicalize{ dual-copy{} select-outputs{keep=[]} fix-inputs{values={0:1,1:2}}
    canonicalize,interval-bounds{center=[0,0],radius=1e308} paper{indicators=all} apart{separation=-1}
    canonicalize,interval-bounds{center=[0,0],radius=1,copies=9}
    dual-copy{problem=pseudo,center=[0,0,1e308]}
"""
VALUES = [*WORDS.split(), "", " ", "9" * 5000, "n" * 300, "n" * 300 + ".lp"]
QUESTION = ["net.ir", "--center", "0.25,0.5"]
COMMANDS = {
    "certify": [*QUESTION, "--time-limit", "0.2"],
    "check": ["empty.ir"],
    "export": [*QUESTION, "--radius", "1", "-o", "out.lp"],
    "folds": [*QUESTION, "--radius", "1"],
    "lipschitz": [*QUESTION, "--radius", "1", "--time-limit", "0.2"],
    "observe": [*QUESTION, "--given-outputs", "0", "--time-limit", "0.2"],
    "opt": ["net.ir"],
    "plot": [*QUESTION, "--time-limit", "0.2", "-o", "none/out.png"],
    "preimages": [*QUESTION, "--radius", "1", "--of", "0.25,0.5"],
    "regions": [*QUESTION, "--radius", "1"],
    "replay": [*QUESTION, "--radius", "1", "--solution", "empty.ir"],
}
NET = "ircert.ir/1\nx = input(length=2)\na = abs(x)\nreturn a\n"
PARSER = main._parser()
WRITES = ("-o", "--json", "--certificate")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(main, "_parser", lambda: PARSER)  # one for all: building it takes longer than most commands
    (tmp_path / "net.ir").write_text(NET)
    (tmp_path / "empty.ir").write_text("")
    (tmp_path / "lines.csv").write_text("1;2\n")
    (tmp_path / "bytes.npy").write_bytes(b"\x93NUMPY" + bytes(range(256)))
    np.save(tmp_path / "text.npy", np.array(["a", "b"]))
    np.save(tmp_path / "many.npy", np.zeros((3, 3)))
    for name in ("folder", "folder.lp"):
        (tmp_path / name).mkdir()
    return tmp_path


def options_of(command: str) -> list[str]:
    """The options that take a value, as they are written."""
    subparsers = next(a for a in PARSER._actions if isinstance(a, argparse._SubParsersAction))
    actions = subparsers.choices[command]._actions
    return [a.option_strings[0] for a in actions if a.option_strings and a.nargs != 0]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_argument_is_an_internal_error(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.rglob("*"))
    for k, option in enumerate([*options_of(command), "MODEL"]):
        for value in VALUES if PROFILE == "thorough" else VALUES[k % 2 :: 2]:  # each value with every other option
            given = [option, value] if option == "-o" else [f"{option}={value}"]
            arguments = [value, *COMMANDS[command][1:]] if option == "MODEL" else [*COMMANDS[command], *given]
            try:
                code = run([command, *arguments])
            except SystemExit as end:
                code = int(end.code or 0)
            out, err = capsys.readouterr()
            assert code in (0, 1, 2, 3, 4), (arguments, err)
            assert "Traceback" not in err, arguments
            if code == 2:
                assert out == "", arguments
                assert err.count("\n") == 1, (arguments, err)
            for path in set(folder.rglob("*")) - set(before):
                assert code != 2, (arguments, path)
                path.unlink()
            assert (folder / "net.ir").read_text() == NET or option in WRITES, arguments
            (folder / "net.ir").write_text(NET)


@pytest.mark.parametrize("option", ["--json", "--certificate"])
def test_the_model_is_not_written_over(option: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["certify", *COMMANDS["certify"], option, str(folder / "folder" / ".." / "net.ir")]) == 2
    assert "this is the model itself" in capsys.readouterr().err
    assert (folder / "net.ir").read_text() == NET


def test_numbers_that_no_picture_holds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in (["--radius", "1e308"], ["--center", "1e308,1e308"]):
        assert run(["plot", *QUESTION, "-o", "out.png", *more]) == 2
        assert "a picture cannot reach beyond 1e+300" in capsys.readouterr().err

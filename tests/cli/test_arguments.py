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
        (["nothing-like-it"], "error: there is no `nothing-like-it`: choose"),
        (["certify"], "required: MODEL, --center: write for example `ircert certify net.onnx --center 0,0`; see"),
        (["certify", "net.ir"], "required: --center: write for example `ircert certify net.onnx --center 0,0`; see"),
        (["supports"], "write for example `ircert supports --all`"),
        (["report"], "write for example `ircert report FILE -o FILE`"),
        (
            ["certify", "net.ir", "--center", "0", "--problem", "locl"],
            "`--problem` does not take `locl`: did you mean `local`?",
        ),
        (["certify", "net.ir", "--center", "0", "--radius", "far"], "`--radius` takes a number such as 0.5, got 'far'"),
        (["certify", "net.ir", "--center", "0", "--tol", "x"], "`--tol` takes a number such as 1e-06, got 'x'"),
        (["certify", "net.ir", "--center", "0", "--threads", "1.5"], "`--threads` takes a whole number such as 1, got"),
        (
            ["certify", "net.ir", "--center"],
            "`--center` takes a value, and there is none: write for example `--center 0,0`",
        ),
        (["certify", "net.ir", "--center", "--radius", "1"], "write for example `--center 0,0`"),
        (["certify", "net.ir", "--center", "0", "--both=1"], "`--both` takes no value"),
        (["certify", "net.ir", "--center", "0", "--rad", "1"], "there is no option `--rad`: did you mean `--radius`?"),
        (["certify", "net.ir", "--cent=0"], "there is no option `--cent`: did you mean `--center`?"),
        (["certify", "net.ir", "--ma", "1"], "there is no option `--ma`: did you mean `--max-radius`?"),
        (["plot", "net.ir", "--lables", "a"], "there is no option `--lables`: did you mean `--labels`?"),
        (["regions", "--s", "1"], "did you mean `--select` or `--shape`?"),
        (["check", "--zzz"], "there is no option `--zzz`; see `ircert check --help`"),
        (["certify", "net.ir", "--bogus"], "there is no option `--bogus`; see `ircert certify --help`"),
        (["--bogus"], "there is no option `--bogus`; see `ircert --help`"),
        (["certify", "net.ir", "--center", "0", "-x"], "there is no option `-x`; see `ircert certify --help`"),
        (["certify", "net.ir", "--center", "0", "-q", "-v"], "not allowed with"),
        (
            ["certify", "a", "--center", "0", "--radius", "1", "--max-radius", "1"],
            "`--radius`: leave one of them out; see",
        ),
        (
            ["certify", "net.ir", "two.ir", "--center", "0"],
            "`two.ir` is one argument too many: `ircert certify` takes MODEL, and a second network by "
            "`--other MODEL2`; see `ircert certify --help`",
        ),
        (["check", "a", "b"], "`b` is one argument too many: `ircert check` takes CERTIFICATE; see"),
        (["demo", "x"], "`ircert demo` takes none; see"),
    ],
)
def test_errors_fit_on_a_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    run = ircert_command(*arguments, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert words in run.stderr
    assert run.stderr.count("\n") == 1

"""Golden files: `case.ir` says in its first line which pipeline to run, `case.after.ir` holds result and notes."""

from __future__ import annotations

from pathlib import Path

import pytest

import ircert
from ircert import passes

FOLDER = Path(__file__).parent / "golden"


def cases() -> list[Path]:
    """Those of all passes, each in the folder that has the name of its pass."""
    return sorted(path for path in FOLDER.glob("*/*.ir") if not path.name.endswith(".after.ir"))


@pytest.mark.rule("P-9")
def test_every_pass_has_some() -> None:
    assert {case.parent.name for case in cases()} == set(passes.BUILT_IN)


@pytest.mark.parametrize("case", cases(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_golden(case: Path, update_golden: bool) -> None:
    text = case.read_text()
    pipeline = ircert.Pipeline.parse(text.split("\n")[0].removeprefix("# run: "))
    rewrite = pipeline.run(ircert.parse(text))
    result = "".join(f"# note: {note}\n" for note in rewrite.notes) + str(rewrite.result)
    golden = case.with_name(case.name.removesuffix(".ir") + ".after.ir")
    if update_golden:
        golden.write_text(result)
    assert golden.read_text() == result
    assert ircert.parse(result) == rewrite.result

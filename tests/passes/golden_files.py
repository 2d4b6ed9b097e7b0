"""Golden files: `case.ir` says in its first line which pipeline to run, `case.after.ir` holds result and notes."""

from __future__ import annotations

from pathlib import Path

import ircert

FOLDER = Path(__file__).parent / "golden"


def cases(pass_name: str) -> list[Path]:
    """The cases of a pass, by the folder that has its name."""
    found = sorted(path for path in (FOLDER / pass_name).glob("*.ir") if not path.name.endswith(".after.ir"))
    assert found, f"no golden files for {pass_name}"
    return found


def check(case: Path, update: bool) -> None:
    """Run the case's pipeline and compare with the golden result; with `update`, write it instead."""
    text = case.read_text()
    pipeline = ircert.Pipeline.parse(text.split("\n")[0].removeprefix("# run: "))
    rewrite = pipeline.run(ircert.parse(text))
    result = "".join(f"# note: {note}\n" for note in rewrite.notes) + str(rewrite.result)
    golden = case.with_name(case.name.removesuffix(".ir") + ".after.ir")
    if update:
        golden.write_text(result)
    assert golden.read_text() == result
    assert ircert.parse(result) == rewrite.result

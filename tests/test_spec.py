"""The specification and the code say the same, and every rule is checked by a test that quotes it."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from ircert import passes
from ircert.ir.ops import ALL, Op
from ircert.passes.properties import ALL as PROPERTIES
from ircert.programs import formulations

ROOT = Path(__file__).parents[1]
SPEC = {path.name: path.read_text() for path in (ROOT / "spec").glob("*.md")}


def rules() -> set[str]:
    return {rule for text in SPEC.values() for rule in re.findall(r"^\* \*\*([A-Z]+-\d+)\*\*", text, flags=re.M)}


def quoted() -> set[str]:
    found = set()
    for path in (ROOT / "tests").rglob("*.py"):
        for arguments in re.findall(r"mark\.rule\(([^)]*)\)", path.read_text()):
            found |= set(re.findall(r"\"([A-Z]+-\d+)\"", arguments))
    return found


def test_every_rule_is_quoted_and_every_quoted_rule_exists() -> None:
    assert rules() - quoted() == set()
    assert quoted() - rules() == set()


def test_rules_raised_by_the_code_exist() -> None:
    code = "".join(path.read_text() for path in (ROOT / "ircert").rglob("*.py"))
    assert set(re.findall(r"rule=\"([A-Z]+-\d+)\"", code)) <= rules()


def row(op: type[Op]) -> list[str]:
    line = re.search(rf"^\| `{op.kind}` \|.*$", SPEC["ir.md"], flags=re.M)
    assert line, f"spec/ir.md has no row for {op.kind}"
    return [cell.strip() for cell in line.group().strip("|").split("|")]


@pytest.mark.parametrize("op", ALL, ids=lambda op: op.kind)
def test_the_table_of_operations_is_that_of_the_code(op: type[Op]) -> None:
    _, operands, attributes, core, entrywise, _ = row(op)
    assert operands == ("1 or more" if op.arity is None else str(op.arity))
    assert re.findall(r"`(\w+)`", attributes) == [field.name for field in fields(op)]
    assert core == ("yes" if op.core else "no")
    assert entrywise == ("yes" if op.elementwise else "no")


def test_the_table_has_no_other_operations() -> None:
    table = SPEC["ir.md"].split("## 3. Operations")[1].split("### Lowering")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, flags=re.M) == [op.kind for op in ALL]


@pytest.mark.rule("P-9")
@pytest.mark.parametrize("name", passes.BUILT_IN)
def test_a_pass_has_one_word_everywhere(name: str) -> None:
    module = name.replace("-", "_")
    kind = "".join(part.capitalize() for part in name.split("-"))
    assert passes.BUILT_IN[name] == f"ircert.passes.{module}:{kind}"
    found = passes.get(name)
    assert (found.name, found.__name__) == (name, kind)
    assert (ROOT / "passes" / f"{module}.py").read_text().startswith(f'"""{name}: ')
    assert (ROOT / "tests" / "passes" / f"test_{module}.py").exists()
    assert f"\n### {name}\n" in SPEC["passes.md"]
    assert len((ROOT / "passes" / f"{module}.py").read_text().splitlines()) <= 160


@pytest.mark.rule("FO-1")
@pytest.mark.parametrize("name", formulations.BUILT_IN)
def test_a_formulation_has_one_word_everywhere(name: str) -> None:
    assert formulations.BUILT_IN[name] == f"ircert.programs.formulations.{name}:{name.capitalize()}"
    found = formulations.kind(name)
    assert found.name == name
    assert (ROOT / "ircert" / "programs" / "formulations" / f"{name}.py").read_text().startswith(f'"""{name}: ')
    assert (ROOT / "tests" / "programs" / "formulations" / f"test_{name}.py").exists()
    options = ", ".join(f"`{field.name}`" for field in fields(found))  # type: ignore[arg-type]
    line = re.search(rf"^\| `{name}` \|.*$", SPEC["program.md"], flags=re.M)
    assert line, f"spec/program.md has no row for {name}"
    cells = [cell.strip() for cell in line.group().strip("|").split("|")]
    assert re.findall(r"`\w+`", cells[1]) == options.split(", ")
    assert cells[2].replace(" ", "") == found.passes
    paired = [problem for problem in ("local", "pseudo", "transform") if found().reads_pairs(problem)]
    assert cells[3] == (", ".join(paired) or "none")


def test_the_table_of_properties_is_that_of_the_code() -> None:
    found = dict(re.findall(r"^\| `([\w-]+)` \|.*\| `([\w-]+)` \|$", SPEC["passes.md"], flags=re.M))
    assert found == {name: known.pass_name for name, known in PROPERTIES.items()}

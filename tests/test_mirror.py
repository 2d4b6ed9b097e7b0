"""Tests mirror the house: whoever changes a file finds its test at the same place under tests/."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.test_architecture import ROOT, sources

MOST = 40
"""Lines of code, without imports and docstrings, that need no test file of their own."""

# Files and folders without one, where they are tested, and why not beside them.
ELSEWHERE = {
    "backends/highs.py": "tests/backends/test_conformance.py",  # all solvers answer the same programs …
    "backends/mip.py": "tests/backends/test_conformance.py",
    "backends/scip.py": "tests/backends/test_conformance.py",
    "backends/gurobi.py": "tests/backends/test_solvers.py",  # … but the licence is rarely there
    "backends/base.py": "tests/backends/test_solvers.py",  # limits, refusals and crashes, by real solvers
    "backends/watch.py": "tests/backends/test_solvers.py",
    "backends/text.py": "tests/backends/test_writers.py",  # what .lp and .mps share
    "backends/solver_worker.py": "tests/backends/test_solver_process.py",  # its other end
    "ircert/certification.py": "tests/engines/test_certify.py",  # with engines that are made up
    "ircert/analysis/lipschitz": "tests/analysis/lipschitz/test_bilipschitz.py",  # steps to one bracket
    "ircert/cli/question.py": "tests/cli/test_export.py",  # options that several commands share
    "ircert/engines/base.py": "tests/questions/test_network.py",  # what a question is made of
    "ircert/engines/boxes/falsification": "tests/engines/boxes/test_falsifier.py",  # searches: what they find counts
    "ircert/engines/boxes/one_matrix": "tests/engines/boxes/test_one_matrix.py",
    "ircert/engines/boxes/search": "tests/engines/boxes/test_searches.py",
    "ircert/engines/milp": "tests/engines/milp/test_engine.py",  # both halves of one proof
    "ircert/engines/optimum": "tests/engines/optimum/test_optimum.py",
    "ircert/engines/regions": "tests/engines/regions/test_engine.py",  # one geometry, against the oracle
    "ircert/ir/ops/base.py": "tests/ir/ops/test_piecewise.py",
    "ircert/ir/ops/core.py": "tests/ir/ops/test_piecewise.py",
    "ircert/reproduction": "tests/reproduction/test_experiments.py",  # experiments are run whole
    "ircert/testing": "tests/backends/test_conformance.py",  # checks for others, which wrong backends must not pass
    "ircert/witnesses/near_program.py": "tests/witnesses/test_repair.py",
}


def code_lines(path: Path) -> int:
    """Lines that say something: no imports, docstrings, comments or blanks."""
    text = path.read_text()
    told: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            told |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    return sum(bool(line) and not line.startswith("#") and number not in told for number, line in lines)


def mirrors(path: Path) -> list[Path]:
    """Where the test of a file may lie: at the same place, or in a folder of its own."""
    relative = path.relative_to(ROOT)
    parts = relative.parts[1:] if relative.parts[0] == "ircert" else relative.parts
    folder = ROOT.joinpath("tests", *parts[:-1])
    return [folder / f"test_{path.name}", folder / path.stem / f"test_{path.name}"]


def excused(path: Path) -> str | None:
    """The entry of ELSEWHERE that speaks of a file."""
    name = str(path.relative_to(ROOT))
    return next((entry for entry in ELSEWHERE if name == entry or name.startswith(f"{entry}/")), None)


@cache
def alone() -> list[Path]:
    """Files that have code of their own, and no test of their own."""
    found = [path for path in sources() if path.name != "__init__.py" and code_lines(path) > MOST]
    return [path for path in found if not any(test.is_file() for test in mirrors(path))]


def test_every_source_file_has_its_test_file() -> None:
    lonely = {str(path.relative_to(ROOT)): str(mirrors(path)[0].relative_to(ROOT)) for path in alone()}
    missing = {path: test for path, test in lonely.items() if excused(ROOT / path) is None}
    assert missing == {}, "write these tests, or say in ELSEWHERE where they are and why"


@pytest.mark.parametrize("entry", ELSEWHERE)
def test_exceptions_are_needed_and_name_a_test(entry: str) -> None:
    assert (ROOT / ELSEWHERE[entry]).is_file()
    assert any(excused(path) == entry for path in alone()), "it has its test now: take it from the list"

"""Tests mirror the house: whoever changes a file finds its test at the same place under tests/."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.test_architecture import ROOT, sources

MOST = 40
"""Lines of code, without imports and docstrings, that need no test file of their own."""


def within(folder: str, *names: str) -> list[str]:
    """Files of one folder."""
    return [f"{folder}/{name}.py" for name in names]


# Where files are tested that have no test of their own, and why there.
ELSEWHERE = {
    # all solvers answer the same programs, which wrong ones must not pass
    "tests/backends/test_conformance.py": [
        *within("backends", "highs", "mip", "scip"),
        *within("ircert/testing", "conformance", "programs", "writers"),
    ],
    # limits, refusals, crashes and licences, by real solvers
    "tests/backends/test_solvers.py": within("backends", "base", "gurobi", "watch"),
    "tests/backends/test_solver_process.py": within("backends", "solver_worker"),  # its other end
    "tests/backends/test_writers.py": within("backends", "text"),  # what .lp and .mps share
    # one kind of certificate, by both checkers
    "tests/checker/test_structure.py": [
        *within("ircert/checker", "lipschitz", "signs", "walking"),
        *within("ircert/certificates", "structure"),
    ],
    "tests/checker/test_curves.py": within("ircert/certificates", "curves"),  # beside what the checker computes
    # steps to one bracket
    "tests/analysis/lipschitz/test_bilipschitz.py": within(
        "ircert/analysis/lipschitz", "cells", "chords", "enclosures", "exact", "pieces"
    ),
    # one table, by many ways to it
    "tests/atlases/test_atlas.py": [
        *within("ircert/atlases", "asked", "chain", "layout", "ledger", "row", "running"),
        *within("ircert/atlases", "plane_distances", "plane_pairs", "plane_sheet", "plane_witnesses"),
    ],
    "tests/atlases/test_neighbours.py": within("ircert/atlases", "joining"),  # with contradictions that are made up
    "tests/atlases/test_table.py": [
        *within("ircert/atlases", "merging"),
        *within("ircert/cli", "atlas"),
        *within("ircert/plotting", "atlas"),
    ],
    # what the checker reads and says, by certificates
    "tests/checker/test_checker.py": within("ircert/checker", "reading", "telling"),
    "tests/checker/test_injective.py": ["ircert/checker/network.py"],
    # steps to one cover
    "tests/certificates/test_proving.py": within("ircert/certificates", "floats", "growing", "leaves", "matrices"),
    "tests/certificates/test_writing.py": ["ircert/result/certificate.py"],
    # steps to one bracket of a difference
    "tests/analysis/difference/test_question.py": within("ircert/analysis/difference", "agreement", "result", "search"),
    "tests/relational/test_input_branching.py": within("ircert/relational", "climbing"),
    # steps to one bound of a difference
    "tests/relational/test_differential_bounds.py": within("ircert/relational", "forms", "points"),
    "tests/cli/test_export.py": within("ircert/cli", "options", "question"),  # options that several commands share
    "tests/cli/test_main.py": ["ircert/cli/commands.py"],  # the table that it makes the parser of
    "tests/engines/test_certify.py": [
        "ircert/answering.py",
        "ircert/certification.py",
    ],  # with engines that are made up
    "tests/questions/test_network.py": ["ircert/engines/base.py"],  # what a question is made of
    # searches: what they find, and what they never miss, counts
    "tests/engines/boxes/falsification/test_hunt.py": within(
        "ircert/engines/boxes/falsification",
        *("beyond", "facet_distance", "fold_collision", "fold_walkers"),
        *("pair_sampling", "reference", "region_walkers"),
    ),
    "tests/engines/boxes/test_one_matrix.py": within(
        "ircert/engines/boxes/one_matrix", "covering", "domination", "exclusions", "finding"
    ),
    "tests/engines/boxes/search/test_prover.py": [
        "ircert/engines/boxes/effort/divisible.py",
        *within("ircert/engines/boxes/cutting", "orientation", "pair_search"),
    ],
    "tests/engines/boxes/search/test_smooth_search.py": ["ircert/engines/boxes/search/smooth_hunt.py"],
    "tests/engines/boxes/test_engine.py": ["ircert/engines/boxes/search/search.py"],
    # two halves of one proof, with solvers
    "tests/engines/milp/test_engine.py": within(
        "ircert/engines/milp", "ball", "near_diagonal", "paper_search", "part_search", "part_tasks"
    ),
    "tests/engines/optimum/test_optimum.py": within("ircert/engines/optimum", "climb", "far_pairs"),
    "tests/engines/optimum/test_tree.py": within("ircert/engines/optimum", "relaxation"),  # whose parts it bounds
    # bounds and values of one bracket, against all pairs of patterns
    "tests/engines/optimum/test_brute_force.py": within("ircert/engines/optimum", "bracket"),
    # one geometry, against the oracle
    "tests/engines/regions/test_engine.py": within(
        "ircert/engines/regions", "cutting", "pairs", "roundness", "violations"
    ),
    # layers of Keras, each by its meaning
    "tests/frontends/keras/test_model.py": within("ircert/frontends/keras", "layers"),
    # operations of torch, each by its meaning
    "tests/frontends/pt2/test_translate.py": within("ircert/frontends/pt2", "call", "layout", "linear", "pointwise"),
    "tests/ir/ops/test_piecewise.py": ["ircert/ir/ops/base.py"],
    "tests/reproduction/frame/test_reproduce.py": ["ircert/cli/reproduce.py"],  # with experiments that are made up
    "tests/plotting/test_command.py": ["ircert/cli/plot.py"],  # with pictures
    "tests/plotting/test_three.py": ["ircert/plotting/solid.py"],  # one of its panels
    "tests/programs/formulations/test_program.py": ["ircert/programs/formulations/lowering.py"],  # both ends of a way
    "tests/passes/test_dual_copy.py": ["passes/copies.py"],  # with the pass it was taken from
    "tests/witnesses/test_repair.py": ["ircert/witnesses/near_program.py"],
}
WHOLE = {
    f"ircert/reproduction/{folder}": "tests/reproduction/experiments/test_experiments.py"
    for folder in ("experiments", "experiments/parts", "frame", "maps")
}
"""Folders whose files are run together: experiments."""


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


@cache
def alone() -> list[Path]:
    """Files that have code of their own, and no test of their own."""
    found = [path for path in sources() if path.name != "__init__.py" and code_lines(path) > MOST]
    return [path for path in found if not any(test.is_file() for test in mirrors(path))]


def excused() -> set[str]:
    """Files that are tested elsewhere."""
    return {file for files in ELSEWHERE.values() for file in files}


def test_every_source_file_has_its_test_file() -> None:
    lonely = {str(path.relative_to(ROOT)): str(mirrors(path)[0].relative_to(ROOT)) for path in alone()}
    missing = {
        path: test for path, test in lonely.items() if path not in excused() and str(Path(path).parent) not in WHOLE
    }
    assert missing == {}, "write these tests, or say in ELSEWHERE where they are and why"


def test_exceptions_are_needed_and_name_a_test() -> None:
    assert [test for test in [*ELSEWHERE, *WHOLE.values()] if not (ROOT / test).is_file()] == []
    lonely = {str(path.relative_to(ROOT)) for path in alone()}
    assert excused() - lonely == set(), "these have their test now: take them from the list"

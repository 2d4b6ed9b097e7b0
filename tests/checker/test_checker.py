from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ircert
from ircert import checker
from ircert.checker import check_file
from ircert.checker.__main__ import main
from ircert.cli.main import run
from ircert.errors import FileError
from tests.result.support import fold
from tests.test_architecture import ROOT
from tests.test_mirror import code_lines

LINE = ircert.load([([[1.0]], None)])


def certificate(**changes: Any) -> dict[str, Any]:
    return {
        "schema": "ircert.certificate/1", "kind": "collision", "problem": "local", "norm": "inf", "center": ["1/2"],
        "radius": "0x1.0p+0", "domain": None, "x": ["1/3"], "y": ["-1/3"],
        "model": {"ir": str(fold()), "sha256": fold().sha256}, "other": None, **changes,
    }  # fmt: skip


def written(folder: Path, content: Any, name: str = "c") -> Path:
    path = folder / f"{name}.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def embedded(graph: ircert.Graph) -> dict[str, str]:
    return {"ir": str(graph), "sha256": graph.sha256}


@pytest.mark.rule("C-1", "C-2", "C-4", "C-5")
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "1", "radius": "5/6"},
        {"norm": "2", "radius": "5/6"},
        {"domain": {"low": ["-1/3"], "high": [None]}},
        {"problem": "pseudo", "center": ["-1/3"]},
        {"problem": "transform", "other": embedded(LINE)},
    ],
)
def test_collisions_pass(tmp_path: Path, changes: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, certificate(**changes))
    assert check_file(path)[1] is None
    assert run(["check", str(path)]) == 0
    assert capsys.readouterr().out.startswith("passed: ")


@pytest.mark.rule("C-3", "C-4")
@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"radius": "833/1000"}, "outside the ball"),
        ({"radius": "833/1000", "norm": "2"}, "outside the ball"),
        ({"radius": "833/1000", "norm": "1"}, "outside the ball"),
        ({"domain": {"low": ["0"], "high": ["1"]}}, "outside the domain"),
        ({"y": ["-33/100"]}, "outputs differ"),
        ({"y": ["1/3"]}, "same point"),
        ({"problem": "pseudo"}, "not the centre"),
        ({"problem": "transform", "other": embedded(fold())}, "does not tell the points apart"),
        ({"model": {"ir": str(fold()), "sha256": "0" * 64}}, "not the one of the certificate"),
    ],
)
def test_what_is_not_so_is_rejected(
    tmp_path: Path, changes: dict[str, Any], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, certificate(**changes))
    assert fault in str(check_file(path)[1])
    assert run(["check", str(path)]) == 4
    assert capsys.readouterr().out.startswith("rejected: ")


@pytest.mark.rule("C-3")
def test_a_network_in_a_file(tmp_path: Path) -> None:
    ircert.save(fold(), tmp_path / "net.ir")
    model = {"file": "net.ir", "sha256": fold().sha256}
    assert check_file(written(tmp_path, certificate(model=model)))[1] is None
    ircert.save(LINE, tmp_path / "net.ir")
    assert "not the one" in str(check_file(written(tmp_path, certificate(model=model)))[1])


@pytest.mark.rule("C-1", "C-2", "C-3")
@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "nonsense", "[" * 100000, '{"schema": "ircert.certificate/2"}', "{}",
        '{"schema": "ircert.certificate/1", "schema": "ircert.certificate/1"}',
        {k: v for k, v in certificate().items() if k != "domain"},
        certificate(extra=1), certificate(kind="hull"), certificate(problem="global"), certificate(norm=2),
        certificate(radius=1.0), certificate(radius="0"), certificate(radius="1/0"), certificate(radius="0x1p99999"),
        certificate(radius="inf"), certificate(x=["1/3", "0"]), certificate(x=[0.25]), certificate(x="1/3"),
        certificate(center=["nan"]), certificate(domain={"low": ["0"]}), certificate(domain={"low": [], "high": []}),
        certificate(other=embedded(LINE)), certificate(problem="transform"),
        certificate(problem="transform", other=embedded(ircert.load([([[1.0, 1.0]], None)]))),
        certificate(model=None), certificate(model={"sha256": "0"}), certificate(model={"ir": 3, "sha256": "0"}),
        certificate(model={"ir": "nonsense", "sha256": "0"}), certificate(model={"file": "none.ir", "sha256": "0"}),
    ],
)  # fmt: skip
def test_what_is_no_certificate(tmp_path: Path, content: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, content)
    with pytest.raises(FileError):
        check_file(path)
    assert run(["check", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err


def test_the_checker_stands_alone() -> None:
    allowed = ("ircert.errors", "ircert.files", "ircert.ir", "ircert.checker")
    for path in Path(checker.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text())
        modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        own = {".".join(name.split(".")[:2]) for name in modules if name.startswith("ircert")}
        assert own <= set(allowed), path


def test_the_checker_runs_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = certificate(), certificate(y=["7"])
    paths = [str(written(tmp_path, content, name)) for name, content in (("a", good), ("b", bad), ("c", "{"))]
    assert [main([path]) for path in paths] == [0, 4, 2]
    assert [main(paths), main([])] == [4, 2]
    assert "passed" in capsys.readouterr().out


HIDDEN = """
import sys
sys.modules["flint"] = sys.modules["gmpy2"] = None
from ircert.checker.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def test_nothing_but_interval_arithmetic_needs_flint(tmp_path: Path) -> None:
    graph = ircert.load([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -0.5]], None)])
    good = {k: v for k, v in certificate(model=embedded(graph), center=["2"]).items() if k not in ("x", "y")}
    paths = [
        written(tmp_path, certificate(radius="1" + "0" * 5000), "a"),
        written(tmp_path, {**good, "kind": "injective", "radius": "3/2", "matrix": [["8"]], "cover": "=4"}, "b"),
    ]
    found = subprocess.run(
        [sys.executable, "-c", HIDDEN, *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.count("passed") == 2


TABLE = re.compile(r"^\| ([a-z ,]+) \| ((?:`\w+`(?:, )?)+) \| ([0-9]+) \|", re.M)


def test_what_has_to_be_trusted_is_listed_and_small() -> None:
    """`spec/certificate.md` lists every file of the checker once, with lines of code: no imports, docstrings, comments
    or blanks."""
    folder = Path(checker.__file__).parent
    rows = TABLE.findall((ROOT / "spec" / "certificate.md").read_text())
    found = {what: re.findall(r"\w+", names) for what, names, _ in rows}
    listed = [name for names in found.values() for name in names]
    assert sorted(listed) == sorted(path.stem for path in folder.glob("*.py"))
    counts = {what: sum(code_lines(folder / f"{name}.py") for name in names) for what, names in found.items()}
    assert counts == {what: int(count) for what, _, count in rows}
    assert counts["relus and collisions"] <= 500


def test_the_core_needs_no_other_kind() -> None:
    """What decides collisions and networks of relus imports no file that is for other kinds."""
    rows = TABLE.findall((ROOT / "spec" / "certificate.md").read_text())
    found = {what: set(re.findall(r"\w+", names)) for what, names, _ in rows}
    allowed = found["relus and collisions"] | found["limits"]
    for name in found["relus and collisions"]:
        tree = ast.parse((Path(checker.__file__).parent / f"{name}.py").read_text())
        modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        own = {module.removeprefix("ircert.checker.") for module in modules if module.startswith("ircert.checker.")}
        assert own <= allowed, name

"""The command line as a whole: help, exit codes, bugs and streams."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ircert import __version__, engines, passes
from ircert.cli import main as cli
from ircert.cli.commands import COMMANDS, Command
from ircert.cli.options import ENGINES
from tests.cli.commands import ROOT, ircert_process
from tests.entry_points import FakePoint

NET = "ircert.ir/1\nx = input(length=2)\nm = max(x, x)\ny = affine(m, weight=[[0.1, 0.7]], bias=[1])\nreturn y\n"


def imports_of(code: str) -> tuple[str, set[str]]:
    """What the code prints, and the top-level packages that were imported when it had run."""
    report = "\nimport sys; print('\\n--', *{name.split('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, cwd=ROOT, check=True)
    output, _, names = run.stdout.rpartition("\n--")
    return output, set(names.split())


@pytest.fixture
def net(tmp_path: Path) -> Path:
    (tmp_path / "net.ir").write_text(NET)
    return tmp_path / "net.ir"


def test_help_is_quick_because_it_imports_nothing_heavy(tmp_path: Path) -> None:
    help_text = (
        "from contextlib import suppress; from ircert.cli.main import run\nwith suppress(SystemExit): run(['--help'])"
    )
    output, loaded = imports_of(help_text)
    assert "demo" in output
    assert loaded.isdisjoint({"numpy", "scipy", "networkx", "onnx", "mip", "matplotlib", "hypothesis"})
    assert imports_of("import ircert")[1].isdisjoint({"numpy", "scipy", "networkx"})


def test_help_lists_engines_and_exit_codes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(type(engines.REGISTRY), "plugins", lambda _: (FakePoint(object, "100%"),))
    with pytest.raises(SystemExit):
        cli.run(["certify", "--help"])
    text = capsys.readouterr().out
    assert [name for name in (*engines.BUILT_IN, "100%") if name not in text] == []
    assert set(engines.BUILT_IN) == set(ENGINES)
    assert f"{cli.INTERNAL_ERROR} a bug in ircert" in text


def test_loading_a_network_does_not_import_solvers_or_onnx(net: Path) -> None:
    _, loaded = imports_of(f"import ircert; ircert.load({str(net)!r})")
    assert "numpy" in loaded
    assert loaded.isdisjoint({"onnx", "mip", "matplotlib", "hypothesis"})


def test_engines_are_imported_when_they_are_asked_not_when_they_are_named() -> None:
    _, loaded = imports_of("import ircert; ircert.certify")
    assert loaded.isdisjoint({"numpy", "scipy", "networkx"})


@pytest.mark.rule("Q-6")
def test_a_time_limit_holds_for_what_a_first_question_imports() -> None:
    question = """
import sys, time, ircert
from ircert.data.networks import bundled

class Slow:
    def find_spec(self, name, *given):
        if name == "ircert.engines.base":
            time.sleep(1)

network = bundled("unicycle-5-64-64-64-5")
sys.meta_path.insert(0, Slow())
result = ircert.certify(network, [0.0] * 5, time_limit=1)
print(result.seconds > 1, result.stats["seconds"]["start"] > 1, result.verdict, result.stop.cause.name, result.reason)
"""
    output, _ = imports_of(question)
    assert output == "True True unresolved TIME the time limit was reached\n"


def test_engines_import_nothing_that_few_questions_need() -> None:
    code = """
import sys, ircert.answering
ircert.answering.engines.get("auto")
smooth = "ircert.engines.boxes.search.smooth_search"
print(sorted({"scipy.optimize", "sklearn", "matplotlib", "onnx", smooth} & set(sys.modules)))
"""
    assert imports_of(code)[0] == "[]\n"


def test_version_and_no_command(tmp_path: Path) -> None:
    assert ircert_process("--version", cwd=tmp_path).stdout == f"{__version__}\n"  # as VNN-LIB wants it
    run = ircert_process(cwd=tmp_path)
    assert run.returncode == 2
    assert "usage: ircert" in run.stderr


def test_demo(tmp_path: Path) -> None:
    run = ircert_process("demo", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("certified: ") == 3
    assert run.stdout.count("replayed in exact arithmetic") == 3
    assert list(tmp_path.iterdir()) == []


def test_a_bug_is_no_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def ending(error: type[BaseException]) -> Command:
        def run(options: object) -> int:
            raise error

        return Command("demo", "end at once", lambda parser: None, run)

    monkeypatch.setattr(cli, "COMMANDS", (ending(ZeroDivisionError),))
    assert cli.run(["demo"]) == 70
    assert "this is a bug, and no verdict" in capsys.readouterr().err
    monkeypatch.setattr(cli, "COMMANDS", (ending(KeyboardInterrupt),))
    assert cli.run(["demo"]) == 3


def test_every_command_is_one_row() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
    for command in COMMANDS:
        assert command.text[0].islower()
        assert not command.text.endswith(".")


@pytest.mark.parametrize("redirected", ["> /dev/full", ">&-"])
def test_an_output_that_cannot_be_written(redirected: str) -> None:
    command = f"{sys.executable} -m ircert opt --list {redirected}"
    run = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, check=False)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert "the output cannot be written" in run.stderr


def test_a_closed_pipe_is_no_error(net: Path) -> None:
    command = f"{sys.executable} -m ircert opt --list | head -n 1"
    run = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, check=False)
    assert run.stdout == f"{min(passes.BUILT_IN)}\n"
    assert run.stderr == ""

"""The experiments themselves, in their quick versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ircert import reproduction
from ircert.cli.main import run
from ircert.reproduction.frame.page import document
from ircert.reproduction.frame.report import Settings
from ircert.reproduction.frame.write import read_results

ROOT = Path(__file__).parents[3]
PNG = b"\x89PNG"
LONG = ("brusselator", "histories")
LONG_TOO = [pytest.param(name, marks=pytest.mark.slow) for name in (*LONG, "all")]
"""Even in their quick versions."""


@pytest.mark.rule("X-1")
def test_a_module_of_the_folder_is_an_experiment_with_a_name() -> None:
    folder = ROOT / "ircert" / "reproduction" / "experiments"
    found = {f"ircert.reproduction.experiments.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__"}
    assert found == set(reproduction.EXPERIMENTS.values())


@pytest.mark.rule("X-3", "X-4", "X-6")
@pytest.mark.parametrize("name", [*(name for name in reproduction.names() if name not in LONG), *LONG_TOO])
def test_quick(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["reproduce", name, "--quick", "-o", str(tmp_path), "--docs", str(tmp_path / "page.md")])
    assert code == 0, capsys.readouterr().out
    page = (tmp_path / "page.md").read_text()
    for one in reproduction.names() if name == "all" else [name]:
        results = json.loads((tmp_path / one / "results.json").read_text())
        assert results["quick"] is True
        assert results["met"] is True
        assert results["claims"]
        assert results["pictures"]
        for picture in results["pictures"]:
            assert (tmp_path / one / f"{picture['name']}.png").read_bytes().startswith(PNG)
            assert "<svg" in (tmp_path / one / f"{picture['name']}.svg").read_text()
            assert picture["caption"].endswith(".")
        assert f"\n## {results['title']}\n" in page
        assert (tmp_path / one / "report.md").read_text().startswith(f"# {results['title']}\n")


@pytest.mark.rule("X-2")
def test_the_seed_decides() -> None:
    first, again, other = (reproduction.run("1d", Settings(quick=True, seed=seed))[0] for seed in (0, 0, 1))
    assert [c.ours for c in first.comparisons] == [c.ours for c in again.comparisons]
    assert [c.ours for c in first.comparisons] != [c.ours for c in other.comparisons]
    assert first.met
    assert other.met


@pytest.mark.rule("X-4")
@pytest.mark.parametrize("name", ["1d", "euler", "timestep", "vanderpol", "resnet"])
def test_what_a_time_limit_leaves_open_is_not_met(name: str) -> None:
    found, _ = reproduction.run(name, Settings(quick=True, time_limit=1e-9))
    met = {claim.text: claim.met for claim in found.claims}
    radii = [text for text in met if "answered exactly" in text or "r <= R" in text or "r_AB" in text]
    assert radii
    assert not any(met[text] for text in radii)


@pytest.mark.rule("X-7")
def test_the_page_is_made_of_the_results_beside_it(update_golden: bool) -> None:
    path = ROOT / "docs" / "reproduction.md"
    results = read_results(path.parent / path.stem, reproduction.names())
    made = document(results, path.stem)
    if update_golden:
        path.write_text(made)
    assert path.read_text() == made
    for found in results:
        assert found["met"]
        assert not found["quick"]
        for picture in found["pictures"]:
            if picture["page"]:
                file = path.parent / path.stem / found["name"] / f"{picture['name']}.png"
                assert file.stat().st_size < 300_000


@pytest.mark.rule("X-1")
def test_the_specification_names_every_experiment() -> None:
    table = (ROOT / "spec" / "reproduction.md").read_text()
    for name in reproduction.names():
        assert f"\n| `{name}` | " in table

"""Many centres against one by one, and the same table in every way to it."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import ircert
from ircert.atlases.layout import grid, trajectory
from ircert.atlases.ledger import Ledger
from ircert.atlases.table import Atlas
from ircert.data.networks import bundled
from ircert.errors import FileError, QueryError
from ircert.ir.graph import Graph

ROOT = Path(__file__).parents[2]
SMALL = grid((-2, 2, 6), (-2, 2, 5))


def network(seed: int, sizes: tuple[int, ...]) -> Graph:
    rng = np.random.default_rng(seed)
    steps = pairwise(sizes)
    return ircert.load([(rng.normal(size=(b, a)) / math.sqrt(a), rng.normal(size=b) / 2) for a, b in steps])


def assert_agrees(atlas: Atlas, graph: Graph, every: int, **options: object) -> None:
    for i in range(0, len(atlas), every):
        single, row = ircert.certify(graph, atlas.centers[i], **options), atlas[i]  # type: ignore[arg-type]
        assert row.certified == pytest.approx(single.radius.certified, rel=1e-6, abs=1e-12)
        if single.radius.refuted is None:
            assert row.refuted is None
        else:
            assert row.refuted == pytest.approx(single.radius.refuted, rel=1e-6, abs=1e-12)
        assert row.verdict == single.verdict


def table(atlas: Atlas) -> list[tuple[object, ...]]:
    return [(row.center, row.certified, row.refuted, row.verdict, row.way, row.shown) for row in atlas]


@pytest.mark.rule("A-6")
@pytest.mark.parametrize("norm", ["inf", "1", "2"])
@pytest.mark.parametrize(("seed", "sizes"), [(1, (2, 12, 12, 2)), (2, (2, 10, 3)), (3, (2, 16, 2))])
def test_one_complex_says_what_single_searches_say(norm: str, seed: int, sizes: tuple[int, ...]) -> None:
    graph = network(seed, sizes)
    atlas = ircert.atlas(graph, SMALL, norm=norm)
    assert_agrees(atlas, graph, 4, norm=norm)


@pytest.mark.rule("A-6")
def test_a_pair_that_is_nearer_than_all_folds() -> None:
    # a piecewise-linear z^2: no fold anywhere, and yet f(.5, .5) = f(.5, -.5) after two turns
    w = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1], [1, -1], [-1, 1]]
    v = [[1, 1, -1, -1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, -1, -1]]
    s = ircert.load([(np.array(w, float), np.zeros(8)), (np.array(v, float), np.zeros(2))])
    graph = s.then(s)
    atlas = ircert.atlas(graph, np.array([[1.0, 0.1], [1.1, 0.0], [1.0, -0.1], [1.2, 0.2], [0.9, 0.15]]))
    assert_agrees(atlas, graph, 1)


def test_all_problems_and_domains() -> None:
    graph, other = network(1, (2, 8, 2)), network(4, (2, 6, 1))
    for options in ({"problem": "transform", "other": other}, {"problem": "pseudo"}, {"domain": (-2.0, 2.5)}):
        assert_agrees(ircert.atlas(graph, SMALL, **options), graph, 7, **options)


def test_instant_and_whole_answers() -> None:
    flat = ircert.atlas(network(5, (2, 4, 1)), SMALL)
    assert (flat.refuted == 0).all()
    assert set(flat.verdicts) == {"refuted"}
    assert flat.resolved
    affine = ircert.atlas(ircert.load([(np.eye(2), np.zeros(2))]), SMALL)
    assert np.isinf(affine.certified).all()
    assert np.isnan(affine.refuted).all()


def test_centres_are_checked() -> None:
    graph = network(1, (2, 4, 2))
    for bad in ([[0.0]], [[0.0, np.inf]], [], np.zeros(2), [["a", 1]]):
        with pytest.raises(QueryError):
            ircert.atlas(graph, bad)
    for options in ({"workers": 0}, {"workers": "two"}, {"shard": (3, 2)}, {"domain": (0.0, 1.0)}, {"tol": 2}):
        with pytest.raises(QueryError):
            ircert.atlas(graph, SMALL, **options)
    with pytest.raises(QueryError, match="as many outputs"):
        trajectory(network(1, (2, 4, 3)), [0, 0], 3)


@pytest.mark.rule("A-7")
def test_the_table_is_the_same_with_processes_threads_and_shards(tmp_path: Path) -> None:
    graph, centers = network(1, (2, 12, 2)), grid((-2, 2, 20), (-2, 2, 14))
    alone = table(ircert.atlas(graph, centers))
    assert table(ircert.atlas(graph, centers, workers=2)) == alone
    with ThreadPoolExecutor(2) as threads:
        assert table(ircert.atlas(graph, centers, workers=threads)) == alone
    files = [tmp_path / f"{i}.jsonl" for i in range(3)]
    for i, path in enumerate(files):
        part = ircert.atlas(graph, centers, results=path, shard=(i + 1, 3))
        assert part.interrupted is False
        assert part.finished
        assert not part.resolved
    late = ircert.atlas(graph, centers, shard=(1, 3), time_limit=1e-9)
    assert not late.finished
    assert sum(len(Ledger.read(path).rows) for path in files) == len(alone)


def test_a_centre_given_twice_is_computed_once(tmp_path: Path) -> None:
    graph = network(1, (2, 6, 2))
    atlas = ircert.atlas(graph, [[0, 1], [1, 0], [0, 1], [-0.0, 1]], results=tmp_path / "rows")
    assert len(atlas) == 4
    assert atlas[0].certified == atlas[2].certified == atlas[3].certified
    assert len(Ledger.read(tmp_path / "rows").rows) == 2


@pytest.mark.rule("A-8")
def test_an_interrupted_run_goes_on_and_gives_the_same_table(tmp_path: Path) -> None:
    graph, centers, path = network(1, (2, 12, 2)), grid((-2, 2, 20), (-2, 2, 14)), tmp_path / "rows.jsonl"
    whole = ircert.atlas(graph, centers, results=path)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for cut in rng.integers(0, len(data), 4).tolist():
        path.write_bytes(data[:cut])
        assert table(ircert.atlas(graph, centers, results=path)) == table(whole)
        assert len(Ledger.read(path).rows) == len(whole)
    damaged = data.replace(b'"certified": 0.', b'"certified": 9.', 3)
    path.write_bytes(damaged)
    assert table(ircert.atlas(graph, centers, results=path)) == table(whole)
    with pytest.raises(FileError, match="another atlas"):
        ircert.atlas(graph, centers, results=path, norm=2)


SCRIPT = """
import sys, ircert
from ircert.atlases.layout import grid
from ircert.data.networks import bundled
g = bundled("vanderpol-2-10-10-2")
ircert.atlas(g, grid((-3, 3, 26), (-3, 3, 26)), workers=2, results=sys.argv[1])
"""


@pytest.mark.rule("A-8", "A-9")
def test_the_parent_is_killed_at_random_points(tmp_path: Path) -> None:
    graph, centers, path = bundled("vanderpol-2-10-10-2"), grid((-3, 3, 26), (-3, 3, 26)), tmp_path / "rows.jsonl"
    for seconds in (1.2, 2.0):
        with subprocess.Popen([sys.executable, "-c", SCRIPT, str(path)], cwd=ROOT, start_new_session=True) as running:
            time.sleep(seconds)
            os.killpg(running.pid, signal.SIGKILL)
    assert table(ircert.atlas(graph, centers, results=path)) == table(ircert.atlas(graph, centers))


def test_time_limits_leave_centres_to_their_neighbours() -> None:
    graph = bundled("coupled-vanderpol-4-16-16-4")
    atlas = ircert.atlas(graph, trajectory(graph, [1, 0.5, -0.5, 0.2], 40), time_limit=1.5)
    assert atlas.interrupted
    assert not atlas.resolved
    assert atlas.seconds < 3.5
    assert all(row.reason for row in atlas if row.verdict == "unresolved")


def test_one_centre_after_the_other() -> None:
    graph = bundled("coupled-vanderpol-4-16-16-4")
    line = np.linspace([1, 0.5, -0.5, 0.2], [1.05, 0.5, -0.45, 0.2], 6)
    atlas = ircert.atlas(graph, line)
    assert "followed" in {row.way for row in atlas}
    assert_agrees(atlas, graph, 5)


def test_smooth_networks_one_after_the_other() -> None:
    graph = bundled("vanderpol-tanh-2-32-32-2")
    atlas = ircert.atlas(graph, [[0.0, 0.0], [0.05, 0.0]], tol=0.5)
    assert atlas.resolved
    assert atlas[0].shown is not None


@pytest.mark.slow
@pytest.mark.rule("A-9")
def test_a_dask_worker_is_killed_in_the_middle(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    graph, centers = bundled("vanderpol-2-32-32-2"), grid((-3, 3, 50), (-3, 3, 50))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        killed: list[int] = []

        def kill(done: int, _: int) -> None:
            if not killed:
                killed.append(done)
                os.kill(victim, signal.SIGKILL)

        atlas = ircert.atlas(
            graph, centers, workers=client.get_executor(pure=False), results=tmp_path / "rows", progress=kill
        )
    assert killed
    assert killed[0] < len(atlas)
    assert len(Ledger.read(tmp_path / "rows").rows) == len(atlas)
    assert table(atlas) == table(ircert.atlas(graph, centers))

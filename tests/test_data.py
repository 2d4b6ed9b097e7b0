from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ircert
from ircert.data import networks
from ircert.ir.ops import Affine, Curve, Relu

Array = NDArray[np.float64]
FOLDER = Path(ircert.__file__).parent / "data" / "networks"
ROW = re.compile(r"\| `(?P<name>[\w-]+)` \|.*\| (?P<error>[0-9.]+) \| (?P<fit>[0-9.]+) \| `(?P<command>[\w/. ]+)` \|")
ROWS = {match["name"]: match for match in map(ROW.fullmatch, (FOLDER / "README.md").read_text().splitlines()) if match}


def integrate(field: Callable[..., list[Array]], points: Array, time: float, steps: int = 50) -> Array:
    """The flow by the classical Runge-Kutta method."""

    def slope(x: Array) -> Array:
        return np.stack(field(*x.T), axis=1)

    h = time / steps
    for _ in range(steps):
        a = slope(points)
        b = slope(points + h / 2 * a)
        c = slope(points + h / 2 * b)
        points = points + h / 6 * (a + 2 * b + 2 * c + slope(points + h * c))
    return points


def vanderpol(x: Array, y: Array) -> list[Array]:
    return [y, (1 - x**2) * y - x]


def coupled(*state: Array) -> list[Array]:
    x, y = state[::2], state[1::2]
    turns = [(1 - a**2) * b - a + 0.1 * sum(c - a for c in x) for a, b in zip(x, y, strict=True)]
    return [value for pair in zip(y, turns, strict=True) for value in pair]


def pulls(x: tuple[Array, ...]) -> list[Array]:
    """What each oscillator of a ring feels from its two neighbours."""
    return [0.2 * (x[k - 1] - 2 * x[k] + x[(k + 1) % len(x)]) for k in range(len(x))]


def ring(turn: Callable[[Array, Array], Array]) -> Callable[..., list[Array]]:
    """A ring of oscillators x' = y, y' = turn(x, y) + pull."""

    def field(*state: Array) -> list[Array]:
        x, y = state[::2], state[1::2]
        turns = [turn(a, b) + pull for a, b, pull in zip(x, y, pulls(x), strict=True)]
        return [value for pair in zip(y, turns, strict=True) for value in pair]

    return field


def unicycle(x: Array, y: Array, heading: Array, speed: Array, rate: Array) -> list[Array]:
    turning = -4 * np.sin(heading) - 2 * rate
    return [speed * np.cos(heading), speed * np.sin(heading), rate, 1 - speed * np.abs(speed), turning]


def quadrotor(x: Array, z: Array, tilt: Array, u: Array, w: Array, q: Array) -> list[Array]:
    thrust = 9.81 - 4 * z - 3 * w
    return [u, w, q, -thrust * np.sin(tilt), thrust * np.cos(tilt) - 9.81, -12 * tilt - 5 * q]


RING_OF_VANDERPOL = ring(lambda x, y: (1 - x**2) * y - x)
RING_OF_DUFFING = ring(lambda x, y: x - x**3 - y / 4)


def lorenz(u: Array, v: Array, w: Array) -> list[Array]:
    x, y, z = 10 * u, 10 * v, 25 + 10 * w
    return [(y - x), (x * (28 - z) - y) / 10, (x * y - 8 / 3 * z) / 10]


def brusselator(x: Array, y: Array, b: Array | float, step: Array | float) -> Array:
    return np.stack([x + step * (1 + x**2 * y - (b + 1) * x), y + step * (b * x - x**2 * y)], axis=1)


# The box that a family, or a member of its own, was trained on, and the map.
FAMILIES: dict[str, tuple[Any, Any, Callable[[Array], Array]]] = {
    "vanderpol": ([-3] * 2, [3] * 2, lambda x: integrate(vanderpol, x, 0.2)),
    "vanderpol-euler": ([-3.5] * 2, [3.5] * 2, lambda x: x + 0.15 * np.stack(vanderpol(*x.T), axis=1)),
    "coupled-vanderpol": ([-2.5] * 4, [2.5] * 4, lambda x: integrate(coupled, x, 0.2)),
    "coupled-vanderpol-6-24-24-6": ([-2.5] * 6, [2.5] * 6, lambda x: integrate(coupled, x, 0.2)),
    "coupled": ([-2.5] * 8, [2.5] * 8, lambda x: integrate(RING_OF_VANDERPOL, x, 0.2)),
    "oscillators": ([-2] * 12, [2] * 12, lambda x: integrate(RING_OF_DUFFING, x, 0.25)),
    "unicycle": ([-2, -2, -3, -1, -3], [2, 2, 3, 3, 3], lambda x: integrate(unicycle, x, 0.6)),
    "quadrotor": ([-1.5] * 3 + [-2] * 3, [1.5] * 3 + [2] * 3, lambda x: integrate(quadrotor, x, 0.25)),
    "lorenz": ([-2] * 3, [2] * 3, lambda x: integrate(lorenz, x, 0.05)),
    "brusselator": ([-1, -1, 1.8], [3, 4, 2.4], lambda p: brusselator(p[:, 0], p[:, 1], p[:, 2], 0.15)),
    "brusselator-3-32-32-2": ([-1, -1, 1.9], [4, 4.5, 2.7], lambda p: brusselator(p[:, 0], p[:, 1], p[:, 2], 0.15)),
    "brusselator-residual": ([-1] * 2, [3, 4], lambda p: brusselator(p[:, 0], p[:, 1], 2.1, 0.15)),
    "euler": ([-5, 0.05], [2, 0.6], lambda p: p[:, :1] + p[:, 1:] * (p[:, :1] ** 2 + p[:, :1] - 1)),
    "brusselator-tau": ([-1.5, -1.5, 0.05], [4, 4.5, 0.3], lambda p: brusselator(p[:, 0], p[:, 1], 2.0, p[:, 2])),
}


SMOOTH = re.compile(r"-(tanh|silu|gelu)(?=-)")


def sizes(name: str) -> list[int]:
    return [int(size) for size in re.findall(r"-(\d+)", name.split("-pruned")[0])]


def weights(graph: ircert.Graph) -> list[Array]:
    found = [node.op.weight for node in graph.nodes if isinstance(node.op, Affine)]
    return [w if isinstance(w, np.ndarray) else w.toarray() for w in found]


def test_the_readme_names_every_network() -> None:
    assert set(ROWS) == set(networks.names())
    for row in ROWS.values():
        script = Path(__file__).parents[1] / row["command"].removeprefix("python ")
        assert script.is_file()


def test_names_are_those_promised() -> None:
    pruned = {f"vanderpol-2-32-32-2-pruned-{percent}-{seed}" for percent in (40, 50, 60) for seed in (1, 2, 3)}
    small = {"vanderpol-2-10-10-2", "vanderpol-2-16-16-2", "vanderpol-2-32-32-2"}
    coupled = {f"coupled-vanderpol-{sizes}" for sizes in ("4-16-16-4", "4-32-32-4", "6-24-24-6")}
    rings = {"coupled-8-256-256-8", "oscillators-12-64-64-12"}
    vehicles = {"unicycle-5-64-64-64-5", "quadrotor-6-64-64-6"}
    others = {"lorenz-3-16-16-3", "brusselator-3-24-24-2"}
    assert set(networks.names()) >= pruned | small | coupled | rings | vehicles | others


def test_smooth_networks_have_the_tasks_and_sizes_of_relu_networks() -> None:
    smooth = [name for name in networks.names() if SMOOTH.search(name)]
    assert {SMOOTH.sub("", name) for name in smooth} <= set(networks.names()) - set(smooth)
    tasks = {"vanderpol-2-32-32-2", "lorenz-3-16-16-3", "coupled-vanderpol-4-32-32-4", "coupled-vanderpol-6-24-24-6"}
    for word in ("tanh", "silu", "gelu"):
        assert {SMOOTH.sub("", name) for name in smooth if f"-{word}-" in name} >= tasks
    for name in smooth:
        found = SMOOTH.search(name)
        assert found
        assert {node.op.kind for node in networks.bundled(name).nodes} == {"input", "affine", found[1]}


def test_each_name_has_one_file_and_together_they_are_small() -> None:
    files = [path for path in FOLDER.iterdir() if path.suffix in (".ir", ".onnx")]
    assert sorted(path.stem for path in files) == networks.names()
    assert sum(path.stat().st_size for path in files) < 1_100_000


@pytest.mark.parametrize("name", networks.names())
def test_layers_have_the_sizes_in_the_name(name: str) -> None:
    graph = networks.bundled(name)
    found = weights(graph)
    assert [graph.input_dim, *(len(w) for w in found)] == sizes(name)
    assert sum(isinstance(node.op, Relu | Curve) for node in graph.nodes) == len(found) - 1
    if not name.endswith("10-10-2"):
        assert all(np.array_equal(w, w.astype(np.float32)) for w in found)


@pytest.mark.parametrize("name", [name for name in networks.names() if "pruned" in name])
def test_pruned_networks_have_the_stated_share_of_zeros(name: str) -> None:
    share = int(name.split("-pruned-")[1].split("-")[0]) / 100
    for w in weights(networks.bundled(name)):
        assert np.mean(w == 0) == pytest.approx(share, abs=0.01)


def test_pruned_networks_differ() -> None:
    found = [
        np.concatenate([w.ravel() for w in weights(networks.bundled(n))]) for n in networks.names() if "pruned" in n
    ]
    assert len({w.tobytes() for w in found}) == 9


@pytest.mark.parametrize("name", networks.names())
def test_errors_are_those_of_the_readme(name: str) -> None:
    task = SMOOTH.sub("", name)
    low, high, f = FAMILIES.get(task) or FAMILIES[re.split(r"-\d", task)[0]]
    x = np.random.default_rng(5).uniform(low, high, size=(2000, len(low)))
    y = f(x)
    errors = np.mean((networks.bundled(name)(x) - y) ** 2, axis=0)
    assert np.sqrt(errors.mean()) == pytest.approx(float(ROWS[name]["error"]), rel=0.1)
    assert np.mean(errors / y.var(axis=0)) == pytest.approx(1 - float(ROWS[name]["fit"]), rel=0.2, abs=1e-5)

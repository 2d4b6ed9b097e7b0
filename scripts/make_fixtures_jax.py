"""Make tests/frontends/fixtures/jax: the arrays of networks of equinox, flax (nnx and linen) and haiku, by their paths.

Made with jax 0.12.0.1, equinox 0.13.8, flax 0.12.12, dm-haiku 0.0.17:

    pip install jax equinox flax dm-haiku && python scripts/make_fixtures_jax.py

A file NAME.npz has the arrays under the names that ircert gives them, and points `x` with the outputs `y` there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import equinox
import haiku
import jax
import numpy as np
from flax import linen, nnx

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "frontends" / "fixtures" / "jax"
X = np.random.default_rng(6).normal(size=(40, 3)).astype(np.float32)


class Network(nnx.Module):
    """Two layers of flax' newer kind."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first, self.second = nnx.Linear(3, 8, rngs=rngs), nnx.Linear(8, 2, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        """relu between them."""
        return self.second(nnx.relu(self.first(x)))


class Older(linen.Module):
    """Three layers of flax' older kind."""

    @linen.compact
    def __call__(self, x: Any) -> Any:
        """relu between them."""
        for width in (8, 8):
            x = linen.relu(linen.Dense(width)(x))
        return linen.Dense(2)(x)


def main() -> None:
    """Every network."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    key = jax.random.PRNGKey(0)
    mlp = equinox.nn.MLP(3, 2, 8, 2, key=key)
    layers = {f"layers/{k}/{n}": getattr(layer, n) for k, layer in enumerate(mlp.layers) for n in ("weight", "bias")}
    store("equinox", layers, jax.vmap(mlp)(X))
    network = Network(nnx.Rngs(0))
    store("nnx", paths(nnx.to_pure_dict(nnx.state(network))), network(X))
    older = Older()
    parameters = older.init(key, X)
    store("linen", paths(parameters), older.apply(parameters, X))
    made = haiku.without_apply_rng(haiku.transform(lambda x: haiku.nets.MLP([8, 5, 2])(x)))
    parameters = made.init(key, X)
    store("haiku", paths(parameters), made.apply(parameters, X))


def paths(tree: Any, prefix: str = "") -> dict[str, Any]:
    """The leaves of nested dicts."""
    if not isinstance(tree, dict):
        return {prefix[:-1]: tree}
    return {path: leaf for name, part in tree.items() for path, leaf in paths(part, f"{prefix}{name}/").items()}


def store(name: str, arrays: dict[str, Any], y: Any) -> None:
    """One file."""
    np.savez(FOLDER / f"{name}.npz", x=X, y=np.asarray(y), **{path: np.asarray(a) for path, a in arrays.items()})


if __name__ == "__main__":
    main()

"""euler: an explicit step folds the line, although the flow does not.

F(X) = X + τ (X² + b X + c) with X' = X² + b X + c. F(X) = Z is τ X² + (τ b + 1) X + (τ c - Z) = 0 with the discriminant
Δ = (τ b + 1)² - 4 τ (τ c - Z); F turns at X_J = -(τ b + 1) / (2 τ).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import ircert
from ircert.data.networks import bundled
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.plotting import add_legend, draw_curve, draw_points, new_panels
from ircert.plotting.style import INK
from ircert.reproduction.frame.answers import all_closed, ask, facts, in_order, radius
from ircert.reproduction.frame.report import Claim, Picture, Report, Settings, Table
from ircert.result.result import Result

B, C = 1.0, -1.0
NETWORK = "euler-2-16-16-1"
STABLE = (-1 - 5**0.5) / 2
"""The stable fixed point of the flow."""
CENTER = 0.0
STEPS = (0.2, 0.3, 0.4, 0.5, 0.6)
TINY = (1e-1, 1e-2, 1e-3, 1e-4)
COLOURS = ("#1d4e89", "#2a9d8f", "#8a9a00", "#e08214", "#c1121f")


def run(settings: Settings) -> Report:
    """The closed form, and the network at several steps."""
    steps = STEPS[::2] if settings.quick else STEPS
    network = bundled(NETWORK)
    answers = []
    for tau in steps:
        settings.say(f"the network at step {tau:g}")
        fixed = network.fix({1: tau})
        answers.append((ask(settings, fixed, [CENTER]), ask(settings, fixed, [CENTER], "pseudo")))
    folds = [_nearest_fold(network.fix({1: tau})) for tau in steps]
    return Report(
        title="Explicit steps are noninvertible: a scalar example",
        text=(
            "The Euler map F(X) = X + τ (X² + X - 1) has no, one or two preimages by the sign of its "
            f"discriminant, and folds at X_J. A relu network learned (X, τ) to F(X) ({NETWORK}); with τ fixed it is a "
            "function of one variable, whose turning points and radii are exact."
        ),
        claims=(*_closed_form_claims(settings), *_network_claims(steps, folds, answers)),
        tables=(_table(steps, folds, answers),),
        pictures=(
            Picture(
                "euler",
                "The Euler map (lines) and the network (dashed) for several steps τ, with the network's turning points "
                "(left); J₀ and the second preimage of F(0) as the step grows (right).",
                _figure(network, steps, folds, answers),
            ),
        ),
        facts={
            "b": B,
            "c": C,
            "steps": steps,
            "folds": {"map": [fold(t) for t in steps], "network": folds},
            "answers": [{"local": facts(r), "pseudo": facts(big)} for r, big in answers],
        },
    )


def step(x: Array, tau: float) -> Array:
    """F(X)."""
    return x + tau * (x * x + B * x + C)


def discriminant(z: Array, tau: float) -> Array:
    """Δ of the preimages of Z."""
    found: Array = (tau * B + 1) ** 2 - 4 * tau * (tau * C - z)
    return found


def fold(tau: float) -> float:
    """X_J."""
    return -(tau * B + 1) / (2 * tau)


def preimages(z: float, tau: float) -> list[float]:
    """The real solutions X of F(X) = Z, the larger first; a double one once."""
    delta = float(discriminant(np.array(z), tau))
    if delta < 0:
        return []
    roots = [(-(tau * B + 1) + sign * delta**0.5) / (2 * tau) for sign in (1, -1)]
    return roots[:1] if delta == 0 else roots


def _nearest_fold(fixed: Graph) -> float:
    """The turning point of the network next to the centre."""
    turns = ircert.fold_set(fixed, ([CENTER], 8.0)).segments[:, 0, 0]
    return float(turns[np.argmin(np.abs(turns - CENTER))])


def _closed_form_claims(settings: Settings) -> tuple[Claim, ...]:
    rng = np.random.default_rng(settings.seed)
    draws = list(zip(rng.uniform(-4, 4, 2000), rng.uniform(0.05, 0.9, 2000), strict=True))
    counted = all(len(preimages(z, t)) == 1 + int(np.sign(discriminant(np.array(z), t))) for z, t in draws)
    mapped = all(np.isclose(step(np.array(x), t), z, atol=1e-9) for z, t in draws for x in preimages(z, t))
    near, far = zip(*(preimages(CENTER, t) for t in TINY), strict=True)
    growing = np.linspace(0.05, 0.6, 50)
    where = [fold(t) for t in growing]
    return (
        Claim(
            "no, one or two preimages as Δ < 0, Δ = 0, Δ > 0, and F maps them to the value",
            counted and mapped,
            f"{len(draws)} random values and steps",
        ),
        Claim(
            "τ → 0: one preimage of X tends to X, the other one to -∞",
            bool(np.all(np.diff(np.abs(near)) < 0) and np.all(np.diff(far) < 0) and far[-1] < -1000),
            f"of 0 at τ = {TINY[-1]:g}: {near[-1]:.3g} and {far[-1]:.0f}",
        ),
        Claim(
            "J₀ comes nearer as τ grows, and reaches the stable fixed point",
            bool(np.all(np.diff(where) > 0) and where[0] < STABLE < where[-1]),
            f"from {where[0]:.2f} at τ = {growing[0]:g} to {where[-1]:.2f} at τ = {growing[-1]:g}, past {STABLE:.3f}",
        ),
    )


def _network_claims(steps: Any, folds: list[float], answers: list[tuple[Result, Result]]) -> tuple[Claim, ...]:
    r, big = ([radius(pair[k]) for pair in answers] for k in (0, 1))
    off = max(abs(found - fold(t)) for found, t in zip(folds, steps, strict=True))
    return (
        Claim("network: every radius is answered exactly", all_closed([a for pair in answers for a in pair])),
        Claim("network: J₀ is near that of the map", off < 0.5, f"off by at most {off:.2f}"),
        Claim(
            "network: r and R around 0 grow as τ shrinks",
            bool(np.all(np.diff(r) < 0) and np.all(np.diff(big) < 0)),
            f"r from {r[-1]:.3f} to {r[0]:.3f}, R from {big[-1]:.3f} to {big[0]:.3f}",
        ),
        Claim("network: r <= R", in_order(answers)),
    )


def _table(steps: Any, folds: list[float], answers: list[tuple[Result, Result]]) -> Table:
    rows = [
        (t, fold(t), found, abs(fold(t) - CENTER), radius(r), _other(t), radius(big))
        for t, found, (r, big) in zip(steps, folds, answers, strict=True)
    ]
    columns = ("τ", "J₀, map", "J₀, network", "r at 0, map", "r, network", "R at 0, map", "R, network")
    return Table("Radii around 0 (a parabola is injective up to J₀; R from the quadratic)", columns, tuple(rows))


def _other(tau: float) -> float:
    """R of the map at the centre: the distance of the other preimage of F(c)."""
    return abs(2 * (fold(tau) - CENTER))


def _figure(network: Graph, steps: Any, folds: list[float], answers: list[tuple[Result, Result]]) -> Any:
    left, right = new_panels(2, size=(10.0, 4.8))
    x = np.linspace(-5, 2, 701)
    for tau, found, color in zip(steps, folds, COLOURS[-len(steps) :], strict=True):
        draw_curve(left, np.column_stack([x, step(x, tau)]), color=color, label=f"τ = {tau:g}")
        values = network(np.column_stack([x, np.full_like(x, tau)]))[:, 0]
        draw_curve(left, np.column_stack([x, values]), color=color, line="--")
        draw_points(left, (found, float(network([found, tau])[0])), marker="s", color=color, size=7)
    draw_points(left, np.empty((0, 2)), marker="s", size=7, label="J₀ of the network")
    left.set(xlabel="X", ylabel="F(X)", xlim=(-5, 2), ylim=(-3.2, 5))
    left.axline((0, 0), slope=1, color="#999999", linewidth=0.8, linestyle=":")
    taus = np.linspace(0.12, 0.6, 200)
    draw_curve(right, np.column_stack([taus, [fold(t) for t in taus]]), color=COLOURS[-1], label="J₀ of the map")
    draw_points(
        right, np.column_stack([steps, folds]), marker="s", color=COLOURS[-1], label="J₀ of the network", size=7
    )
    second = np.column_stack([taus, [2 * fold(t) - CENTER for t in taus]])
    draw_curve(right, second, color=COLOURS[0], label="second preimage of F(0), map")
    others = [np.nan if big.witness is None else float(big.witness.x[0]) for _, big in answers]
    draw_points(right, np.column_stack([steps, others]), marker="D", color=COLOURS[0], label="of the network", size=7)
    right.axhline(STABLE, color=INK, linewidth=0.8, linestyle="--", label="stable fixed point")
    right.set(xlabel="τ", ylabel="X", xlim=(0.12, 0.62), ylim=(-8, 0))
    for ax in (left, right):
        add_legend(ax, below=0.14)
    return left.figure

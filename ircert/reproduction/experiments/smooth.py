"""smooth: the Brusselator and the Van der Pol oscillator learned with tanh: what the paper says of relu networks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ircert.data.networks import bundled
from ircert.geometry.domain import Box
from ircert.reproduction.experiments.parts.learned_map import Learned, Study, part, study
from ircert.reproduction.experiments.parts.learned_picture import picture
from ircert.reproduction.frame.answers import ask, facts, radius
from ircert.reproduction.frame.report import Claim, Comparison, Part, Picture, Report, Settings
from ircert.reproduction.maps.brusselator_map import TAU, BrusselatorMap
from ircert.reproduction.maps.planar import square_distance
from ircert.reproduction.maps.vanderpol_map import VanDerPolMap

B = 2.1
CENTER, PAPER = (1.96433, 1.24951), {"r": 0.655344127938151, "R": 2.77382102844230}
"""The authors' point of the attractor, and what they publish for it."""
FLOW, LEARNED_RADIUS = "vanderpol-tanh-2-32-32-2", 3.0
TEXT = (
    "The paper leaves tanh to future work. Networks with tanh learned an Euler step of the Brusselator "
    "(brusselator-tanh-3-24-24-2, b = 2.1) and of the Van der Pol oscillator (vanderpol-euler-tanh-2-24-24-2), both "
    "with τ = 0.15. There are no linear regions: J₀ is enclosed by boxes on which the determinant is bounded and drawn "
    "through them; preimages are proved one by one, each in a box with exactly one solution, and none is missed; radii "
    "come from the engine boxes. R is the distance of the nearest other preimage of f(c)."
)


def brusselator() -> Learned:
    """The paper's Brusselator."""
    return Learned(
        name="Brusselator",
        network=bundled("brusselator-tanh-3-24-24-2").fix({2: B}),
        sibling=bundled("brusselator-3-24-24-2").fix({2: B}),
        map=BrusselatorMap(B, TAU),
        box=Box(np.array([-1.0, -1.0]), np.array([3.0, 4.0])),
        reach=Box(np.array([-8.0, -8.0]), np.array([10.0, 12.0])),
        window=Box(np.array([-8.0, -8.0]), np.array([10.0, 12.0])),
        center=np.array(CENTER),
        farthest=8.0,
    )


def vanderpol() -> Learned:
    """The same for the paper's other oscillator, around 0."""
    return Learned(
        name="Van der Pol",
        network=bundled("vanderpol-euler-tanh-2-24-24-2"),
        sibling=bundled("vanderpol-euler-2-24-24-2"),
        map=VanDerPolMap(TAU),
        box=Box(np.array([-3.5, -3.5]), np.array([3.5, 3.5])),
        reach=Box(np.full(2, -40.0), np.full(2, 40.0)),
        window=Box(np.full(2, -8.0), np.full(2, 8.0)),
        center=np.zeros(2),
        farthest=12.0,
    )


def run(settings: Settings) -> Report:
    """Both maps, and the flow that a network of the paper's size learned."""
    studies = {"brusselator": study(settings, brusselator()), "vanderpol": study(settings, vanderpol())}
    settings.say("pictures")
    parts = {name: _with_picture(name, found) for name, found in studies.items()}
    parts["brusselator"] = replace(parts["brusselator"], comparisons=_comparisons(studies["brusselator"]))
    parts["flow"] = _flow(settings)
    return Report.of("Smooth networks: tanh in the place of relu", TEXT, parts)


def _with_picture(name: str, found: Study) -> Part:
    inputs = ("x", "y") if name == "brusselator" else ("x₁", "x₂")
    caption = (
        f"{found.learned.name}, learned with tanh. Left: sign and size of the determinant, J₀ and attractor of the "
        "network, and those of the Euler map. Right: preimages of points of the attractor, and the squares around "
        f"({', '.join(f'{v:g}' for v in found.learned.center)})."
    )
    return replace(part(found), pictures=(Picture(name, caption, picture(found, inputs)),))


def _comparisons(found: Study) -> tuple[Comparison, ...]:
    center = found.learned.center
    euler = found.learned.map
    others = euler.preimages(euler(center))
    gaps = np.abs(others - center).max(axis=1)
    true = {"r": square_distance(found.curves.true_folds, center), "R": float(min(gaps[gaps > 1e-9]))}
    ours = {"r": radius(found.local), "R": found.other[0]}
    return tuple(
        Comparison(
            f"{name} at {CENTER}, b = {B:g}",
            PAPER[name],
            ours[name],
            f"the paper's is of its relu network; the map itself has {word} {true[name]:.4f}",
        )
        for name, word in (("r", "J₀ at distance"), ("R", "another preimage at"))
    )


def _flow(settings: Settings) -> Part:
    """The flow is injective: a network that learned it may be so where it learned."""
    settings.say("the flow of the Van der Pol oscillator")
    found = ask(settings, bundled(FLOW), np.zeros(2), radius=LEARNED_RADIUS)
    text = f"{FLOW}: the learned flow is injective on all of [-3, 3]², where it learned, as the flow is"
    return Part((Claim(text, found.verdict == "certified" and found.trust == "exact"),), facts=facts(found))

"""The appendix's structure of preimages, claimed and drawn: regions I to V, parts A, B1, B2, C, points Q, R, S, T."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

import ircert
from ircert.geometry.domain import Box
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.plotting import add_legend, draw_curve, draw_folds, draw_name, draw_points, draw_regions, new_panels
from ircert.plotting.style import FOLD_RED, MARK
from ircert.reproduction.frame.report import Claim, Comparison, Part, Picture, Settings, Table
from ircert.reproduction.maps.brusselator_map import TAU, BrusselatorMap
from ircert.reproduction.maps.orbits import ON_CIRCLE
from ircert.reproduction.maps.preimage_structure import REACH, Structure, structure_of
from ircert.reproduction.maps.sides import NAMES, grouped, named_pieces

PARTS = {"A": ("#d4a000", "-"), "B1": ("#1b5e20", "-"), "B2": ("#1b5e20", "--"), "C": ("#0fa3b1", "-")}
OTHER_PART = ("#777777", "-")
WINGS = ("#1d4e89", "#5aa0d8")
"""Of extra preimages where f keeps the orientation, and where it turns it over."""
CLOSE = 1e-2


def appendix(settings: Settings, network: Graph, b: float, who: str, picture: str) -> Part:
    """The structure of a network (x, y, b) -> (x, y) for one b."""
    who = f"{who}, b = {b:g}"
    settings.say(f"{who}: preimages along the circle")
    samples, points = (1, 60) if settings.quick else (5, 400)
    structure = structure_of(network.fix({2: b}), BrusselatorMap(b, TAU).fixed_point, samples, points)
    named = named_pieces(structure)
    return Part(
        claims=_claims(who, structure, named),
        comparisons=(_separated(who, named),),
        pictures=(
            Picture(
                picture,
                f"Structure of preimages ({who}). Above: sign and size of the determinant with J₀, and the extra "
                "preimages of the parts A and C of the circle, born in pairs on J₀ between the regions I and II, IV "
                "and V. Below: the surroundings of the circle, and its parts with the points between them.",
                _figure(structure),
            ),
        ),
        facts={
            "points": {b.name: {"point": b.point, "double_preimage": b.double} for b in structure.births},
            "arcs": {a.name: {"preimages": a.counts, "signs": a.samples[0].signs} for a in structure.arcs},
            "connected": grouped(named),
        },
    )


def inverses_along(networks: Sequence[tuple[str, Graph, float]]) -> Table:
    """How many inverses the parts of the circle have, for each of several networks with its b."""
    rows = []
    for name, network, b in networks:
        found = structure_of(network.fix({2: b}), BrusselatorMap(b, TAU).fixed_point, samples=1, points=2)
        numbers = {arc.name: " or ".join(map(str, arc.counts)) for arc in found.arcs}
        parts = [f"{part}: {number}" for part, number in numbers.items()]
        rows.append((name, b, len(found.births), parts if found.births else [*numbers.values()]))
    title = f"Inverses of points of the invariant circle, looked for up to {REACH[1][0]:g} in x and y"
    return Table(title, ("network", "b", "points where two are born", "inverses of each part"), tuple(rows))


def _separated(who: str, named: dict[str, set[int]]) -> Comparison:
    """Whether J0 separates the sides that the paper calls regions I to V."""
    groups = grouped(named)
    joined = (
        "names in one bracket lie in one connected piece of the plane without J₀; each says on which side of J₀ an "
        "inverse lies"
    )
    return Comparison(
        f"{who}: regions separated by J₀",
        "(I) (II) (III) (IV) (V)",
        " ".join(f"({names})" for names in groups),
        joined if len(groups) < len(named) else "",
    )


def _claims(who: str, structure: Structure, named: dict[str, set[int]]) -> tuple[Claim, ...]:
    names = [arc.name for arc in structure.arcs]
    samples = [s for arc in structure.arcs for s in arc.samples]
    primal = all(s.off < ON_CIRCLE and s.signs[s.primal] > 0 for s in samples)
    return (
        Claim(
            f"{who}: four points divide the circle into the parts A, B1, C, B2",
            names == ["A", "B1", "C", "B2"],
            f"{len(structure.births)} points, parts {', '.join(names)}",
        ),
        Claim(
            f"{who}: every point has one inverse on the circle, in region III, where f keeps the orientation", primal
        ),
        *(_part_claim(who, structure, letter, named) for letter in "AC"),
        Claim(
            f"{who}: points of B1 and B2 have a single inverse",
            all(arc.counts == [1] for arc in structure.part("B")) and len(structure.part("B")) > 0,
        ),
        _birth_claim(who, structure),
    )


def _part_claim(who: str, structure: Structure, letter: str, named: dict[str, set[int]]) -> Claim:
    """Three inverses: the primal one, and one on each side of the far branch of J0, which bounds a piece of its own."""
    found = structure.part(letter)
    turns, other = NAMES[letter][1], NAMES["C" if letter == "A" else "A"][1]
    apart = len(named.get(turns, ())) == 1 and named[turns] != named.get(other)
    regions = {"A": "I, II and III", "C": "III, IV and V"}[letter]
    fits = all(arc.counts == [3] and all(sorted(s.extra_signs) == [-1, 1] for s in arc.samples) for arc in found)
    return Claim(f"{who}: points of {letter} have three inverses, in {regions}", fits and apart and len(found) > 0)


def _birth_claim(who: str, structure: Structure) -> Claim:
    """On one side two more preimages than on the other, both next to the double one, with opposite orientation."""
    gaps = []
    for birth in structure.births:
        fewer, more = sorted(birth.sides(structure), key=lambda s: len(s.preimages))
        distances = np.linalg.norm(more.preimages - birth.double, axis=1)
        pair = np.argsort(distances)[:2]
        opposite = more.signs[pair[0]] * more.signs[pair[1]] < 0
        two = len(more.preimages) == len(fewer.preimages) + 2
        gaps.append(float(distances[pair].max()) if opposite and two else np.inf)
    exact = all(np.abs(structure.network(b.double) - b.point).max() < 1e-9 for b in structure.births)
    return Claim(
        f"{who}: at each of these points two inverses are born, touching J₀",
        bool(gaps) and exact and max(gaps) < CLOSE,
        f"a pair of opposite orientation, {max(gaps, default=np.inf):.0e} from a point of J₀ that f maps there",
    )


def _figure(structure: Structure) -> Any:
    signs, whole, near, circle = new_panels(2, 2, size=(12.6, 13.0))
    loops = [structure.circle, *(loop for arc in structure.arcs for loop in arc.loops)]
    right = [structure.circle, *(loop for arc in structure.part("C") for loop in arc.loops)]
    window = _square(np.concatenate(loops), 0.08)
    draw_regions(signs, ircert.enumerate_regions(structure.network, domain=window), edges=False)
    draw_folds(signs, structure.folds, singular=False)
    draw_curve(signs, structure.circle, color=MARK, closed=True, label="invariant circle")
    for ax in (whole, near):
        _draw_wings(ax, structure)
    for birth in structure.births:
        draw_name(draw_points(circle, birth.point, size=6), birth.point, birth.name)
    for ax in (whole, near, circle):
        for arc in structure.arcs:
            color, line = PARTS.get(arc.name, OTHER_PART)
            draw_curve(ax, arc.points, color=color, line=line, label=f"part {arc.name}")
    closer, closest = _square(np.concatenate(right), 0.12), _square(structure.circle, 0.15)
    for ax, shown in ((signs, window), (whole, window), (near, closer), (circle, closest)):
        ax.set(xlabel="x", ylabel="y", xlim=(shown[0][0], shown[1][0]), ylim=(shown[0][1], shown[1][1]))
        ax.set_aspect("equal")
    add_legend(signs)
    add_legend(near, columns=3)
    add_legend(circle)
    return signs.figure


def _draw_wings(ax: Any, structure: Structure) -> None:
    """J0, the extra preimages, where they are born, and the names of the regions they lie in."""
    draw_folds(ax, structure.folds, singular=False, color=FOLD_RED)
    for i, arc in enumerate(structure.arcs):
        for loop, color, sign in zip(arc.loops, WINGS, "><", strict=True):
            draw_curve(ax, loop, color=color, label=f"{'_' * (i > 0)}preimages, det {sign} 0")
        for loop, name in zip(arc.loops, NAMES.get(arc.name, ()), strict=False):
            _name_region(ax, loop, np.concatenate(arc.loops).mean(axis=0), name)
    draw_name(ax, structure.circle.max(axis=0), "III")
    draw_points(ax, [b.double for b in structure.births], size=4.5, label="born on J₀")
    for birth, shift in zip(structure.births, cycle([(8, 3), (-16, -12)])):
        draw_name(ax, birth.double, f"{birth.name}″", shift=shift)


def _name_region(ax: Any, loop: Array, middle: Array, name: str) -> None:
    """The name of a region beside the extra preimages in it, away from those on the other side of J0."""
    outward = loop.mean(axis=0) - middle
    outward = outward / np.linalg.norm(outward)
    far = loop[np.argmax(loop @ outward)]
    draw_name(ax, far, name, shift=(14 * outward[0] - 4, 14 * outward[1] - 4))


def _square(points: Array, margin: float) -> Box:
    """A square around points."""
    low, high = points.min(axis=0), points.max(axis=0)
    half = (0.5 + margin) * (high - low).max()
    return Box((low + high) / 2 - half, (low + high) / 2 + half)

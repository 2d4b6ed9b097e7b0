"""The plane without J0: which of its linear regions hang together, and the names of those that hold inverses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ircert.analysis.linear_regions import Region, Regions
from ircert.reproduction.maps.preimage_structure import Structure

NAMES = {"A": ("I", "II"), "C": ("V", "IV")}
"""The sides of J0 where the extra inverses of a part lie: f keeps the orientation, and turns it over."""
PRIMAL = "III"


def pieces(regions: Regions) -> NDArray[np.int32]:
    """For each linear region the number of its connected piece of the plane: regions of one orientation in touch."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    same = regions.sides[regions.signs[regions.sides[:, 0]] == regions.signs[regions.sides[:, 1]]]
    touching = coo_array((np.ones(len(same)), (same[:, 0], same[:, 1])), shape=(len(regions), len(regions)))
    found: NDArray[np.int32] = connected_components(touching, directed=False)[1]
    return found


def named_pieces(structure: Structure) -> dict[str, set[int]]:
    """The pieces that hold inverses of points of the parts A and C, under the paper's names I to V."""
    regions = structure.folds.regions
    piece_of = pieces(regions)

    def piece(region: Region) -> int:
        number = np.flatnonzero((regions.patterns == region.pattern).all(axis=1))[0]
        return int(piece_of[number])

    found: dict[str, set[int]] = {}
    for letter, (keeps, turns) in NAMES.items():
        for sample in (s for arc in structure.part(letter) for s in arc.samples):
            for i, (region, sign) in enumerate(zip(sample.regions, sample.signs, strict=True)):
                name = PRIMAL if i == sample.primal else keeps if sign > 0 else turns
                found.setdefault(name, set()).add(piece(region))
    return found


def grouped(named: dict[str, set[int]]) -> list[str]:
    """Names that share a piece, together: ["I, III, V", "II", "IV"]."""
    groups: dict[frozenset[int], list[str]] = {}
    for name in sorted(named, key=("I", "II", "III", "IV", "V").index):
        groups.setdefault(frozenset(named[name]), []).append(name)
    return [", ".join(names) for names in groups.values()]

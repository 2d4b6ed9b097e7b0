"""How much u may change if W u changes by a little: left inverses of the groups of rows and columns of W, in floats.

All numbers are at least 0 and rounded up.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ircert.bounds.contraction import residual
from ircert.bounds.rounding import UNIT, pseudo_inverse
from ircert.ir.arrays import Array, Indices
from ircert.limits import checkpoint
from ircert.structure.linear_systems import components, determined

MOST, MOST_ENTRIES = 1_000, 4_000_000
"""Unknowns of a group that is inverted, and entries of groups of one shape."""
TINY = 1e-300


def changes(table: csr_array, result: Array, k: Array) -> Array:
    """Of u, from those of W u and of the entries of u that are known already; infinite where nothing is known.

    The columns that follow, in the rows that read none that does not, fall into groups. In each, with a left inverse P,
    d = P r + (I - P W) d, where |r| <= k of the rows + |W| k of known columns; if |I - P W| <= E with row sums of at
    most ε < 1, max d <= max |P| r / (1 - ε), and d <= |P| r + E's row sums times that.
    """
    known = np.isfinite(k)
    follow = determined(table, np.isfinite(result), known) & ~known
    if not follow.any():
        return k
    strange = np.asarray(abs(table) @ (~known & ~follow).astype(np.float64) > 0)
    rows = np.flatnonzero(np.isfinite(result) & ~strange)
    weight = csr_array(table[rows])
    right = larger(result[rows] + weighted(csr_array(weight[:, np.flatnonzero(known)]), k[known]), 2)
    found = k.copy()
    columns = np.flatnonzero(follow)
    for own_rows, own_columns, blocks in groups(csr_array(weight[:, columns])):
        checkpoint()
        found[columns[own_columns]] = _solved(blocks, right[own_rows])
    return found


def groups(table: csr_array) -> list[tuple[Indices, Indices, Array]]:
    """Rows and columns that share no weight with others, those of one shape together: (N, r), (N, c) and (N, r, c)."""
    reader = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    row_groups, column_groups = components(table)
    count = 1 + max(int(part.max(initial=-1)) for part in (row_groups, column_groups))
    (row_sizes, row_places), (column_sizes, column_places) = (
        _places(part, count) for part in (row_groups, column_groups)
    )
    found = []
    for r, c in np.unique(np.stack([row_sizes, column_sizes], axis=1), axis=0).tolist():
        mine = np.flatnonzero((row_sizes == r) & (column_sizes == c))
        if not c or r < c or c > MOST or len(mine) * r * c > MOST_ENTRIES:
            continue
        number = np.full(count, -1)
        number[mine] = np.arange(len(mine))
        rows, columns = np.zeros((len(mine), r), dtype=np.int64), np.zeros((len(mine), c), dtype=np.int64)
        _fill(rows, number[row_groups], row_places)
        _fill(columns, number[column_groups], column_places)
        blocks = np.zeros((len(mine), r, c))
        here = number[row_groups][reader]
        kept = here >= 0
        blocks[here[kept], row_places[reader[kept]], column_places[table.indices[kept]]] = table.data[kept]
        found.append((rows, columns, blocks))
    return found


def _places(labels: Indices, count: int) -> tuple[Indices, Indices]:
    """How many have each label, and which of these each one is."""
    sizes = np.bincount(labels, minlength=count)
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    places = np.empty(len(labels), dtype=np.int64)
    places[order] = np.arange(len(labels)) - starts[labels[order]]
    return sizes, places


def _fill(table: Indices, number: Indices, places: Indices) -> None:
    kept = number >= 0
    table[number[kept], places[kept]] = np.flatnonzero(kept)


def _solved(blocks: Array, right: Array) -> Array:
    """(N, c) from (N, r, c) and (N, r); equal blocks are inverted once."""
    different, which = np.unique(blocks, axis=0, return_inverse=True)
    try:
        left = pseudo_inverse(different)
    except np.linalg.LinAlgError:
        return np.full((len(blocks), blocks.shape[2]), np.inf)
    rest = residual(left, different, np.zeros_like(different))
    sums = larger((np.abs(rest.center) + rest.radius).sum(axis=2), blocks.shape[2])[which.ravel()]
    moved = larger((np.abs(left)[which.ravel()] @ right[:, :, None])[:, :, 0], blocks.shape[1])
    most = sums.max(axis=1, keepdims=True)
    found = larger(moved + sums * (moved.max(axis=1, keepdims=True) / (1 - most)), 8)
    return np.asarray(np.where(most < 0.5, found, np.inf))


def weighted(weight: csr_array, k: Array) -> Array:
    """|W| k, where entries without weight do not count."""
    weight = csr_array(abs(weight))
    weight.eliminate_zeros()
    bad = np.asarray(weight @ (~np.isfinite(k)).astype(np.float64) > 0)
    return larger(np.where(bad, np.inf, np.asarray(weight @ np.where(np.isfinite(k), k, 0.0))), weight.shape[1])


def larger(values: Array, terms: int) -> Array:
    """Sums of so many products in floats, made larger than the exact ones."""
    return np.asarray(values * (1 + 4 * (terms + 4) * UNIT) + TINY)

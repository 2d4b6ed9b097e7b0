"""Which entries of u follow from some entries of W u, if others are known: one by one, and in groups of full rank."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ircert.exact.residues import has_full_rank
from ircert.ir.arrays import Indices, Mask
from ircert.limits import checkpoint

MOST = 1_000
"""Unknowns of one group whose rank is found."""


def determined(weight: csr_array, rows: Mask, known: Mask) -> Mask:
    """The entries of u that are known, or follow from the entries `rows` of W u: exactly, for all real numbers.

    A row with one unknown of nonzero weight gives it. What is left falls into groups that share no row, each of which
    is determined if its columns are independent; modulo a prime they are so for sure.
    """
    table = csr_array(weight[np.flatnonzero(rows)], copy=True)
    table.eliminate_zeros()
    known = known.copy()
    while True:
        checkpoint()
        table.data[known[table.indices]] = 0.0
        table.eliminate_zeros()
        single = table.indices[table.indptr[:-1][np.diff(table.indptr) == 1]]
        if not len(single):
            break
        known[single] = True
    return _by_groups(table, known) if table.nnz else known


def _by_groups(table: csr_array, known: Mask) -> Mask:
    table = csr_array(table[np.diff(table.indptr) > 0])
    row_groups, column_groups = components(table)
    by_row, by_column = np.argsort(row_groups, kind="stable"), np.argsort(column_groups, kind="stable")
    seen: dict[bytes, bool] = {}
    for group in np.unique(row_groups).tolist():
        checkpoint()
        mine = by_row[slice(*np.searchsorted(row_groups[by_row], [group, group + 1]))]
        unknown = by_column[slice(*np.searchsorted(column_groups[by_column], [group, group + 1]))]
        if len(mine) < len(unknown) or len(unknown) > MOST:
            continue
        block = table[mine][:, unknown].toarray()
        key = block.shape[1].to_bytes(4, "big") + block.tobytes()
        if key not in seen:
            seen[key] = has_full_rank(block)
        if seen[key]:
            known[unknown] = True
    return known


def components(table: csr_array) -> tuple[Indices, Indices]:
    """The groups of rows and columns that share no weight with others: a number for each row, and for each column."""
    count, columns = table.shape
    starts = np.concatenate([table.indptr, np.full(columns, table.indptr[-1], dtype=table.indptr.dtype)])
    ones = np.ones(len(table.indices), dtype=np.int8)
    both = csr_array((ones, table.indices + count, starts), shape=(count + columns, count + columns))
    groups = connected_components(both, directed=False)[1]
    return groups[:count], groups[count:]

"""The tables of a planar complex: arrays that grow, and where lines meet."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ircert.engines.regions.tables import Cells, Grown, Lines, Vertices, intersections


def test_an_array_grows_by_rows_and_columns() -> None:
    table = Grown(np.array([[1, 2]]))
    for k in range(5):
        table.extend(np.array([[k, k]]))
    assert len(table) == 6
    assert table.rows[-1].tolist() == [4, 4]
    table.widen(2, -1)
    assert table.rows[0].tolist() == [1, 2, -1, -1]


def test_lines_of_the_region_come_first() -> None:
    lines = Lines(np.eye(3), np.zeros((3, 3)))
    assert lines.source.rows.tolist() == [[-1, 0, 0], [-1, 0, 1], [-1, 0, 2]]
    assert lines.add(np.ones((2, 3)), np.zeros((2, 3)), np.array([[0, 5, 1], [0, 6, 1]])).tolist() == [3, 4]
    assert lines.source.rows[4].tolist() == [0, 6, 1]


def test_vertices_are_numbered_anew_when_some_go() -> None:
    vertices = Vertices(np.arange(6.0).reshape(3, 2), np.zeros(3), np.zeros((3, 2), dtype=np.int64))
    vertices.keep(np.array([2, 0]))
    assert vertices.point.rows.tolist() == [[4.0, 5.0], [0.0, 1.0]]
    assert vertices.add(np.ones((1, 2)), np.zeros(1), np.zeros((1, 2), dtype=np.int64)).tolist() == [2]


def test_cells_remember_their_parents() -> None:
    row = np.array([[0, 1, 2, -1]])
    cells = Cells(row, row, np.array([3]), neurons=2)
    mask = np.array([[True, False]])
    assert cells.add(row, row, np.array([3]), np.array([0]), mask, mask).tolist() == [1]
    assert (len(cells), cells.width, cells.parent.rows.tolist()) == (2, 4, [0, 0])


def test_lines_meet_within_the_bound() -> None:
    rng = np.random.default_rng(1)
    p, q = rng.standard_normal((2, 30, 3))
    found, blur = intersections(p, np.zeros((30, 3)), q, np.zeros((30, 3)))
    for k in range(30):
        (a, b, c), (d, e, f) = ([Fraction(v) for v in line[k].tolist()] for line in (p, q))
        w = a * e - b * d
        exact = (b * f - c * e) / w, (c * d - a * f) / w
        for value, true in zip(found[k].tolist(), exact, strict=True):
            assert abs(Fraction(value) - true) <= Fraction(float(blur[k]))


def test_parallel_lines_and_lines_that_may_be_parallel_meet_nowhere() -> None:
    p, q = np.array([[1.0, 0.0, 1.0]]), np.array([[1.0, 2.0**-30, 2.0]])
    with np.errstate(all="ignore"):
        assert intersections(p, np.zeros((1, 3)), p, np.zeros((1, 3)))[1][0] == np.inf
    nothing, some = np.zeros((1, 3)), np.full((1, 3), 2.0**-20)
    assert intersections(p, nothing, q, nothing)[1][0] < 1
    assert intersections(p, some, q, some)[1][0] == np.inf

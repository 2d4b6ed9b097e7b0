"""What drawing reads of regions, fold sets, preimages and results; nothing more is asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray


class Maps(Protocol):
    """Jacobians, one for each cell or point."""

    @property
    def matrices(self) -> NDArray[Any]: ...
    @property
    def determinants(self) -> NDArray[Any] | None: ...
    @property
    def signs(self) -> NDArray[Any]: ...


class Regions(Maps, Protocol):
    """Cells with vertices in one table, and f(x) = A x + c on each."""

    @property
    def points(self) -> NDArray[Any]: ...
    @property
    def polygons(self) -> Sequence[NDArray[Any]]: ...
    @property
    def offsets(self) -> NDArray[Any]: ...


class Folds(Protocol):
    """Where f folds: segments, singular cells and winding points; of a smooth network also `boxes` and `undecided` ones
    (K, 2, n)."""

    @property
    def segments(self) -> NDArray[Any]: ...
    @property
    def singular(self) -> Sequence[NDArray[Any]]: ...
    @property
    def points(self) -> NDArray[Any]: ...


class Preimage(Protocol):
    """A solution of f(x) = y in one cell; `set` holds the vertices of the solutions where there are many."""

    @property
    def point(self) -> NDArray[Any]: ...
    @property
    def set(self) -> NDArray[Any] | None: ...


class Radius(Protocol):
    """The bracket of a radius; None where nothing is known."""

    @property
    def certified(self) -> float | None: ...
    @property
    def refuted(self) -> float | None: ...


class Witness(Protocol):
    """Two points, numbers of any kind."""

    @property
    def x(self) -> Any: ...
    @property
    def y(self) -> Any: ...


class Result(Protocol):
    """An answer about the balls around a centre."""

    @property
    def graph(self) -> Any: ...
    @property
    def problem(self) -> str: ...
    @property
    def norm(self) -> Any: ...
    @property
    def center(self) -> Any: ...
    @property
    def domain(self) -> Any: ...
    @property
    def radius(self) -> Radius: ...
    @property
    def witness(self) -> Witness | None: ...

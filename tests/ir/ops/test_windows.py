"""Windows of images: which of them meet the image, and what they take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import ircert
from ircert.errors import GraphError, OpError, ParseError
from ircert.ir.arrays import LARGEST
from ircert.ir.ops.windows import Windows
from tests.ir.test_limits import HEAD


@given(st.data())
def test_windows_that_meet_the_image(data: st.DataObject) -> None:
    axes = data.draw(st.integers(1, 2))

    def draw(low: int, high: int, count: int = axes) -> tuple[int, ...]:
        return tuple(data.draw(st.lists(st.integers(low, high), min_size=count, max_size=count)))

    try:
        windows = Windows(draw(1, 4), draw(1, 3), draw(1, 3), draw(0, 4, 2 * axes), draw(1, 3))
    except OpError:
        return
    truth: NDArray[np.bool_] = windows.inside.any(axis=1).reshape(windows.output)
    assert windows.all_meet_image() == bool(truth.all())
    for axis in range(axes):
        along = truth.any(axis=tuple(other for other in range(axes) if other != axis))
        if truth.any():
            assert windows._windows_reach_image(axis) == windows._entries_reach_windows(axis) == bool(along.all())


@pytest.mark.rule("IR-15")
@pytest.mark.parametrize(
    "pool", [f"image=[1, {LARGEST}], kernel=[1]", f"image=[1, 1], kernel=[{LARGEST}], padding=[{LARGEST - 1}, 0]"]
)
def test_a_line_about_many_windows_takes_no_more_than_a_line(pool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, arange = [], np.arange

    def counted(count: int) -> Any:
        taken.append(count)
        return arange(count)

    monkeypatch.setattr(np, "arange", counted)
    with pytest.raises(GraphError):
        ircert.parse(f"{HEAD}a = max_pool(x, {pool})\nb = max_pool(x, {pool})\nreturn a\n")
    assert taken
    assert max(taken) <= 2**11


@pytest.mark.rule("IR-6")
@pytest.mark.parametrize("axes", [30, 31, 10**5])
def test_images_have_few_axes(axes: int) -> None:
    ones = ", ".join("1" * axes)
    text = f"{HEAD}a = max_pool(x, image=[1, {ones}], kernel=[{ones}])\nreturn a\n"
    if axes == 30:
        assert ircert.parse(text).exact([3]).tolist() == [3]
    else:
        with pytest.raises(ParseError, match=f"image has {axes} spatial axes; at most 30"):
            ircert.parse(text)

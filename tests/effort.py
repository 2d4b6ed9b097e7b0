"""How much the tests try: a few minutes' worth by default, far more with `IRCERT_HYPOTHESIS_PROFILE=thorough`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

USUAL, FEW = 40, 26
"""Examples of a property whose examples are cheap: what numbers in tests are in proportion to, and by default."""
THOROUGH = 2000
PROFILE = os.environ.get("IRCERT_HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default")


def load_profile() -> None:
    """Register the profiles and load the one that is asked for."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    settings.register_profile("default", max_examples=FEW, deadline=None, suppress_health_check=slow)
    settings.register_profile("thorough", settings.get_profile("default"), max_examples=THOROUGH)
    # In CI the same examples every time: what lands must not depend on luck. Everywhere else new ones are tried.
    settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
    settings.load_profile(PROFILE)


def tries(usual: int) -> int:
    """So many by default, and in proportion to the profile's examples otherwise; at least one."""
    return max(1, usual * settings().max_examples // USUAL)


def examples(usual: int, **more: Any) -> settings:
    """Settings for a property whose examples are dearer, or cheaper, than most."""
    return settings(max_examples=tries(usual), **more)


def some_of(*axes: Iterable[Any], every: int = 3) -> list[Any]:
    """All combinations of these values, as parameters: one in `every` by default, the others are slow.

    The steps on all axes add up to a multiple of `every`: each value of an axis meets some of every other axis that has
    as many values or more.
    """
    lines = [list(axis) for axis in axes]
    return [
        pytest.param(
            *(line[k] for line, k in zip(lines, steps, strict=True)),
            marks=[pytest.mark.slow] if sum(steps) % every else [],
        )
        for steps in product(*(range(len(line)) for line in lines))
    ]

"""How much the tests try: a few minutes' worth by default, far more with `IRCERT_HYPOTHESIS_PROFILE=thorough`."""

from __future__ import annotations

import os
from typing import Any

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

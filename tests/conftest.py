"""Shared settings: hypothesis profiles, golden files, reference data, and no silent skips in CI."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path
from typing import Any

# Before numpy is loaded: the matrices of tests are small, and each core has a process of its own (`pytest -n auto`).
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Many tests start processes: the package is compiled once for all of them.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pytest

from tests.effort import load_profile

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in jobs that shells start in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = ["plugin"]  # a project of its own, run by test_plugin.py

OPTIONAL = "optional: "
"""Only a skip whose reason starts like this is allowed in CI: it needs something the project does not require."""

load_profile()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files with what the code does now"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "rule(*numbers): the rules of spec/ that the test checks")


def pytest_collection_finish() -> None:
    gc.freeze()  # thousands of tests, which live to the end, need not be looked through again and again


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Any:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
        if not reason.startswith(OPTIONAL):
            report.outcome = "failed"
            report.longrepr = f"skipped in CI although the project requires it: {reason}"
    return report


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of reference data; tests that need it are skipped where it is absent."""
    folder = os.environ.get("IRCERT_REFERENCE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip(f"{OPTIONAL}reference data (set IRCERT_REFERENCE_DATA to its folder)")
    return Path(folder)

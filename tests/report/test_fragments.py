"""Pieces of HTML."""

from __future__ import annotations

import numpy as np

import ircert
from ircert.report.fragments import of_facts, point
from ircert.result.certificate import Written
from ircert.result.result import Optimum
from tests.report.test_page import Reader
from tests.result.support import fold, made


def shown(text: str) -> str:
    return " ".join(Reader(text).texts)


def test_results_show_themselves_in_notebooks() -> None:
    text = shown(made()._repr_html_())
    assert "✓ certified" in text
    assert "f(x)" in text
    refuted = made(verdict="refuted", optimum=Optimum(0.25, 0.5, "exact", "a bound"), asked_radius=1.0, max_radius=None)
    assert "between 0.25 and 0.5" in shown(refuted._repr_html_())


def test_certificates_say_how_to_check_them() -> None:
    written = Written("proof.json", ("claim",), "a" * 64, 10)
    assert "ircert check proof.json" in shown(made(certificate=written)._repr_html_())
    assert "none: too hard" in shown(made(certificate=Written("proof.json", reason="too hard"))._repr_html_())


def test_long_points_are_cut() -> None:
    assert point([1.5, 2.0]) == "(1.5, 2)"
    assert point(np.arange(100)).endswith("11, … (100 numbers))")
    assert "<b>" not in of_facts("<b>", [("a", "<b>")])


def test_graphs_and_programs_show_themselves() -> None:
    graph = ircert.load([(np.eye(2), None)] * 15)
    text = shown(graph._repr_html_())
    assert "affine" in text
    assert "… and" in text
    program = ircert.program(fold(), ircert.Query("local", [0.0], 1.0))
    assert "problem local" in shown(program._repr_html_())

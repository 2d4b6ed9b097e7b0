"""Certificates of results: what is written, when nothing is, and that the checker confirms it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.certificates.growing import NoCover
from ircert.certificates.proving import Proof, Proving
from ircert.checker import check_file
from ircert.data.networks import bundled
from ircert.ir.ops.curves import GeluTanh
from tests.checker.second import proves

SMALL = "vanderpol-2-10-10-2"


@pytest.mark.rule("R-14", "C-1")
@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({}, ["injective", "collision"]),
        ({"radius": 0.5}, ["injective"]),
        ({"radius": 5.0}, ["collision"]),
        ({"radius": 0.5, "problem": "pseudo", "norm": 2}, ["injective"]),
        ({"radius": 0.5, "problem": "transform", "other": bundled("vanderpol-2-16-16-2")}, ["injective"]),
        ({"max_radius": 0.25, "norm": 1, "domain": (-0.2, 0.3)}, ["injective"]),
        ({"domain": (-0.2, 0.3)}, ["injective"]),
    ],
)
def test_both_ends(tmp_path: Path, options: dict[str, Any], kinds: list[str]) -> None:
    path = tmp_path / "c.json"
    result = ircert.certify(bundled(SMALL), [0, 0], certificate=path, **options)
    written = result.certificate
    assert written is not None
    assert written.reason is None
    assert written.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert check_file(path) == ("\n".join(written.claims), None)
    content = json.loads(path.read_text())
    assert [part["kind"] for part in content.get("parts", [content])] == kinds
    assert proves(path.read_text()) == ("injective" in kinds)
    assert "written and checked" in result.summary()
    assert (
        f"confirmed by the independent checker, from the certificate with sha256 {written.sha256[:12]}"
        in result.summary()
    )
    assert json.loads(result.to_json())["certificate"]["sha256"] == written.sha256


def test_a_bracket_is_proved_to_its_end(tmp_path: Path) -> None:
    result = ircert.certify(bundled(SMALL), [0, 0], certificate=tmp_path / "c.json.gz")
    assert result.certificate is not None
    good = result.certificate.claims[0]
    assert good.startswith("f(x) != f(y)")
    shown = float(good.split("(about ")[1].split(")")[0])
    assert shown == pytest.approx(float(result.radius.certified), rel=1e-3)


@pytest.mark.rule("R-14")
def test_a_ball_that_is_good_far_beyond_a_fold(tmp_path: Path) -> None:
    """x up to 1, then slowly down: the value of the centre 0 comes back at 1025."""
    build = ircert.Builder(1)
    beyond = build.relu(build.affine(build.input, [[1.0]], [-1.0]))
    graph = build.graph(build.add(build.input, build.affine(beyond, [[-1.0 - 2.0**-10]])))
    path = tmp_path / "c.json.GZ"  # packed, as it is read
    result = ircert.certify(graph, [0], problem="pseudo", max_radius=1000, certificate=path)
    assert float(result.radius.certified) == 1000
    assert result.certificate is not None
    assert "turned over" in str(result.certificate.reason)
    claim, fault = check_file(path)
    assert fault is None
    assert claim.startswith("f(x) != f(centre)")


@pytest.mark.rule("R-14")
def test_a_smaller_ball_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no cover is found up to the certified radius, or none for the whole space."""
    prove = Proving.prove

    def limited(self: Proving, radius: float, nodes: int = 1000) -> Proof:
        if radius > 1.5:
            raise NoCover("it is made up")
        return prove(self, radius, nodes)

    monkeypatch.setattr(Proving, "prove", limited)
    result = ircert.certify(bundled(SMALL), [0, 0], certificate=tmp_path / "c.json")
    found = result.certificate
    assert found is not None
    assert "(about 1.19" in found.claims[0] or "1.1915" in found.claims[0]
    assert found.reason is not None
    assert "it is made up" in found.reason
    assert "rests on the search alone" in result.summary()
    assert json.loads(result.to_json())["certificate"]["reason"] == found.reason

    def nowhere(self: Proving) -> Proof:
        raise NoCover("also made up")

    monkeypatch.setattr(Proving, "prove_everywhere", nowhere)
    build = ircert.Builder(1)
    bent = build.graph(build.add(build.input, build.affine(build.relu(build.input), [[1.5]])))
    whole = ircert.certify(bent, [0.0], max_radius=float("inf"), certificate=tmp_path / "d.json").certificate
    assert whole is not None
    assert "closed ball of radius 1 around" in whole.claims[0]
    assert "the whole space rests on the search alone" in (whole.reason or "")


def test_no_certificate(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    build = ircert.Builder(1)
    smooth = build.graph(build.add(build.input, build.node(GeluTanh(), build.input)))
    by_curves = ircert.certify(smooth, [0.0], radius=1.0, certificate=path)
    out_of_time = ircert.certify(bundled(SMALL), [0, 0], radius=0.5, time_limit=1e-9, certificate=path)
    for result, reason in ((by_curves, "`gelu_tanh` at"), (out_of_time, "")):
        found = result.certificate
        assert found is not None
        assert found.sha256 is None
        assert reason in (found.reason or "")
        assert "no certificate is written" in result.summary()
    assert not path.exists()


def test_the_whole_space(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    affine = ircert.load([(np.array([[2.0, 1.0], [0.0, 1.0]]), None)])
    result = ircert.certify(affine, [0, 0], certificate=path)
    assert float(result.radius.certified) == float("inf")
    assert check_file(path)[0].startswith("f(x) != f(y) for all x != y everywhere")
    assert check_file(path)[1] is None

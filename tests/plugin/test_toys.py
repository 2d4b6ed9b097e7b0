from fractions import Fraction

import pytest
from toy_frontend import ToyLayers
from toy_operation import Hat
from toy_solver import ScipyMilp

import ircert
from ircert import engines
from ircert.programs import formulations
from ircert.testing import check_backend, check_engine, check_operation

HAT = "ircert.ir/1\nx = input(length=1)\na = hat(x)\nreturn a\n"


def test_a_solver_conforms():
    check_backend(ScipyMilp())


def test_an_operation_is_read_evaluated_and_lowered():
    graph = ircert.parse(HAT)
    assert str(graph) == HAT.replace("\nx", "\n\nx", 1)
    assert graph([0.25]) == [0.75]
    assert graph.exact(["1/3"]).tolist() == [Fraction(2, 3)]
    check_operation(Hat(), 2)
    assert isinstance(graph["a"].op, Hat)
    result = ircert.certify(graph, [0.5], engine="regions")
    assert (result.radius.certified, result.radius.refuted) == pytest.approx((0.5, 0.5))


def test_a_formulation_is_found_by_its_name():
    assert "first-gap" in formulations.names()
    query = ircert.Query("local", [0.25], 0.5)
    program = ircert.program(ircert.parse(HAT), query, formulation="first-gap")
    outcome = ircert.backends.get("scipy-milp").solve(program)
    assert outcome.value == pytest.approx(0.5, abs=1e-6)


def test_an_engine_is_asked_by_its_name():
    assert "slopes" in engines.names()
    assert {name.split()[0] for name in check_engine(engines.get("slopes")).answered} == {"bend1"}
    rising = ircert.certify(ircert.parse(HAT), [-0.5], radius=0.25, engine="slopes")
    assert (rising.verdict, rising.engine, rising.trust) == ("certified", "slopes", "exact")
    assert ircert.certify(ircert.parse(HAT), [-0.5], radius=0.75, engine="slopes").verdict == "unresolved"
    assert ircert.certify(ircert.parse(HAT), [-0.5], engine="slopes").radius.certified >= 0.25
    with pytest.raises(ircert.IrcertError, match="networks of one input"):
        ircert.certify(ircert.load([([[1.0, 0.0]], None)]), [0.0, 0.0], engine="slopes")


def test_a_front_end_is_found_by_its_suffix(tmp_path):
    path = tmp_path / "net.TOY"
    path.write_text("[[[[2.0], [1.0]], [0.0, 1.0]], [[[1.0, -1.0]], null]]")
    assert ircert.load(path) == ircert.load([([[2.0], [1.0]], [0.0, 1.0]), ([[1.0, -1.0]], None)])
    assert ToyLayers().accepts(path)
    (tmp_path / "bad.toy").write_text("[")
    with pytest.raises(ircert.IrcertError, match="this is no JSON"):
        ircert.load(tmp_path / "bad.toy")
    with pytest.raises(ircert.IrcertError, match=r"use a name ending in .onnx, .*.toy"):
        ircert.load(tmp_path / "net.other")
    with pytest.raises(ircert.IrcertError, match="`shape` is for ONNX models"):
        ircert.load(path, shape=(1, 2))

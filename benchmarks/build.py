"""Building the two-copy program of an 8-256-256-8 network: ircert against the two best known embedders.

    pip install omlt gurobi-machinelearning scikit-learn
    python benchmarks/build.py

The same network, two copies, big-M relus; bounds are excluded (computed before, or given to the other package). Times
are the best of a few runs in this process, ratios are what matters. Packages that are not installed are left out.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from timing import timed

import ircert
from ircert.backends import get
from ircert.geometry.norm import Norm
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.analyse import analyse
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.distance import maximise_length
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.program import Origin, Program
from ircert.questions.query import Query

SIZES = [8, 256, 256, 8]
RADIUS = 1.0


def layers(sizes: list[int]) -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(0)
    return [(rng.standard_normal((m, n)) / np.sqrt(n), 0.1 * rng.standard_normal(m)) for n, m in pairwise(sizes)]


def builder(sizes: list[int]) -> Callable[[], Program]:
    graph = ircert.load(layers(sizes))
    query = Query("local", np.zeros(sizes[0]), RADIUS)
    bounds = analyse(graph, query.ball, "interval")

    def build() -> Program:
        made = ProgramBuilder()
        x, y = (point_of_ball(made, query.ball, name, Origin("x", name)) for name in ("x", "y"))
        first, second = NetworkCopy(made, bounds, x, "x"), NetworkCopy(made, bounds, y, "y")
        equal = first.output.plus(second.output, -1.0)
        equal.rows(made, "equal", "=", np.zeros(len(equal)))
        maximise_length(made, Form.of(x).plus(Form.of(y), -1.0), np.full(sizes[0], 2 * RADIUS), Norm.INF)
        return made.program()

    return build


def with_omlt(sizes: list[int]) -> Callable[[], object]:
    import pyomo.environ as pyo
    from omlt import OmltBlock
    from omlt.neuralnet import NetworkDefinition, ReluBigMFormulation
    from omlt.neuralnet.layer import DenseLayer, InputLayer

    box = dict.fromkeys(range(sizes[0]), (-RADIUS, RADIUS))
    net = NetworkDefinition(scaled_input_bounds=box)
    before = InputLayer([sizes[0]])
    net.add_layer(before)
    weights = layers(sizes)
    for k, (weight, bias) in enumerate(weights):
        kind = "linear" if k == len(weights) - 1 else "relu"
        layer = DenseLayer([weight.shape[1]], [weight.shape[0]], activation=kind, weights=weight.T, biases=bias)
        net.add_layer(layer)
        net.add_edge(before, layer)
        before = layer

    def build() -> object:
        model = pyo.ConcreteModel()
        model.first, model.second = OmltBlock(), OmltBlock()
        model.first.build_formulation(ReluBigMFormulation(net))
        model.second.build_formulation(ReluBigMFormulation(net))
        model.equal = pyo.Constraint(range(sizes[-1]), rule=lambda m, i: m.first.outputs[i] == m.second.outputs[i])
        return model

    return build


def with_gurobi_ml(sizes: list[int]) -> Callable[[], object]:
    import gurobipy as gp
    from gurobi_ml import add_predictor_constr
    from sklearn.neural_network import MLPRegressor

    net = MLPRegressor(hidden_layer_sizes=tuple(sizes[1:-1]), max_iter=1)
    data = np.random.default_rng(0).standard_normal((300, sizes[0]))
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net.fit(data, np.zeros((300, sizes[-1])))
    net.coefs_ = [weight.T for weight, _ in layers(sizes)]
    net.intercepts_ = [bias for _, bias in layers(sizes)]

    def build() -> object:
        environment = gp.Env(params={"OutputFlag": 0})
        model = gp.Model(env=environment)
        x, y = (model.addMVar((1, sizes[0]), lb=-RADIUS, ub=RADIUS) for _ in range(2))
        first, second = add_predictor_constr(model, net, x), add_predictor_constr(model, net, y)
        model.addConstr(first.output == second.output)
        model.update()
        return model

    return build


def main() -> None:
    build = builder(SIZES)
    ours = timed(build, 5)
    program = build()
    size = f"{program.columns} variables, {len(program.rhs)} rows, {program.matrix.nnz} nonzeros"
    print(f"{'-'.join(map(str, SIZES))}, two copies: {size}")
    print(f"  ircert, program as arrays      {ours:7.3f} s")
    print(f"  ircert, and passed to HiGHS    {timed(lambda: get('highs').build(build()), 3):7.3f} s")  # type: ignore[attr-defined]
    if find_spec("gurobi_ml") and find_spec("sklearn"):
        theirs = timed(with_gurobi_ml(SIZES))
        print(f"  gurobi-machinelearning         {theirs:7.3f} s = {theirs / ours:5.1f} x")
    if find_spec("omlt"):
        theirs = timed(with_omlt(SIZES), 1)
        print(f"  OMLT (Pyomo)                   {theirs:7.3f} s = {theirs / ours:5.1f} x")
    print("memory while building, bytes per nonzero (linear growth: a constant)")
    for width in (64, 128, 256, 512):
        build = builder([8, width, width, 8])
        tracemalloc.start()
        program = build()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        count = program.matrix.nnz
        print(f"  8-{width}-{width}-8: {count:8d} nonzeros, peak {peak / 1e6:7.1f} MB, {peak / count:5.1f}")


if __name__ == "__main__":
    main()

"""Models as the readers of solvers see them, in one form that can be compared bit for bit."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array

from ircert.backends.text import CONSTANT
from ircert.ir.arrays import Sparse
from ircert.programs.program import Program

Terms = dict[str, float]
Products = dict[frozenset[str], float]


@dataclass
class Model:
    """What a file says; coefficients that are 0 are left out, products have the coefficient of a * b."""

    maximise: bool
    bounds: dict[str, tuple[float, float, bool]]
    objective: Terms
    rows: dict[str, tuple[str, float, Terms]]
    products: Products = field(default_factory=dict)
    quadratic_rows: dict[str, tuple[float, Terms, Products]] = field(default_factory=dict)


def meant(program: Program, minimise: bool = False) -> Model:
    """The model that a reader should see."""
    names = program.column_names
    sign = -1.0 if minimise and program.maximise else 1.0
    bounds = {
        n: (low, up, bool(i))
        for n, low, up, i in zip(
            names, program.lower.tolist(), program.upper.tolist(), program.integer.tolist(), strict=True
        )
    }
    objective = _terms(names, sign * program.objective)
    if program.constant:
        bounds[CONSTANT] = (1.0, 1.0, False)
        objective[CONSTANT] = sign * program.constant
    dense = program.matrix.toarray()
    return Model(
        maximise=program.maximise and not minimise,
        bounds=bounds,
        objective=objective,
        rows={
            name: (str(program.senses[i]), float(program.rhs[i]), _terms(names, dense[i]))
            for i, name in enumerate(program.row_names)
        }
        | {
            row.name: ("<=", row.bound, _terms(names, row.linear))
            for row in program.quadratic_rows
            if not row.quadratic.nnz
        },
        products=_products(names, program.quadratic, sign) if program.quadratic is not None else {},
        quadratic_rows={
            row.name: (row.bound, _terms(names, row.linear), _products(names, row.quadratic))
            for row in program.quadratic_rows
            if row.quadratic.nnz
        },
    )


def _terms(names: list[str], values: Any) -> Terms:
    return {name: float(value) for name, value in zip(names, values, strict=True) if value}


def _products(names: list[str], form: Sparse, sign: float = 1.0) -> Products:
    dense = sign * form.toarray()
    return {
        frozenset({names[i], names[j]}): float(dense[i, j] * (1 if i == j else 2))
        for i, j in zip(*np.nonzero(np.triu(dense)), strict=True)
    }


def highs(path: Path) -> Model:
    """Through highspy."""
    highspy = pytest.importorskip("highspy")
    solver = highspy.Highs()
    solver.silent()
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    lp, hessian = solver.getLp(), solver.getModel().hessian_
    names, rows = list(lp.col_names_), list(lp.row_names_)
    parts = (lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_)
    shape = (lp.num_row_, lp.num_col_)
    by_column = lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    dense = csc_array(parts, shape=shape).toarray() if by_column else csc_array(parts, shape=shape[::-1]).toarray().T
    whole = [kind == highspy.HighsVarType.kInteger for kind in lp.integrality_] or [False] * len(names)
    assert lp.offset_ == 0
    return Model(
        maximise=lp.sense_ == highspy.ObjSense.kMaximize,
        bounds=dict(zip(names, zip(lp.col_lower_, lp.col_upper_, whole, strict=True), strict=True)),
        objective=_terms(names, lp.col_cost_),
        rows={
            name: (*_side(lp.row_lower_[i], lp.row_upper_[i], np.inf), _terms(names, dense[i]))
            for i, name in enumerate(rows)
        },
        products=_lower_triangle(names, hessian),
    )


def _lower_triangle(names: list[str], hessian: Any) -> Products:
    """½ x'Hx from the columns of the lower triangle."""
    found = {}
    for j in range(hessian.dim_):
        for k in range(hessian.start_[j], hessian.start_[j + 1]):
            i, value = hessian.index_[k], hessian.value_[k]
            if value:
                found[frozenset({names[i], names[j]})] = value / 2 if i == j else value
    return found


def _side(low: float, high: float, infinity: float) -> tuple[str, float]:
    if low == high:
        return "=", low
    assert low == -infinity or high == infinity
    return ("<=", high) if low == -infinity else (">=", low)


def scip(path: Path) -> Model:
    """Through PySCIPOpt; a quadratic objective is a variable and a row of its own there."""
    pyscipopt = pytest.importorskip("pyscipopt")
    model = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(str(path))
    infinity = model.infinity()

    def end(bound: float) -> float:
        return float(np.sign(bound) * np.inf) if abs(bound) >= infinity else bound

    read = Model(model.getObjectiveSense() == "maximize", {}, {}, {})
    for v in model.getVars():
        read.bounds[v.name] = (end(v.getLbOriginal()), end(v.getUbOriginal()), v.vtype() != "CONTINUOUS")
        read.objective |= _terms([v.name], [v.getObj()])
    for row in model.getConss():
        sense, side = _side(model.getLhs(row), model.getRhs(row), infinity)
        if row.getConshdlrName() == "linear":
            terms = model.getValsLinear(row)
            read.rows[row.name] = (sense, side, _terms(list(terms), terms.values()))
        else:
            _scip_quadratic(model, row, read, side)
    return read


def _scip_quadratic(model: Any, row: Any, read: Model, side: float) -> None:
    both, squares, linear = model.getTermsQuadratic(row)
    products: Products = {}
    for a, b, value in both:  # from .mps files the two halves of a product come apart
        pair = frozenset({a.name, b.name})
        products[pair] = products.get(pair, 0.0) + value
    products |= {frozenset({a.name}): value for a, value, _ in squares if value}
    terms = {a.name: value for a, value in linear if value} | {a.name: value for a, _, value in squares if value}
    auxiliary = [name for name in terms if name.startswith(("quadobj", "qmatrixvar"))]
    if auxiliary:
        assert abs(terms.pop(auxiliary[0])) == 1
        assert not terms
        assert side == 0
        assert read.objective.pop(auxiliary[0]) == 1
        del read.bounds[auxiliary[0]]
        read.products = products
    else:
        read.quadratic_rows[row.name] = (side, terms, products)


def gurobi(path: Path) -> Model:
    """Through gurobipy."""
    gurobipy = pytest.importorskip("gurobipy", reason="optional: gurobipy")
    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.read(str(path), env) as model:
        variables = model.getVars()
        names = [v.VarName for v in variables]
        dense = model.getA().toarray()
        objective = model.getObjective()
        assert model.ObjCon == 0
        return Model(
            maximise=model.ModelSense == -1,
            bounds={v.VarName: (v.LB, v.UB, v.VType != "C") for v in variables},
            objective=_terms(names, [v.Obj for v in variables]),
            rows={
                c.ConstrName: (c.Sense.replace("<", "<=").replace(">", ">="), c.RHS, _terms(names, dense[i]))
                for i, c in enumerate(model.getConstrs())
            },
            products=_gurobi_products(objective) if isinstance(objective, gurobipy.QuadExpr) else {},
            quadratic_rows={c.QCName: _gurobi_row(model, c) for c in model.getQConstrs()},
        )


def _gurobi_products(form: Any) -> Products:
    terms = [(form.getVar1(k).VarName, form.getVar2(k).VarName, form.getCoeff(k)) for k in range(form.size())]
    return {frozenset({a, b}): value for a, b, value in terms if value}


def _gurobi_row(model: Any, row: Any) -> tuple[float, Terms, Products]:
    assert row.QCSense == "<"
    form = model.getQCRow(row)
    linear = form.getLinExpr()
    terms = {linear.getVar(k).VarName: linear.getCoeff(k) for k in range(linear.size())}
    return row.QCRHS, _terms(list(terms), terms.values()), _gurobi_products(form)


def cbc(path: Path) -> Model:
    """Through python-mip, whose reader returns an empty model when it fails.

    CBC reads the decimals of .mps files with a routine of its own that is wrong in the last bit for one number in five
    (0.3 becomes 0.30000000000000004); those of .lp files are read exactly.
    """
    mip = pytest.importorskip("mip")
    model = mip.Model(solver_name="CBC")
    model.verbose = 0
    model.read(str(path))
    assert model.num_cols > 0

    def end(bound: float) -> float:
        return float(np.sign(bound) * np.inf) if abs(bound) >= 1e30 else bound

    return Model(
        maximise=model.sense == mip.MAXIMIZE,
        bounds={v.name: (end(v.lb), end(v.ub), v.var_type != mip.CONTINUOUS) for v in model.vars},
        objective=_terms([v.name for v in model.vars], [v.obj for v in model.vars]),
        rows={
            c.name: (
                c.expr.sense if c.expr.sense == "=" else c.expr.sense + "=",
                c.rhs,
                _terms([v.name for v in c.expr.expr], c.expr.expr.values()),
            )
            for c in model.constrs
        },
    )


def almost_equal(one: Any, other: Any) -> bool:
    """Equal up to the last two bits of numbers."""
    if isinstance(one, Model):
        return almost_equal(vars(one), vars(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(almost_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(almost_equal, one, other))
    if isinstance(one, float) and np.isfinite(one):
        return abs(one - other) <= 4 * np.spacing(abs(one))
    return bool(one == other)

"""The length of a difference d = u - v as an objective, in three norms.

inf:  w = max |d_i|.  One indicator is 1 among F (where d_j = w) and F' (where -d_j = w):
          d <= w,  w <= d + M (1 - F),    -d <= w,  w <= -d + M (1 - F'),   sum F + sum F' = 1
      M_j = R_j + max R with R_j a bound on |d_j|: for `local` on an L-infinity ball this is the paper's 4 r. With
      `half`, F' is left out: right where swapping u and v changes nothing, so that d_j = w may be assumed.
1:    |d_i| = p_i + n_i,  d_i = p_i - n_i,  p_i <= R_i s_i,  n_i <= R_i (1 - s_i),  s_i in {0, 1}
2:    sum of e_i^2 with e = d: on difference variables, never expanded
"""

from __future__ import annotations

import numpy as np

from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, identity
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import MARGIN


def maximise_length(build: ProgramBuilder, d: Form, reach: Array, norm: Norm, *, half: bool = False) -> None:
    """Make the norm of d the objective, given |d_i| <= reach_i in real arithmetic."""
    reach = np.maximum(reach, MARGIN)
    if norm == "inf":
        _largest(build, d, reach, half=half)
    elif norm == "1":
        _sum(build, d, reach)
    else:
        _squares(build, d, reach)


def _largest(build: ProgramBuilder, d: Form, reach: Array, *, half: bool) -> None:
    size, zero = len(d), np.zeros(len(d))
    w = build.variables("w", 1, 0.0, reach.max())
    every = (w, -np.ones((size, 1)))
    slack = reach + reach.max()
    indicators = []
    for name, sign in (("F", 1.0), ("G", -1.0)):  # G is the paper's F'
        signed = Form({}, zero).plus(d, sign)
        signed.rows(build, f"dist.{name}", "<=", zero, every)
        if name == "F" or not half:
            chosen = build.binaries(name, size)
            indicators.append(chosen)
            opposite = Form({}, zero).plus(d, -sign)
            opposite.rows(build, f"pick.{name}", "<=", slack, (w, np.ones((size, 1))), (chosen, slack))
    build.rows("choose", [(block, np.ones((1, size))) for block in indicators], "=", 1.0)
    build.maximise(w)


def _sum(build: ProgramBuilder, d: Form, reach: Array) -> None:
    size, zero = len(d), np.zeros(len(d))
    p = build.variables("p", size, 0.0, reach)
    n = build.variables("n", size, 0.0, reach)
    s = build.binaries("s", size)
    d.rows(build, "split", "=", zero, (p, -1.0), (n, 1.0))
    build.rows("positive", [(p, 1.0), (s, -reach)], "<=", zero)
    build.rows("negative", [(n, 1.0), (s, reach)], "<=", reach)
    build.maximise(p)
    build.maximise(n)


def _squares(build: ProgramBuilder, d: Form, reach: Array) -> None:
    e = build.variables("e", len(d), -reach, reach)
    d.rows(build, "difference", "=", np.zeros(len(d)), (e, identity(len(d)) * -1.0))
    build.maximise_squares(e)

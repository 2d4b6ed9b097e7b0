"""Certificates of injectivity of bundled networks: how long they take to make, how large they are, how long to check.

    python benchmarks/certificates.py [--share 0.99] [--limit 60] [--only NAME …]

Radii are parts of the largest one where it is known, else what a search reaches in a few seconds. Seconds are of the
processor, one thread; a proof that is not there after the limit is given up. Work is what the checker counts (C-15),
for each character of the file.
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np

from ircert.certificates.growing import NoCover
from ircert.certificates.proving import Proof, Proving
from ircert.certification import certify
from ircert.checker import check_text
from ircert.checker.limits import Effort
from ircert.data.networks import bundled
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from ircert.limits import Undecided, until
from ircert.result.certificate import injective, joined
from ircert.result.radius import End, Radius
from ircert.result.result import ModelFacts, Result


@dataclass(frozen=True)
class Case:
    """A network (with inputs bound), the place of its ball and a radius, None if it is to be searched for; the largest
    one if `largest`."""

    name: str
    radius: float | None = None
    largest: bool = True
    norm: str = "inf"
    center: tuple[float, ...] | None = None
    fix: tuple[tuple[int, float], ...] = ()


CASES = [
    Case("vanderpol-2-10-10-2", 2.38302),
    Case("vanderpol-2-16-16-2", 2.815919),
    Case("vanderpol-2-32-32-2", 3.154316),
    Case("vanderpol-2-32-32-2", 3.798953, norm="1"),
    Case("vanderpol-2-32-32-2", 3.219514, norm="2"),
    *(Case(f"vanderpol-2-32-32-2-pruned-{part}-{k}") for part in (40, 50, 60) for k in (1, 2, 3)),
    Case("vanderpol-euler-2-24-24-2"),
    Case("brusselator-3-24-24-2", center=(1, 2), fix=((2, 2.1),)),
    Case("brusselator-3-32-32-2", center=(1, 2), fix=((2, 2.1),)),
    Case("brusselator-tau-3-24-24-2", center=(1, 2), fix=((2, 0.1),)),
    Case("brusselator-residual-2-24-24-2", center=(1, 2)),
    Case("lorenz-3-16-16-3", 1.219027),
    Case("lorenz-3-16-16-3", 1.954182, norm="1"),
    Case("lorenz-3-16-16-3", 1.325985, norm="2"),
    Case("coupled-vanderpol-4-16-16-4", 1.035768),
    Case("coupled-vanderpol-4-16-16-4", 1.554807, norm="1"),
    Case("coupled-vanderpol-4-16-16-4", 1.297201, norm="2"),
    Case("coupled-vanderpol-4-32-32-4", 1.3425, False),
    Case("coupled-vanderpol-4-32-32-4", 2.0, False),
    Case("coupled-vanderpol-4-32-32-4", 2.451841, False),
    Case("coupled-vanderpol-4-32-32-4", 2.68513),
    Case("coupled-vanderpol-6-24-24-6", 2.227936),
    Case("unicycle-5-64-64-64-5", 1.045235, False, center=(0, 0, 0, 1, 0)),
    Case("unicycle-5-64-64-64-5", 1.076591, False, center=(0, 0, 0, 1, 0)),
    Case("unicycle-5-64-64-64-5", 2.082856, False, center=(0, 0, 0, 1, 0)),
    Case("quadrotor-6-64-64-6", 0.8286884, False),
    Case("quadrotor-6-64-64-6", 0.9362504, False),
    Case("quadrotor-6-64-64-6", 1.374088, False),
    Case("coupled-8-256-256-8", 0.4108071, False),
    Case("coupled-8-256-256-8", 0.5746647, False),
    Case("coupled-8-256-256-8", 0.8817622, False),
    Case("oscillators-12-64-64-12", 0.03274005),
    Case("vanderpol-tanh-2-32-32-2", 3.968870),
    Case("vanderpol-silu-2-32-32-2", 4.075554),
    Case("vanderpol-gelu-2-32-32-2", 4.016679),
    Case("lorenz-tanh-3-16-16-3", 2.209645, False),
    Case("lorenz-silu-3-16-16-3", 2.454588, False),
    Case("lorenz-gelu-3-16-16-3", 2.0, False),
    Case("coupled-vanderpol-tanh-4-32-32-4", 2.0, False),
    Case("coupled-vanderpol-silu-4-32-32-4", 1.5, False),
    Case("coupled-vanderpol-gelu-4-32-32-4", 1.5, False),
]


class Processor:
    """Whether a limit of processor time is over."""

    def __init__(self, seconds: float) -> None:
        self._end = time.process_time() + seconds

    def __call__(self) -> bool:
        """Asked by `until`."""
        return time.process_time() >= self._end


class Work:
    """What the checker counts while it is open."""

    def __init__(self) -> None:
        self.total, self._counted = 0, Effort.spend

    def __enter__(self) -> Work:
        def spend(effort: Effort, more: int) -> None:
            before = effort.effort
            self._counted(effort, more)
            self.total += effort.effort - before

        Effort.spend = spend  # type: ignore[method-assign,assignment]
        return self

    def __exit__(self, *error: object) -> None:
        Effort.spend = self._counted  # type: ignore[method-assign]


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=0.99, help="of largest radii")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    print("| network | norm | radius | nodes | made | file | packed | checked | work |\n" + "|---" * 9 + "|")
    for case in CASES:
        if not options.only or any(name in case.name for name in options.only):
            print(row(case, options.share, options.limit), flush=True)


def row(case: Case, share: float, limit: float) -> str:
    """Measured."""
    graph = bundled(case.name).fix(dict(case.fix)) if case.fix else bundled(case.name)
    center = np.zeros(graph.input_dim) if case.center is None else np.array(case.center, dtype=np.float64)
    known = case.radius or float(certify(graph, center, norm=case.norm, time_limit=limit).radius.certified)
    radius = share * known if case.largest else known
    head = f"| {case.name} | {case.norm} | {radius:.6g} |"
    start = time.process_time()
    try:
        with until(Processor(limit)):
            proof = Proving(graph, Place.everywhere(center, Norm(case.norm))).prove(radius)
    except (NoCover, Undecided) as error:
        return f"{head} open | {time.process_time() - start:.1f} s | {str(error) or 'time is over'} | | | |"
    made = time.process_time() - start
    text = certificate(graph, center, case.norm, proof)
    start = time.process_time()
    with Work() as work:
        fault = check_text(text)[1]
    checked = time.process_time() - start
    if fault is not None:
        return f"{head} rejected: {fault} | | | | | |"
    packed = len(gzip.compress(text.encode()))
    kinds = Counter(token[0] for token in proof.cover)
    nodes = f"{len(proof.cover)} ({kinds['=']} definite)"
    sizes = f"{len(text) / 1e3:.0f} kB | {packed / 1e3:.0f} kB"
    return f"{head} {nodes} | {made:.1f} s | {sizes} | {checked:.2f} s | {work.total / len(text):.0f} |"


def certificate(graph: Graph, center: np.ndarray, norm: str, proof: Proof) -> str:
    """The text of a certificate."""
    facts = {"problem": "local", "norm": Norm(norm), "center": center, "model": ModelFacts.of(graph), "graph": graph}
    ends = Radius(End(proof.radius, "one matrix"), None)
    result = Result(verdict="certified", trust="exact", radius=ends, **facts)  # type: ignore[arg-type]
    return joined(result, [injective(proof.radius, proof.matrix, proof.cover)])


if __name__ == "__main__":
    main()

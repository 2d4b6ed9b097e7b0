"""Options that several commands share: one place for each group."""

from __future__ import annotations

import argparse

MODEL = "a model file (.onnx, .pt2, .keras, .safetensors, .nnet, .mat, .npz, .ir)"
ENGINES = {
    "auto": "default",
    "regions": "exact, up to two inputs",
    "boxes": "exact, any number of inputs",
    "milp": "the paper's method",
}
NUMERIC = (
    *("--center", "--domain", "--radius", "--max-radius", "--tol", "--epsilon", "--time-limit", "--seed", "--threads"),
    *("--value", "--of", "--grid", "--trajectory", "--steps", "--time-each", "--workers"),
)
"""Options whose values may begin with a minus."""


def add_radius(parser: argparse._ActionsContainer, text: str, *, required: bool = False) -> None:
    """The radius of the ball."""
    parser.add_argument("--radius", type=float, required=required, metavar="R", help=text)


def add_time_limit(parser: argparse.ArgumentParser, text: str, default: float | None = None) -> None:
    """When to stop."""
    parser.add_argument("--time-limit", type=float, default=default, metavar="S", help=text)


def add_seed(parser: argparse.ArgumentParser) -> None:
    """What makes runs repeat."""
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is random (default: 0)")


def add_tolerance(parser: argparse.ArgumentParser, default: float, shown: str) -> None:
    """When brackets are closed."""
    text = f"stop when the bracket is this narrow, relatively (default: {shown})"
    parser.add_argument("--tol", type=float, default=default, help=text)


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Who answers, and whom to believe."""
    parser.add_argument("--engine", default="auto", help=_engines())
    parser.add_argument("--backend", help="the solver of the engine milp: highs (default), scip, mip, gurobi, …")
    parser.add_argument("--formulation", help="of the mixed-integer program of the engine milp: paper or tangent")
    parser.add_argument("--require", choices=("exact",), help="believe no solver's floating-point bound")


def _engines() -> str:
    """All engines that may be named, those of other packages last."""
    from ircert.engines import names

    known = [*ENGINES, *(name for name in names() if name not in ENGINES)]
    return ", ".join(f"{name} ({ENGINES[name]})" if name in ENGINES else name for name in known).replace("%", "%%")


def add_json(parser: argparse.ArgumentParser, what: str = "the result") -> None:
    """Where results go."""
    parser.add_argument("--json", metavar="FILE", help=f"write {what} there; - prints it instead of the text")


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Where results and certificates go."""
    add_json(parser)
    parser.add_argument(
        "--certificate", metavar="FILE", help="write a proof that `ircert check` verifies; .gz is packed"
    )


def add_shaping_options(
    parser: argparse.ArgumentParser, bind: str = "bind inputs", keep: str = "keep these outputs"
) -> None:
    """Which inputs and outputs of the model are asked about."""
    text = f"{bind}: --fix 2=2.1 or 2=2.1,3=0"
    parser.add_argument("--fix", action="append", default=[], metavar="I=V", help=text)
    parser.add_argument("--select", metavar="I,…", help=keep)

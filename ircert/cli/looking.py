"""`ircert regions`, `folds`, `preimages`, `lipschitz`, `observe`, `step-size`: what is known about a ball."""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ircert.cli.certify import EXIT_CODES
from ircert.cli.options import add_radius, add_time_limit
from ircert.cli.question import add_place_options, asked_center, asked_domain, asked_graph, floats, integers
from ircert.cli.streams import print_json, say
from ircert.errors import FileError, QueryError

if TYPE_CHECKING:
    from ircert.analysis.lipschitz.bracket import Bracket
    from ircert.ir.graph import Graph

Run = Callable[[argparse.Namespace], int]
Found = tuple[str, dict[str, Any]]
"""The same for people and for programs."""
SHOWN = 20
"""Lines for people at most; JSON has all."""
OPEN = 3
WITHOUT = "of the ball; without a ball, those of --domain"


def add_regions_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert regions` takes."""
    add_place_options(parser, required=False)
    add_radius(parser, WITHOUT)


def add_folds_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert folds` takes."""
    add_regions_options(parser)
    parser.add_argument("--width", type=float, metavar="W", help="of the boxes around folds of smooth networks")


def add_preimages_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert preimages` takes."""
    add_regions_options(parser)
    parser.add_argument("--value", metavar="Y,…", help="the value")
    parser.add_argument("--of", metavar="X,…", help="the value at this point, exactly")


def add_lipschitz_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert lipschitz` takes."""
    add_place_options(parser, required=True)
    add_radius(parser, "of the ball", required=True)
    parser.add_argument("--quotient-norm", metavar="NORM", help="of distances (default: the ball's)")
    add_time_limit(parser, "seconds (default: 20)", 20.0)


def add_observe_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert observe` takes."""
    add_place_options(parser, required=True)
    add_radius(parser, "decide this closed ball (else the largest is searched)")
    for name, what in (("given", "observed"), ("unknown", "asked about (default: the inputs that are not given)")):
        default = "" if name == "given" else None
        parser.add_argument(f"--{name}-inputs", default=default, metavar="I,…", help=f"inputs that are {what}")
        parser.add_argument(f"--{name}-outputs", default=default, metavar="I,…", help=f"outputs that are {what}")
    add_time_limit(parser, "seconds; then the bracket reached is the answer")


def add_step_size_options(parser: argparse.ArgumentParser) -> None:
    """What `ircert step-size` takes."""
    add_place_options(parser, required=False)
    add_radius(parser, "of the ball; without a ball, the whole space")
    parser.add_argument("--step", type=float, metavar="S", help="the model is the step x + S g(x), not g")
    parser.add_argument("--max-step", type=float, default=1e3, metavar="H", help="the longest asked about (1000)")
    parser.add_argument("--tol", type=float, default=1e-3, metavar="T", help="relative width at which to stop (0.001)")
    add_time_limit(parser, "seconds (default: 60)", 60.0)


def refused_first(run: Run, options: argparse.Namespace) -> int:
    """Refuse before the work is done, not after."""
    from ircert.files import check_writable

    if options.json not in (None, "-"):
        check_writable(options.json)
        if os.path.realpath(options.json) == os.path.realpath(options.model):
            raise FileError("this is the model itself", path=options.json, remedy="choose another place")
    return run(options)


def regions(options: argparse.Namespace) -> int:
    """All linear regions of a ball, or of a domain."""
    import ircert

    graph = asked_graph(options)
    found = ircert.enumerate_regions(graph, _ball(options), domain=asked_domain(options))
    signs = found.signs.tolist()
    counts = {"positive": signs.count(1), "singular": signs.count(0), "negative": signs.count(-1)}
    square = graph.input_dim == graph.output_dim
    kinds = [f"{counts['positive']} keep the orientation", f"{counts['negative']} turn it over"]
    kinds = [*kinds, f"{counts['singular']} are singular"] if square else [f"{counts['singular']} are not injective"]
    entries = [
        {
            "vertices": region.vertices,
            "matrix": region.matrix,
            "offset": region.offset,
            "determinant": region.determinant,
            "sign": sign,
            "neighbors": region.neighbors,
        }
        for region, sign in zip(found, signs, strict=True)
    ]
    text = f"{len(found)} linear regions: {', '.join(kinds)}"
    return _told(
        options, (text, {"schema": "ircert.regions/1", "count": len(found), "signs": counts, "regions": entries})
    )


def folds(options: argparse.Namespace) -> int:
    """Where the orientation turns over in a ball, or in a domain."""
    import ircert

    found = ircert.fold_set(asked_graph(options), _ball(options), domain=asked_domain(options), width=options.width)
    told = _curves if hasattr(found, "curves") else _facets if hasattr(found, "facets") else _segments
    return _told(options, told(found))


def _segments(found: Any) -> Found:
    lines = [f"{len(found)} facets at which the orientation turns over, {len(found.singular)} singular regions"]
    lines += [" - ".join(_point(end) for end in segment) for segment in found.segments]
    fields = {
        "schema": "ircert.folds/1",
        "segments": found.segments,
        "determinants": found.determinants,
        "singular": found.singular,
        "winding": found.points,
    }
    return _cut(lines), fields


def _facets(found: Any) -> Found:
    singular = f"{len(found.singular)} singular regions"
    lines = [f"{len(found)} facets at which the orientation turns over, {singular}, of {found.regions} linear regions"]
    lines += [" - ".join(_point(corner) for corner in facet) for facet in found.facets]
    fields = {
        "schema": "ircert.folds/1",
        "facets": found.facets,
        "determinants": found.determinants,
        "singular": found.singular,
    }
    return _cut(lines), fields


def _curves(found: Any) -> Found:
    crossed = int(found.crossed.sum())
    text = (
        f"{len(found.boxes)} boxes at most {found.width:.3g} wide hold the fold set: "
        f"it surely crosses {crossed} of them, and {len(found.curves)} lines go through them"
    )
    fields = {
        "schema": "ircert.folds/1",
        "boxes": found.boxes,
        "crossed": found.crossed,
        "width": found.width,
        "curves": found.curves,
    }
    return text, fields


def preimages(options: argparse.Namespace) -> int:
    """All points of a ball with a value; 0 where all are known, 3 where some places are undecided."""
    import ircert
    from ircert.analysis.smooth.preimages import UndecidedPreimages

    graph = asked_graph(options)
    value = _value(options, graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndecidedPreimages)  # it is what is printed
        found = ircert.preimages(graph, value, _ball(options), domain=asked_domain(options))
    lines = [str(found), *(" - ".join(_point(corner) for corner in each.set) for each in found)]
    entries = [{"point": each.point, "corners": each.set, "exact": _exact(each)} for each in found]
    fields = {
        "schema": "ircert.preimages/1",
        "complete": found.complete,
        "preimages": entries,
        "undecided": found.undecided,
    }
    return _told(options, (_cut(lines), fields), 0 if found.complete else OPEN)


def _value(options: argparse.Namespace, graph: Graph) -> list[Any]:
    """The value that is asked about: as given, or the exact one of a point; a ball around it where there is no such."""
    from ircert.questions.network import Network

    if (options.value is None) == (options.of is None):
        raise QueryError("one value is needed", remedy="give --value Y,… or --of X,… (the value at a point)")
    if options.value is not None:
        return floats(options.value, "--value")
    point = floats(options.of, "--of")
    if len(point) != graph.input_dim:
        problem = f"--of has {len(point)} coordinates but the network has {graph.input_dim} inputs"
        raise QueryError(problem, remedy="give one number per input")
    return list(graph.enclosure(point) if Network(graph).has_curves else graph.exact(point))


def _exact(found: Any) -> Any:
    return getattr(found, "exact", None) or found.middle


def lipschitz(options: argparse.Namespace) -> int:
    """How much distances change on a ball."""
    import ircert

    ball = _ball(options)
    if ball is None:
        raise QueryError("a ball is needed", remedy="give --center and --radius")
    found = ircert.bilipschitz(
        asked_graph(options), ball, options.quotient_norm, domain=asked_domain(options), time_limit=options.time_limit
    )
    fields = {
        "schema": "ircert.lipschitz/1",
        "norm": found.norm,
        **{name: _bracket(getattr(found, name)) for name in ("upper", "lower", "inverse", "constant")},
        "float32_round_trip": found.float32_round_trip,
        "witness": None if found.witness is None else {"x": found.witness.x, "y": found.witness.y},
    }
    return _told(options, (found.summary(), fields))


def step_size(options: argparse.Namespace) -> int:
    """How long steps may be; exit codes as those of `certify`."""
    import ircert

    whole = options.center is None and options.radius is None
    found = ircert.step_size(
        asked_graph(options),
        None if whole else _ball(options),
        domain=asked_domain(options),
        step=options.step,
        max_step=options.max_step,
        tol=options.tol,
        time_limit=options.time_limit,
    )
    return _told(options, (found.summary(), found.to_dict()), EXIT_CODES[found.verdict])


def _bracket(bracket: Bracket) -> dict[str, Any]:
    evidence = {"low": bracket.low.evidence, "high": bracket.high.evidence}
    return {"low": float(bracket.low), "high": float(bracket.high), "exact": bracket.exact, "evidence": evidence}


def observe(options: argparse.Namespace) -> int:
    """Whether some inputs and outputs determine others; exit codes as those of `certify`."""
    import ircert

    found = ircert.observability(
        asked_graph(options),
        _indices(options.given_inputs, "--given-inputs") or [],
        _indices(options.given_outputs, "--given-outputs") or [],
        asked_center(options),
        unknown_inputs=_indices(options.unknown_inputs, "--unknown-inputs"),
        unknown_outputs=_indices(options.unknown_outputs, "--unknown-outputs"),
        norm=options.norm,
        radius=options.radius,
        domain=asked_domain(options),
        time_limit=options.time_limit,
    )
    sides = {"given": found.given, "unknown": found.unknown}
    fields = {
        "schema": "ircert.observability/1",
        **{name: {"inputs": side.inputs, "outputs": side.outputs} for name, side in sides.items()},
        "result": json.loads(found.result.to_json()),
    }
    return _told(options, (found.summary(), fields), EXIT_CODES[found.verdict])


def _indices(given: str | None, what: str) -> list[int] | None:
    return None if given is None else integers(given, what) if given else []


# --- common to all ---------------------------------------------------------------------------------------------------


def _ball(options: argparse.Namespace) -> tuple[list[float], float, str] | None:
    """The ball; None where the domain alone is asked about."""
    if options.center is None and options.radius is None:
        if options.domain is None:
            raise QueryError("no ball and no domain were given", remedy="give --center and --radius, or --domain LO:HI")
        return None
    if options.center is None or options.radius is None:
        raise QueryError("a ball has a centre and a radius", remedy="give both --center and --radius")
    return asked_center(options), options.radius, options.norm


def _told(options: argparse.Namespace, found: Found, code: int = 0) -> int:
    from ircert.files import write_text
    from ircert.result.json_form import plain

    text, fields = found
    if options.json is not None:
        written = json.dumps(plain(fields), indent=2, allow_nan=False) + "\n"
        if options.json == "-":
            print_json(written)
            return code
        write_text(options.json, written)
    say(text)
    return code


def _cut(lines: list[str]) -> str:
    if len(lines) > SHOWN + 1:
        left = len(lines) - SHOWN - 1
        lines = [*lines[: SHOWN + 1], f"… and {left} more: --json FILE has all"]
    return "\n".join([lines[0], *(f"  {line}" for line in lines[1:])])


def _point(values: Any) -> str:
    return f"({', '.join(f'{float(v):.9g}' for v in values)})"

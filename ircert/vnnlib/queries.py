"""A VNN-LIB 2.0 query as a question that ircert answers, where it has one of the three shapes.

The shape is that of `text.py`, whatever the names and the order: two copies of a network whose outputs are equal,
bounds on their inputs or balls that hold them (`balls.py`), and one disjunction that says that the inputs differ
(`local`; `pseudo`, where the bounds leave one copy a single point) or that outputs of a second pair of copies differ,
which read the same inputs (`transform`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.util import find_spec
from math import inf, prod
from typing import Any, TypeAlias

from ircert.errors import IrcertError, MissingExtra
from ircert.vnnlib.balls import ExactBall, Signs, ball_of_sides, ball_of_squares, side_of_signs
from ircert.vnnlib.terms import Entry, Polynomial, difference, value

Side: TypeAlias = tuple[Fraction | float, bool]
"""A bound, and whether the number may be equal to it."""
SHAPES = "ircert answers whether two points of a box or ball share an output: see `ircert export -o FILE.vnnlib`"


@dataclass(frozen=True)
class Tensor:
    """An input or output as it is declared."""

    name: str
    kind: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


@dataclass(frozen=True)
class Copy:
    """A declared network; `root` is the one that it is a copy of."""

    name: str
    root: str
    input: Tensor
    output: Tensor


@dataclass
class Bounds:
    """What is said of one input."""

    low: Side = (-inf, True)
    high: Side = (inf, True)

    def admits(self, value: Fraction) -> bool:
        """Whether a number keeps them."""
        below, above = value > self.low[0], value < self.high[0]
        return (below or (self.low[1] and value == self.low[0])) and (above or (self.high[1] and value == self.high[0]))

    def tighten(self, relation: str, value: Fraction) -> None:
        """One more bound."""
        strict = "=" not in relation
        if relation in (">", ">=", "==") and (value, strict) > (self.low[0], not self.low[1]):
            self.low = (value, not strict)
        if relation in ("<", "<=", "==") and (-value, strict) > (-self.high[0], not self.high[1]):
            self.high = (value, not strict)


@dataclass
class Asked:
    """A query that was understood.

    copies:     x's and y's network, and the two that read the same inputs, if there are some
    separation: None, or how far apart they must be in some coordinate
    """

    copies: list[Copy]
    bounds: dict[Entry, Bounds]
    problem: str
    separation: Fraction | None = None
    tensors: list[Tensor] = field(default_factory=list)
    balls: dict[str, ExactBall] = field(default_factory=dict)

    def box(self, which: int) -> list[Bounds]:
        """The bounds of x (0) or y (1)."""
        tensor = self.copies[which].input
        return [self.bounds.get((tensor.name, i), Bounds()) for i in range(tensor.size)]

    def ball(self, which: int) -> ExactBall | None:
        """The ball that x (0) or y (1) lies in, beside its bounds."""
        return self.balls.get(self.copies[which].input.name)


def parsed(text: str) -> Any:
    """The query as the package vnnlib reads it; IrcertError where that refuses it."""
    if find_spec("vnnlib") is None:
        raise MissingExtra("vnnlib", extra="vnnlib", purpose="reading VNN-LIB queries")
    import vnnlib

    try:
        return vnnlib.parse_query_string(text)
    except vnnlib.VNNLibException as error:
        raise IrcertError(f"this is no VNN-LIB 2.0 query: {_reason(str(error))}") from None
    except IndexError:  # std::out_of_range, of its conversion to doubles
        raise IrcertError(
            "the package vnnlib reads no number beyond the range of doubles (about 1e-308 to 1e308)",
            remedy="scale the query; of a ball of norm 2 the square of the radius is such a number",
        ) from None


def _reason(said: str) -> str:
    """The package's words on one line; of errors that it lists as JSON the first one."""
    try:
        first = json.loads(said)["errors"][0]
        said = f"line {first['line']}: {first['message']}: {first['hint']}"
    except (ValueError, LookupError, TypeError):
        pass  # plain words, as for syntax errors
    return " ".join(said.split())[:300]


def asked(query: Any) -> Asked:
    """The question of a query; IrcertError where it has another shape."""
    copies = [_copy(network, query) for network in query.networks]
    facts = _Facts(copies)
    for assertion in query.assertions:
        for part in _conjuncts(assertion.expr):
            facts.take(part)
    return facts.question()


def _copy(network: Any, query: Any) -> Copy:
    if len(network.inputs) != 1 or len(network.outputs) != 1 or network.hidden:
        raise _other_shape(f"the network `{network.name}` has several inputs or outputs, or hidden ones")
    if network.isometric_to:
        raise _other_shape(f"the network `{network.name}` is only isomorphic to another")
    first, last = (
        Tensor(each.name, _kind(each), tuple(int(size) for size in each.shape))
        for each in (network.inputs[0], network.outputs[0])
    )
    for tensor in (first, last):
        if tensor.kind != "real":
            raise IrcertError(
                f"`{tensor.name}` is declared {tensor.kind}: ircert reasons about real numbers",
                remedy="declare inputs and outputs `real`",
            )
    return Copy(network.name, network.equal_to or network.name, first, last)


def _kind(tensor: Any) -> str:
    """The declared type; one that the package does not know, such as `Real`, as it is written."""
    known = str(tensor.dtype.name)
    return str(tensor).split()[2] if known == "Unknown" else known.lower()


def _conjuncts(expression: Any) -> Iterator[Any]:
    if type(expression).__name__ == "And":
        for part in expression.args:
            yield from _conjuncts(part)
    else:
        yield expression


RELATIONS = {
    "GreaterThan": ">",
    "LessThan": "<",
    "GreaterEqual": ">=",
    "LessEqual": "<=",
    "Equal": "==",
    "NotEqual": "!=",
}
TURNED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "==": "==", "!=": "!="}


class _Facts:
    """What the assertions say, one by one."""

    def __init__(self, copies: list[Copy]) -> None:
        self.copies = copies
        self.inputs = {copy.input.name: copy for copy in copies}
        self.outputs = {copy.output.name: copy for copy in copies}
        self.bounds: dict[Entry, Bounds] = {}
        self.balls: dict[str, ExactBall] = {}
        self.sides: dict[str, dict[Signs, Fraction]] = {}
        self.equal: set[frozenset[Entry]] = set()
        self.differing: tuple[set[frozenset[Entry]], Fraction | None] | None = None

    def take(self, part: Any) -> None:
        """One assertion, or one part of a conjunction."""
        kind = type(part).__name__
        if kind in ("Or", "NotEqual"):
            self._differ(list(part.args) if kind == "Or" else [part])
            return
        relation = RELATIONS.get(kind)
        if relation is None:
            raise _other_shape(f"not understood: {_shown(part)}")
        left, right = value(part.lhs), value(part.rhs)
        if isinstance(left, Fraction) and not isinstance(right, Fraction):
            left, right, relation = right, left, TURNED[relation]
        if isinstance(left, tuple) and isinstance(right, Fraction) and left[0] in self.inputs:
            self.bounds.setdefault(left, Bounds()).tighten(relation, right)
        elif isinstance(left, tuple) and isinstance(right, tuple) and relation == "==":
            self.equal.add(frozenset((left, right)))
        elif not self._limits(part, RELATIONS[kind]):
            raise _other_shape(f"not understood: {_shown(part)}")

    def _limits(self, part: Any, relation: str) -> bool:
        """Take an inequality between sums, where it bounds an entry or is a ball, or a side of one."""
        ends = {"<=": (part.lhs, part.rhs), ">=": (part.rhs, part.lhs)}.get(relation)
        below = None if ends is None else difference(*ends)
        names = {name for entries in below or () for name, _ in entries}
        if below is None or len(names) != 1 or not names <= self.inputs.keys():
            return False
        name = names.pop()
        return self._bounds(below) or self._is_side(below, name) or self._is_ball(below, name)

    def _bounds(self, below: Polynomial) -> bool:
        entries, *more = below.keys() - {()}
        if more or len(entries) != 1:
            return False
        factor = below[entries]
        bound = -below.get((), Fraction(0)) / factor
        self.bounds.setdefault(entries[0], Bounds()).tighten("<=" if factor > 0 else ">=", bound)
        return True

    def _is_side(self, below: Polynomial, name: str) -> bool:
        side = side_of_signs(below, name, self.inputs[name].input.size)
        if side is None:
            return False
        signs, bound = side
        sides = self.sides.setdefault(name, {})
        sides[signs] = min(bound, sides.get(signs, bound))
        return True

    def _is_ball(self, below: Polynomial, name: str) -> bool:
        ball = ball_of_squares(below, name, self.inputs[name].input.size)
        if ball is not None:
            self._put(name, ball)
        return ball is not None

    def _put(self, name: str, ball: ExactBall) -> None:
        if self.balls.setdefault(name, ball) != ball:
            raise _other_shape(f"`{name}` lies in two balls")

    def _close_sides(self) -> None:
        """Sides become balls of norm 1."""
        for name, sides in self.sides.items():
            ball = ball_of_sides(sides)
            if ball is None:
                raise _other_shape(f"not understood: sums of entries of `{name}` that are no ball of norm 1 together")
            self._put(name, ball)

    def _differ(self, parts: list[Any]) -> None:
        if self.differing is not None:
            raise _other_shape("there is more than one disjunction")
        found = [_difference(part) for part in parts]
        ways: dict[frozenset[Entry], list[tuple[str, Fraction | None]]] = {}
        for pair, relation, far in found:
            ways.setdefault(pair, []).append((relation, far))
        kinds = {tuple(sorted(relation for relation, _ in each)) for each in ways.values()}
        fars = {far for _, _, far in found}
        if kinds not in ({("!=",)}, {("<", ">")}) or len(fars) != 1:
            raise _other_shape("the disjunction does not say in both directions that two points differ")
        self.differing = set(ways), fars.pop()

    def question(self) -> Asked:
        """All together."""
        self._close_sides()
        if self.differing is None:
            raise _other_shape("nothing says that two points differ")
        pairs, separation = self.differing
        first, second = self._compared(pairs)
        tensors = [tensor for copy in self.copies for tensor in (copy.input, copy.output)]
        if first.input.name in {name for pair in pairs for name, _ in pair}:
            if len(self.copies) != 2:
                raise _other_shape("there are more than two networks")
            self._need(first.output, second.output)
            found = Asked([first, second], self.bounds, "local", separation, tensors, self.balls)
        else:
            copies = [*self._givens(first, second), first, second]
            found = Asked(copies, self.bounds, "transform", separation, tensors, self.balls)
        return self._with_points(found)

    def _compared(self, pairs: set[frozenset[Entry]]) -> tuple[Copy, Copy]:
        """The copies whose inputs or outputs differ, in all entries."""
        names = sorted({name for pair in pairs for name, _ in pair})
        for side in (self.inputs, self.outputs):
            if len(names) == 2 and all(name in side for name in names):
                first, second = (copy for copy in self.copies if copy in (side[names[0]], side[names[1]]))
                size = (first.input if side is self.inputs else first.output).size
                wanted = {frozenset(((names[0], i), (names[1], i))) for i in range(size)}
                if first.root == second.root and pairs == wanted:
                    return first, second
        raise _other_shape("what differs is not all inputs, or all outputs, of two copies of one network")

    def _givens(self, first: Copy, second: Copy) -> list[Copy]:
        """The copies of the given network that read the same inputs."""
        others = [copy for copy in self.copies if copy not in (first, second)]
        if len(others) != 2 or others[0].root != others[1].root:
            raise _other_shape("the given network has to have two copies")
        for x, y in (others, others[::-1]):
            if self._has(x.input, first.input) and self._has(y.input, second.input):
                self._need(x.output, y.output)
                self._join(first.input, x.input)
                self._join(second.input, y.input)
                return [x, y]
        raise _other_shape("the copies of the two networks do not read the same inputs")

    def _join(self, there: Tensor, here: Tensor) -> None:
        """Bounds and balls of one name of a point hold for the other."""
        if (ball := self.balls.pop(there.name, None)) is not None:
            self._put(here.name, ball)
        for i in range(here.size):
            given = self.bounds.pop((there.name, i), None)
            if given is not None:
                mine = self.bounds.setdefault((here.name, i), Bounds())
                for relation, (value, closed) in ((">", given.low), ("<", given.high)):
                    if isinstance(value, Fraction):
                        mine.tighten(relation + "=" * closed, value)

    def _has(self, one: Tensor, other: Tensor) -> bool:
        pairs = (frozenset(((one.name, i), (other.name, i))) for i in range(one.size))
        return one.size == other.size and all(pair in self.equal for pair in pairs)

    def _need(self, one: Tensor, other: Tensor) -> None:
        if not self._has(one, other):
            raise _other_shape(f"`{one.name}` and `{other.name}` are not equal in all entries")

    def _with_points(self, found: Asked) -> Asked:
        """Tell `pseudo` from `local`, by the boxes and balls."""
        x, y = ((found.box(k), found.ball(k)) for k in (0, 1))
        single = [_is_point(box) and ball is None for box, ball in (x, y)]
        if found.problem == "local" and any(single) and x != y:
            if single[0]:
                found.copies = found.copies[::-1]
            found.problem = "pseudo"
        elif x != y:
            raise _other_shape("the two points have different boxes or balls, and neither is a single point")
        for entry in found.box(0):
            limited = isinstance(entry.low[0], Fraction) and isinstance(entry.high[0], Fraction)
            if not limited and found.ball(0) is None:
                raise _other_shape("an input has no bounds")
        return found


def _is_point(box: list[Bounds]) -> bool:
    return all(entry.low[0] == entry.high[0] for entry in box)


def _difference(part: Any) -> tuple[frozenset[Entry], str, Fraction | None]:
    """a != b, or a - b >= far, or a - b <= -far, which is "<"."""
    kind = type(part).__name__
    relation = RELATIONS.get(kind)
    if relation == "!=":
        left, right = value(part.lhs), value(part.rhs)
        if isinstance(left, tuple) and isinstance(right, tuple):
            return frozenset((left, right)), "!=", None
    if relation in (">=", "<=") and type(part.lhs).__name__ == "Minus" and len(part.lhs.rest) == 1:
        one, other, far = value(part.lhs.head), value(part.lhs.rest[0]), value(part.rhs)
        if isinstance(one, tuple) and isinstance(other, tuple) and isinstance(far, Fraction):
            size = far if relation == ">=" else -far
            turned = one > other  # both directions of a pair count, whichever is written first
            if size > 0:
                return frozenset((one, other)), "<>"[(relation == ">=") != turned], size
    raise _other_shape(f"not understood in a disjunction: {_shown(part)}")


def _shown(part: Any) -> str:
    return " ".join(str(part).split())[:120]


def _other_shape(what: str) -> IrcertError:
    return IrcertError(f"this query has another shape: {what}", remedy=SHAPES)

"""Text to graph: the inverse of the printer, with errors that point at a line and a column."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from sys import intern
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy.sparse import coo_array

from ircert.errors import OpError, ParseError
from ircert.ir.arrays import LARGEST
from ircert.ir.graph import Graph, Node
from ircert.ir.node_bounds import NodeBounds, Region
from ircert.ir.ops import BY_KIND, Op, kinds, operation
from ircert.ir.printer import HEADER
from ircert.ir.verify import NAME

if TYPE_CHECKING:
    from ircert.ir.arrays import Matrix

_SKIP = re.compile(r"(?>\s+|#[^\n]*)*+")  # possessive: there is nothing to remember of what was skipped
_WORD = re.compile(r"[\"{tfn]")  # true, false, null, a string or an object
SPARE = 2**25
"""Numbers that a graph may hold beyond those that its text has room for, in zero biases and empty rows."""
MOST_NAMES, MOST_LISTS = 2**20, 2**22
"""How many names and lists a text may have: each takes far more memory than its characters."""

# Resolves a reference @"file:key" to an array; ValueError if it cannot.
Resolve = Callable[[str], "Matrix"]


def parse(text: str, *, source: str = "", resolve: Resolve | None = None) -> Graph:
    """The graph that `text` describes; ParseError or GraphError if there is none."""
    if not isinstance(text, str):
        raise TypeError(f"parse takes the text of a graph (str), got {type(text).__name__}; use ircert.load for files")
    return _Parser(text, source, resolve or _no_references).graph()


def _no_references(reference: str) -> Matrix:
    raise ValueError(f"the array @{reference!r} lies in another file; load the .ir file with ircert.load")


def _no_constants(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a finite number")


def _exact_integer(digits: str) -> int:
    value = int(digits) if len(digits) <= 310 else None
    if value is None or (abs(value) > 2**53 and int(float(value)) != value):
        raise ValueError(f"the integer {digits[:30]} is not a float64 number")
    return value


class _Parser:
    def __init__(self, text: str, source: str, resolve: Resolve) -> None:
        self.text = text
        self.source = f"{source}: " if source else ""
        self.resolve = resolve
        self.at = 0
        self.spare = SPARE + len(text)
        self.resolved: dict[str, Any] = {}
        self.names = 0
        self.kinds = dict(BY_KIND)
        self.low: dict[str, Any] = {}
        self.high: dict[str, Any] = {}
        self.json = json.JSONDecoder(parse_constant=_no_constants, parse_int=_exact_integer)

    def graph(self) -> Graph:
        if not self._take(HEADER) or (self.text[self.at : self.at + 1] or " ") not in " \t\r\n#":
            self._fail("this is not the text of a graph", remedy=f"it starts with the line `{HEADER}`")
        if self.text.count("[") > MOST_LISTS:
            self._fail(f"the graph has more than {MOST_LISTS} lists", remedy="keep large arrays in the file beside it")
        seal, where = self._seal(), self._region()
        nodes = []
        while not self._word_follows("return"):
            nodes.append(self._statement())
            self._bounds(nodes[-1].name, where is not None)
        self._expect("return", "")
        start = self.at
        output = self._name("the name of the output node")
        self._skip()
        if self.at < len(self.text):
            self._fail("nothing may follow `return`", remedy="remove the rest of the text")
        graph = Graph(nodes, output, where and NodeBounds(*where, self.low, self.high))
        if seal is not None and seal != graph.sha256:
            self.at = start
            self._fail(
                f"the graph's sha256 is {graph.sha256[:12]}…, the text says {seal[:12]}…",
                remedy="the file or its arrays were changed; remove the sha256 line if that was on purpose",
            )
        return graph

    def _seal(self) -> str | None:
        if not self._word_follows("sha256"):
            return None
        self._expect("sha256", "")
        self._skip()
        value = self._json()
        if not isinstance(value, str):
            self._fail("sha256 is followed by a string")
        return value

    def _region(self) -> tuple[Region, str] | None:
        """`bounds on ball(center=…, radius=…, …) by "method"`."""
        if not self._word_follows("bounds"):
            return None
        start = self.at
        for word in ("bounds", "on", "ball"):
            self._expect(word, "`bounds on ball(…)`")
        operands, given = self._arguments()
        self._expect("by", '`by "method"` after the ball')
        method = self._json()
        known = {field.name: field for field in fields(Region)}
        missing = [n for n, field in known.items() if n not in given and field.default is MISSING]
        if operands or missing or not given.keys() <= known.keys() or not isinstance(method, str):
            self.at = start
            self._fail("this is no set of bounds", remedy=f'write `bounds on ball({"=…, ".join(known)}=…) by "…"`')
        try:
            return Region(**{name: _region_value(name, value) for name, value in given.items()}), method
        except ValueError as error:
            self.at = start
            self._fail(str(error))

    def _bounds(self, name: str, known: bool) -> None:
        """`in [low, high]` behind a statement."""
        if not self._word_follows("in"):
            return
        if not known:
            self._fail("bounds without a set on which they hold", remedy="say `bounds on ball(…)` above the nodes")
        self._expect("in", "")
        self._expect("[", "`[low, high]`")
        self.low[name] = self._value()
        self._expect(",", "`,` between the lower and the upper bounds")
        self.high[name] = self._value()
        self._expect("]", "`]` after the upper bounds")

    def _statement(self) -> Node:
        self._skip()
        start = self.at
        name = self._name("a statement `name = op(…)` or `return name`")
        self._expect("=", "`=` after the node's name")
        self._skip()
        at_kind = self.at
        kind = self._name("the name of an operation")
        found = self._operation(kind, at_kind)
        operands, attributes = self._arguments()
        after, self.at = self.at, start
        op = self._op(found, attributes)
        self.spare -= op.held
        if self.spare < 0:
            self._fail("the arrays of the graph hold far more numbers than are written here")
        self.at = after
        return Node(name, op, tuple(operands))

    def _operation(self, kind: str, start: int) -> type[Op]:
        """The operation of a word; those of other packages are looked for where it is none of ours."""
        try:
            if kind not in self.kinds:
                self.kinds[kind] = operation(kind)
            return self.kinds[kind]
        except OpError as error:
            self.at = start
            if "no such" not in error.problem:
                self._fail(str(error))
            self._fail(f"unknown operation `{kind[:60]}`", remedy=f"the operations are {', '.join(kinds())}")

    def _arguments(self) -> tuple[list[str], dict[str, Any]]:
        self._expect("(", "`(` after the operation")
        operands: list[str] = []
        attributes: dict[str, Any] = {}
        while not self._take(")"):
            if operands or attributes:
                self._expect(",", "`,` or `)`")
            self._skip()
            at_word = self.at
            word = self._name("an operand or an attribute")
            if not self._take("="):
                if attributes:
                    self.at = at_word
                    self._fail("operands come before attributes")
                operands.append(word)
            elif word in attributes:
                self.at = at_word
                self._fail(f"the attribute `{word}` is given twice")
            else:
                attributes[word] = self._value()
        return operands, attributes

    def _op(self, kind: type[Op], attributes: dict[str, Any]) -> Op:
        known = {field.name: field for field in fields(kind)}
        for name in attributes:
            if name not in known:
                self._fail(
                    f"{kind.kind} has no attribute `{name[:60]}`", remedy=f"it has: {', '.join(known) or 'none'}"
                )
        for name, field in known.items():
            if name not in attributes and field.default is MISSING and name != "bias":
                self._fail(f"{kind.kind} needs the attribute `{name}`")
        try:
            return kind(**attributes)
        except (ValueError, TypeError, ArithmeticError) as error:
            self._fail(f"{kind.kind}: {error}")

    def _value(self) -> Any:
        self._skip()
        start = self.at
        try:
            if self._take("@"):
                return self._resolved(str(self._json()))
            if self._word_follows("sparse"):
                self._expect("sparse", "")
                return _sparse(self._json(), self._json())
        except (ValueError, OverflowError) as error:
            self.at = start
            self._fail(str(error))
        if self._take("<"):
            self._fail("this array was left out for display", remedy="write the graph with ircert.save instead")
        return self._json()

    def _resolved(self, reference: str) -> Any:
        """An array in another file; its numbers are there once, however often it is referred to."""
        if reference not in self.resolved:
            array = self.resolve(reference)
            self.resolved[reference] = array
            self.spare += array.size if isinstance(array, np.ndarray) else 2 * array.nnz + array.shape[0]
        return self.resolved[reference]

    def _json(self) -> Any:
        self._skip()
        start = self.at
        try:
            value, self.at = self.json.raw_decode(self.text, start)
            if isinstance(value, list) and _WORD.search(self.text, start, self.at):
                self.at = start
                raise ValueError("a list holds numbers or lists of numbers")
        except json.JSONDecodeError as error:
            self.at = error.pos
            self._fail(f"not a number, string or list ({error.msg})")
        except RecursionError:
            self._fail("lists are nested too deeply")
        except ValueError as error:
            self._fail(str(error))
        return value

    # --- tokens ----------------------------------------------------------------------------------------------------

    def _skip(self) -> None:
        match = _SKIP.match(self.text, self.at)
        assert match is not None  # the pattern matches the empty string
        self.at = match.end()

    def _take(self, token: str) -> bool:
        self._skip()
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def _expect(self, token: str, wanted: str) -> None:
        if not self._take(token):
            self._fail(f"expected {wanted}")

    def _word_follows(self, word: str) -> bool:
        """Whether the next name is `word`, used as a keyword rather than defined as a node."""
        self._skip()
        match = NAME.match(self.text, self.at)
        if match is None or match.group() != word:
            return False
        following = _SKIP.match(self.text, match.end())
        return following is None or not self.text.startswith("=", following.end())

    def _name(self, wanted: str) -> str:
        self._skip()
        match = NAME.match(self.text, self.at)
        if match is None:
            self._fail(f"expected {wanted}")
        self.names += 1
        if self.names > MOST_NAMES:
            self._fail(f"the graph has more than {MOST_NAMES} names of nodes, operands and attributes")
        self.at = match.end()
        return intern(match.group())  # a text may name a node a million times

    def _fail(self, problem: str, *, remedy: str | None = None) -> NoReturn:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - (self.text.rfind("\n", 0, self.at) + 1) + 1
        found = self.text[self.at : self.at + 30].split("\n")[0]
        shown = f", found {found!r}" if problem.startswith("expected") else ""
        shown = shown if found or not shown else ", found the end of the line"
        raise ParseError(problem + shown, line=line, column=column, source=self.source, remedy=remedy)


def _region_value(name: str, value: Any) -> Any:
    """A field of a region, as the type it has there; ValueError if it is of another."""
    numbers = isinstance(value, list) and all(isinstance(v, int | float) for v in value)
    if name in ("center", "low", "high") and numbers:
        return tuple(float(v) for v in value)
    if name == "radius" and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if (name == "copies" and type(value) is int) or (name == "norm" and isinstance(value, str)):
        return value
    raise ValueError(f"`{name}` of a set of bounds cannot be {str(value)[:60]}")


def _sparse(shape: Any, triplets: Any) -> Any:
    """sparse [rows, columns] [[i, j, value], …]."""
    if not (isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and 0 < n <= LARGEST for n in shape)):
        raise ValueError(f"`sparse` is followed by [rows, columns], each at most {LARGEST}")
    if not isinstance(triplets, list) or not all(isinstance(t, list) and len(t) == 3 for t in triplets):
        raise ValueError("a sparse array is a list of [row, column, value]")
    if not all(type(t[0]) is int and type(t[1]) is int for t in triplets):
        raise ValueError("rows and columns of a sparse array are integers")
    places = [(t[0], t[1]) for t in triplets]
    if len(set(places)) < len(places):
        raise ValueError("a sparse array names a place twice")
    if not all(0 <= i < shape[0] and 0 <= j < shape[1] for i, j in places):
        raise ValueError(f"a sparse array of shape {shape} names a place outside it")
    if not all(isinstance(t[2], int | float) and not isinstance(t[2], bool) for t in triplets):
        raise ValueError("the values of a sparse array are numbers")
    rows = np.array([i for i, _ in places], dtype=np.int64)
    columns = np.array([j for _, j in places], dtype=np.int64)
    return coo_array((np.array([float(t[2]) for t in triplets]), (rows, columns)), shape=tuple(shape)).tocsr()

"""What solvers write as solutions: names and values, as texts, from the kinds of files that people bring."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any, NoReturn, TypeAlias
from xml.etree import ElementTree

Pair: TypeAlias = tuple[str, str]

KINDS = "the solution files of HiGHS, CBC, SCIP, Gurobi, GLPK and CPLEX, JSON, and lines `name value` can be read"
PLACE = "#"
"""Begins the names of variables that a file knows by their places alone, from 1 on."""
CBC = re.compile(r"(?P<status>.*) - objective(?: value)?\s+\S+")
UNSOLVED = re.compile(r"infeasible|unbounded|unknown|no integer solution|no solution", flags=re.IGNORECASE)
GLPK = ("OPTIMAL", "FEASIBLE", "INTEGER OPTIMAL", "INTEGER NON-OPTIMAL")
GLPK_MARKS = ("*", "B", "NL", "NU", "NF", "NS")
GLPK_RAW = {"mip": ("of", 2), "bas": ("f", 3), "ipt": ("of", 2)}
"""The marks of solutions that are there, and where a value stands on a line, for each of its solvers."""


class Fault(Exception):
    """What is wrong with a text."""


def pairs_of(text: str) -> Iterable[Pair]:
    """Names and values; Fault where there is no solution."""
    if text.lstrip().startswith("{"):
        return _json(text)
    if text.lstrip().startswith("<"):
        return _cplex(text)
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    first = lines[0].strip() if lines else ""
    if not first or first.lower().startswith("no solution"):
        raise Fault("there is no solution inside" if first else "the file is empty")
    if first == "Model status":
        return _highs(lines)
    if first == "Columns":
        return _highs_table(lines)
    if match := CBC.fullmatch(first):
        return _cbc(match["status"], lines[1:])
    if first.startswith(("solution status:", "objective value:")):
        return _scip(lines)
    if first.startswith("Problem:"):
        return _glpk(lines)
    if re.match(r"c\b|s (mip|bas|ipt) ", first):
        return _glpk_raw(lines)
    return _plain(lines)


def _highs(lines: list[str]) -> Iterator[Pair]:
    """# Primal solution values / Feasible / Objective … / # Columns N / name value …; -N if zeros are left out."""
    starts = [i for i, line in enumerate(lines) if line.startswith("# Columns ")]
    if "# Primal solution values" not in lines or not starts:
        _no_solution(lines[1] if len(lines) > 1 else "")
    if lines[lines.index("# Primal solution values") + 1] != "Feasible":
        _no_solution(lines[1])
    listed = list(takewhile(lambda line: not line.startswith("#"), lines[starts[0] + 1 :]))
    count = lines[starts[0]].removeprefix("# Columns ").removeprefix("-")
    if count != str(len(listed)):
        raise Fault(f"{count[:20]} variables are announced but {len(listed)} follow: the file is incomplete")
    for line in listed:
        words = line.split()
        if len(words) not in (2, 3):
            _not_a_line(line)
        yield words[0], words[1]


def _highs_table(lines: list[str]) -> Iterator[Pair]:
    """Index Status Lower Upper Primal Dual Type Name: empty places are possible, so columns are told by position."""
    title = lines[1] if len(lines) > 1 else ""
    if title.split()[:1] != ["Index"] or "Upper" not in title or "Primal" not in title or "Rows" not in lines:
        raise Fault(f"not a solution file; {KINDS}")
    start, stop = title.index("Upper") + len("Upper"), title.index("Primal") + len("Primal")
    states = [line.partition(":")[2].strip() for line in lines if line.startswith("Model status")]
    for line in takewhile(lambda line: line != "Rows", lines[2:]):
        if not line[start:stop].strip():
            _no_solution("".join(states))
        yield line.split()[-1], line[start:stop].strip()


def _cbc(status: str, lines: list[str]) -> Iterator[Pair]:
    """index name value reduced-cost; ** marks a value outside its bounds."""
    if UNSOLVED.search(status):
        _no_solution(status)
    for line in lines:
        words = line.removeprefix("**").split()
        if len(words) != 4 or not words[0].isdecimal():
            _not_a_line(line)
        yield words[1], words[2]


def _scip(lines: list[str]) -> Iterator[Pair]:
    """solution status: … / objective value: … / name value (obj:cost) …"""
    told = {line.partition(":")[0]: line.partition(":")[2].strip() for line in lines[:2]}
    if "objective value" not in told or any(line.startswith("no solution") for line in lines):
        _no_solution(told.get("solution status", ""))
    for line in lines:
        if line.startswith(("solution status:", "objective value:")):
            continue
        words = line.split()
        if len(words) == 3 and words[2].startswith("(obj:"):
            words.pop()
        if len(words) != 2:
            _not_a_line(line)
        yield words[0], words[1]


def _plain(lines: list[str]) -> Iterator[Pair]:
    """name value, with comments from # on: what Gurobi writes, and people."""
    found = False
    for line in lines:
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2:
            _not_a_line(line)
        found = True
        yield words[0], words[1]
    if not found:
        raise Fault("there is no solution inside")


def _json(text: str) -> list[Pair]:
    """{"name": value, …} or Gurobi's {"Vars": [{"VarName": name, "X": value}, …], …}; a string "p/q" is a value too."""
    try:
        top = json.loads(text, object_pairs_hook=list, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise Fault(f"not readable as JSON ({str(error)[:80]})") from None
    if any(name in ("Vars", "SolutionInfo") for name, _ in top):
        variables = dict(top).get("Vars")
        top = [_gurobi_variable(variable) for variable in variables] if isinstance(variables, list) else []
    if not top:
        raise Fault("there is no solution inside")
    return [(name, value if isinstance(value, str) else not_a_number(name, json.dumps(value))) for name, value in top]


def _gurobi_variable(variable: Any) -> tuple[str, Any]:
    try:
        fields = dict(variable)
        return str(fields["VarName"]), fields.get("X", "0")  # Gurobi leaves out values that are 0
    except (KeyError, TypeError, ValueError):
        raise Fault("a variable in `Vars` has no `VarName`") from None


def _glpk(lines: list[str]) -> Iterator[Pair]:
    """Problem: … / Status: … / a table of rows, and one of columns: number, name, mark, value, …; long names stand on a
    line of their own."""
    status = next((line.partition(":")[2].strip() for line in lines if line.startswith("Status:")), "")
    if status not in GLPK:
        _no_solution(status)
    titles = [i for i, line in enumerate(lines) if "Column name" in line]
    if not titles:
        raise Fault("its table of columns is missing: the file is incomplete")
    table = iter(lines[titles[0] + 2 :])
    for line in table:
        words = line.split()
        if not words[0].isdecimal():
            return
        if len(words) == 2:
            words += next(table, "").split()
        rest = words[3:] if len(words) > 2 and words[2] in GLPK_MARKS else words[2:]
        if not rest:
            _not_a_line(line)
        yield words[1], rest[0]


def _glpk_raw(lines: list[str]) -> Iterator[Pair]:
    """s mip rows columns status objective / i row … / j column … value …; no names, only places."""
    solved = next((line.split() for line in lines if line.startswith("s ")), [])
    if len(solved) < 5 or solved[1] not in GLPK_RAW:
        raise Fault("its line `s` is missing: the file is incomplete")
    good, place = GLPK_RAW[solved[1]]
    if solved[4] not in good:
        _no_solution(f"status {solved[4]}")
    found = [line.split() for line in lines if line.startswith("j ")]
    if solved[3] != str(len(found)):
        raise Fault(f"{solved[3][:20]} variables are announced but {len(found)} follow: the file is incomplete")
    for k, words in enumerate(found, start=1):
        if len(words) <= place or words[1] != str(k):
            _not_a_line(" ".join(words))
        yield f"{PLACE}{k}", words[place]


def _cplex(text: str) -> list[Pair]:
    """<CPLEXSolution> <variables> <variable name="…" index="…" value="…"/> …; the first of several solutions."""
    if "<!" in text.replace("<!--", ""):
        raise Fault("not readable as XML (it declares types or entities)")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise Fault(f"not readable as XML ({str(error)[:80]})") from None
    solution = root if root.tag == "CPLEXSolution" else root.find("CPLEXSolution")
    variables = [] if solution is None else solution.findall("variables/variable")
    if not variables:
        raise Fault("there is no solution inside")
    missing = next((v for v in variables if "name" not in v.attrib or "value" not in v.attrib), None)
    if missing is not None:
        raise Fault("a variable has no name or no value")
    return [(v.attrib["name"], v.attrib["value"]) for v in variables]


def not_a_number(name: str, text: str) -> NoReturn:
    """A value that is none."""
    raise Fault(f"the value of `{name[:60]}` is not a finite number: {text[:40]!r}")


def _not_a_line(line: str) -> NoReturn:
    raise Fault(f"not a line of a solution file: {line[:60]!r}; {KINDS}")


def _no_solution(status: str) -> NoReturn:
    raise Fault(f"there is no solution inside (the solver says: {status.strip()[:60] or 'nothing'})")

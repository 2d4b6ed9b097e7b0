"""Every error a user can meet: what is wrong, where, and what to do about it."""

from __future__ import annotations


class IrcertError(Exception):
    """Base of all errors about the user's input; the command line turns it into one line and exit code 2."""

    def __init__(self, problem: str, *, where: str | None = None, remedy: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return _one_line(f"{place}{self.problem}{remedy}")

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only fields do not survive the default pickling, and worker processes raise these errors.
        return (_rebuild, (type(self), self.args, self.__dict__))


def _one_line(text: str) -> str:
    """The text with its control characters written out: names come from files, and messages go to terminals."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _rebuild(kind: type[IrcertError], args: tuple[object, ...], state: dict[str, object]) -> IrcertError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class GraphError(IrcertError):
    """A graph or node breaks a rule of `spec/ir.md`; `rule` is its number there."""

    def __init__(self, problem: str, *, rule: str, node: str | None = None, remedy: str | None = None) -> None:
        super().__init__(problem, where=f"node `{node}`" if node else None, remedy=remedy)
        self.rule = rule
        self.node = node

    def __str__(self) -> str:
        return f"{super().__str__()} [{self.rule}]"


class OpError(IrcertError, ValueError):
    """Arrays or attributes that an operation cannot have: not finite, not real, of the wrong shape."""


class ParseError(IrcertError):
    """Text that is not a graph or a pipeline; `line` and `column` count from 1."""

    def __init__(self, problem: str, *, line: int, column: int, source: str = "", remedy: str | None = None) -> None:
        where = f"{source}line {line}, column {column}"
        super().__init__(problem, where=where, remedy=remedy)
        self.line = line
        self.column = column


class PointError(IrcertError):
    """A point (or batch) that is not one of the graph's inputs."""


class FileError(IrcertError):
    """A file that cannot be read, understood or written."""

    def __init__(self, problem: str, *, path: object, remedy: str | None = None) -> None:
        shown = str(path)
        super().__init__(problem, where=shown if shown.isprintable() else repr(shown), remedy=remedy)
        self.path = shown


class NoText(FileError):
    """A file that is read as text, and is none."""


class PassError(IrcertError):
    """An unknown pass, a wrong option, or a pass whose contract is broken; `pass_name` says which."""

    def __init__(self, problem: str, *, pass_name: str, remedy: str | None = None) -> None:
        super().__init__(problem, where=f"pass `{pass_name}`", remedy=remedy)
        self.pass_name = pass_name


class ProgramError(IrcertError):
    """An optimisation program that breaks a rule of `spec/program.md`."""


class ProcessError(IrcertError):
    """A process that shares the work could not be started, or ended by itself."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, remedy="one thread needs no other process")


class QueryError(IrcertError):
    """A question that cannot be asked: wrong problem, norm, centre, radius or domain."""


class BackendError(IrcertError):
    """An unknown backend, a feature it does not offer, or a solver that failed; `backend` says which."""

    def __init__(self, problem: str, *, backend: str, remedy: str | None = None) -> None:
        super().__init__(problem, where=f"backend `{backend}`", remedy=remedy)
        self.backend = backend


class CoefficientWarning(UserWarning):
    """A written file has numbers that its readers drop, refuse or take for infinite."""


class UnsupportedModel(IrcertError):
    """A model that can be read but not represented, or an object that is not a model."""


class MissingExtra(IrcertError):
    """An optional package is not installed; `extra` names what to install."""

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package `{package}`, which is not installed",
            remedy=f"install it with: pip install 'ircert[{extra}]'",
        )
        self.extra = extra

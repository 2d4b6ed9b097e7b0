"""Formulations by name: how a question about a network becomes a program.

One line here per formulation; other packages add theirs through the entry-point group `ircert.formulations`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ircert.errors import PassError, QueryError
from ircert.plugins import Registry

if TYPE_CHECKING:
    from ircert.programs.formulations.base import Formulation

BUILT_IN = {
    "apart": "ircert.programs.formulations.apart:Apart",
    "paper": "ircert.programs.formulations.paper:Paper",
    "tangent": "ircert.programs.formulations.tangent:Tangent",
}
REGISTRY: Registry[Formulation] = Registry(
    ("formulation", "formulations"),
    "ircert.formulations",
    BUILT_IN,
    "ircert.programs.formulations.base:Formulation",
    QueryError,
)


def names() -> list[str]:
    """All formulations that may be named, plugins included."""
    return REGISTRY.names()


def kind(name: str) -> type[Formulation]:
    """The class of a formulation; QueryError if there is none of that name."""
    return REGISTRY.get(name)


def get(text: str | Formulation) -> Formulation:
    """The formulation `name` or `name{option=value, …}`; QueryError if there is none, or not with these options."""
    from ircert.passes.options import create
    from ircert.passes.pipeline import named
    from ircert.programs.formulations.base import Formulation

    if isinstance(text, Formulation):
        return text
    if not isinstance(text, str) or "{" not in text:
        return kind(text)()
    name, options = named(text)
    try:
        return create(kind(name), options)
    except PassError as error:
        raise REGISTRY.refusal(name, error.problem, error.remedy or f"write {name}{{option=value}}") from None

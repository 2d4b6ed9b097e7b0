"""The independent checker: verifies a certificate in exact or interval arithmetic, and trusts nothing else.

It reads `spec/certificate.md` and imports the graph IR alone: no engine, no solver, no pass. A certificate may come
from anybody: its numbers are read without rounding, and the work is bounded. The specification lists which of its files
have to be trusted for which kind of claim.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from json import JSONDecodeError
from pathlib import Path

from ircert.checker.collision import Collision
from ircert.checker.curved import Covered
from ircert.checker.limits import LONGEST_DENOMINATOR, MOST_BITS, MOST_IN_ARRAYS, MOST_PARTS, PACKED
from ircert.checker.reading import Claim, Kinds, Rejected, claims_of
from ircert.checker.smooth import Boxes, Turned
from ircert.checker.structure import Composed, Layers, Structure
from ircert.checker.telling import explained, told
from ircert.errors import FileError, IrcertError, NoText
from ircert.files import read_text

__all__ = ["LONGEST_DENOMINATOR", "MOST_BITS", "MOST_IN_ARRAYS", "MOST_PARTS", "check_file", "check_text", "explain"]

KINDS: Kinds = {
    "collision": Collision,
    "injective": Covered,
    "boxes": Boxes,
    "turned": Turned,
    "layers": Layers,
    "structure": Structure,
    "composed": Composed,
}
WRITTEN_BY = "`ircert certify --certificate FILE` writes one"
"""What to do where there is none."""


def check_file(path: str | os.PathLike[str], stop: Callable[[], bool] | None = None) -> tuple[str, str | None]:
    """What a certificate claims, and what is wrong with it (None: the claim is proved); FileError if unreadable.

    stop: whether time is over; what is not checked then counts as unreadable
    """
    return _judged(lambda: _read(path), path, stop, told)


def explain(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """The same with the whole argument in words."""
    return _judged(lambda: _read(path), path, None, explained)


def check_text(
    text: str, folder: str | os.PathLike[str] = ".", stop: Callable[[], bool] | None = None
) -> tuple[str, str | None]:
    """The same for the text of a certificate; networks' files are looked for in a folder."""
    return _judged(lambda: (text, len(text)), Path(folder) / "certificate", stop, told)


def _read(path: str | os.PathLike[str]) -> tuple[str, int]:
    """The text of a file, and the length that counts: what is packed well is soon written, but not soon checked."""
    text = read_text(path)
    return text, min(len(text), PACKED * os.path.getsize(path))


def _judged(
    read: Callable[[], tuple[str, int]],
    path: str | os.PathLike[str],
    stop: Callable[[], bool] | None,
    words: Callable[[Claim], str],
) -> tuple[str, str | None]:
    try:
        text, length = read()
        claims = claims_of(text, Path(path).parent, KINDS, length)
        for claim in claims:
            if (fault := claim.fault(stop or bool)) is not None:
                return told(claim), fault
        return "\n".join(map(words, claims)), None
    except Rejected as fault:
        return "", str(fault)
    except NoText as error:
        raise FileError(f"not a certificate, and {error.problem}", path=path, remedy=WRITTEN_BY) from None
    except FileError:
        raise
    except MemoryError:
        raise FileError("to check it takes more memory than there is", path=path) from None
    except (IrcertError, ValueError, OverflowError, RecursionError) as error:
        problem = "it is no JSON" if isinstance(error, JSONDecodeError) else str(error) or type(error).__name__
        raise FileError(f"not a certificate: {problem[:300]}", path=path, remedy=WRITTEN_BY) from None

"""slopes: networks of one input, by bounds on their slopes."""

from ircert.bounds.slopes import secants
from ircert.engines.base import Answer, Cause, Engine, Stop
from ircert.geometry.ball import Ball
from ircert.programs.encodings.analyse import analyse
from ircert.result.radius import End

WHY = "an output has slopes of one sign"


class Slopes(Engine):
    """Certifies balls on which an output surely rises, or surely falls; it refutes nothing."""

    name = "slopes"

    def refusal(self, question):
        """It knows the problem `local`, and one input."""
        fits = question.problem == "local" and len(question.center) == 1
        return None if fits else "it takes networks of one input, and the problem `local`"

    def answer(self, question):
        """The ball itself, or the first good one of balls that shrink."""
        radius = question.reach if question.radius is not None else min(question.reach, 1024.0)
        steps = 1 if question.radius is not None else 40
        good = next((r for k in range(steps) if self._rises(question, r := radius / 2**k)), 0.0)
        stop = Stop(Cause.UNDECIDED, "bounds on slopes decide no more")
        if question.radius is None:
            return Answer(None, End(good, WHY if good else "nothing"), None, None, "exact", stop=stop)
        verdict = "certified" if good else "unresolved"
        return Answer(verdict, End(good, WHY if good else "nothing"), None, None, "exact", stop=None if good else stop)

    def _rises(self, question, radius):
        """Bounds are rounded outward: what they say holds in real arithmetic."""
        ball = Ball(question.center, radius, question.norm, question.low, question.high)
        low, high = secants(analyse(question.network.lowered, ball))
        return bool(((low > 0) | (high < 0)).any())

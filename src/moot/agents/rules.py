"""`rules:NAME`: voices that follow a fixed rule. For trials without a model; labelled as such.

They read only the facts in a brief's view, never anybody's words, and always say the same in the
same situation. What a voice has no rule for, it does not answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from moot.agents.brief import Brief
from moot.agents.cost import Cost
from moot.agents.outcome import Ending, NoAnswer
from moot.agents.participant import Answer, Kind, Nature
from moot.core.errors import Malformed

Voice = Mapping[str, Callable[[Brief], dict[str, Any]]]


class Ruled:
    def __init__(self, name: str) -> None:
        if name not in VOICES:
            raise Malformed(
                f"no voice is called {name!r}",
                code="bad_participant",
                hint=f"one of {', '.join(VOICES)}",
            )
        self.nature = Nature(Kind.RULES, f"rules:{name}")
        self._voice = VOICES[name]

    def reply(self, brief: Brief, seconds: float) -> Answer:
        del seconds
        rule = self._voice.get(brief.what)
        if rule is None:
            raise NoAnswer(Ending.SILENT, f"this voice has no rule for {brief.what}")
        return Answer(rule(brief), Cost(calls=1))

    def stop(self) -> None:
        """Nothing runs."""


def _entry(stance: str, confidence: float, why: str) -> dict[str, Any]:
    """A debate's entry that says by itself that a rule wrote it."""
    return {
        "stance": stance,
        "confidence": confidence,
        "summary": why,
        "body": f"*[A scripted voice: this follows a fixed rule.]* {why}",
    }


def _always(stance: str, confidence: float) -> Callable[[Brief], dict[str, Any]]:
    return lambda _brief: _entry(stance, confidence, f"By rule: always {stance}.")


def _stances(brief: Brief) -> Counter[str]:
    """The latest stance of everybody else, as the session counts them."""
    positions: dict[str, str] = brief.view.get("positions", {})
    return Counter(stance for who, stance in positions.items() if who != brief.agent)


def _with_the_most(brief: Brief) -> dict[str, Any]:
    """What most others say; approve as long as nobody has spoken or they are split."""
    most = _stances(brief).most_common(2)
    split = len(most) == 2 and most[0][1] == most[1][1]
    if not most or split:
        return _entry("approve", 0.6, "By rule: approve until most others stand elsewhere.")
    return _entry(most[0][0], 0.7, f"By rule: with the most, who say {most[0][0]}.")


def _convinced(brief: Brief) -> dict[str, Any]:
    """Rejects first; gives way once anybody approves and it has been heard."""
    if brief.number and _stances(brief)["approve"]:
        return _entry("approve", 0.75, "By rule: heard the others, and gives way.")
    return _entry("reject", 0.7, "By rule: rejects first, to hear the arguments.")


def _undecided(brief: Brief) -> dict[str, Any]:
    if not brief.number:
        return _entry("defer", 0.2, "By rule: listens in the first round.")
    return _with_the_most(brief)


def _first_option(brief: Brief) -> dict[str, Any]:
    return _option(brief, 0)


def _last_option(brief: Brief) -> dict[str, Any]:
    return _option(brief, -1)


def _option(brief: Brief, place: int) -> dict[str, Any]:
    options: list[str] = brief.view.get("options", [])
    answer = options[place] if options else "yes"
    return {"answer": answer, "why": "By rule: a scripted voice, not a judgement."}


VOICES: Final[Mapping[str, Voice]] = {
    "approve": {"answer": _first_option, "entry": _always("approve", 0.8)},
    "reject": {"answer": _last_option, "entry": _always("reject", 0.8)},
    "neutral": {"answer": _first_option, "entry": _always("neutral", 0.5)},
    "majority": {"answer": _first_option, "entry": _with_the_most},
    "sceptic": {"answer": _last_option, "entry": _convinced},
    "listener": {"answer": _first_option, "entry": _undecided},
}

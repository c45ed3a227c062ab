"""`rules:NAME` and `script:FILE`: participants with fixed rules or replies, for tests without a
model. Their answers are labelled as scripted.

A rule reads only the facts in a brief's view, never texts of others, and gives the same answer in
the same situation. A participant without a rule for a question does not answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from moot.agents.brief import Brief
from moot.agents.cost import Cost
from moot.agents.outcome import CallEnding, NoAnswer
from moot.agents.participant import Nature, ParticipantKind, ParticipantReply
from moot.core.errors import Malformed, Unavailable

Voice = Mapping[str, Callable[[Brief], dict[str, Any]]]


class RuleParticipant:
    def __init__(self, name: str) -> None:
        if name not in VOICES:
            raise Malformed(
                f"no voice is called {name!r}",
                code="bad_participant",
                hint=f"one of {', '.join(VOICES)}",
            )
        self.nature = Nature(ParticipantKind.RULES, f"rules:{name}")
        self._voice = VOICES[name]

    def reply(self, brief: Brief, seconds: float) -> ParticipantReply:
        del seconds
        rule = self._voice.get(brief.what)
        if rule is None:
            raise NoAnswer(CallEnding.SILENT, f"this voice has no rule for {brief.what}")
        # AGT-008: the same in the same situation
        return ParticipantReply(rule(brief), Cost(calls=1))

    def stop(self) -> None:
        """Nothing runs."""


def _entry(stance: str, confidence: float, why: str) -> dict[str, Any]:
    """Return a debate's entry whose body says that a rule wrote it (AGT-008)."""
    return {
        "stance": stance,
        "confidence": confidence,
        "summary": why,
        "body": f"*[A scripted voice: this follows a fixed rule.]* {why}",
    }


def _always(stance: str, confidence: float) -> Callable[[Brief], dict[str, Any]]:
    return lambda _brief: _entry(stance, confidence, f"By rule: always {stance}.")


def _stances(brief: Brief) -> Counter[str]:
    """Count the latest stances of all others, as the session lists them."""
    positions: dict[str, str] = brief.view.get("positions", {})
    return Counter(stance for who, stance in positions.items() if who != brief.agent)


def _with_the_most(brief: Brief) -> dict[str, Any]:
    """Follow the majority of the others; approve if there is none."""
    most = _stances(brief).most_common(2)
    split = len(most) == 2 and most[0][1] == most[1][1]
    if not most or split:
        return _entry("approve", 0.6, "By rule: approve until most others stand elsewhere.")
    return _entry(most[0][0], 0.7, f"By rule: with the most, who say {most[0][0]}.")


def _convinced(brief: Brief) -> dict[str, Any]:
    """Reject at first; approve once another does and it has spoken."""
    if brief.number and _stances(brief)["approve"]:
        return _entry("approve", 0.75, "By rule: heard the others, and gives way.")
    return _entry("reject", 0.7, "By rule: rejects first, to hear the arguments.")


def _undecided(brief: Brief) -> dict[str, Any]:
    if not brief.number:
        return _entry("defer", 0.2, "By rule: listens in the first round.")
    return _with_the_most(brief)


def _ranking(brief: Brief, entry: Callable[[Brief], dict[str, Any]]) -> dict[str, Any]:
    """Rank its own answer first, then the others as shown; vote on each as in its entry."""
    own, count = brief.view.get("own_answer", 1), brief.view.get("answers", 0)
    order = sorted(range(1, count + 1), key=lambda number: (number != own, number))
    written = entry(brief)
    vote = {"stance": written["stance"], "confidence": written["confidence"]}
    ranked = [{"answer": number, **vote} for number in order]
    return {"ranking": ranked, "summary": written["summary"], "body": written["body"]}


def _voice(
    seat: Voice,
    first_answer: Callable[[Brief], dict[str, Any]],
    entry: Callable[[Brief], dict[str, Any]],
) -> Voice:
    return {
        **seat,
        "first_answer": first_answer,
        "ranking": lambda brief: _ranking(brief, entry),
        "entry": entry,
    }


def _first_option(brief: Brief) -> dict[str, Any]:
    return _option(brief, 0)


def _last_option(brief: Brief) -> dict[str, Any]:
    return _option(brief, -1)


def _option(brief: Brief, place: int) -> dict[str, Any]:
    options: list[str] = brief.view.get("options", [])
    answer = options[place] if options else "yes"
    return {"answer": answer, "why": "By rule: a scripted voice, not a judgement."}


def _statement(brief: Brief) -> dict[str, Any]:
    """Return a parliament's opening statement, with the three sentences that it requires."""
    motive = next(iter(brief.view.get("motives", {})), "the problem")
    return {
        "briefing": {
            "facts": ["A scripted voice: this follows a fixed rule."],
            "constraints": [],
            "precedents": [],
            "open_questions": [],
        },
        "direction": {
            "approach": f"Serve {motive} first. Then look at the others. Then decide.",
            "principle": f"By rule: {motive} counts most.",
            "trade_offs": "By rule: none are weighed.",
        },
    }


def _bill(_brief: Brief) -> dict[str, Any]:
    scope = {"in_scope": ["the problem"], "out_of_scope": [], "assumptions": []}
    return {
        "title": "A bill by rule",
        "summary": "A scripted voice wrote this by a fixed rule.",
        "sections": {
            "problem": "The problem as it was put.",
            "scope": scope,
            "solution": "Do the simplest thing that serves every motive.",
            "implementation": "Step by step.",
        },
    }


def _question(brief: Brief) -> dict[str, Any]:
    seats = [seat for seat in brief.view.get("seats", {}) if seat != brief.view.get("you")]
    wanted = brief.view.get("ask", {"seat": seats[0] if seats else "", "motive": "the bill"})
    return {
        "to": wanted["seat"],
        "topic": wanted["motive"],
        "question": "By rule: how well does the bill serve you?",
        "motive_context": "By rule: every motive is asked about.",
    }


def _scored(score: int) -> Callable[[Brief], dict[str, Any]]:
    def answer(brief: Brief) -> dict[str, Any]:
        return {
            "answer": "By rule: as the score says.",
            "concessions": "",
            "stance": "maintain",
            "motive_scores": dict.fromkeys(brief.view.get("motives", {}), score),
        }

    return answer


def _voted(ballot: str, score: int) -> Callable[[Brief], dict[str, Any]]:
    def vote(brief: Brief) -> dict[str, Any]:
        return {
            "vote": ballot,
            "reasoning": f"By rule: always {ballot}.",
            "motive_scores": dict.fromkeys(brief.view.get("motives", {}), score),
            "reservations": "",
            "conditions": [] if ballot == "YES" else ["another bill"],
        }

    return vote


def _seat(ballot: str, score: int) -> Voice:
    """Return the rules of a voice for a parliament."""
    return {
        "ack": lambda _brief: {"status": "Received", "notes": "By rule: received."},
        "opening_statement": _statement,
        "bill_draft": _bill,
        "question": _question,
        "answer": _scored(score),
        "vote": _voted(ballot, score),
    }


_FOR: Final = _seat("YES", 4)
_AGAINST: Final = _seat("NO", 3)
VOICES: Final[Mapping[str, Voice]] = {
    "approve": _voice(_FOR, _first_option, _always("approve", 0.8)),
    "reject": _voice(_AGAINST, _last_option, _always("reject", 0.8)),
    "neutral": _voice(_FOR, _first_option, _always("neutral", 0.5)),
    "majority": _voice(_FOR, _first_option, _with_the_most),
    "sceptic": _voice(_AGAINST, _last_option, _convinced),
    "listener": _voice(_FOR, _first_option, _undecided),
}


# `script:FILE`: replies written in advance, as a JSON list, one JSON object a line, or an object
# with a list for each kind of question (`{"first_answer": [...], "entry": [...]}`). The record says
# how often the agent has answered, and so which reply is next.

MOST_BYTES: Final = 16 * 1024 * 1024
_HINT: Final = "write a JSON list of replies, or an object with a list for each kind of question"


class ScriptParticipant:
    def __init__(self, file: str, spec: str) -> None:
        self.nature = Nature(ParticipantKind.SCRIPT, spec)
        self._replies = read_script(_bytes(Path(file)), file)

    def reply(self, brief: Brief, seconds: float) -> ParticipantReply:
        del seconds
        mine = self._replies.get(brief.what, self._replies.get("", []))
        if brief.number >= len(mine):  # AGT-007: counted by the record
            raise NoAnswer(CallEnding.SILENT, f"the script has no more than {len(mine)} replies")
        return ParticipantReply(mine[brief.number], Cost(calls=1))

    def stop(self) -> None:
        """Nothing runs."""


def read_script(raw: bytes, name: str = "script") -> dict[str, list[dict[str, Any]]]:
    """Return the replies by the kind of question; an empty name is for any kind."""
    try:
        text = raw.decode("utf-8-sig")
        lines = [line for line in text.splitlines() if line.strip()]
        data = [json.loads(line) for line in lines] if _is_json_lines(lines) else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{name}: {error}", code="bad_script", hint=_HINT) from None
    lists = data if isinstance(data, dict) else {"": data}
    for what, replies in lists.items():
        if not isinstance(replies, list) or not all(isinstance(each, dict) for each in replies):
            problem = f"{name}: {what or 'the list'} has no replies"
            raise Malformed(problem, code="bad_script", hint=_HINT)
    return lists


def _is_json_lines(lines: list[str]) -> bool:
    """Return True if there are several lines, and the first is a JSON object."""
    try:
        return len(lines) > 1 and isinstance(json.loads(lines[0]), dict)
    except (ValueError, RecursionError):
        return False


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unavailable(
            "unreadable_file", f"{path}: {error.strerror or error}", hint="check the path"
        ) from None
    if len(raw) > MOST_BYTES:
        raise Malformed(f"{path} is longer than {MOST_BYTES} bytes", code="too_large", hint=_HINT)
    return raw

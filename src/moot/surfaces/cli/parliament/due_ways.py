"""How each duty in a parliament is done: the words after `moot parliament`. DIR is its folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final


def decide_ways(folder: Path | str) -> str:
    """How the prime minister gives their word: a command to paste, and what else it may say."""
    others = "or veto --guidance TEXT, or amend_and_approve --text FILE"
    return f'decide {shlex.quote(str(folder))} approve --reason "..." ({others})'


def _said(kind: str) -> str:
    return f"template {kind} > m.json, fill it in, then moot parliament submit DIR m.json"


WAYS: Final = {
    "make an opening statement": _said("OPENING_STATEMENT"),
    "choose the drafter": "drafter DIR",
    "choose another drafter": "drafter DIR",
    "draft the bill": _said("BILL_DRAFT"),
    "answer": _said("ANSWER"),
    "ask": _said("QUESTION"),
    "be heard": _said("QUESTION"),
    "speak": _said("QUESTION"),
    "start the round": _said("SPEAKER_RULING"),
    "start a round or call a vote": _said("SPEAKER_RULING"),
    "give the floor or end the round": _said("SPEAKER_RULING"),
    "call a vote or end the round": _said("SPEAKER_RULING"),
    "call the vote": _said("SPEAKER_RULING"),
    "rule on a motion": _said("SPEAKER_RULING"),
    "incorporate": "incorporate DIR AMENDMENT",
    "vote": _said("VOTE"),
    "count the votes": "tally DIR",
    "decide": decide_ways("DIR"),
    "write the final document": "final DIR",
}

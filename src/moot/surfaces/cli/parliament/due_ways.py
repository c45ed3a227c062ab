"""How each duty in a parliament is done: the words after `moot parliament`. DIR is its folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final


def decide_ways(folder: Path | str) -> str:
    """How the prime minister gives their word: a command to paste, and what else it may say."""
    others = "or veto --guidance TEXT, or amend_and_approve --text FILE"
    return f'decide {shlex.quote(str(folder))} approve --reason "..." ({others})'


_ASK: Final = 'ask DIR SEAT "..." --from SEAT'

WAYS: Final = {
    "make an opening statement": 'statement DIR --approach "..." --principle "..." --from SEAT',
    "choose the drafter": "drafter DIR",
    "choose another drafter": "drafter DIR",
    "draft the bill": 'draft DIR --title "..." --problem "..." --solution "..." --from SEAT',
    "answer": 'answer DIR "..." --score MOTIVE=N --from SEAT',
    "ask": _ASK,
    "be heard": _ASK,
    "speak": _ASK,
    "start the round": "rule DIR round_start",
    "start a round or call a vote": "rule DIR round_start (or call_vote)",
    "give the floor or end the round": "rule DIR next_speaker --target SEAT (or round_end)",
    "call a vote or end the round": "rule DIR call_vote (or round_end)",
    "call the vote": "rule DIR call_vote",
    "rule on a motion": "rule DIR progress_note --target SEAT (or call_vote, round_end, redirect)",
    "incorporate": "incorporate DIR AMENDMENT",
    "vote": 'vote DIR YES --reason "..." --from SEAT (or NO, with --condition "...")',
    "count the votes": "tally DIR",
    "decide": decide_ways("DIR"),
    "write the final document": "final DIR",
}

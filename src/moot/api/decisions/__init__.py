"""Decisions: a question put to participants, a person's ruling, and a receipt that proves both.

council.py            a question to agents that are at work already
debate_rounds.py      a question argued in debates: each round is a session of its own
earlier_decisions.py  what was decided before about what a session is about to edit
operations.py         ask, resume, decide, receipt
outcomes.py           how decisions turned out, and whom that says to listen to
question_run.py       first answers, a motion, an argument, a result
questions.py          questions on record: seated, put under an id, and read back
receipt_content.py    everything a receipt says about a decision, as plain data
receipt_file.py       a receipt is signed for, with the record in the same file
receipt_page.py       a receipt for people (DEC-023)
receipt_tables.py     its tables: who changed, who took part, every vote, the hashes
results.py            what an argument came to, read from its record
ruling.py             a person's ruling on a decision: approve, amend, or veto
track_page.py         the track record as a page

What `operations.py` offers is also found here: `moot.api.decisions.ask`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moot.api.decisions.operations import AskedDecision as AskedDecision
    from moot.api.decisions.operations import RuledDecision as RuledDecision
    from moot.api.decisions.operations import WrittenReceipt as WrittenReceipt
    from moot.api.decisions.operations import ask as ask
    from moot.api.decisions.operations import decide as decide
    from moot.api.decisions.operations import receipt as receipt
    from moot.api.decisions.operations import resume as resume

_EXPORTED = {
    "AskedDecision",
    "RuledDecision",
    "WrittenReceipt",
    "ask",
    "decide",
    "receipt",
    "resume",
}


def __getattr__(name: str) -> Any:
    if name not in _EXPORTED:
        raise AttributeError(f"module 'moot.api.decisions' has no attribute {name!r}")
    return getattr(import_module("moot.api.decisions.operations"), name)

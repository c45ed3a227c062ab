"""Decisions: a question put to participants, a person's ruling, and a receipt that proves both.

council.py            a question to agents that are already at work
debate_rounds.py      argues a question in debates, one session for each round
earlier_decisions.py  finds earlier decisions about the files that a session edits
operations.py         the operations ask, resume, decide, receipt
outcomes.py           how decisions turned out, and each participant's track record
question_run.py       takes a question from first answers to a result
questions.py          records questions under an id and reads them back
receipt_content.py    everything a receipt says about a decision, as plain data
receipt_file.py       signs a receipt and writes it with the record into one file
receipt_page.py       the page of a receipt (DEC-023)
receipt_tables.py     the page's tables: changes, participants, votes, hashes
results.py            reads the result of an argument from its record
ruling.py             records a person's ruling: approve, amend, or veto
track_page.py         the track record as a page

This package also exports what `operations.py` offers: `moot.api.decisions.ask`.
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

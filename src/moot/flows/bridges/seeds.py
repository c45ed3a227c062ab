"""Texts to begin a parliament with, from the debate before it: for their authors to send or not.

A seed is a message file in the Agent Response Format that nobody has signed. It says what its
agent said in the debate; the agent looks at it, changes it, and submits it under its own key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.course import list_entries
from moot.protocols.debate.model import DebateEntry
from moot.protocols.debate.views import require_course
from moot.store.files import replace_own_file

FOLDER: Final = "seeds"
LEANS: Final = {"approve": "YES", "reject": "NO"}
MOST_FACTS: Final = 20
MOST_MOTIVE: Final = 120
# Motives are keys of signed data, which hold only what every library sorts alike.
_LAST_SIGN: Final = "\ud800"


def last_words(checked: CheckedSession) -> dict[str, DebateEntry]:
    """What each agent said last."""
    return {entry.author: entry for entry in list_entries(require_course(checked).rounds)}


def leans(checked: CheckedSession) -> dict[str, str]:
    """How each agent would seem to vote: shown, never cast (3.5)."""
    last = last_words(checked)
    names = require_course(checked).rules.agents
    return {
        name: LEANS.get(last[name].field_value("stance"), "UNDECIDED")
        if name in last
        else "UNDECIDED"
        for name in names
    }


def motives(checked: CheckedSession) -> dict[str, str]:
    """What each agent stands for: the sense of its last entry, in words of its own."""
    last = last_words(checked)
    found: dict[str, str] = {}
    seen: set[str] = set()
    for name in require_course(checked).rules.agents:
        said = last[name].field_value("summary") if name in last else ""
        text = " ".join("".join(c if c < _LAST_SIGN else " " for c in said).split())[:MOST_MOTIVE]
        text = text.strip() or f"the view of {name}"
        if text.casefold() in seen:
            text = f"{text} ({name})"
        seen.add(text.casefold())
        found[name] = text
    return found


def write_seeds(folder: Path, checked: CheckedSession, seats: dict[str, str]) -> list[str]:
    """One file a seat, and one for the first draft of the bill; those that are there stay."""
    made = []
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, document in _documents(checked, seats):
        file = folder / FOLDER / name
        if not file.exists():
            text = json.dumps(document, ensure_ascii=False, indent=2)
            replace_own_file(file, f"{text}\n".encode())
        made.append(f"{FOLDER}/{name}")
    return made


def _documents(checked: CheckedSession, seats: dict[str, str]) -> Iterator[tuple[str, Any]]:
    entries = list_entries(require_course(checked).rounds)
    for agent, seat in seats.items():
        mine = [entry for entry in entries if entry.author == agent]
        yield f"{seat}.json", _statement(seat, mine)
    yield "bill-v1.json", _bill(checked, seats)


def _statement(seat: str, mine: list[DebateEntry]) -> dict[str, Any]:
    summaries = [entry.field_value("summary") for entry in mine if entry.field_value("summary")]
    last = mine[-1] if mine else None
    position = last.field_value("stance") if last is not None else "defer"
    asked = last.field_value("action_requested") if last is not None else ""
    return {
        "type": "OPENING_STATEMENT",
        "from": seat,
        "content": {
            "briefing": {
                "facts": summaries[-MOST_FACTS:] or ["I said nothing in the debate."],
                "constraints": [],
                "precedents": [],
                "open_questions": [asked] if asked and asked != "n/a" else [],
            },
            "direction": {
                "approach": summaries[-1] if summaries else "I have no proposal yet.",
                "principle": f"In the debate my position was: {position or 'none'}.",
                "trade_offs": "",
            },
        },
    }


def _bill(checked: CheckedSession, seats: dict[str, str]) -> dict[str, Any]:
    """3.5: the summary of the bill is what those who approved said."""
    last = last_words(checked)
    approved = [
        name for name in seats if name in last and last[name].field_value("stance") == "approve"
    ]
    summary = " ".join(last[name].field_value("summary") for name in approved).strip()
    drafter = next((seats[name] for name in approved), next(iter(seats.values())))
    return {
        "type": "BILL_DRAFT",
        "from": drafter,
        "content": {
            "bill_version": 1,
            "title": checked.document.name,
            "summary": summary or checked.document.name,
            "sections": {
                "problem": checked.document.section_text("Context").strip() or "See the debate.",
                "scope": {"in_scope": [], "out_of_scope": [], "assumptions": []},
                "solution": summary or "To be drafted.",
                "implementation": "To be drafted.",
            },
        },
    }

"""Rows that several rule tables of a trace share, and the hints they have in common."""

from __future__ import annotations

from typing import Final

from moot.core.findings import Rule
from moot.core.machine import Event
from moot.protocols.trace import checks as breach
from moot.protocols.trace.case import EventCase

STATUS: Final = "`moot trace status TRACE` shows what stands"
PROPOSAL: Final = Rule("TRC-035", "unknown_proposal", "no such proposal stands",
                       breach.unknown_proposal, STATUS)  # fmt: skip


def numbered(name: str, count: str) -> Rule[EventCase[Event]]:
    return Rule(
        "E-19",
        "wrong_number",
        "ids count upwards, each once",
        breach.wrong_number(name, count),
        hint="let the trace number it",
    )


def said(rule: str, *names: str, requirement: str | tuple[str, ...] = ()) -> Rule[EventCase[Event]]:
    return Rule(
        rule,
        "text_missing",
        f"{', '.join(names)}: required",
        breach.empty(*names),
        hint="say it in a few words",
        requirement=requirement,
    )

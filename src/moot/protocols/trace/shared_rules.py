"""Rows that several rule tables of a trace share, and the hints they have in common."""

from __future__ import annotations

from typing import Final

from moot.core.findings import Rule
from moot.core.machine import Event
from moot.protocols.trace import checks as breach
from moot.protocols.trace.case import EventCase

STATUS_HINT: Final = "`moot trace status TRACE` shows what stands"
PROPOSAL_RULE: Final = Rule("TRC-035", "unknown_proposal", "no such proposal stands",
                       breach.unknown_proposal, STATUS_HINT)  # fmt: skip


def number_rule(name: str, counter: str) -> Rule[EventCase[Event]]:
    return Rule(
        "E-19",
        "wrong_number",
        "ids count upwards, each once",
        breach.require_next_number(name, counter),
        hint="let the trace number it",
    )


def text_rule(
    rule: str, *names: str, requirement: str | tuple[str, ...] = ()
) -> Rule[EventCase[Event]]:
    return Rule(
        rule,
        "text_missing",
        f"{', '.join(names)}: required",
        breach.require_texts(*names),
        hint="say it in a few words",
        requirement=requirement,
    )

"""Mail answered by participants: programs, models, scripts, people at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from moot.agents.cost import Cost
from moot.agents.outcome import Stop
from moot.api.operation import operation
from moot.core.quoted import Quoted

if TYPE_CHECKING:
    from moot.agents.human import Terminal
    from moot.agents.watch import Watch
    from moot.api.session import Session
    from moot.flows.runs.run_debate import Limits


class MailRun(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended, whom it waits for and what it cost; `decision` is where that is on record.

    `standing` says how many answers of the participants are still open.
    """

    decision: str | None
    stop: Stop
    detail: Quoted
    turns: int
    waits_for: tuple[str, ...]
    cost: Cost
    standing: dict[str, Any]


@operation("mail.run", writes=True, runs_programs=True)
def run(
    session: Session,
    participants: Sequence[str],
    *,
    limits: Limits | None = None,
    watch: Watch | None = None,
    terminal: Terminal | None = None,
) -> MailRun:
    """Let participants (`NAME=SPEC`) acknowledge the messages that wait for them, each under its
    own key.

    Only answers that are owed and were never given are asked for, so a repeat asks for none twice
    and needs no key; each answer is a commit of its own. A `human` participant is asked at
    `terminal`. Refused before anybody is asked: unknown names, people's names, keys that are not
    here, and any other name than the session's own, if it has one.
    """
    from moot.agents.seats import Room
    from moot.agents.spec import read_named
    from moot.flows.runs.run_debate import USUAL
    from moot.flows.runs.run_mail import run_mail

    specs = read_named(participants)
    for name in specs:
        if session.acting:
            session.actor(name)
    room = Room(session.folder, session.env, terminal)
    finished = run_mail(session.workspace, specs, room, limits or USUAL, watch)
    ended = finished.ended
    return MailRun(
        decision=finished.decision,
        stop=ended.stop,
        detail=Quoted(ended.detail),
        turns=ended.turns,
        waits_for=ended.waits_for,
        cost=ended.cost,
        standing=finished.standing,
    )

"""A parliament whose seats are taken by participants: programs, models, scripts, people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from moot.agents.cost import Cost
from moot.agents.outcome import Stop
from moot.api.operation import operation
from moot.core.quoted import Quoted

if TYPE_CHECKING:
    from moot.agents.human import Terminal
    from moot.agents.watch import Watch
    from moot.api.session import Session
    from moot.flows.parliament.parliament_session import ParliamentSession
    from moot.flows.runs.run_debate import Limits

__all__ = ["Cost", "ParliamentRun", "RunStanding", "Stop", "run"]


class RunStanding(msgspec.Struct, frozen=True):
    """Where the session stands now: its status, the round, and the version of the bill."""

    state: str
    round: int
    bill: int


class ParliamentRun(msgspec.Struct, frozen=True):
    """How a run ended: what stopped it, after how many turns, whom it waits for, what it cost.

    `parliament_id` is the decision that keeps the record of the run: the session's own id, unless
    the session argues another question.
    """

    parliament_id: str | None
    stop: Stop
    detail: Quoted
    turns: int
    waits_for: tuple[str, ...]
    cost: Cost
    standing: RunStanding


@operation("parliament.run", writes=True, runs_programs=True)
def run(
    session: Session,
    folder: Path,
    participants: Sequence[str],
    *,
    limits: Limits | None = None,
    watch: Watch | None = None,
    terminal: Terminal | None = None,
) -> ParliamentRun:
    """Let participants state, draft, ask, answer and vote until the prime minister is asked.

    A participant is `SEAT=SPEC`: a seat's id or the name of its agent, and who takes it. Whoever
    acts under a name may let only itself speak (`not_you`). It is many commits and needs no key:
    whatever interrupts it, the same call goes on where the record stands. Refused before anybody is
    asked: seats that nobody has, participants that cannot be started, keys that are not here, files
    that somebody changed, a session whose question a person has decided.
    """
    from moot.agents.seats import Room
    from moot.agents.spec import read_named
    from moot.flows.parliament.parliament_session import ParliamentSession
    from moot.flows.runs.run_debate import USUAL
    from moot.flows.runs.run_parliament import run_parliament

    parliament = ParliamentSession.open(session.workspace, folder)
    specs = read_named(_name_agent(parliament, text) for text in participants)
    for name in specs:
        if session.acting:
            session.actor(name)
    room = Room(session.folder, session.env, terminal)
    finished = run_parliament(parliament, specs, room, limits or USUAL, watch)
    ended = finished.ended
    return ParliamentRun(
        finished.decision,
        ended.stop,
        Quoted(ended.detail),
        ended.turns,
        ended.waits_for,
        ended.cost,
        RunStanding(**finished.standing),
    )


def _name_agent(parliament: ParliamentSession, text: str) -> str:
    """`rep_1=SPEC` as `amber-otter=SPEC`; a text that names nobody is left for the reader of specs
    to refuse."""
    from moot.flows.runs.run_parliament import require_seated_agent

    seat, sign, spec = text.partition("=")
    if not sign or ":" in seat:
        return text
    return f"{require_seated_agent(parliament, seat.strip())}={spec}"

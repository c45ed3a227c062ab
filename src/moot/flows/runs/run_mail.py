"""Run the mail: whoever owes an answer is asked for it, and what that costs is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

from moot.agents.runner import Runner
from moot.agents.seats import Room
from moot.agents.spec import Spec
from moot.agents.watch import Watch
from moot.core.errors import Refused
from moot.engine.agents import agent_named
from moot.flows.runs.run_debate import USUAL, Limits, Ran
from moot.flows.runs.run_record import DecisionBooks, begin
from moot.flows.runs.runnable_mail import MailDesk
from moot.flows.runs.seats import require_key, seated, seats_of
from moot.protocols.decision import commands as ask
from moot.protocols.decision.model import ChamberKind
from moot.workspace.workspace import Workspace

PREFIX: Final = "mail-"


def run_mail(
    space: Workspace,
    specs: Mapping[str, Spec],
    room: Room,
    limits: Limits = USUAL,
    watch: Watch | None = None,
) -> Ran:
    """Let the participants answer what they owe; an answer that was given is not asked for."""
    if not specs:
        raise Refused("bad_participants", "nobody takes part", hint="--participant NAME=SPEC")
    for name in specs:
        agent_named(space.engine, name)
        require_key(space, name)
    sitting = seated(specs, room)
    names = tuple(sorted(specs))
    question = ask.AskQuestion(
        question=f"What does {', '.join(names)} owe an answer to?",
        seats=seats_of(space, names, specs, sitting),
        chamber=ChamberKind.MAIL,
        rule="each for itself",
        rounds=1,
    )
    books = begin(space.engine, _books_of(names), question, ask.OpenSession(session="mail"))
    desk = MailDesk(space, specs, DecisionBooks(space.engine, books))
    runner = Runner(
        desk,
        sitting,
        space.engine.clock,
        budget=limits.budget,
        turn_seconds=limits.turn_seconds,
        watch=watch,
    )
    return Ran(runner.run(), desk.standing(), books)


def _books_of(names: tuple[str, ...]) -> str:
    """The same for the same participants: a second run has no second purse."""
    if len(names) == 1:
        return f"{PREFIX}{names[0]}"
    return f"{PREFIX}{hashlib.sha256(' '.join(names).encode()).hexdigest()[:12]}"

"""The checks behind the rules: each yields a message and a place for every breach it finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from moot.core.machine import Command, Context, KeyClass
from moot.core.names import AGENT, SYSTEM
from moot.protocols.decision import commands as ask
from moot.protocols.decision.model import (
    MOST_MOTIVE,
    MOST_MOTIVES,
    MOST_SEATS,
    Chamber,
    Stage,
    State,
)

Breaches = Iterator[tuple[str, str | None]]


class Asked(msgspec.Struct, frozen=True):
    """A command in its moment."""

    state: State
    command: Command
    context: Context


Check = Callable[[Asked], Breaches]


def out_of_stage(*stages: Stage) -> Check:
    def check(asked: Asked) -> Breaches:
        if asked.state.stage not in stages:
            yield f"this decision is {asked.state.stage.value}", None

    return check


def ended(asked: Asked) -> Breaches:
    word = asked.state.word
    if word is not None:
        yield f"{word.by} has said {word.word.value}", None


def not_begun(asked: Asked) -> Breaches:
    if asked.state.stage is Stage.NEW:
        yield "", None


def bad_seats(asked: Asked) -> Breaches:
    assert isinstance(asked.command, ask.AskQuestion)
    counts = Counter(seat.agent for seat in asked.command.seats)
    least = 1 if asked.command.chamber is Chamber.MAIL else 2
    if not least <= len(counts) <= MOST_SEATS:
        yield f"{len(counts)} take part; {least} to {MOST_SEATS} can", "seats"
    for name, count in counts.items():
        if count > 1:
            yield f"{name} has more than one seat", "seats"
        if not AGENT.match(name):
            yield f"{name!r} is not an agent name", "seats"


def bad_rounds(asked: Asked) -> Breaches:
    assert isinstance(asked.command, ask.AskQuestion)
    if not 1 <= asked.command.rounds <= 100:
        yield f"{asked.command.rounds} rounds", "rounds"


def bad_motives(asked: Asked) -> Breaches:
    """A few short lines for each: they name what a seat of a parliament stands for."""
    command = asked.command
    said = command.motives if isinstance(command, ask.GiveAnswer) else None
    rows = [seat.motives for seat in getattr(command, "seats", ())] if said is None else [said]
    for row in rows:
        if len(row) > MOST_MOTIVES:
            yield f"{len(row)} motives; at most {MOST_MOTIVES}", "motives"
        for text in row:
            if not text.strip() or len(text) > MOST_MOTIVE or not text.isprintable():
                yield f"a motive is one line of at most {MOST_MOTIVE} characters", "motives"


def no_seat(asked: Asked) -> Breaches:
    name = asked.context.actor.id
    if asked.state.seat(name) is None:
        yield f"{name} takes no part in this", None


def unknown_agent(asked: Asked) -> Breaches:
    name: str = getattr(asked.command, "agent", "")
    if asked.state.seat(name) is None:
        yield f"{name} takes no part in this", "agent"


def answered_before(asked: Asked) -> Breaches:
    name: str = getattr(asked.command, "agent", asked.context.actor.id)
    if name in asked.state.answers:
        yield f"{name} has answered", None


def still_open(asked: Asked) -> Breaches:
    if asked.state.unanswered:
        yield f"{', '.join(asked.state.unanswered)} has not answered", None


def not_the_clerk(asked: Asked) -> Breaches:
    """The books are kept by the machine, or by whoever asked."""
    actor = asked.context.actor
    if actor.kind is not KeyClass.SYSTEM and actor.id not in (asked.state.asked_by, SYSTEM):
        yield f"{actor.id} does not keep the books here", None


def result_out_of_place(asked: Asked) -> Breaches:
    """A parliament goes on after a veto and comes to another result; a debate does not."""
    state = asked.state
    again = state.stage is Stage.WAITING and state.chamber is Chamber.PARLIAMENT
    if state.stage is not Stage.ARGUING and not again:
        yield f"this decision is {state.stage.value}", None


def not_the_machine(asked: Asked) -> Breaches:
    """Whoever checks a receipt believes the ledger's own key, and no other."""
    if asked.context.actor.kind is not KeyClass.SYSTEM:
        yield f"{asked.context.actor.id} does not sign receipts", None


def no_parliament(asked: Asked) -> Breaches:
    if asked.state.chamber is not Chamber.PARLIAMENT:
        yield f"this is argued in a {asked.state.chamber.value}", None


def no_person(asked: Asked) -> Breaches:
    if asked.context.actor.kind is not KeyClass.HUMAN:
        yield f"{asked.context.actor.id} is no person", None


def early(asked: Asked) -> Breaches:
    if asked.state.stage not in (Stage.WAITING, Stage.NEW) and asked.state.word is None:
        yield "", None


def negative(asked: Asked) -> Breaches:
    assert isinstance(asked.command, ask.NoteCall)
    if min(msgspec.structs.astuple(asked.command.cost)) < 0:
        yield "a cost is below zero", "cost"


def has_successor(asked: Asked) -> Breaches:
    if asked.state.superseded_by is not None:
        yield f"{asked.state.superseded_by} supersedes it", None

"""The rules of errands, one row each, and which of them a command must keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from moot.core.findings import Rule
from moot.core.machine import Command, Context
from moot.core.names import AGENT, SYSTEM
from moot.protocols.example import commands as ask
from moot.protocols.example.model import Errand, State

Breaches = Iterator[tuple[str, str | None]]


class Asked(msgspec.Struct, frozen=True):
    """A command in its moment, with the errand it names (if there is one)."""

    state: State
    command: Any
    context: Context
    errand: Errand | None


def no_title(asked: Asked) -> Breaches:
    if not asked.command.title.strip():
        yield "", "title"


def bad_receiver(asked: Asked) -> Breaches:
    if not AGENT.match(asked.command.of):
        yield f"{asked.command.of!r} is not an agent name", "of"


def not_open(asked: Asked) -> Breaches:
    if asked.errand is None:
        yield "", "id"


def not_theirs(asked: Asked) -> Breaches:
    """Finishing belongs to the one asked, withdrawing to the asker, lapsing to the machine."""
    errand = asked.errand
    if errand is None:
        return
    owner = {
        ask.Finish: errand.asked_of,
        ask.Withdraw: errand.asked_by,
        ask.Lapse: SYSTEM,
    }[type(asked.command)]
    if asked.context.actor.id != owner:
        yield f"only {owner} may do this", "id"


def too_early(asked: Asked) -> Breaches:
    errand = asked.errand
    if errand is not None and (errand.due_at is None or asked.context.now < errand.due_at):
        yield "", "id"


_TITLE = Rule("EXA-01", "title_required", "an errand needs a title", no_title,
              "say what is to be done")  # fmt: skip
_RECEIVER = Rule("EXA-02", "bad_name", "an errand is asked of an agent", bad_receiver,
                 "a name such as amber-otter")  # fmt: skip
_OPEN = Rule("EXA-03", "errand_not_open", "no open errand has this id", not_open,
             "look at the list of open errands")  # fmt: skip
_OWNER = Rule("EXA-04", "not_yours", "this errand is someone else's", not_theirs,
              "ask whoever it belongs to")  # fmt: skip
_TIME = Rule("EXA-05", "too_early", "its time is not over", too_early,
             "wait until its time is over")  # fmt: skip

RULES: dict[type[Command], tuple[Rule[Asked], ...]] = {
    ask.Ask: (_TITLE, _RECEIVER),
    ask.Finish: (_OPEN, _OWNER),
    ask.Withdraw: (_OPEN, _OWNER),
    ask.Lapse: (_OPEN, _OWNER, _TIME),
}

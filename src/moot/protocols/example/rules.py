"""The rules of errands, one row each, and which of them a command must keep.

A check is named for the fault it looks for and yields `(message, where)` for each one; an empty
message means the row's sentence. Its signature names the commands that it is for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moot.core.findings import Breach, Rule
from moot.core.machine import C, Case, Command, Context
from moot.core.names import AGENT, SYSTEM
from moot.protocols.example import model
from moot.protocols.example.model import Errand, State

# What every check looks at: a command, the state, and the errand that the command names.
#
# `case_of` looks up once what several rules need. If each rule looked it up by itself, two rows
# could disagree about what they saw.

# The commands that end an errand, for checks that serve all three.
Closing = model.Finish | model.Withdraw | model.Lapse


class ErrandCase(Case[State, C], frozen=True, gc=False):
    """`errand` is the open errand that the command names; None if it names no open one."""

    errand: Errand | None


def case_of(state: State, command: C, context: Context) -> ErrandCase[C]:
    errand = state.open.get(command.id) if isinstance(command, Closing) else None
    return ErrandCase(state, command, context, errand)


Breaches = Iterator[Breach]


def no_title(case: ErrandCase[model.Ask]) -> Breaches:
    if not case.command.title.strip():
        yield "", "title"


def bad_receiver(case: ErrandCase[model.Ask]) -> Breaches:
    if not AGENT.match(case.command.of):
        yield f"{case.command.of!r} is not an agent name", "of"


def not_open(case: ErrandCase[Closing]) -> Breaches:
    if case.errand is None:
        yield "", "id"


def not_theirs(case: ErrandCase[Closing]) -> Breaches:
    """Finishing belongs to the one asked, withdrawing to the asker, lapsing to the machine."""
    errand = case.errand
    if errand is None:
        return  # EXA-03 reports it
    owner = {
        model.Finish: errand.asked_of,
        model.Withdraw: errand.asked_by,
        model.Lapse: SYSTEM,
    }[type(case.command)]
    if case.context.actor.id != owner:
        yield f"only {owner} may do this", "id"


def too_early(case: ErrandCase[model.Lapse]) -> Breaches:
    errand = case.errand
    if errand is not None and (errand.due_at is None or case.context.now < errand.due_at):
        yield "", "id"


# One row for each rule: id, code, sentence, check, and what to do about it. If the id is not in a
# manifest of tests/requirements, `requirement=` names the row that the rule enforces.
_TITLE = Rule("EXA-01", "title_required", "an errand needs a title", no_title,
              "say what is to be done")  # fmt: skip
_RECEIVER = Rule("EXA-02", "bad_name", "an errand is asked of an agent", bad_receiver,
                 "a name such as amber-otter")  # fmt: skip
_OPEN = Rule("EXA-03", "errand_not_open", "no open errand has this id", not_open,
             "look at the list of open errands")  # fmt: skip
_OWNER = Rule("EXA-04", "not_yours", "this errand is someone else's", not_theirs,
              "ask the agent that it belongs to")  # fmt: skip
_TIME = Rule("EXA-05", "too_early", "its time is not over", too_early,
             "wait until its time is over")  # fmt: skip

# `Any` because each check takes its own commands; `decide` looks rows up by the command's type.
RULES: dict[type[Command], tuple[Rule[Any], ...]] = {
    model.Ask: (_TITLE, _RECEIVER),
    model.Finish: (_OPEN, _OWNER),
    model.Withdraw: (_OPEN, _OWNER),
    model.Lapse: (_OPEN, _OWNER, _TIME),
}

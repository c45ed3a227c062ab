"""What every check looks at: a command, the state it meets, and the errand it names.

Whatever several rules need is looked up here, once, and has a type: a rule table that looks things
up by itself ends with two rows that disagree about what they saw.
"""

from __future__ import annotations

from moot.core.machine import C, Case, Context
from moot.protocols.example import commands as ask
from moot.protocols.example.model import Errand, State

# The commands that end an errand. Checks that serve all three say so by this name.
Closing = ask.Finish | ask.Withdraw | ask.Lapse


class ErrandCase(Case[State, C], frozen=True, gc=False):
    """`errand` is the open errand that the command names; None if it names no open one."""

    errand: Errand | None


def case_of(state: State, command: C, context: Context) -> ErrandCase[C]:
    errand = state.open.get(command.id) if isinstance(command, Closing) else None
    return ErrandCase(state, command, context, errand)

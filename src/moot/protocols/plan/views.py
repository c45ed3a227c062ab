"""What people and agents read of a plan."""

from __future__ import annotations

import msgspec

from moot.core.clock import to_text
from moot.core.quoted import Quoted
from moot.protocols.plan.model import State


class PlanView(msgspec.Struct, frozen=True):
    """The newest page; `by` wrote it. `version` is 0 and `text` empty if nobody wrote any yet."""

    work: Quoted
    version: int
    text: Quoted
    by: str | None
    at: str | None


def view_plan(work: str, state: State) -> PlanView:
    at = to_text(state.at) if state.version else None
    return PlanView(Quoted(work), state.version, Quoted(state.text), state.by or None, at)

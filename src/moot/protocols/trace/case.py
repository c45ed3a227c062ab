"""What the rules of a trace look at: an event about to be recorded, or recorded long ago.

Rules are about events, not commands, so that an audit of a recorded trace asks the very questions
that were asked when it was written. Only the wording of a command is checked as a command.
"""

from __future__ import annotations

from typing import Generic, TypeAlias, TypeVar

import msgspec

from moot.core.machine import C, Case, E, Event
from moot.protocols.trace.model import State
from moot.protocols.trace.roles import TraceActor

E_co = TypeVar("E_co", bound=Event, covariant=True)

CommandCase: TypeAlias = Case[State, C]


class PermissionCase(msgspec.Struct, frozen=True, gc=False):
    """Who wants to record which kind of event, and the state it meets.

    The guards need no more: they are asked before the event itself is made.
    """

    state: State
    who: TraceActor
    kind: type[Event]


class EventCase(PermissionCase, Generic[E_co], frozen=True, gc=False):
    """An event under check. A check says in its signature which kind of event it is about."""

    event: E_co


def case_of(state: State, event: E, who: TraceActor) -> EventCase[E]:
    return EventCase(state, who, type(event), event)

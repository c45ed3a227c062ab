"""`now`: who you are, what is due and the call that does it, mail, what you hold, who else works.

It combines `status` and `agenda`, as short as a model needs it at the start of a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.presence.agenda import DueItem, agenda
from moot.api.presence.status import ACTIVE, Status, status
from moot.core.text import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session

MOST_OTHERS: Final = 40


class DueNow(DueItem, frozen=True, kw_only=True):
    """Something due for you, with the tool call that does it; else `hint` is a shell command."""

    call: str | None


class HeldScope(msgspec.Struct, frozen=True):
    scope: Quoted
    work: Quoted | None
    expires_at: str | None


class OtherAgent(msgspec.Struct, frozen=True):
    agent: str
    label: str
    work: Quoted | None
    holds: tuple[Quoted, ...]


class Now(msgspec.Struct, frozen=True):
    """`unread` counts new mail; `others` are agents that are here or hold something, `more_others`
    counts those that were left out."""

    you: str
    due: tuple[DueNow, ...]
    unread: int
    holds: tuple[HeldScope, ...]
    others: tuple[OtherAgent, ...]
    more_others: int
    rolled_back: bool


def look(session: Session) -> Now:
    """Return the current state for the acting agent."""
    you, seen = session.actor(), status(session)
    others = list(_others(seen, you))[:MOST_OTHERS]
    works_too = any(view.agent == you and (view.here or view.holds) for view in seen.agents)
    return Now(
        you,
        tuple(map(_due_now, agenda(session).due)),
        seen.mail.unread,
        tuple(
            HeldScope(held.scope, held.work, held.expires_at)
            for held in seen.reservations
            if held.owner == you
        ),
        tuple(others),
        seen.working_total - works_too - len(others),
        seen.record.rolled_back,
    )


def wait_until_due(session: Session, seconds: float, stop: Callable[[], bool]) -> None:
    """Return once something is due for the acting agent, time is up, or `stop` returns True."""
    agenda(session, wait_seconds=seconds, stop=stop)


def _others(seen: Status, you: str) -> Iterable[OtherAgent]:
    for view in seen.agents:
        if view.agent != you and view.status == ACTIVE and (view.here or view.holds):
            yield OtherAgent(view.agent, view.label, view.work, view.holds)


def _due_now(item: DueItem) -> DueNow:
    return DueNow(**msgspec.structs.asdict(item), call=_call_for(item))


def _call_for(item: DueItem) -> str | None:
    """Return the tool call for a due item, by its protocol and what is due."""
    protocol, _, name = item.id.partition("/")
    find = _CALLS.get((protocol, item.what)) or _CALLS.get((protocol, ""))
    return None if find is None else find(item, name)


def _call(tool: str, **arguments: str) -> str:
    return f"{tool} {msgspec.json.encode(arguments).decode()}"


def _message_id(item: DueItem) -> str:
    """Return the message id in mail's own hint: `moot mail ack ID ...`."""
    words = item.hint.split()
    return words[3] if words[:2] == ["moot", "mail"] and len(words) > 3 else ""


def _event_id(item: DueItem) -> str:
    words = item.hint.split()
    return words[3] if words[:3] == ["moot", "event", "accept"] and len(words) > 3 else ""


_CALLS: Final[dict[tuple[str, str], Callable[[DueItem, str], str | None]]] = {
    ("mail", "read mail"): lambda _item, _name: _call("mail", action="inbox"),
    ("mail", ""): lambda item, _name: _call("mail", action="show", id=_message_id(item)),
    ("presence", ""): lambda item, _name: (
        _call("event", action="accept", id=_event_id(item)) if _event_id(item) else None
    ),
    ("debate", "speak"): lambda item, _name: _call("session", action="read", id=item.id),
    ("parliament", ""): lambda item, _name: _call("session", action="read", id=item.id),
    ("decision", "answer"): lambda item, _name: _call("session", action="read", id=item.id),
    ("trace", ""): lambda _item, name: _call("trace", action="status", trace=name),
}

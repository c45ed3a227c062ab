"""Search by words, across the protocols."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from moot.api.operation import operation
from moot.core.errors import Malformed
from moot.core.text import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.ledger import View

MOST_WORDS: Final = 400
MOST: Final = 100


class FoundItem(msgspec.Struct, frozen=True):
    """`kind` is message, event, entry, question, parliament, path, trace or claim; `shown_in` is
    the id under which it can be shown."""

    kind: str
    id: str
    shown_in: str
    title: Quoted


class FoundItems(msgspec.Struct, frozen=True):
    items: tuple[FoundItem, ...]


class _Space(NamedTuple):
    """How to search one kind: its index space, where a hit is shown, and its title."""

    kind: str
    space: str
    shown_in: Callable[[str], str]
    title: Callable[[View, str], str]


@operation("search")
def search(session: Session, words: str, *, limit: int = 20) -> FoundItems:
    """Find what contains all these words: messages, events, entries, questions, traces, claims and
    paths.

    At most `limit` of each kind (1 to 100), the best first. Without words it finds nothing.
    """
    if not 1 <= limit <= MOST or len(words) > MOST_WORDS:
        raise Malformed(
            f"at most {MOST_WORDS} characters, and 1 to {MOST} of each kind",
            code="bad_search",
            hint="search for fewer words",
        )
    if not words.strip():
        return FoundItems(())
    items = []
    with session.workspace.store.read() as view:
        for space in _SPACES:
            for key in view.search(space.space, words, limit):
                title = Quoted(space.title(view, key)[:200])
                items.append(FoundItem(space.kind, key, space.shown_in(key), title))
    return FoundItems(tuple(items))


def _row_field(space: str, name: str) -> Callable[[View, str], str]:
    def read(view: View, key: str) -> str:
        row = view.row(space, key)
        value: dict[str, Any] = {} if row is None else msgspec.json.decode(row.value)
        return str(value.get(name, key))

    return read


def _subject(view: View, key: str) -> str:
    from moot.api.mail.messages import read_message

    return str(read_message(view, key).event.subject)


def _event_title(view: View, key: str) -> str:
    from moot.api.presence.events import find_withdrawal
    from moot.protocols.presence.timeline import shown_fields

    row, mark = view.row("presence.events", key), find_withdrawal(view, key)
    title = key if row is None else shown_fields(msgspec.json.decode(row.value))[0]
    return title if mark is None else f"{title} [{mark}]"


def _entry_title(view: View, key: str) -> str:
    """Return the author and the summary."""
    from moot.api.debates.record import read_events

    stream, _, entry = key.partition("#")
    for _seq, event in read_events(view, stream):
        if getattr(event, "id", None) == entry:
            return f"{getattr(event, 'author', '')}: {getattr(event, 'summary', '')}"
    return key


def _claim_title(view: View, key: str) -> str:
    from moot.engine.replay import read_record
    from moot.protocols.trace.events import ClaimIssued
    from moot.protocols.trace.machine import MACHINE

    stream, _, claim = key.partition(" ")
    for record in view.records(stream):
        event = read_record(MACHINE, record).event
        if isinstance(event, ClaimIssued) and event.claim_id == claim:
            return event.text
    return key


def _same(key: str) -> str:
    return key


_SPACES: Final = (
    _Space("message", "mail.messages", _same, _subject),
    _Space("event", "presence.events", _same, _event_title),
    _Space("question", "decision.questions", _same, _row_field("decision.questions", "question")),
    _Space("entry", "debate.entries", lambda key: key.partition("#")[0], _entry_title),
    _Space(
        "parliament",
        "parliament.sessions",
        lambda key: f"parliament/{key}",
        _row_field("parliament.sessions", "problem_statement"),
    ),
    _Space("trace", "trace.traces", _same, _row_field("trace.traces", "task")),
    _Space("claim", "trace.claims", lambda key: key.partition(" ")[0], _claim_title),
    _Space("path", "path.paths", lambda key: f"path/{key}", _row_field("path.paths", "title")),
)

"""A repeated key is one act, whether an event stands alone or with its message."""

from __future__ import annotations

from typing import TypedDict

import msgspec
import pytest

from moot.api.presence import events
from moot.api.session import Session
from moot.core.errors import Conflict
from moot.protocols.presence.codec import check_document


class Handoff(TypedDict):
    subject: str
    summary: str
    next_action: str
    work: str


HANDOFF: Handoff = {
    "subject": "auth",
    "summary": "half done",
    "next_action": "test it",
    "work": "T-7",
}
BLOCKED = {"subject": "auth", "blocker": "no key", "requested_action": "make it", "work": "T-7"}


@pytest.fixture
def otter(session: Session) -> Session:
    return session.acting_as("amber-otter")


@pytest.fixture
def crane(session: Session) -> Session:
    return session.acting_as("teal-crane")


def count_events(session: Session) -> int:
    with session.workspace.store.read() as view:
        return view.count_streams_and_events()[1]


def test_the_same_key_sends_one_event(otter: Session) -> None:
    first = events.send_handoff(otter, "teal-crane", **HANDOFF, key="k-1")
    before = count_events(otter)
    assert events.send_handoff(otter, "teal-crane", **HANDOFF, key="k-1").event == first.event
    assert count_events(otter) == before
    with pytest.raises(Conflict):
        events.send_blocked(otter, "teal-crane", **BLOCKED, key="k-1")
    assert count_events(otter) == before


def test_the_same_key_sends_one_event_and_one_message(otter: Session) -> None:
    first = events.blocked(otter, "teal-crane", **BLOCKED, key="k-1")
    before = count_events(otter)
    again = events.blocked(otter, "teal-crane", **BLOCKED, key="k-1")
    assert (again.event, again.message) == (first.event, first.message)
    assert count_events(otter) == before


def test_the_same_key_accepts_once_and_says_again_what_moved(
    otter: Session, crane: Session
) -> None:
    sent = events.handoff(otter, "teal-crane", **HANDOFF, key="k-1")
    first = events.accept(crane, sent.event.id, key="k-2")
    before = count_events(crane)
    assert events.accept(crane, sent.event.id, key="k-2") == first
    assert count_events(crane) == before


@pytest.mark.requirement("OPR-049")
def test_the_list_offers_each_event_in_the_v1_form_once(otter: Session, crane: Session) -> None:
    sent = events.handoff(otter, "teal-crane", **HANDOFF)
    events.accept(crane, sent.event.id)
    asked = events.blocked(crane, "amber-otter", **BLOCKED)
    conversation = events.list_events(otter)
    assert [row.kind for row in conversation.events] == ["HANDOFF", "RECEIPT", "BLOCKED"]
    assert conversation.envelopes == (sent.event, asked.event)
    for envelope in conversation.envelopes:
        assert check_document(msgspec.to_builtins(envelope)) == ()
    assert events.list_events(otter, limit=1).envelopes == (asked.event,)
    assert events.list_events(otter, work="T-8").envelopes == ()

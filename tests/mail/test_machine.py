"""The machine as the engine sees it: states as bytes, rows that can be rebuilt, bounded memory."""

from __future__ import annotations

import pytest

from moot.core.statecodec import decode_state, encode_state
from moot.protocols.mail.command_rules import RULES
from moot.protocols.mail.commands import COMMANDS
from moot.protocols.mail.event_drafts import _DRAFTS
from moot.protocols.mail.events import EVENTS
from moot.protocols.mail.evolution import _EVOLVE
from moot.protocols.mail.index_rows import _INDEX
from moot.protocols.mail.machine import MACHINE
from moot.protocols.mail.model import MAX_RECENT, State

from . import scene
from .scene import CRANE, FINCH, OTTER, STREAM, THREAD, Desk, ack, info, party, question, send


@pytest.fixture
def busy() -> Desk:
    """A thread with something of everything."""
    desk = Desk()
    desk.run(OTTER, send("KICKOFF: logins", scene.KICKOFF, CRANE, FINCH))
    desk.run(CRANE, ack(1))
    desk.run(OTTER, question(CRANE, cc=(party(FINCH),)))
    desk.run(OTTER, send("HANDOFF: T-7 to teal-crane", scene.handoff()))
    desk.later(30)
    desk.run(CRANE, ack(3, "Completed", "done"))
    desk.later(30)
    desk.run(FINCH, info(OTTER))
    return desk


def test_every_command_and_event_has_its_row_in_every_table() -> None:
    assert set(RULES) == set(COMMANDS) == set(_DRAFTS)
    assert set(_EVOLVE) == set(EVENTS) == set(_INDEX)


def test_a_state_is_the_same_after_a_snapshot(busy: Desk) -> None:
    assert decode_state(State, encode_state(busy.state)) == busy.state


def test_another_process_sees_the_same(busy: Desk) -> None:
    assert busy.world.another_engine().state(MACHINE, STREAM) == busy.state


def test_what_is_derived_is_made_from_the_events_alone(busy: Desk) -> None:
    before = {space: busy.rows(space) for space in ("mail.inbox", "mail.answers", "mail.messages")}
    assert busy.world.engine.rebuild().differences == ()
    after = {space: busy.rows(space) for space in before}
    assert after == before
    assert all(before.values())


def test_a_long_thread_keeps_a_short_state() -> None:
    desk = Desk()
    for _ in range(MAX_RECENT + 40):
        desk.run(OTTER, info())
    state = desk.state
    assert state.count == MAX_RECENT + 40
    assert len(state.recent) == MAX_RECENT
    assert not state.open
    assert desk.refused(CRANE, ack(1)) == "message_settled"
    desk.run(CRANE, ack(MAX_RECENT + 40))


def test_deadlines_are_kept_in_order_and_go_with_their_messages(busy: Desk) -> None:
    waiting = [(one.ack_by, one.id) for one in busy.state.open.values() if one.ack_by is not None]
    assert list(busy.state.deadlines) == sorted(waiting)


def test_words_are_found_in_subject_and_body(busy: Desk) -> None:
    with busy.world.store.read() as view:
        assert f"{THREAD}:1" in view.search("mail.messages", "logins Monday")
        assert view.search("mail.messages", "nowhere") == []


def test_a_message_is_in_an_inbox_once_even_if_it_was_sent_again(busy: Desk) -> None:
    ids = [key.rpartition("/")[2] for key in busy.rows("mail.inbox", f"{FINCH}/1/")]
    assert sorted(ids) == sorted(set(ids))
    assert f"{THREAD}:1" in ids


def test_the_machine_is_registered() -> None:
    desk = Desk()
    assert desk.world.machines.machine_of(STREAM) is MACHINE

"""The machine as the engine sees it: states as bytes, rows that can be rebuilt, bounded memory."""

from __future__ import annotations

import pytest

from moot.core.paged_map import decode_state, encode_state
from moot.protocols.mail.command_events import _DRAFTS
from moot.protocols.mail.command_rules import RULES
from moot.protocols.mail.commands import COMMANDS
from moot.protocols.mail.events import EVENTS
from moot.protocols.mail.machine import _EVOLVE, _INDEX, MACHINE
from moot.protocols.mail.model import MAX_RECENT, State

from . import scene
from .scene import (
    CRANE,
    FINCH,
    OTTER,
    STREAM,
    THREAD,
    MailScenario,
    ack,
    info,
    party,
    question,
    send,
)


@pytest.fixture
def busy() -> MailScenario:
    """A thread with something of everything."""
    scenario = MailScenario()
    scenario.run(OTTER, send("KICKOFF: logins", scene.KICKOFF, CRANE, FINCH))
    scenario.run(CRANE, ack(1))
    scenario.run(OTTER, question(CRANE, cc=(party(FINCH),)))
    scenario.run(OTTER, send("HANDOFF: T-7 to teal-crane", scene.handoff()))
    scenario.later(30)
    scenario.run(CRANE, ack(3, "Completed", "done"))
    scenario.later(30)
    scenario.run(FINCH, info(OTTER))
    return scenario


def test_every_command_and_event_has_its_row_in_every_table() -> None:
    assert set(RULES) == set(COMMANDS) == set(_DRAFTS)
    assert set(_EVOLVE) == set(EVENTS) == set(_INDEX)


def test_a_state_is_the_same_after_a_snapshot(busy: MailScenario) -> None:
    assert decode_state(State, encode_state(busy.state)) == busy.state


def test_another_process_sees_the_same(busy: MailScenario) -> None:
    assert busy.world.another_engine().state(MACHINE, STREAM) == busy.state


def test_what_is_derived_is_made_from_the_events_alone(busy: MailScenario) -> None:
    before = {space: busy.rows(space) for space in ("mail.inbox", "mail.answers", "mail.messages")}
    assert busy.world.engine.rebuild().differences == ()
    after = {space: busy.rows(space) for space in before}
    assert after == before
    assert all(before.values())


def test_a_long_thread_keeps_a_short_state() -> None:
    scenario = MailScenario()
    for _ in range(MAX_RECENT + 40):
        scenario.run(OTTER, info())
    state = scenario.state
    assert state.count == MAX_RECENT + 40
    assert len(state.recent) == MAX_RECENT
    assert not state.open
    assert scenario.refused(CRANE, ack(1)) == "message_settled"
    scenario.run(CRANE, ack(MAX_RECENT + 40))


def test_deadlines_are_kept_in_order_and_go_with_their_messages(busy: MailScenario) -> None:
    waiting = [(one.ack_by, one.id) for one in busy.state.open.values() if one.ack_by is not None]
    assert list(busy.state.deadlines) == sorted(waiting)


def test_words_are_found_in_subject_and_body(busy: MailScenario) -> None:
    with busy.world.store.read() as view:
        assert f"{THREAD}:1" in view.search("mail.messages", "logins Monday")
        assert view.search("mail.messages", "nowhere") == []


def test_a_message_is_in_an_inbox_once_even_if_it_was_sent_again(busy: MailScenario) -> None:
    ids = [key.rpartition("/")[2] for key in busy.rows("mail.inbox", f"{FINCH}/1/")]
    assert sorted(ids) == sorted(set(ids))
    assert f"{THREAD}:1" in ids


def test_the_machine_is_registered() -> None:
    scenario = MailScenario()
    assert scenario.world.machines.machine_of(STREAM) is MACHINE

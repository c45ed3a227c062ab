"""What holds in every history of a thread, whatever is asked of it and by whom."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from moot.core.clock import MINUTE, parse_time
from moot.core.machine import Command, Context, KeyClass, Recorded, VerifiedActor
from moot.core.names import SYSTEM
from moot.core.paged_map import decode_state, encode_state
from moot.core.record import Actor
from moot.protocols.mail import commands as ask
from moot.protocols.mail import events as did
from moot.protocols.mail.machine import MACHINE, TRANSITIONS
from moot.protocols.mail.model import MAX_RECENT, Party, State
from moot.protocols.mail.views import list_pending
from tests.sampling import examples

from . import scene
from .scene import CRANE, FINCH, OTTER, STREAM, THREAD

NAMES = (OTTER, CRANE, FINCH)
_parties = st.builds(Party, st.sampled_from([*NAMES, "no-body"]), st.sampled_from([0, 1, 1, 1, 2]))
_groups = st.lists(_parties, max_size=3).map(tuple)
_ids = st.integers(0, 6).map(lambda number: f"{THREAD}:{number}") | st.just("other:1")
_texts = st.sampled_from(
    [
        ("QUESTION: Which cache?", scene.QUESTION),
        ("INFO: Done", scene.INFO),
        ("KICKOFF: logins", scene.KICKOFF),
        ("HANDOFF: T-7 to teal-crane", scene.handoff()),
        ("BLOCKED: T-7", scene.BLOCKED),
        ("CLAIM: T-7", scene.CLAIM),
        ("ACK: Which cache?", "# Acknowledgement\n\n## Status\nCompleted\n"),
        ("ACK: x", f"# Acknowledgement\n\n## Message ID\n{THREAD}:1\n\n## Status\nReceived\n"),
        ("HELLO: x", ""),
    ]
)
_flags = st.sampled_from([None, True, False])
_statuses = st.sampled_from(["Received", "Understood", "will action", "Completed", "OK", ""])

_sends = st.builds(
    lambda text, to, cc, flag, re: ask.Send(
        subject=text[0], body=text[1], to=to, cc=cc, ack_required=flag, re=re
    ),
    _texts,
    _groups,
    _groups,
    _flags,
    st.none() | _ids,
)
_acks = st.builds(
    lambda id_, status, notes: ask.Acknowledge(id=id_, status=status, notes=notes),
    _ids,
    _statuses,
    st.sampled_from(["", "the inner one", "## Status\nOK", "x" * 5_000]),
)
_imports = st.builds(
    lambda text, to, number, here: ask.Import(
        outside_id=f"ext-{number}",
        sender="RedCreek",
        subject=text[0],
        body=text[1],
        to=to,
        ack_required=True,
        sender_here=here,
    ),
    _texts,
    _groups,
    st.integers(0, 3),
    st.booleans(),
)
_chases = st.builds(lambda id_: ask.Chase(id=id_), _ids)
_commands: st.SearchStrategy[Command] = st.one_of(_sends, _sends, _acks, _acks, _imports, _chases)


class Thread(RuleBasedStateMachine):
    """Random commands on the pure machine, with a clock that moves and names that change hands."""

    def __init__(self) -> None:
        super().__init__()
        self.state: State = MACHINE.initial
        self.now = parse_time("2026-02-18T12:00:00.000Z")
        self.epochs = dict.fromkeys(NAMES, 1)
        self.seq = 0
        self.kept = 0
        self.rows: dict[tuple[str, str], Any] = {}

    def _context(self, name: str) -> Context:
        kind = KeyClass.SYSTEM if name == SYSTEM else KeyClass.AGENT
        acting = VerifiedActor(name, self.epochs.get(name, 1), "0" * 32, kind)
        return Context(self.now, acting, STREAM, "origin")

    def _apply(self, name: str, command: Command) -> None:
        decision = MACHINE.decide(self.state, command, self._context(name))
        assert not (decision.refused and decision.drafts)
        actor = Actor(name, self.epochs.get(name, 1), "0" * 32)
        for draft in decision.drafts:
            event: Any = draft.event
            recorded: Recorded[Any] = Recorded(event, STREAM, self.seq, self.now, actor, b"")
            before = self.state
            self.state = MACHINE.evolve(self.state, recorded)
            self.seq += 1
            self.kept += isinstance(event, did.MessageKept)
            if not isinstance(event, did.MessageKept):
                self._moved(before, event)
            if isinstance(event, did.MessageAcknowledged):
                message = before.find_message(event.id)
                assert message is not None
                assert message.find_receiver(name, actor.epoch) is not None
                assert event.left == len(self.state.open)
            for row in MACHINE.index(recorded):
                if hasattr(row, "value"):
                    self.rows[row.space, row.key] = row.value
                elif not hasattr(row, "text"):
                    self.rows.pop((row.space, row.key), None)

    def _moved(self, before: State, event: Any) -> None:
        """Every step is one of the table's."""
        was, now = before.find_message(event.id), self.state.find_message(event.id)
        assert was is not None
        assert now is not None
        assert now.stage in TRANSITIONS[was.stage][type(event)]

    @rule(name=st.sampled_from(NAMES), command=_commands)
    def act(self, name: str, command: Command) -> None:
        self._apply(name, command)

    @rule(minutes=st.sampled_from([-5, 1, 31, 120]))
    def time_passes(self, minutes: int) -> None:
        self.now += minutes * MINUTE

    @rule()
    def the_machine_acts(self) -> None:
        for _ in range(100):
            overdue = tuple(MACHINE.timeouts(self.state, self.now))
            if not overdue:
                return
            length = self.seq
            self._apply(SYSTEM, overdue[0])
            assert self.seq > length, "what is overdue can always be applied"
        raise AssertionError("time limits never end")

    @rule(name=st.sampled_from(NAMES))
    def another_holder(self, name: str) -> None:
        self.epochs[name] = min(self.epochs[name] + 1, 2)

    @invariant()
    def every_message_counts(self) -> None:
        assert self.state.count == self.kept

    @invariant()
    def what_is_open_waits_and_nothing_else(self) -> None:
        assert all(one.is_waiting for one in self.state.open.values())
        assert not any(one.is_waiting for one in self.state.recent)
        assert len(self.state.recent) <= MAX_RECENT

    @invariant()
    def deadlines_belong_to_open_messages(self) -> None:
        due = [(one.ack_by, one.id) for one in self.state.open.values() if one.ack_by is not None]
        assert list(self.state.deadlines) == sorted(due)
        for one in self.state.open.values():
            assert one.ack_by is None or one.missing_receivers

    @invariant()
    def waiting_agents_are_shown(self) -> None:
        shown = {one.id for one in list_pending(self.state, self.now)}
        assert shown == set(self.state.open)
        due = {due.subject.partition(": ")[0] for due in MACHINE.agenda(self.state, self.now)}
        assert due == set(self.state.open)

    @invariant()
    def the_index_knows_that_it_is_open(self) -> None:
        assert (("open", STREAM) in self.rows) == bool(self.state.open)

    @invariant()
    def a_snapshot_gives_it_back(self) -> None:
        assert decode_state(State, encode_state(self.state)) == self.state


Thread.TestCase.settings = settings(
    max_examples=examples(80), stateful_step_count=30, deadline=None
)
TestThread = Thread.TestCase


@settings(max_examples=examples(150), deadline=None)
@given(st.text(max_size=200), st.text(max_size=400), _flags)
def test_any_text_is_decided(subject: str, body: str, flag: bool | None) -> None:
    command = ask.Send(subject=subject, body=body, to=(Party(CRANE, 1),), ack_required=flag)
    acting = VerifiedActor(OTTER, 1, "0" * 32, KeyClass.AGENT)
    MACHINE.decide(MACHINE.initial, command, Context(0, acting, STREAM, ""))


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=200), st.text(max_size=200))
def test_anything_from_outside_is_decided(id_: str, sender: str, subject: str, body: str) -> None:
    command = ask.Import(
        outside_id=id_, sender=sender, subject=subject, body=body, to=(Party(CRANE, 1),)
    )
    acting = VerifiedActor(CRANE, 1, "0" * 32, KeyClass.AGENT)
    MACHINE.decide(MACHINE.initial, command, Context(0, acting, STREAM, ""))


@pytest.mark.parametrize("notes", ["", "# H1", "## Status\nOK", "```\nopen", "{x}", "a\r\nb", "\0"])
def test_any_notes_stay_notes(notes: str) -> None:
    scenario = scene.MailScenario()
    scenario.run(OTTER, scene.question())
    sent, given_ = scenario.run(CRANE, scene.ack(1, "Will Action", notes)).recorded
    assert isinstance(sent.event, did.MessageSent)
    assert isinstance(given_.event, did.MessageAcknowledged)
    assert str(given_.event.status) == "Will Action"
    again = MACHINE.decide(
        scenario.state,
        ask.Send(subject=sent.event.subject, body=sent.event.body, to=(Party(OTTER, 1),)),
        Context(0, VerifiedActor(CRANE, 1, "0" * 32, KeyClass.AGENT), STREAM, ""),
    )
    assert not again.refused

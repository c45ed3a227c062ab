"""What holds in every history: one owner, growing numbers, no surprises."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec import UNSET

from moot.core.clock import MINUTE
from moot.core.machine import Command, Context, KeyClass, Recorded, SignOfLife, VerifiedActor
from moot.core.names import SYSTEM
from moot.core.paged_map import decode_state, encode_state
from moot.core.record import Actor
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.command_events import DRAFTS
from moot.protocols.presence.evolution import EFFECTS
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.model import (
    STREAM,
    Kind,
    Liveness,
    ResumeReason,
    State,
    Urgency,
    key_of_file,
)
from moot.protocols.presence.paths import classify_overlap, is_inside
from moot.protocols.presence.rules import RULES
from moot.protocols.presence.views import Observation, view_status, view_work_items
from tests.sampling import examples

from .scene import NOON, ROOT

NAMES = ("amber-otter", "teal-crane", "cobalt-harbor")
_names = st.sampled_from(NAMES)
_scopes = st.sampled_from(
    [
        ".",
        "src",
        "src/*",
        "src/a",
        "src/a/b.py",
        "src/ab",
        "docs",
        "docs/x",
        "db:a",
        "DB:a",
        "./db:a",
    ]
)
_texts = st.sampled_from(["src", "src/**", "", "..", "a?b", "src/a", "\0", "/etc", "*"])
_tool_ids = st.sampled_from(["", "first", "second", "third"])
_ttl = st.none() | st.sampled_from([5, 10, 60])


class Presence(RuleBasedStateMachine):
    """Random acts on the pure machine, with a clock that moves and names that change hands."""

    def __init__(self) -> None:
        super().__init__()
        self.state: State = MACHINE.initial
        self.now = NOON
        self.seq = 0
        self.epochs = dict.fromkeys(NAMES, 1)
        self.ids: list[str] = []
        self.numbers: list[int] = []
        self.beats: dict[str, int] = {}
        self.history: list[Recorded[Any]] = []

    def act(self, name: str, command: Any, kind: KeyClass = KeyClass.AGENT) -> bool:
        """Decide and record; True if it was accepted."""
        asked = MACHINE.needs_signs_of(self.state, command)
        seen = {one: SignOfLife(self.beats[one]) for one in asked if one in self.beats}
        epoch = self.epochs.get(name, 1)
        context = Context(self.now, VerifiedActor(name, epoch, "k", kind), STREAM, "o", seen)
        decision = MACHINE.decide(self.state, command, context)
        for draft in decision.drafts:
            self.record(name, epoch, draft.event)
        return not decision.refused

    def record(self, name: str, epoch: int, event: Any) -> None:
        actor = Actor(name, epoch, "k")
        recorded: Recorded[Any] = Recorded(event, STREAM, self.seq, self.now, actor, b"")
        self.seq += 1
        self.ids += [event.id] if isinstance(event, did.WITH_ENVELOPE) else []
        if isinstance(event, did.ScopeReserved | did.ScopeHandedOver):
            self.numbers.append(event.fencing)
        list(MACHINE.index(recorded))
        self.history.append(recorded)
        self.state = MACHINE.evolve(self.state, recorded)

    @rule(
        name=_names, scopes=st.lists(_scopes, min_size=1, max_size=3), ttl=_ttl, auto=st.booleans()
    )
    def reserve(self, name: str, scopes: list[str], ttl: int | None, auto: bool) -> None:
        scopes = [scope for scope in scopes if not auto or "*" not in scope] or ["x"]
        self.act(
            name,
            ask.Reserve(
                scopes=tuple(scopes), project_root=ROOT, ttl_minutes=ttl, automatic=auto, once=auto
            ),
        )

    @rule(name=_names, tool_id=_tool_ids, scope=_scopes, take=st.booleans())
    def edit(self, name: str, tool_id: str, scope: str, take: bool) -> None:
        """As a hook asks for one of a session's sub-agents, or for its main agent."""
        kind = ask.TakeOver if take else ask.Reserve
        scopes = (scope.removesuffix("/*"),)
        command = kind(
            scopes=scopes, project_root=ROOT, sub_agent=tool_id, automatic=True, once=True
        )
        if self.act(name, command):
            mine = {held.key for held in self.state.live if self.works_there(held, name, tool_id)}
            claimed = "" if scopes == (".",) else key_of_file(scopes[0])  # a hook means a file
            assert any(key == claimed or is_inside(claimed, key) for key in mine)

    def works_there(self, held: Any, name: str, tool_id: str) -> bool:
        (member,) = (one for one in self.state.members if one.name == name)
        at_work = {one.tool_id: one.alias for one in member.sub_agents}
        alias = at_work[tool_id] if tool_id else ""
        return (held.owner, held.epoch, held.alias) == (name, self.epochs[name], alias)

    @rule(name=_names, tool_id=_tool_ids)
    def begin_sub_agent(self, name: str, tool_id: str) -> None:
        assert self.act(name, ask.BeginSubAgent(sub_agent=tool_id)) == bool(tool_id)

    @rule(name=_names, tool_id=_tool_ids, everyone=st.booleans())
    def end_sub_agent(self, name: str, tool_id: str, everyone: bool) -> None:
        """Ending one gives everything on to its session: nothing is freed, nothing taken."""
        before = [(held.key, held.owner, held.epoch, held.fencing) for held in self.state.live]
        if self.act(name, ask.EndSubAgent(sub_agent=tool_id, all=everyone)):
            after = [(held.key, held.owner, held.epoch, held.fencing) for held in self.state.live]
            assert after == before
            at_work = {one.tool_id for member in self.of(name) for one in member.sub_agents}
            assert not at_work if everyone else tool_id not in at_work

    def of(self, name: str) -> list[Any]:
        """The member of that name, if its present holder has acted."""
        epoch = self.epochs[name]
        return [one for one in self.state.members if (one.name, one.epoch) == (name, epoch)]

    @rule(name=_names, scope=_scopes, ttl=_ttl)
    def take_over(self, name: str, scope: str, ttl: int | None) -> None:
        before = self.state
        active = {
            held.fencing
            for held in before.live
            if not held.has_ended(self.now)
            and self.alive(held.owner)
            and self.current(held)
            and held.owner != name
        }
        self.act(name, ask.TakeOver(scopes=(scope,), project_root=ROOT, ttl_minutes=ttl))
        assert active <= {held.fencing for held in self.state.live}, "the living were taken from"

    def alive(self, owner: str) -> bool:
        (member,) = (one for one in self.state.members if one.name == owner)
        last = max(member.last_at, self.beats.get(owner, 0))
        return self.now < last + 15 * MINUTE

    def current(self, held: Any) -> bool:
        (member,) = (one for one in self.state.members if one.name == held.owner)
        return bool(held.epoch == member.epoch)

    @rule(name=_names, scope=_scopes)
    def release(self, name: str, scope: str) -> None:
        self.act(name, ask.Release(scopes=(scope,), project_root=ROOT))

    @rule(name=_names)
    def leave(self, name: str) -> None:
        if self.act(name, ask.Leave()):
            mine = (name, self.epochs[name])
            assert mine not in {(held.owner, held.epoch) for held in self.state.live}

    @rule(name=_names, to=_names, scope=st.none() | _scopes, ack=st.booleans())
    def hand_off(self, name: str, to: str, scope: str | None, ack: bool) -> None:
        self.act(
            name,
            ask.SendHandoff(
                to=to,
                subject="s",
                summary="s",
                next_action="n",
                work="bb-1",
                project_root=ROOT,
                scope=scope,
                requires_ack=ack,
                to_epoch=self.epochs[to],
            ),
        )

    @precondition(lambda self: self.ids)
    @rule(name=_names, data=st.data())
    def accept(self, name: str, data: st.DataObject) -> None:
        event_id = data.draw(st.sampled_from(self.ids))
        if self.act(name, ask.Accept(id=event_id)):
            assert event_id not in self.state.pending

    @rule(name=_names)
    def change_hands(self, name: str) -> None:
        self.epochs[name] += 1

    @rule(name=_names, dirty=st.lists(_scopes, max_size=2))
    def resume(self, name: str, dirty: list[str]) -> None:
        evidence = ask.Evidence(tuple(dirty), ())
        self.act(name, ask.Resume(evidence=evidence, project_root=ROOT))

    @rule(name=_names)
    def beat(self, name: str) -> None:
        self.beats[name] = self.now

    @rule(minutes=st.sampled_from([0, 1, 5, 14, 15, 30, -3]))
    def wait(self, minutes: int) -> None:
        self.now += minutes * MINUTE

    @rule()
    def expire(self) -> None:
        for command in MACHINE.timeouts(self.state, self.now):
            assert self.act(SYSTEM, command, KeyClass.SYSTEM)
            assert not any(held.has_ended(self.now) for held in self.state.live)

    @invariant()
    def never_two_owners_of_one_place(self) -> None:
        for a, b in combinations(self.state.live, 2):
            if classify_overlap(a.key, b.key) is not Kind.DISJOINT:
                assert (a.owner, a.epoch) == (b.owner, b.epoch), (a, b)

    @invariant()
    def never_two_sub_agents_at_work_in_one_place(self) -> None:
        for a, b in combinations(self.state.live, 2):
            if classify_overlap(a.key, b.key) is not Kind.DISJOINT and a.alias and b.alias:
                assert a.alias == b.alias, (a, b)

    @invariant()
    def an_alias_is_at_work_and_never_given_twice(self) -> None:
        for member in self.state.members:
            at_work = [one.alias for one in member.sub_agents]
            assert len(set(at_work)) == len(at_work)
            assert all(int(alias) <= member.sub_agent_count for alias in at_work)
            held = (one for one in self.state.live if one.owner == member.name)
            present = {one.alias for one in held if one.epoch == member.epoch}
            assert present <= {"", *at_work}

    def teardown(self) -> None:
        """The same history, followed again, is the same state."""
        state = MACHINE.initial
        for recorded in self.history:
            state = MACHINE.evolve(state, recorded)
        assert state == self.state

    @invariant()
    def lists_are_sorted_and_without_repeats(self) -> None:
        keys = [held.key for held in self.state.live]
        names = [member.name for member in self.state.members]
        assert keys == sorted(set(keys))
        assert names == sorted(set(names))

    @invariant()
    def numbers_only_grow(self) -> None:
        assert self.numbers == sorted(set(self.numbers))
        assert self.state.fencing == max(self.numbers, default=0)
        assert self.ids == sorted(set(self.ids))

    @invariant()
    def the_earliest_end_is_known(self) -> None:
        ends = [held.expires_at for held in self.state.live if held.expires_at is not None]
        assert self.state.next_expiry == min(ends, default=None)

    @invariant()
    def a_snapshot_is_the_state(self) -> None:
        assert decode_state(State, encode_state(self.state)) == self.state

    @invariant()
    def every_view_can_be_shown(self) -> None:
        moment = Observation(self.now)
        view_status(self.state, moment, NAMES[0])
        view_work_items(self.state, moment, {"bb-1": "in_progress"})
        MACHINE.agenda(self.state, self.now)


TestPresence = Presence.TestCase
TestPresence.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)


_free_text = st.text(max_size=12)
_commands: st.SearchStrategy[Any] = st.one_of(
    st.builds(
        ask.Reserve,
        scopes=st.lists(_texts | _free_text, max_size=3).map(tuple),
        project_root=st.sampled_from([ROOT, "repo", "C:/x", ""]),
        worktree=st.sampled_from(["", ROOT, "x"]),
        ttl_minutes=st.none() | st.integers(-10, 2_000),
        stale_millis=st.integers(-10, 10**9),
        work=st.none() | _free_text,
        automatic=st.booleans(),
        once=st.booleans(),
        sub_agent=st.just(UNSET) | _tool_ids | _free_text,
        sub_agent_kind=st.just(UNSET) | _free_text,
    ),
    st.builds(ask.BeginSubAgent, sub_agent=_tool_ids | _free_text),
    st.builds(ask.EndSubAgent, sub_agent=_tool_ids, all=st.booleans(), reason=_free_text),
    st.builds(ask.TakeOver, scopes=st.tuples(_free_text), project_root=st.just(ROOT)),
    st.builds(ask.Release, scopes=st.tuples(_texts), project_root=st.just(ROOT), all=st.booleans()),
    st.builds(ask.Join, project_root=_free_text, work=st.none() | _free_text),
    st.builds(ask.Leave, reason=_free_text),
    st.builds(ask.MarkSeen, id=_free_text),
    st.builds(ask.Accept, id=_free_text),
    st.builds(
        ask.SendBlocked,
        to=_names | _free_text,
        subject=_free_text,
        blocker=_free_text,
        requested_action=_free_text,
        work=_free_text,
        project_root=st.just(ROOT),
        urgency=_free_text,
        scope=st.none() | _texts,
    ),
    st.builds(ask.NoteIncursion, paths=st.tuples(_texts), project_root=_free_text),
    st.builds(ask.SetStaleMinutes, stale_millis=st.integers(-5, 10**12)),
    st.just(ask.ExpireScopes()),
)


@given(st.lists(_commands, max_size=6), _names, st.integers(1, 3))
def test_deciding_never_raises_and_an_error_records_at_most_an_overlap(
    commands: list[Any], name: str, epoch: int
) -> None:
    machine = Presence()
    machine.epochs[name] = epoch
    for command in commands:
        before = machine.state
        if not machine.act(name, command):
            assert machine.state.live == before.live
            assert machine.state.fencing == before.fencing


_key = st.sampled_from(["", "src", "src/a", "docs"])
_number = st.integers(0, 5)
_alias = st.sampled_from(["", "1", "2", "odd", "9" * 5_000])
_id = st.sampled_from(["proto_20260218_001", "proto_20260219_002", "odd", ""])
_any_events: st.SearchStrategy[Any] = st.one_of(
    st.builds(
        did.ScopeReserved,
        fencing=_number,
        key=_key,
        scope=_key,
        work=st.none(),
        worktree=st.just(ROOT),
        branch=st.none(),
        expires_at=st.none() | st.just(NOON),
        automatic=st.booleans(),
        alias=st.just(UNSET) | _alias,
    ),
    st.builds(did.SubAgentBegan, alias=_alias, tool_id=_alias, kind=_alias),
    st.builds(did.SubAgentSeen, alias=_alias),
    st.builds(did.SubAgentEnded, alias=_alias, reason=_alias),
    st.builds(did.ScopeReleased, fencing=_number, key=_key, scope=_key),
    st.builds(
        did.ScopeExpired,
        fencing=_number,
        key=_key,
        scope=_key,
        owner=_names,
        owner_epoch=_number,
        why=st.sampled_from(["ttl", "evicted"]),
    ),
    st.builds(
        did.ScopeHandedOver,
        was=_number,
        fencing=_number,
        key=_key,
        scope=_key,
        from_owner=_names,
        owner=_names,
        owner_epoch=_number,
        because=_id,
    ),
    st.builds(
        did.BlockedSent,
        id=_id,
        project_root=st.just(ROOT),
        work=st.just("w"),
        to=_names,
        to_epoch=_number,
        scope=st.none(),
        subject=st.just("s"),
        blocker=st.just("b"),
        requested_action=st.just("r"),
        urgency=st.sampled_from(Urgency),
    ),
    st.builds(
        did.AgentResumed,
        id=_id,
        project_root=st.just(ROOT),
        worktree=st.just(ROOT),
        branch=st.none(),
        session_key=st.none(),
        prior_agent=_names,
        prior_epoch=_number,
        prior_session_key=st.none(),
        prior_liveness=st.none() | st.sampled_from(Liveness),
        reason=st.sampled_from(ResumeReason),
        evidence=st.just("e"),
        work=st.none(),
        bead_ids=st.just(()),
        messages=st.lists(_id, max_size=2).map(tuple),
    ),
    st.builds(did.EventSeen, id=_id),
    st.builds(did.EventAccepted, id=_id),
    st.builds(did.AgentLeft, reason=st.just("")),
    st.builds(did.StaleMinutesSet, stale_millis=_number),
)


@given(st.lists(st.tuples(_any_events, _names | st.just(SYSTEM), st.integers(1, 3)), max_size=12))
def test_any_history_at_all_can_be_followed(history: list[tuple[Any, str, int]]) -> None:
    """Not only histories that `decide` would write: a newer or older Moot may have."""
    machine = Presence()
    for event, name, epoch in history:
        machine.record(name, epoch, event)
        machine.lists_are_sorted_and_without_repeats()
        machine.the_earliest_end_is_known()
        machine.a_snapshot_is_the_state()


@pytest.mark.requirement("OPR-092")
def test_every_command_has_rules_and_every_event_an_effect() -> None:
    assert set(RULES) == set(DRAFTS) == set(ask.COMMANDS) == set(MACHINE.commands)
    assert set(EFFECTS) == set(did.EVENTS)


def test_an_unknown_command_is_refused() -> None:
    decision = MACHINE.decide(
        MACHINE.initial,
        Command(),
        Context(NOON, VerifiedActor("x", 1, "k", KeyClass.AGENT), STREAM, "o"),
    )
    assert decision.refused
    assert decision.findings[0].code == "unknown_command"


def test_what_an_earlier_holder_left_to_lapse_is_ended_when_the_name_is_resumed() -> None:
    """The session that resumes may lack the key that ends it first; no other lease may stay."""
    world = Presence()
    name = NAMES[0]
    world.take_over(name=name, scope="src", ttl=None)
    world.reserve(name=name, scopes=["."], ttl=5, auto=False)
    world.change_hands(name=name)
    world.wait(minutes=5)
    world.resume(name=name, dirty=["src"])
    world.never_two_owners_of_one_place()
    assert [(held.scope, held.epoch) for held in world.state.live] == [("src", 2)]
    world.the_earliest_end_is_known()

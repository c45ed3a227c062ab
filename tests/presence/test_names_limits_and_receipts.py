"""Presence in cases easily forgotten: exact limits, names, receipts, who holds what."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.core.clock import MINUTE
from moot.core.errors import Malformed
from moot.core.machine import Recorded, SignOfLife
from moot.core.names import SYSTEM
from moot.core.record import Actor
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence import model
from moot.protocols.presence.adoption import AdoptionQuestion, judge_adoption
from moot.protocols.presence.agent_names import (
    _fresh_longer,
    make_fresh_name,
    make_name,
    next_in_family,
)
from moot.protocols.presence.codec import is_time
from moot.protocols.presence.labels import WorkState
from moot.protocols.presence.liveness import format_ago, format_span, judge_sign, read_stale_minutes
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.model import Liveness, ReceiptKind, Reservation, State
from moot.protocols.presence.overlap import Requester, judge_sibling
from moot.protocols.presence.paths import (
    MAX_SCOPE_CHARACTERS,
    is_inside,
    read_typed,
    strip_wildcard,
    write_typed,
)
from moot.protocols.presence.views import (
    Holdings,
    Observation,
    view_agent,
    view_message,
    view_work_items,
)

from .scene import (
    CRANE,
    HARBOR,
    NOON,
    OTTER,
    ROOT,
    crew,
    handoff,
    holding,
    join,
    new_holder,
    owners,
    refusal,
    release,
    reserve,
    run,
)
from .test_freed_scopes import free, gone
from .test_sub_agents import edit
from .test_usage import COUNTS


def test_a_name_is_always_the_same() -> None:
    assert [make_name("moot", number) for number in range(2)] == ["calm-seal", "placid-pebble"]


def test_a_fresh_name_is_one_that_nobody_ever_had() -> None:
    assert make_fresh_name("moot", []) == "calm-seal"
    assert make_fresh_name("moot", ["Placid-Pebble"]) == make_name("moot", 2)
    longer = _fresh_longer("moot", {"calm-seal"})
    assert _fresh_longer("moot", {longer}) not in ("calm-seal", longer)


@pytest.mark.parametrize(
    ("field", "most"),
    [("project_root", 1_024), ("worktree", 1_024), ("branch", 200), ("session_key", 200)],
)
def test_a_text_may_be_as_long_as_this_and_no_longer(field: str, most: int) -> None:
    def named(length: int) -> ask.Join:
        return join(**{field: "/" + "x" * (length - 1)})

    crew(OTTER).refused("text_too_long", named(most + 1))
    crew(OTTER).when(named(most))


def test_as_many_calls_may_be_without_a_price_as_there_were() -> None:
    crew(OTTER).when(ask.NoteUsage(**{**COUNTS, "calls": 3, "unpriced": 3}))
    crew(OTTER).refused("bad_usage", ask.NoteUsage(**{**COUNTS, "calls": 3, "unpriced": 4}))


def test_of_many_uncommitted_files_the_first_sixty_four_are_named() -> None:
    scenario = crew(OTTER).when(reserve("src"))
    files = tuple(f"src/{number:03d}.py" for number in range(70))
    told = str(refusal(scenario, gone(dirty=files), SYSTEM))
    assert "src/063.py" in told
    assert "src/064.py" not in told


def test_an_agent_that_may_not_accept_is_reported_who_may() -> None:
    scenario = crew(OTTER, CRANE, HARBOR).when(handoff())
    (sent,) = scenario.state.pending
    told = str(refusal(scenario, ask.Accept(id=sent), HARBOR))
    assert told.startswith(f"only {CRANE} may accept this")
    new_holder(scenario.world, CRANE)
    told = str(refusal(scenario, ask.Accept(id=sent), CRANE))
    assert told.startswith(f"this message was for an earlier {CRANE}")


def test_an_agent_that_has_seen_it_twice_has_seen_it() -> None:
    scenario = crew(OTTER, CRANE).when(handoff())
    (sent,) = scenario.state.pending
    for _ in range(2):
        run(scenario, ask.MarkSeen(id=sent), CRANE)
    assert scenario.state.pending[sent].seen_by == (CRANE,)


def test_a_session_keeps_its_key_until_it_names_another() -> None:
    scenario = crew(OTTER).when(join(session_key="s-1"))

    def known() -> Any:
        return model.find_member(scenario.state, OTTER)

    scenario.when(join())
    assert known().session_key == "s-1"
    scenario.when(join(session_key="s-2"))
    assert known().session_key == "s-2"


def test_what_each_holds_is_found_by_name() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"), reserve("docs"))
    run(scenario, reserve("tests"), CRANE)
    held = Holdings(scenario.state).of([OTTER])
    assert {name: [one.scope for one in each] for name, each in held.items()} == {
        OTTER: ["docs", "src"]
    }
    by_owner = model.group_by_owner(scenario.state)
    assert {name: len(each) for name, each in by_owner.items()} == {OTTER: 2, CRANE: 1}


def test_a_thousand_scopes_at_once_and_no_more() -> None:
    scopes = [f"f{number}" for number in range(1_001)]
    crew(OTTER).refused("too_many_scopes", reserve(*scopes))
    assert len(owners(crew(OTTER).when(reserve(*scopes[:1_000])))) == 1_000


def test_a_scope_is_as_long_as_this_and_no_longer() -> None:
    most = MAX_SCOPE_CHARACTERS
    crew(OTTER).refused("bad_scope", reserve("x" * (most + 1)))
    crew(OTTER).when(reserve("x" * most))


def test_who_holds_it_is_reported_as_it_is() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    told = str(refusal(scenario, release("src"), CRANE))
    assert told.startswith(f"src is held by {OTTER}")
    new_holder(scenario.world, OTTER)
    told = str(refusal(scenario, release("src"), OTTER))
    assert told.startswith(f"src is held by an earlier {OTTER}")


def test_nothing_is_sent_to_what_is_no_name() -> None:
    scenario = crew(OTTER)
    for to in ("Not A Name", "x" * 70 + "!"):
        told = str(refusal(scenario, handoff(to, to_epoch=1), OTTER))
        assert told.startswith(f"{to[:60]!r} is not an agent name")


def test_an_unknown_event_is_repeated_in_short() -> None:
    told = str(refusal(crew(OTTER), ask.Accept(id="e" * 70), OTTER))
    assert told.startswith(f"no event {'e' * 60} waits here")


def test_the_second_of_a_family_has_the_number_two() -> None:
    assert next_in_family(OTTER, {OTTER}) == f"{OTTER}-2"
    assert next_in_family(OTTER, {OTTER, f"{OTTER}-2"}) == f"{OTTER}-3"


@pytest.mark.parametrize(
    ("millis", "text"),
    [
        (0, "0 s"),
        (59_999, "59.999 s"),
        (65 * MINUTE, "1 h 5 min"),
        (24 * 60 * MINUTE + 61 * MINUTE + 1_000, "1 d 1 h"),
    ],
)
def test_a_span_is_reported_by_its_two_largest_units(millis: int, text: str) -> None:
    assert format_span(millis) == text
    assert format_ago(millis) == f"{text} ago"


def test_what_is_no_number_of_minutes_counts_as_the_default() -> None:
    millis, remark = read_stale_minutes("soon")
    assert millis == 15 * MINUTE
    assert remark is not None


def test_the_stream_is_open_from_its_first_event_on() -> None:
    assert crew(OTTER).world.engine.open_streams() == ["presence"]


def test_nothing_at_all_may_have_been_used() -> None:
    nothing: dict[str, Any] = dict.fromkeys(COUNTS, 0)
    crew(OTTER).when(ask.NoteUsage(**nothing))


def test_an_event_that_was_seen_twice_on_record_is_seen_once() -> None:
    scenario = crew(OTTER, CRANE).when(handoff())
    (sent,) = scenario.state.pending
    state = scenario.state
    for seq in range(2):
        seen = Recorded(did.EventSeen(id=sent), "presence", seq, 1_000, Actor(CRANE, 1, "k"), b"")
        state = MACHINE.evolve(state, seen)
    assert state.pending[sent].seen_by == (CRANE,)


@pytest.mark.parametrize(
    ("evidence", "held", "missing"),
    [
        (ask.Evidence(no_git="git is not there"), (), "unknown (git is not there)"),
        (ask.Evidence(dirty=()), (), f"no scope of {OTTER} is known"),
        (ask.Evidence(dirty=()), ("src",), f"no uncommitted file in the scope of {OTTER}"),
    ],
)
def test_an_agent_that_may_not_adopt_a_name_is_reported_what_is_missing(
    evidence: ask.Evidence, held: tuple[str, ...], missing: str
) -> None:
    leases = tuple(Reservation(key, key, OTTER, 1, 1, 0) for key in held)
    verdict = judge_adoption(AdoptionQuestion(OTTER, leases, (), None, ROOT, evidence))
    assert not verdict
    assert missing in verdict.missing[0]


def test_an_agent_gets_no_hint_about_a_key_that_it_does_not_have() -> None:
    told = str(refusal(crew(OTTER).when(reserve("src")), free("src"), OTTER))
    assert told.startswith("only a person at a terminal releases by force")


@pytest.mark.parametrize(
    ("named", "joined", "branch", "shown"),
    [
        ("bb-1", "bb-3", "main", "bb-1"),
        ("main", "bb-3", "main", "bb-3"),  # the branch stands for a work that nobody named
        (None, "bb-3", "main", "bb-3"),
        (None, None, "main", "main"),
        (None, None, None, "ID"),
    ],
)
def test_an_agent_that_asks_the_holder_names_its_own_work(
    named: str | None, joined: str | None, branch: str | None, shown: str
) -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src", work="bb-2"))
    run(scenario, join(work=joined), CRANE)
    hint = refusal(scenario, reserve("src", work=named, branch=branch), CRANE).hint
    assert f"--work {shown} --scope :/src " in hint


def test_what_nobody_answers_any_more_is_due_to_its_sender() -> None:
    scenario = crew(OTTER, CRANE).when(handoff())
    (due,) = (due for due in MACHINE.agenda(scenario.state, 0) if due.who == CRANE)
    assert due.instead is not None
    assert (due.owed_to, due.instead.who) == (OTTER, OTTER)


def test_a_session_is_found_by_its_program_too() -> None:
    scenario = crew(OTTER).when(join(session_key="s-1", process_key="p-1"))
    with scenario.world.store.read() as view:
        assert [row.key for row in view.rows("presence.sessions")] == ["p-1", "s-1"]


def test_what_was_accepted_is_shown_as_accepted() -> None:
    scenario = crew(OTTER, CRANE).when(handoff())
    (sent,) = scenario.state.pending
    run(scenario, ask.MarkSeen(id=sent), CRANE)
    assert view_message(scenario.state.pending[sent]).status is ReceiptKind.SEEN
    run(scenario, ask.Accept(id=sent), CRANE)
    (accepted,) = (message for message in scenario.state.recent if message.id == sent)
    assert view_message(accepted).status is ReceiptKind.ACCEPTED


def test_the_first_moment_of_1970_is_a_time() -> None:
    assert is_time("1970-01-01T00:00:00.000Z", {})
    assert not is_time("soon", {})


@pytest.mark.parametrize(
    ("acted_at", "seen_by"),
    [(NOON - 1, "a signed heartbeat"), (NOON, "a signed heartbeat"), (NOON + 1, "a signed event")],
)
def test_the_later_sign_counts_and_of_two_at_once_the_proved_one(
    acted_at: int, seen_by: str
) -> None:
    verdict = judge_sign(SignOfLife(NOON, heartbeat="proof"), acted_at, NOON + 2, 15 * MINUTE)
    assert (verdict.last_seen_at, verdict.seen_by) == (max(acted_at, NOON), seen_by)


def test_a_long_number_of_minutes_is_repeated_in_short() -> None:
    _, remark = read_stale_minutes("9" * 50)
    assert remark is not None
    assert f"={'9' * 40!r} is not" in remark.message


def test_a_resource_lies_in_no_folder() -> None:
    assert not is_inside("port:3000", "")
    assert is_inside("src", "")


def test_a_scope_is_typed_from_the_root_and_a_resource_as_it_is() -> None:
    assert [write_typed(scope) for scope in ("src/a", ".", "./port:1", "port:1")] == [
        ":/src/a",
        ":/",
        ":/port:1",
        "port:1",
    ]
    assert [strip_wildcard(scope, ROOT) for scope in ("src/*", "src", "*")] == ["src/", "src", "."]


def test_what_is_typed_where_the_root_is_none_is_refused() -> None:
    with pytest.raises(Malformed) as problem:
        read_typed("x", ROOT, "repo")
    assert problem.value.code == "bad_root"


def test_a_character_that_is_only_hard_to_see_may_stand_in_a_path() -> None:
    assert owners(crew(OTTER).when(reserve("a\u00a0b"))) == {"a\u00a0b": OTTER}
    crew(OTTER).refused("bad_scope", reserve("a\x07b"))


def test_who_freed_it_is_reported_only_where_another_did() -> None:
    scenario = crew(OTTER).when(reserve("src"), release("src"))
    with scenario.world.store.read() as view:
        (row,) = view.rows("presence.archive")
    assert "by" not in json.loads(row.value)


def test_what_is_held_is_shown_with_who_holds_it() -> None:
    scenario = crew(OTTER).when(edit("a.py", "toolu_first"), edit("b.py", "toolu_second"))
    agent = view_agent(scenario.state, OTTER, Observation(NOON))
    assert agent.holds == ("a.py", "b.py")
    assert [each.holds for each in agent.sub_agents] == [("a.py",), ("b.py",)]


def test_an_agent_that_holds_something_and_is_not_known_is_the_first_of_its_name() -> None:
    leases = [Reservation(f"f{epoch}", f"f{epoch}", OTTER, epoch, epoch, 0) for epoch in (1, 2)]
    assert view_agent(holding(*leases), OTTER, Observation(NOON)).holds == ("f1",)


def test_the_shortest_stale_time_is_a_millisecond() -> None:
    assert read_stale_minutes("0.00002") == (1, None)
    assert read_stale_minutes("0.000001")[1] is not None


def test_nothing_has_happened_at_first() -> None:
    assert (State().fencing, State().day_count) == (0, 0)
    assert not Reservation("src", "src", OTTER, 1, 1, 0).automatic


@pytest.mark.parametrize(("name", "warns"), [(OTTER, False), ("solo", True)])
def test_only_an_unusual_name_is_remarked(name: str, warns: bool) -> None:
    scenario = crew(CRANE).as_(name)
    assert bool(run(scenario, join(), name).findings) is warns


def test_a_resumed_session_names_the_session_before() -> None:
    scenario = crew(OTTER).when(join(session_key="s-1"), reserve("src"))
    new_holder(scenario.world, OTTER)
    goes_on = ask.Resume(evidence=ask.Evidence(dirty=("src/a",), beads=()), project_root=ROOT)
    resumed = run(scenario, goes_on, OTTER).newest(did.AgentResumed).event
    assert (resumed.prior_epoch, resumed.prior_session_key) == (1, "s-1")


def test_a_long_name_of_a_file_is_reported_in_short() -> None:
    files = ("src/" + "x" * 100,)
    held = (Reservation("src", "src", OTTER, 1, 1, 0),)
    evidence = ask.Evidence(dirty=files, beads=())
    verdict = judge_adoption(AdoptionQuestion(OTTER, held, (), None, ROOT, evidence))
    assert verdict.evidence.endswith("src/" + "x" * 76)


def test_a_sub_agent_that_is_not_at_work_any_more_has_ended() -> None:
    held = Reservation("src", "src", OTTER, 1, 1, 0, alias="3")
    verdict = judge_sibling(crew(OTTER).state, held, Requester(OTTER, 1, NOON, {}, None))
    assert (verdict.liveness, verdict.reason) == (Liveness.EVICTED, f"{OTTER}/3 has ended")


def test_so_much_may_be_used_and_no_more() -> None:
    crew(OTTER).when(ask.NoteUsage(**{**COUNTS, "micros": 10**15}))
    crew(OTTER).refused("bad_usage", ask.NoteUsage(**{**COUNTS, "micros": 10**15 + 1}))


@pytest.mark.parametrize("speaker", [OTTER, CRANE])
def test_the_agent_seen_last_decides_the_state_of_shared_work(speaker: str) -> None:
    scenario = crew(OTTER, CRANE)
    for name in (OTTER, CRANE):
        run(scenario, join(work="bb-7"), name)
    scenario.world.clock.forward(minutes=60)
    run(scenario, join(work="bb-7"), speaker)
    (item,) = view_work_items(scenario.state, Observation(scenario.world.clock.now), {})
    assert (item.state, item.agents) == (WorkState.ACTIVE, (OTTER, CRANE))


def test_what_moves_with_its_acceptance_leaves_no_remark() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"), handoff(scope="src"))
    (sent,) = scenario.state.pending
    assert run(scenario, ask.Accept(id=sent), CRANE).findings == ()
    assert owners(scenario) == {"src": CRANE}


@pytest.mark.parametrize(
    ("scopes", "kept"), [(("a",), "you keep a when"), (("a", "b"), "you keep a and 1 more when")]
)
def test_an_agent_that_hands_over_without_a_scope_is_reported_what_it_keeps(
    scopes: tuple[str, ...], kept: str
) -> None:
    (remark,) = run(crew(OTTER, CRANE).when(reserve(*scopes)), handoff(), OTTER).findings
    assert kept in remark.message

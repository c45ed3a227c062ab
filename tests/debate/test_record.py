"""The record of a session: the same course as the file's own, in a state that stays small."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, TypedDict

import msgspec
import pytest
from hypothesis import given as vary
from hypothesis import strategies as st

from moot.core.clock import parse_time
from moot.core.errors import Refused
from moot.core.failed_answer import FailedAnswer, FailureKind
from moot.core.machine import Command, Context, KeyClass, Recorded, VerifiedActor
from moot.core.names import SYSTEM
from moot.core.paged_map import decode_state, encode_state
from moot.core.record import Actor
from moot.protocols.debate import commands as ask
from moot.protocols.debate import events as did
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.escalation import POLICY_ENTRIES
from moot.protocols.debate.machine import MACHINE
from moot.protocols.debate.model import TurnOrder
from moot.protocols.debate.state import (
    State,
    course_from_state,
    find_preamble_end,
    read_piece,
    split_into_pieces,
)
from moot.protocols.debate.turns import find_standing
from moot.protocols.debate.writer import draft_placeholder, make_entry_text
from moot.testing import World, given
from tests.debate.sessions import CREATED, SESSION_ID, TWO_ROUNDS, VALID, entry, session

STREAM = f"debate/{SESSION_ID}"
FOX, HEN = "red-fox", "blue-hen"
RESUME = "\n<!-- operator-resume: 2026-03-01T09:30:00Z -->\n"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def observing(text: str, file: str = "s.md") -> Iterator[Command]:
    """The commands that record a whole file as observed."""
    document = check_session(text).document
    end = find_preamble_end(document) or 0
    yield ask.Begin(file=file, text=text[:end], digest=sha(text[:end]))
    for cut in split_into_pieces(document, end):
        piece = text[cut.start : cut.end]
        yield ask.Observe(
            start=len(text[: cut.start].encode()), text=piece, digest=sha(text[: cut.end])
        )


def recorded(text: str, world: World | None = None) -> tuple[World, State]:
    world = world or World()
    world.clock.now = parse_time("2026-03-01T09:00:30Z")
    for command in observing(text):
        world.engine.execute(STREAM, command, SYSTEM)
    return world, world.engine.state(MACHINE, STREAM)


def begun(*agents: str, **rules: str) -> World:
    """A recorded session without entries, and its agents."""
    world, _ = recorded(session(agents=agents or (FOX, HEN), **rules))
    for name in agents or (FOX, HEN):
        world.agent(name)
    return world


def adding(world: World, text: str, kind: type[Command] = ask.Add, **more: Any) -> Command:
    start = world.engine.state(MACHINE, STREAM).size
    return kind(start=start, text=text, digest=sha(text), **more)


def kinds(world: World) -> list[str]:
    return [type(event).__name__ for event in given(world, MACHINE, STREAM).history()]


# The same course as the file's own ---------------------------------------------------------------


def same_course(text: str, state: State) -> None:
    checked = check_session(text)
    assert checked.course is not None
    assert state.rules == checked.course.rules
    for now in (None, parse_time("2026-03-01T09:06:00Z"), parse_time("2026-03-02T09:00:00Z")):
        by_file = find_standing(checked.course, now)
        by_record = find_standing(course_from_state(state, state.rules), now)
        assert by_record == by_file
    assert state.ended_at_round == checked.course.ended_at_round
    assert state.entries == checked.entry_count
    assert (state.size, state.digest) == (len(text.encode()), sha(text))


@pytest.mark.requirement("BNC-166")
@pytest.mark.parametrize("name", VALID)
def test_the_record_knows_whose_turn_it_is_without_the_file(name: str) -> None:
    _, state = recorded(VALID[name])
    same_course(VALID[name], state)


AGENTS = ("ant", "bee", "cow")
STANCES = st.sampled_from(["approve", "reject", "neutral", "defer"])
SURE = st.sampled_from(["0.0", "0.5", "0.7", "0.85", "1.0"])
NAMED = st.sampled_from(["n/a", "bee, go on", "the cow says", "ant and bee", "nobody"])


@st.composite
def debates(draw: st.DrawFn) -> str:
    """A session in which each agent that may speak does, for a while; each stance at random."""
    order = draw(st.sampled_from([one.value for one in TurnOrder]))
    rules = {
        "turn_order": order,
        "max_turns_per_round": draw(st.sampled_from(["1", "2"])),
        "consensus_mode": draw(st.sampled_from(["majority", "weighted", "unanimous"])),
        "consensus_threshold": draw(st.sampled_from(["0.0", "0.5", "0.7", "1.0"])),
        "max_rounds": draw(st.sampled_from(["1", "2", "4"])),
        "escalation": draw(st.sampled_from(["human", "timeout-skip"])),
    }
    entries: list[str] = []
    text = session(agents=AGENTS, **rules)
    for number in range(draw(st.integers(0, 9))):
        found = check_session(text).course
        assert found is not None
        here = find_standing(found)
        if found.phase.has_ended:
            break
        author = draw(st.sampled_from(here.may_speak))
        said = {"stance": draw(STANCES), "confidence": draw(SURE), "asks": draw(NAMED)}
        entries.append(entry(number + 1, author, here.round, here.turn, **said))
        if draw(st.integers(0, 9)) == 0:
            entries.append(RESUME)
        text = session(*entries, agents=AGENTS, **rules)
    return text


@vary(debates())
def test_any_session_has_one_course_in_file_and_record(text: str) -> None:
    _, state = recorded(text)
    same_course(text, state)
    assert not state.blocked
    assert decode_state(State, encode_state(state)) == state


@vary(debates())
def test_the_pieces_put_together_are_the_file(text: str) -> None:
    world, _ = recorded(text)
    pieces = [one for one in given(world, MACHINE, STREAM).history() if isinstance(one, did.Piece)]
    assert "".join(one.text or "" for one in pieces) == text
    assert [one.start for one in pieces] == [
        sum(one.size for one in pieces[:count]) for count in range(len(pieces))
    ]


@vary(st.text(max_size=200))
def test_reading_a_piece_never_raises(text: str) -> None:
    read_piece(text)


def test_the_state_is_as_small_after_many_entries_as_after_few() -> None:
    rules = {"turn_order": "free-form", "max_turns_per_round": "10", "max_rounds": "100"}
    sizes = []
    for count in (6, 240):
        places = ((AGENTS[n % 3], n // 3 + 1, n % 3 + 1) for n in range(count))
        entries = [
            entry(n, *place, stance="reject", at="2026-03-01T09:01:00Z")
            for n, place in enumerate(places, start=1)
        ]
        text = session(*entries, agents=AGENTS, **rules)
        state = MACHINE.initial
        for number, command in enumerate(observing(text)):
            state = _step(state, command, number)
        state = msgspec.structs.replace(state, unsigned=())
        sizes.append(len(encode_state(state)))
    assert abs(sizes[1] - sizes[0]) < 40


def _step(state: State, command: Command, number: int) -> State:
    actor = VerifiedActor(SYSTEM, 1, "0" * 32, KeyClass.SYSTEM)
    decision = MACHINE.decide(state, command, Context(0, actor, STREAM, "o"))
    assert not decision.refused, decision.findings
    for draft in decision.drafts:
        done = Recorded(draft.event, STREAM, number, 0, actor.as_actor(), b"")
        state = MACHINE.evolve(state, done)
    return state


# Signed by its author, or observed ---------------------------------------------------------------


@pytest.mark.requirement("BNC-165")
def test_an_entry_is_signed_by_its_own_author() -> None:
    world = begun()
    text = entry(1, FOX)
    outcome = world.engine.execute(STREAM, adding(world, text), FOX)
    (done,) = outcome.recorded
    assert isinstance(done.event, did.EntryYielded)
    assert (done.actor.id, done.event.author, done.event.text) == (FOX, FOX, text)
    assert (done.event.stance, done.event.confidence, done.event.round) == ("approve", "0.8", 1)
    assert MACHINE.require_state(outcome.state).signed == 1


def test_the_entry_that_ends_a_session_says_so_in_the_record() -> None:
    world = begun()
    world.engine.execute(STREAM, adding(world, entry(1, FOX)), FOX)
    assert STREAM in world.engine.open_streams()
    world.engine.execute(STREAM, adding(world, entry(2, HEN, 1, 2)), HEN)
    ended = given(world, MACHINE, STREAM).history()[-1]
    assert ended == did.SessionEnded(phase="ended:consensus", round=1)
    assert STREAM not in world.engine.open_streams()
    assert list(world.engine.agenda([STREAM])) == []


def test_an_observed_entry_may_be_signed_by_its_author_and_nobody_else() -> None:
    world = begun()
    text = entry(1, FOX)
    world.engine.execute(STREAM, adding(world, text, ask.Observe), SYSTEM)
    (waiting,) = world.engine.state(MACHINE, STREAM).unsigned
    sign = ask.Sign(id=waiting.id, sha256=waiting.sha256)
    given(world, MACHINE, STREAM).as_(HEN).refused("not_you", sign)
    other = ask.Sign(id=waiting.id, sha256="0" * 64)
    given(world, MACHINE, STREAM).as_(FOX).refused("nothing_to_sign", other)
    given(world, MACHINE, STREAM).as_(FOX).when(sign)
    assert kinds(world)[-1] == "EntrySigned"
    assert world.engine.state(MACHINE, STREAM).unsigned == ()
    given(world, MACHINE, STREAM).as_(FOX).refused("nothing_to_sign", sign)


def test_a_long_entry_is_stored_beside_its_event() -> None:
    world = begun()
    text = entry(1, FOX, body="long words " * 3_000)
    with pytest.raises(Refused) as missing:
        world.engine.execute(STREAM, adding(world, text), FOX)
    assert missing.value.code == "artifact_missing"
    world.artifacts.put(text.encode(), "text/markdown")
    (done,) = world.engine.execute(STREAM, adding(world, text), FOX).recorded
    assert isinstance(done.event, did.EntryYielded)
    assert (done.event.text, done.event.sha256) == (None, sha(text))
    assert [ref.sha256 for ref in done.artifacts] == [sha(text)]


REFUSED: dict[str, tuple[str, str, str]] = {
    "someone else's": (HEN, entry(1, FOX), "not_you"),
    "not its turn": (HEN, entry(1, HEN), "wrong_speaker"),
    "a stranger's": ("grey-owl", entry(1, "grey-owl"), "unknown_agent"),
    "another place": (FOX, entry(1, FOX, 1, 2), "misplaced"),
    "no stance": (FOX, entry(1, FOX, stance="perhaps"), "INVALID_STANCE"),
    "too sure": (FOX, entry(1, FOX, confidence="1.5"), "CONFIDENCE_OUT_OF_RANGE"),
    "not yielded": (FOX, entry(1, FOX, marker=""), "not_an_entry"),
    "two entries": (FOX, entry(1, FOX) + entry(2, HEN, 1, 2), "not_an_entry"),
    "words behind it": (FOX, entry(1, FOX) + "more", "not_an_entry"),
    "nothing": (FOX, "", "not_an_entry"),
}


@pytest.mark.requirement("BNC-115")
@pytest.mark.parametrize("name", REFUSED)
def test_an_entry_that_may_not_stand_is_refused_and_nothing_is_recorded(name: str) -> None:
    actor, text, code = REFUSED[name]
    world = begun()
    given(world, MACHINE, STREAM).as_(actor).refused(code, adding(world, text))


def test_a_refusal_of_the_record_names_the_norm() -> None:
    world = begun()
    with pytest.raises(Refused) as no:
        world.engine.execute(STREAM, adding(world, entry(1, HEN)), HEN)
    assert [(one.rule, one.code) for one in no.value.findings] == [("R13", "wrong_speaker")]
    assert no.value.hint == f"next: {FOX}"


def test_a_piece_begins_where_the_record_ends() -> None:
    world = begun()
    text = entry(1, FOX)
    wrong = ask.Add(start=7, text=text, digest=sha(text))
    given(world, MACHINE, STREAM).as_(FOX).refused("out_of_step", wrong)
    wrong = ask.Add(start=world.engine.state(MACHINE, STREAM).size, text=text, digest="ABC")
    given(world, MACHINE, STREAM).as_(FOX).refused("bad_digest", wrong)


def test_what_nothing_is_known_of_is_refused() -> None:
    world = World()
    world.agent(FOX)
    at = given(world, MACHINE, STREAM).as_(FOX)
    at.refused("session_unknown", ask.Add(start=0, text=entry(1, FOX), digest="0" * 64))
    at.refused("session_unknown", ask.Sign(id="x", sha256="0" * 64))
    at.refused("invalid_session", ask.Begin(file="s.md", text="# x", digest="0" * 64))
    at.refused("invalid_session", ask.Begin(file="s.md", text=TWO_ROUNDS, digest="0" * 64))
    other = given(world, MACHINE, "debate/another").as_(FOX)
    other.refused("invalid_session", ask.Begin(file="s.md", text=session(), digest="0" * 64))


@pytest.mark.requirement("BNC-026")
def test_a_session_is_recorded_once() -> None:
    world = begun()
    again = ask.Begin(file="t.md", text=session(), digest=sha(session()))
    given(world, MACHINE, STREAM).as_(FOX).refused("session_known", again)


def test_an_unsound_entry_is_observed_and_stops_every_verdict() -> None:
    text = session(entry(1, "grey-owl"), entry(2, FOX))
    world, state = recorded(text)
    assert state.blocked
    (due,) = [due for _, due in world.engine.agenda([STREAM])]
    assert (due.who, due.what) == ("operator", "fix the file")


def test_a_double_takes_no_second_turn() -> None:
    world = begun()
    text = entry(1, FOX)
    world.engine.execute(STREAM, adding(world, text, ask.Observe), SYSTEM)
    before = world.engine.state(MACHINE, STREAM)
    world.engine.execute(STREAM, adding(world, text, ask.Observe, double=True), SYSTEM)
    after = world.engine.state(MACHINE, STREAM)
    assert (after.entries, after.latest, after.last) == (before.entries, before.latest, before.last)
    assert after.size == before.size + len(text.encode())
    assert not after.blocked


# Time --------------------------------------------------------------------------------------------


def late(world: World) -> None:
    world.clock.now = parse_time(CREATED) + 300_001


@pytest.mark.requirement("BNC-145")
def test_the_agenda_names_the_speaker_and_time_is_up_after_the_deadline() -> None:
    world = begun()
    world.clock.now = parse_time(CREATED) + 300_000
    (due,) = [due for _, due in world.engine.agenda([STREAM])]
    assert (due.who, due.what, due.by) == (FOX, "speak", parse_time(CREATED) + 300_000)
    assert world.engine.tick(STREAM) is None
    late(world)
    assert world.engine.tick(STREAM) is not None
    assert world.engine.tick(STREAM) is None
    timed_out = given(world, MACHINE, STREAM).history()[-1]
    assert timed_out == did.TurnTimedOut(agents=[FOX], round=1, turn=1, policy="human")


@pytest.mark.requirement("BNC-051")
def test_under_the_human_policy_the_operator_is_waited_for() -> None:
    world = begun()
    late(world)
    (due,) = [due for _, due in world.engine.agenda([STREAM])]
    assert (due.who, due.what) == ("operator", "resume the debate")
    given(world, MACHINE, STREAM).as_(FOX).refused(
        "waiting_human",
        adding(world, entry(1, FOX)),
        did.TurnTimedOut(agents=[FOX], round=1, turn=1, policy="human"),
    )
    given(world, MACHINE, STREAM).as_(FOX).refused(
        "human_key_required", adding(world, RESUME, ask.Resume)
    )
    world.engine.execute(STREAM, adding(world, RESUME, ask.Resume), SYSTEM)
    world.clock.now = parse_time("2026-03-01T09:31:00Z")
    (due,) = [due for _, due in world.engine.agenda([STREAM])]
    assert due.who == FOX


@pytest.mark.requirement("BNC-168")
def test_the_policy_writes_for_the_silent_only_and_only_when_time_is_up() -> None:
    world = begun("ant", "bee", "cow", turn_order="free-form", escalation="timeout-skip")
    note = "*[generated by the orchestrator]*"

    def skip(number: int, agent: str, turn: int) -> Command:
        text = entry(number, agent, 1, turn, stance="defer", status="closed", body=note)
        return adding(world, text, ask.Escalate, agent=agent)

    with pytest.raises(Refused) as early:
        world.engine.execute(STREAM, skip(1, "ant", 1), SYSTEM)
    assert early.value.code == "too_early"
    late(world)
    given(world, MACHINE, STREAM).as_("bee").refused(
        "human_key_required",
        skip(1, "ant", 1),
        did.TurnTimedOut(agents=["ant"], round=1, turn=1, policy="timeout-skip"),
    )
    world.engine.execute(STREAM, skip(1, "ant", 1), SYSTEM)
    world.engine.execute(STREAM, skip(2, "bee", 2), SYSTEM)
    with pytest.raises(Refused) as spoken:
        world.engine.execute(STREAM, skip(3, "bee", 3), SYSTEM)
    assert spoken.value.code == "not_a_placeholder"
    assert kinds(world)[-2:] == ["EntryGenerated", "EntryGenerated"]


def skipping(world: World, number: int, agent: str, turn: int, **changes: str) -> Command:
    """The entry that a policy writes for somebody who crashed, or one that only looks like it."""
    state = world.engine.state(MACHINE, STREAM)
    assert state.rules is not None
    draft = POLICY_ENTRIES[state.rules.escalation](state.rules, agent, CRASHED)
    draft = msgspec.structs.replace(draft, **changes)
    id_ = f"00000000-0000-4000-8000-{number:012d}"
    text = make_entry_text(draft, id_, "2026-03-01T09:01:00Z", turn, 1)
    return adding(world, text, ask.Escalate, agent=agent)


CRASHED = FailedAnswer(FailureKind.CRASHED, 3, exit_status=1)


@pytest.mark.requirement("DEC-032")
@pytest.mark.requirement("BNC-145")
@pytest.mark.parametrize("policy", ["timeout-skip", "default-action"])
def test_before_time_is_up_the_machine_writes_only_for_one_who_failed(policy: str) -> None:
    world = begun("ant", "bee", "cow", escalation=policy)
    for actor, code in (("ant", "human_key_required"), ("bee", "human_key_required")):
        given(world, MACHINE, STREAM).as_(actor).refused(code, skipping(world, 1, "ant", 1))
    own_words = (
        {"summary": "No usable answer: bee is wrong, after 3 s. Escalation policy applied: x."},
        {"summary": skipping_summary(world).replace("exit 1", "exit 01")},
        {"body": "I agree. <!-- generated-by: orchestrator -->"},
        {"stance": "approve"},
        {"confidence": "0.9"},
        {"action_requested": "bee, approve"},
        {"evidence": "https://example.com"},
    )
    before = kinds(world)
    for changes in own_words:
        with pytest.raises(Refused) as early:
            world.engine.execute(STREAM, skipping(world, 1, "ant", 1, **changes), SYSTEM)
        assert early.value.code == "too_early"
    assert kinds(world) == before
    world.engine.execute(STREAM, skipping(world, 1, "ant", 1), SYSTEM)
    assert kinds(world)[-1] == "EntryGenerated"


def skipping_summary(world: World) -> str:
    rules = world.engine.state(MACHINE, STREAM).rules
    assert rules is not None
    return POLICY_ENTRIES[rules.escalation](rules, "ant", CRASHED).summary


@pytest.mark.requirement("BNC-145")
def test_one_who_failed_early_makes_nobody_else_late() -> None:
    world = begun("ant", "bee", "cow", turn_order="free-form", escalation="timeout-skip")
    world.engine.execute(STREAM, skipping(world, 1, "ant", 1), SYSTEM)
    rules = world.engine.state(MACHINE, STREAM).rules
    assert rules is not None
    silent = draft_placeholder(rules, "bee")
    text = make_entry_text(
        silent, "00000000-0000-4000-8000-000000000002", "2026-03-01T09:01:00Z", 2, 1
    )
    with pytest.raises(Refused) as early:
        world.engine.execute(STREAM, adding(world, text, ask.Escalate, agent="bee"), SYSTEM)
    assert early.value.code == "too_early"


@pytest.mark.requirement("BNC-051")
def test_where_a_person_is_to_act_nobody_is_skipped_early() -> None:
    world = begun("ant", "bee", escalation="human")
    rules = world.engine.state(MACHINE, STREAM).rules
    assert rules is not None
    draft = draft_placeholder(rules, "ant", CRASHED)
    id_ = "00000000-0000-4000-8000-000000000001"
    text = make_entry_text(draft, id_, "2026-03-01T09:01:00Z", 1, 1)
    with pytest.raises(Refused) as early:
        world.engine.execute(STREAM, adding(world, text, ask.Escalate, agent="ant"), SYSTEM)
    assert early.value.code == "too_early"


@pytest.mark.requirement("BNC-146")
def test_how_a_call_ended_is_told_by_the_machine_alone() -> None:
    world = begun("ant", "bee", escalation="timeout-skip")
    late(world)
    command = skipping(world, 1, "ant", 1)
    state = world.engine.state(MACHINE, STREAM)
    person = VerifiedActor("jo-human", 1, "", KeyClass.HUMAN)
    refused = MACHINE.decide(state, command, Context(world.clock(), person, STREAM, "o"))
    assert [finding.code for finding in refused.findings] == ["not_allowed"]
    machine = VerifiedActor(SYSTEM, 1, "", KeyClass.SYSTEM)
    assert not MACHINE.decide(state, command, Context(world.clock(), machine, STREAM, "o")).refused


def test_a_timeout_is_noted_by_the_machine_and_once() -> None:
    world = begun()
    given(world, MACHINE, STREAM).as_(FOX).refused("not_allowed", ask.NoteTimeout())
    with pytest.raises(Refused) as early:
        world.engine.execute(STREAM, ask.NoteTimeout(), SYSTEM)
    assert early.value.code == "too_early"


# The operator ------------------------------------------------------------------------------------


@pytest.mark.requirement("BNC-122")
@pytest.mark.requirement("BNC-169")
def test_a_person_signs_the_closing_word_and_an_agent_cannot() -> None:
    world = begun()
    world.human("operator")
    words = "Session closed by the operator: ok."
    alone = entry(1, "system", status="closed", stance="neutral", body=words)
    said = f"\n<!-- operator-close: 2026-03-01T09:01:00Z -->\n{alone}"
    before = world.engine.state(MACHINE, STREAM)
    given(world, MACHINE, STREAM).as_(FOX).refused("not_you", adding(world, said))
    own = said.replace("author: system", f"author: {FOX}")
    given(world, MACHINE, STREAM).as_(FOX).refused("human_key_required", adding(world, own))
    with pytest.raises(Refused) as unmarked:
        world.engine.execute(STREAM, adding(world, alone), "operator")
    assert unmarked.value.code == "not_you"
    assert world.engine.state(MACHINE, STREAM) == before
    (done, _) = world.engine.execute(STREAM, adding(world, said), "operator").recorded
    assert isinstance(done.event, did.EntryYielded)
    assert (done.actor.id, done.event.closes, done.event.attended) == ("operator", True, False)
    assert world.engine.state(MACHINE, STREAM).phase == "ended:closed-by-operator"
    with pytest.raises(Refused) as ended:
        world.engine.execute(STREAM, adding(world, said), "operator")
    assert ended.value.code == "session_ended"


@pytest.mark.requirement("BNC-062")
def test_context_is_added_above_the_dialogue_by_a_person_or_the_machine() -> None:
    world = begun()
    before = world.engine.state(MACHINE, STREAM)
    place = session().encode().index(b"## Dialogue")
    piece = "### More\n\nA fact.\n\n"
    whole = session()[:place] + piece + session()[place:]
    more = ask.AddContext(start=place, text=piece, digest=sha(whole))
    given(world, MACHINE, STREAM).as_(FOX).refused("human_key_required", more)
    bad = ask.AddContext(start=before.size, text=piece, digest=sha(whole))
    with pytest.raises(Refused) as beyond:
        world.engine.execute(STREAM, bad, SYSTEM)
    assert beyond.value.code == "not_in_context"
    with pytest.raises(Refused) as plain:
        world.engine.execute(STREAM, msgspec.structs.replace(more, text="words"), SYSTEM)
    assert plain.value.code == "no_subsection"
    world.engine.execute(STREAM, more, SYSTEM)
    after = world.engine.state(MACHINE, STREAM)
    assert (after.size, after.digest) == (len(whole.encode()), sha(whole))
    assert after.head == before.head + len(piece)


def test_a_file_that_moved_is_found_under_its_new_name() -> None:
    world = begun()
    given(world, MACHINE, STREAM).as_(FOX).refused("name_required", ask.Move(file=" "))
    given(world, MACHINE, STREAM).as_(FOX).when(ask.Move(file="docs/s.md"))
    assert world.engine.state(MACHINE, STREAM).file == "docs/s.md"
    with world.store.read() as view:
        assert [row.key for row in view.rows("debate.files")] == ["docs/s.md"]


def test_events_that_do_not_fit_leave_the_state_as_it_was() -> None:
    world = begun()
    stray = given(world, MACHINE, STREAM).history()[0]
    assert isinstance(stray, did.SessionBegan)
    state = world.engine.state(MACHINE, STREAM)
    for event in (stray, msgspec.structs.replace(stray, settings={})):
        assert MACHINE.evolve(state, _as_recorded(event)) == state
    broken = msgspec.structs.replace(stray, settings={"agents": 3})
    assert MACHINE.evolve(MACHINE.initial, _as_recorded(broken)) == MACHINE.initial
    moved = did.FileMoved(was="a", file="b")
    assert MACHINE.evolve(MACHINE.initial, _as_recorded(moved)) == MACHINE.initial


def _as_recorded(event: Any) -> Any:
    return Recorded(event, STREAM, 0, 0, Actor(SYSTEM, 1, "0" * 32), b"")


# Any commands, in any order ----------------------------------------------------------------------

TEXTS = st.one_of(
    st.builds(
        lambda author, place, stance, sure, marker: entry(
            1, author, *place, stance=stance, confidence=sure, marker=marker
        ),
        st.sampled_from([*AGENTS, "grey-owl", "system", ""]),
        st.sampled_from([(1, 1), (1, 2), (2, 1), (1, 3), (9, 9)]),
        st.sampled_from(["approve", "reject", "defer", "perhaps"]),
        st.sampled_from(["0.8", "1.0", "7"]),
        st.sampled_from(["<!-- yield -->\n", "", "<!-- yield -->"]),
    ),
    st.sampled_from([RESUME, "", "### More\n\nwords\n\n", "<!-- entry: "]),
    st.text(max_size=40),
)
ACTORS = [
    *(VerifiedActor(name, 1, "0" * 32, KeyClass.AGENT) for name in AGENTS),
    VerifiedActor("operator", 1, "0" * 32, KeyClass.HUMAN, attended=True),
    VerifiedActor(SYSTEM, 1, "0" * 32, KeyClass.SYSTEM),
]


class Where(TypedDict):
    start: int
    text: str
    digest: str


@st.composite
def asked(draw: st.DrawFn, state: State) -> Command:
    text = draw(TEXTS)
    start = draw(st.sampled_from([state.size, state.size, state.size, 0, state.head - 13, -1]))
    where: Where = {"start": start, "text": text, "digest": sha(text)}
    return draw(
        st.sampled_from(
            [
                ask.Begin(file="s.md", text=session(agents=AGENTS), digest=sha(text)),
                ask.Add(**where),
                ask.Add(**where, after_end=True),
                ask.Observe(**where, double=draw(st.booleans())),
                ask.Escalate(**where, agent=draw(st.sampled_from(AGENTS))),
                ask.Resume(**where),
                ask.AddContext(**where),
                ask.Sign(id="00000001-1111-4222-8333-444455556666", sha256=sha(text)),
                ask.NoteTimeout(),
                ask.Move(file=text),
            ]
        )
    )


@vary(st.data())
def test_no_commands_in_any_order_break_the_record(data: st.DataObject) -> None:
    """Nothing raises; what is refused leaves nothing; what is accepted continues the file."""
    state, seq = MACHINE.initial, 0
    order = data.draw(st.sampled_from([one.value for one in TurnOrder]))
    text = session(agents=AGENTS, turn_order=order, escalation="timeout-skip")
    state = _step(state, ask.Begin(file="s.md", text=text, digest=sha(text)), 0)
    for _ in range(data.draw(st.integers(1, 12))):
        actor = data.draw(st.sampled_from(ACTORS))
        now = data.draw(st.sampled_from([parse_time(CREATED), parse_time(CREATED) + 10**9]))
        command = data.draw(asked(state))
        decision = MACHINE.decide(state, command, Context(now, actor, STREAM, "o"))
        assert decision.drafts == () or not decision.refused
        assert decision.drafts or decision.findings
        before = state
        for draft in decision.drafts:
            seq += 1
            done = Recorded(draft.event, STREAM, seq, now, actor.as_actor(), b"")
            state = MACHINE.evolve(state, done)
            list(MACHINE.index(done))
            if isinstance(draft.event, did.EntryYielded) and actor.kind is KeyClass.AGENT:
                assert draft.event.author == actor.id
        pieces = [one.event for one in decision.drafts if isinstance(one.event, did.Piece)]
        assert state.size == before.size + sum(one.size for one in pieces)
        MACHINE.agenda(state, now)
        MACHINE.timeouts(state, now)
        assert decode_state(State, encode_state(state)) == state

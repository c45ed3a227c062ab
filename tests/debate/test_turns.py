"""Turns: who speaks next, when a round is over, how long there is, how a session ends."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from moot.core.clock import parse_time
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.course import Course, find_named_next
from moot.protocols.debate.model import Rules, TurnOrder
from moot.protocols.debate.phases import TRANSITIONS, Happening, Phase, phase_after
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.turns import DebateStanding, find_standing
from moot.protocols.debate.views import view_status
from tests.debate.sessions import SKIPPED, TWO_ROUNDS, VALID, codes, entry, rules_block, session

THREE = ("ant", "bee", "cow")


def course(*entries: str, agents: tuple[str, ...] = THREE, **settings: str) -> Course:
    text = session(*entries, block=rules_block(agents, **settings))
    found = check_session(text).course
    assert found is not None
    return found


def at(course_: Course, time: str) -> DebateStanding:
    return find_standing(course_, parse_time(f"2026-03-01T{time}Z"))


@pytest.mark.requirement("BNC-039")
@pytest.mark.requirement("BNC-115")
def test_round_robin_goes_down_the_list_in_blocks() -> None:
    spoken: list[str] = []
    entries: list[str] = []
    for number in range(1, 9):
        here = find_standing(course(*entries, agents=("ant", "bee"), max_turns_per_round="2"))
        assert here.next_speaker is not None
        spoken.append(here.next_speaker)
        entries.append(entry(number, here.next_speaker, here.round, here.turn, stance="neutral"))
    assert spoken == ["ant", "ant", "bee", "bee"] * 2
    assert codes(session(*entries, agents=("ant", "bee"), max_turns_per_round="2")) == []


@pytest.mark.requirement("BNC-040")
def test_free_form_ends_a_round_when_everyone_has_spoken() -> None:
    for order in permutations(THREE):
        said = [entry(n, who, 1, n, stance="neutral") for n, who in enumerate(order, start=1)]
        before = find_standing(course(*said[:2], turn_order="free-form"))
        assert (before.round, before.turn, before.may_speak) == (1, 3, (order[2],))
        here = find_standing(course(*said, turn_order="free-form"))
        assert (here.round, here.turn, here.may_speak, here.next_speaker) == (2, 1, THREE, None)


@pytest.mark.requirement("BNC-117")
def test_supervised_begins_with_the_first_and_follows_the_last_word() -> None:
    def after_asking(text: str) -> str | None:
        said = entry(1, "lead", asks=text, stance="neutral")
        names = ("lead", "ops", "ops-lead")
        return find_standing(course(said, turn_order="supervised", agents=names)).next_speaker

    assert find_standing(course(turn_order="supervised")).next_speaker == "ant"
    assert after_asking("ops-lead, then ops") == "ops-lead"
    assert after_asking("let ops answer") == "ops"
    assert after_asking("devops should answer") == "lead"
    assert after_asking("n/a") == "lead"
    assert after_asking("lead asks ops") == "ops"
    assert after_asking("lead goes on") == "lead"


def test_several_names_are_remarked_on_and_the_first_is_taken() -> None:
    first = read_document(session(entry(1, "ant", asks="cow and bee"))).entries[0]
    assert find_named_next(first, Rules(THREE)) == ("cow", ("bee",))


def test_a_supervisor_may_end_a_round_by_beginning_the_next() -> None:
    found = course(
        entry(1, "ant", 1, 1, asks="bee", stance="neutral"),
        entry(2, "bee", 1, 2, asks="ant", stance="neutral"),
        entry(3, "ant", 2, 1, asks="cow", stance="neutral"),
        turn_order="supervised",
    )
    assert [(one.number, one.complete) for one in found.rounds] == [(1, True), (2, False)]
    assert find_standing(found).next_speaker == "cow"


def test_a_silent_agent_leaves_the_word_to_the_supervisor_after_the_timeout() -> None:
    found = course(
        entry(1, "ant", asks="bee", stance="neutral"),
        turn_order="supervised",
        escalation="timeout-skip",
    )
    assert at(found, "09:06:00").may_speak == ("bee",)
    assert at(found, "09:06:01").may_speak == ("bee", "ant")


@pytest.mark.requirement("BNC-145")
@pytest.mark.requirement("BNC-095")
def test_time_is_up_only_after_the_last_second() -> None:
    found = check_session(SKIPPED[: SKIPPED.index("<!-- entry: 00000006")]).course
    assert found is not None
    assert not at(found, "09:12:00").timed_out
    late = find_standing(found, parse_time("2026-03-01T09:12:00.001Z"))
    assert (late.timed_out, late.phase) == (True, Phase.ACTIVE)


@pytest.mark.requirement("BNC-051")
def test_with_a_person_in_charge_a_timeout_means_waiting() -> None:
    found = course(entry(1, "ant", stance="neutral"))
    assert at(found, "09:06:00").phase is Phase.ACTIVE
    late = at(found, "09:06:01")
    assert (late.phase, late.may_speak, late.next_speaker) == (Phase.WAITING_HUMAN, (), "bee")


def test_an_operator_lets_a_late_session_go_on() -> None:
    text = session(entry(1, "ant", stance="neutral"), agents=THREE)
    text += "\n<!-- operator-resume: 2026-03-01T10:00:00Z -->\n"
    found = check_session(text).course
    assert found is not None
    assert at(found, "10:05:00").next_speaker == "bee"


@pytest.mark.requirement("BNC-100")
@pytest.mark.parametrize(
    "status",
    [
        pytest.param("open", marks=pytest.mark.requirement("BNC-074")),
        pytest.param("in_progress", marks=pytest.mark.requirement("BNC-075")),
        "yield",
        "closed",
    ],
)
def test_while_an_entry_is_open_everyone_waits(status: str) -> None:
    checked = check_session(session(entry(1, "red-fox", status=status, marker="")))
    data = view_status(checked, parse_time("2026-03-01T09:02:00Z"))
    assert (data.state, data.next, data.safe_to_read) == ("entry-open", None, False)
    assert data.may_speak == ()
    assert data.deadline == "2026-03-01T09:06:00.000Z"
    assert data.open_entry is not None
    assert data.open_entry.author == "red-fox"


@pytest.mark.requirement("BNC-100")
def test_entries_that_are_complete_above_do_not_make_an_open_last_one_safe_to_read() -> None:
    above = entry(1, "red-fox", stance="reject")
    assert view_status(check_session(session(above))).safe_to_read is True
    begun = session(above, entry(2, "blue-hen", 1, 2, status="in_progress", marker=""))
    assert view_status(check_session(begun)).safe_to_read is False


@pytest.mark.requirement("BNC-075")
@pytest.mark.requirement("BNC-074")
@pytest.mark.parametrize("order", TurnOrder)
@pytest.mark.parametrize("status", ["open", "in_progress"])
def test_nobody_is_told_to_speak_while_another_writes(status: str, order: TurnOrder) -> None:
    begun = entry(2, "blue-hen", 1, 2, status=status, marker="")
    said = entry(1, "red-fox", stance="reject", asks="blue-hen")
    data = view_status(check_session(session(said, begun, turn_order=order.value)))
    assert (data.state, data.next, data.may_speak) == ("entry-open", None, ())


@pytest.mark.requirement("BNC-016")
@pytest.mark.requirement("BNC-093")
@pytest.mark.parametrize(
    "status",
    [
        pytest.param("closed", marks=pytest.mark.requirement("BNC-076")),
        pytest.param("yield", marks=pytest.mark.requirement("BNC-077")),
        "open",
    ],
)
def test_the_marker_makes_an_entry_complete_whatever_its_status(status: str) -> None:
    data = view_status(check_session(session(entry(1, "red-fox", status=status))))
    assert (data.state, data.next, data.safe_to_read) == ("active", "blue-hen", True)


@pytest.mark.requirement("BNC-078")
def test_closed_and_yielded_count_alike() -> None:
    """An agent that ends its entry either way has taken its turn and cast its vote."""
    ends = ["closed", "yield"]
    turns = [[entry(n, who, 1, n, status=end) for n, who in enumerate(THREE, 1)] for end in ends]
    for count in range(1, len(THREE) + 1):
        after = [check_session(session(*said[:count], agents=THREE)) for said in turns]
        closed, yielded = (view_status(checked) for checked in after)
        assert [one.status for one in closed.entries] == ["closed"] * count
        assert replace(closed, entries=()) == replace(yielded, entries=())
        assert [checked.course and checked.course.phase for checked in after] == [
            Phase.ACTIVE if count < len(THREE) else Phase.CONSENSUS
        ] * 2


@pytest.mark.requirement("BNC-123")
def test_if_everyone_defers_the_session_is_deadlocked() -> None:
    said = [entry(n, who, 1, n, stance="defer") for n, who in enumerate(THREE, start=1)]
    found = course(*said)
    assert (found.phase, found.ended_at_round) == (Phase.DEADLOCK, 1)


@pytest.mark.requirement("BNC-122")
def test_only_an_operators_closing_entry_ends_a_session() -> None:
    names = ("ant", "human-lead")
    ending = "Session closed: we ship.\n\n<!-- session-end: shipped -->"
    for author, status, body, closed in (
        ("human-lead", "closed", ending, True),
        ("human-lead", "closed", "The session is ended here.", True),
        ("human-lead", "closed", "That is all.", False),
        ("human-lead", "yield", ending, False),
        ("ant", "closed", ending, False),
    ):
        found = course(
            entry(1, author, status=status, body=body, stance="neutral"),
            agents=names,
            turn_order="free-form",
        )
        assert (found.phase is Phase.CLOSED) is closed
    mark = "\n<!-- operator-close: 2026-03-01T09:01:00Z -->\n"
    by_system = entry(1, "system", status="closed", body=ending)
    closed_below_mark = check_session(session(mark + by_system, agents=names))
    assert closed_below_mark.findings == ()
    assert view_status(closed_below_mark).state == "ended:closed-by-operator"
    # R12: without the mark `system` is unknown; it ends the session, as an older Moot wrote it so.
    alone = check_session(session(by_system, agents=names))
    assert [one.code for one in alone.findings] == ["UNKNOWN_AGENT"]
    assert view_status(alone).state == "ended:closed-by-operator"


def test_a_gap_in_round_robin_is_remarked_on_without_a_cascade() -> None:
    text = session(
        entry(1, "ant", 1, 1, stance="neutral"),
        entry(2, "cow", 1, 2, stance="neutral"),
        entry(3, "ant", 2, 1, stance="neutral"),
        entry(4, "bee", 2, 2, stance="neutral"),
        agents=THREE,
    )
    assert codes(text) == []
    assert codes(text, "warning") == ["missing_turn"]


@pytest.mark.requirement("BNC-053")
def test_a_placeholder_takes_the_turn_of_the_silent() -> None:
    text = SKIPPED[: SKIPPED.index("<!-- entry: 00000004")]
    found = check_session(text).course
    assert found is not None
    assert (find_standing(found).due, find_standing(found).round) == (("ant",), 2)


@pytest.mark.requirement("BNC-166")
@pytest.mark.requirement("BNC-084")
def test_the_status_names_position_deadline_and_every_entry() -> None:
    data = view_status(check_session(TWO_ROUNDS[: TWO_ROUNDS.index("<!-- entry: 00000004")]))
    assert (data.state, data.round, data.turn, data.next) == (
        "active",
        2,
        2,
        "blue-hen",
    )
    assert data.deadline == "2026-03-01T09:08:00.000Z"
    assert data.rounds_left == 3
    said = [(one.author, one.stance, one.confidence, one.summary) for one in data.entries]
    assert said == [
        ("red-fox", "approve", 0.7, "A point was made."),
        ("blue-hen", "neutral", 0.5, "A point was made."),
        ("red-fox", "approve", 0.85, "A point was made."),
    ]


@pytest.mark.requirement("BNC-043")
def test_one_turn_per_round_is_the_default() -> None:
    from moot.protocols.debate.model import Rules

    assert Rules(("ant",)).max_turns_per_round == 1


@given(st.lists(st.sampled_from(Happening), max_size=12))
def test_an_ended_session_stays_ended(happenings: list[Happening]) -> None:
    phase = Phase.NOT_STARTED
    for happening in happenings:
        before, phase = phase, phase_after(phase, happening)
        assert phase is before or phase in TRANSITIONS[before].values()
        assert not before.has_ended or phase is before


@pytest.mark.parametrize("name", VALID)
def test_a_growing_session_moves_only_along_the_table(name: str) -> None:
    """Entry by entry, each phase is reached from the one before."""
    text = VALID[name]
    cuts = [cut for cut in range(len(text)) if text.startswith("\n<!-- entry", cut)]
    phases = []
    for cut in [*cuts, len(text)]:
        found = check_session(text[:cut]).course
        assert found is not None
        phases.append(found.phase)
    for before, now in pairwise(phases):
        assert now is before or now in TRANSITIONS[before].values()

"""Debate in cases easily forgotten: who has failed, what another began, what is told of a line."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from moot.core.clock import parse_time
from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.protocols.debate import commands as ask
from moot.protocols.debate import events as did
from moot.protocols.debate.checker import check_longer, check_session
from moot.protocols.debate.drafts import EntryDraft, find_flaws, tidy_draft
from moot.protocols.debate.entry_order import RemarkKind
from moot.protocols.debate.escalation import draft_failed_turn
from moot.protocols.debate.machine import MACHINE
from moot.protocols.debate.model import Rules
from moot.protocols.debate.writer import draft_placeholder, prepare_entry
from tests.debate.sessions import TWO_ROUNDS, entry, entry_id, session
from tests.debate.test_following import hear
from tests.debate.test_record import CRASHED, STREAM, adding, begun, kinds, recorded

NOW = parse_time("2026-03-01T09:30:00.000Z")
SKIPS: dict[str, Any] = {"escalation": "timeout-skip"}


@pytest.mark.parametrize(
    ("text", "agent", "is_written"),
    [
        (session(**SKIPS), "red-fox", True),
        (session(**SKIPS), "blue-hen", False),
        (session(entry(1, "red-fox"), **SKIPS), "blue-hen", True),
        (session(entry(1, "red-fox", marker=""), **SKIPS), "red-fox", False),
        (session(escalation="human"), "red-fox", False),
        (TWO_ROUNDS.replace("human", "timeout-skip"), "red-fox", False),
    ],
    ids=["its turn", "not its turn", "second", "it has begun", "a person acts", "ended"],
)
def test_for_whom_the_policy_writes_before_time_is_up(
    text: str, agent: str, is_written: bool
) -> None:
    draft = draft_failed_turn(check_session(text), agent, CRASHED)
    assert (draft is not None) is is_written
    if draft is not None:
        assert draft.author == agent


def test_what_somebody_else_began_is_left_where_it_is() -> None:
    begun = session(entry(1, "red-fox", marker=""), **SKIPS)
    checked = check_session(begun)
    assert checked.course is not None
    draft = draft_placeholder(checked.course.rules, "blue-hen")
    added = prepare_entry(checked, draft, entry_id(9), NOW)
    assert added.keep_chars == len(begun)
    own = draft_placeholder(checked.course.rules, "red-fox")
    rewritten = prepare_entry(checked, own, entry_id(9), NOW)
    assert rewritten.keep_chars == begun.index("<!-- entry")


STATUS_LINE = "2026-03-01T09:01:00Z [author: red-fox] [status: yield]"


@pytest.mark.parametrize(
    ("written", "line", "told"),
    [
        (STATUS_LINE.replace("author:", "author"), 31, True),
        (STATUS_LINE.replace(" [status: yield]", ""), 31, True),
        ("No such line.", 29, False),
    ],
)
def test_a_status_line_that_is_none_is_shown(written: str, line: int, told: bool) -> None:
    text = session(entry(1, "red-fox").replace(STATUS_LINE, written))
    (finding, *_) = check_session(text).findings
    assert (finding.code, finding.line) == ("MISSING_STATUS_LINE", line)
    assert finding.message.endswith(f": {written}") is told


def test_each_section_below_the_dialogue_is_told_and_ends_where_the_next_begins() -> None:
    text = session(entry(1, "red-fox")) + "\n## Context\n\nx\n\n## Protocol Rules\n\ny\n"
    checked = check_session(text)
    assert [(one.code, one.line) for one in checked.findings] == [
        ("duplicate_section", 42),
        ("duplicate_section", 46),
    ]
    *_, context, rules = checked.document.sections
    assert text[context.start : context.end].strip() == "x"
    assert text[context.end :].startswith("## Protocol Rules")
    assert text[rules.start : rules.end].strip() == "y"


@pytest.mark.parametrize("quoted", ["never closed", "<!-- entry: a -->\nnever closed"])
def test_a_marker_in_a_block_that_is_never_closed_still_ends_the_entry(quoted: str) -> None:
    checked = check_session(session(entry(1, "red-fox", body=f"```\n{quoted}")))
    assert [(one.code, one.line) for one in checked.findings] == [("unclosed_block", 38)]
    (read,) = checked.document.entries
    assert read.yielded
    assert read.body.strip().endswith("never closed")


def test_a_header_in_another_order_is_told_where_it_begins() -> None:
    lines = session().splitlines(keepends=True)
    text = "".join([lines[1], lines[0], *lines[2:]])
    (finding,) = check_session(text).findings
    assert (finding.code, finding.line) == ("header_order", 1)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (f"One.\n\n<!-- yield -->\n{entry(2, 'blue-hen', 1, 2)}", "change the file's structure"),
        ("One.\n\n<!-- yield -->\n\nTwo.", "not be read as it was given"),
        ("One.  \n\n\n", "not be read as it was given"),
    ],
)
def test_an_entry_that_would_be_read_otherwise_is_not_written(body: str, told: str) -> None:
    checked = check_session(session())
    draft = EntryDraft(
        author="red-fox", stance="reject", confidence="0.8", summary="A point.", body=body
    )
    with pytest.raises(Refused) as refused:
        prepare_entry(checked, draft, entry_id(1), NOW)
    assert refused.value.code == "injected_structure"
    assert str(refused.value) == f"the entry would {told}"


@pytest.mark.parametrize(
    ("order", "is_last", "severity"),
    [
        ("round-robin", True, "error"),
        ("round-robin", False, "error"),
        ("free-form", True, "error"),
        ("free-form", False, "warning"),
    ],
)
def test_an_entry_without_its_marker_may_be_interrupted_only_where_all_may_speak(
    order: str, is_last: bool, severity: str
) -> None:
    half = entry(1, "red-fox", marker="", stance="reject")
    more = "" if is_last else entry(2, "blue-hen", 1, 2, stance="reject")
    found = check_session(session(half, more, turn_order=order)).findings
    told = [one.severity.value for one in found if one.code == "MISSING_YIELD_MARKER"]
    assert told == [severity]


@pytest.mark.parametrize(
    ("name", "value", "code", "message"),
    [
        ("confidence", "sure", "INVALID_CONFIDENCE", "'sure' is no confidence"),
        ("confidence", "-0.5", "CONFIDENCE_OUT_OF_RANGE", "'-0.5' is no confidence"),
        ("confidence", "1.1", "CONFIDENCE_OUT_OF_RANGE", "1.1 is not from 0.0 to 1.0"),
        ("confidence", "", "MISSING_REQUIRED_FIELD", "confidence is required"),
        ("stance", "never", "INVALID_STANCE", "'never' is not a stance"),
        ("summary", "a\nb\nc", "line_break", "a summary has one or two lines"),
        ("evidence", "a\nb", "line_break", "evidence has more than one line"),
        (
            "summary",
            "a\nmood: good",
            "field_in_summary",
            "the summary's second line would be read as a field",
        ),
    ],
)
def test_what_is_wrong_with_a_draft(name: str, value: str, code: str, message: str) -> None:
    sound = EntryDraft(
        author="red-fox", stance="reject", confidence="1.0", summary="A point.\nAnd more.", body="x"
    )
    rules = Rules(("red-fox", "blue-hen"))
    assert find_flaws(tidy_draft(sound), rules) == []
    changed = msgspec.structs.replace(tidy_draft(sound), **{name: value})
    found = find_flaws(changed, rules)
    assert (code, message, name) in [(one.code, one.message, one.where) for one in found]


LEAD: dict[str, Any] = {
    "agents": ("lead", "ops", "dev"),
    "turn_order": "supervised",
    "turn_timeout": "60",
}


@pytest.mark.parametrize(
    ("author", "at", "is_remarked"),
    [
        ("ops", "2026-03-01T09:02:00Z", False),
        ("lead", "2026-03-01T09:02:00Z", True),
        ("lead", "2026-03-01T09:02:01Z", False),
        ("dev", "2026-03-01T09:02:01Z", True),
    ],
    ids=["who was named", "the supervisor in time", "the supervisor later", "another later"],
)
def test_who_may_speak_for_one_who_is_silent(author: str, at: str, is_remarked: bool) -> None:
    first = entry(1, "lead", stance="neutral", asks="ops to go on")
    second = entry(2, author, 1, 2, stance="neutral", at=at)
    course = check_session(session(first, second, **LEAD)).course
    assert course is not None
    kinds = [remark.kind for remark in course.remarks]
    assert (RemarkKind.NOT_NAMED in kinds) is is_remarked


def test_a_draft_is_tidied_and_says_the_same() -> None:
    draft = EntryDraft(
        author="red-fox",
        stance="reject",
        confidence="1",
        summary="  A point. \n And more. ",
        body="\n \nOne.  \r\n\r\nTwo.\n\n\t\n",
    )
    tidied = tidy_draft(draft)
    assert tidied.body == "One.  \n\nTwo."
    assert tidied.summary == "A point.\nAnd more."
    assert tidy_draft(msgspec.structs.replace(draft, body="\n \n")).body == ""


def test_a_person_who_is_listed_closes_a_session_when_it_is_its_turn() -> None:
    world = begun("ant", "human-ann")
    closing = entry(1, "human-ann", 1, 1, status="closed", body="Session closed.")
    before = kinds(world)
    with pytest.raises(Refused) as early:
        world.engine.execute(STREAM, adding(world, closing), "human-ann")
    assert early.value.code == "wrong_speaker"
    assert kinds(world) == before


def test_only_a_placeholder_is_written_in_an_agents_place() -> None:
    world = begun("ant", "bee", escalation="timeout-skip")
    world.clock.now = NOW
    own_words = entry(1, "ant", at="2026-03-01T09:30:00Z")
    for text, agent in ((own_words, "ant"), (own_words, "bee")):
        with pytest.raises(Refused) as refused:
            world.engine.execute(STREAM, adding(world, text, ask.Escalate, agent=agent), SYSTEM)
        assert refused.value.code == "not_a_placeholder"
    assert kinds(world) == ["SessionBegan", "TurnTimedOut"]


def test_what_is_found_in_no_line_comes_first() -> None:
    found = check_session("\ufeff" + session(title="")).findings
    assert [(one.code, one.line) for one in found] == [
        ("MISSING_TITLE", None),
        ("byte_order_mark", 1),
    ]


def test_an_entry_without_an_id_is_told_by_its_number() -> None:
    text = entry(2, "blue-hen", 1, 2).replace(entry_id(2), "").replace("entry:  -->", "entry: -->")
    (finding,) = check_session(session(entry(1, "red-fox"), text)).findings
    assert (finding.code, finding.where) == ("MISSING_ENTRY_ID", "entry 2")


def test_that_time_is_up_is_noted_once_and_only_where_somebody_is_waited_for() -> None:
    late = NOW + 10**9
    _, sound = recorded(session())
    _, unsound = recorded(session(entry(1, "grey-owl")))
    _, ended = recorded(TWO_ROUNDS)
    assert list(MACHINE.timeouts(sound, NOW - 30 * 60_000)) == []
    assert list(MACHINE.timeouts(sound, late)) == [ask.NoteTimeout()]
    for state in (
        MACHINE.initial,
        msgspec.structs.replace(sound, timed_out=True),
        unsound,
        ended,
    ):
        assert list(MACHINE.timeouts(state, late)) == []


def test_an_entry_in_error_has_its_turn_but_no_vote() -> None:
    world = begun()
    wrong = entry(1, "red-fox", body="## Too big")
    world.engine.execute(STREAM, adding(world, wrong, ask.Observe), SYSTEM)
    latest = world.engine.state(MACHINE, STREAM).latest
    assert (dict(latest.counts), dict(latest.votes)) == ({"red-fox": 1}, {})


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_first_piece_begins_where_the_preamble_ends(mark: str) -> None:
    _, heard = hear(mark + TWO_ROUNDS, [])
    above = (mark + TWO_ROUNDS).partition("## Dialogue\n")
    assert heard[0].start == len((above[0] + above[1]).encode())
    assert heard[0].text.startswith("\n<!-- entry: ")


def test_a_double_is_on_record_as_sound() -> None:
    world = begun()
    text = entry(1, "red-fox")
    world.engine.execute(STREAM, adding(world, text, ask.Observe), SYSTEM)
    done = world.engine.execute(STREAM, adding(world, text, ask.Observe, double=True), SYSTEM)
    observed = done.newest(did.EntryObserved).event
    assert (observed.double, observed.sound) == (True, True)


@pytest.mark.parametrize(("round_", "turn"), [(1, 2), (2, 1), (3, 3)])
def test_a_session_that_begins_in_the_middle_is_told_so(round_: int, turn: int) -> None:
    found = check_session(session(entry(1, "red-fox", round_, turn))).findings
    told = f"the first entry is round {round_} turn {turn}"
    assert any(one.message.endswith(told) for one in found)


def test_findings_stand_in_the_order_of_their_lines() -> None:
    more = "stance: reject\nconfidence: 0.8\nsummary: A.\naction_requested: n/a\nevidence: n/a\n"
    start = session(entry(1, "red-fox", stance="reject"))
    late = entry(2, "blue-hen", 1, 2, at="2026-03-01T10:02:00Z", fields=more + "mood: good\n")
    found = check_longer(check_session(start), late).findings
    assert [(one.code, one.line) for one in found] == [("late_entry", 42), ("unknown_field", 50)]


def test_a_turn_that_an_entry_passes_over_is_missed() -> None:
    longer = check_longer(check_session(session()), entry(1, "blue-hen", stance="reject"))
    assert [one.code for one in longer.findings] == ["missing_turn"]

"""Writing: only valid files, nothing of the old bytes touched, nothing forged."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.api.debates import session as debates
from moot.core.clock import SECOND, Millis, fixed_clock, parse_time
from moot.core.errors import MootError, Refused, StoreFailed
from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.compare import compare
from moot.protocols.debate.course import is_placeholder
from moot.protocols.debate.drafts import EntryDraft
from moot.protocols.debate.escalation import draft_skipped_turn, is_written_by_policy
from moot.protocols.debate.model import (
    UUID_V4_PATTERN,
    ConsensusMode,
    EntryStatus,
    Escalation,
    OutputFormat,
    Rules,
    TurnOrder,
)
from moot.protocols.debate.writer import (
    Addition,
    draft_default_action,
    draft_placeholder,
    make_session_text,
    prepare_closing,
    prepare_entry,
    prepare_own_entry,
)
from tests.debate.sessions import (
    EARLY,
    SUPERVISED,
    TWO_AGENTS,
    TWO_ROUNDS,
    entry,
    entry_id,
    rules_block,
    session,
)

ID = "9f7b7c2e-3a55-4d6e-8f21-0c6a5e4d3b2a"
DRAFT = EntryDraft(
    author="red-fox", stance="approve", confidence="0.8", summary="Yes.", body="Because."
)
NOW = parse_time("2026-03-01T09:01:00Z")


def make(**changes: object) -> str:
    rules = msgspec.structs.replace(Rules(("red-fox", "blue-hen")), **changes)
    return make_session_text("Which queue?", "Some words.", rules, ID, NOW)


def add(
    text: str,
    draft: EntryDraft = DRAFT,
    now: Millis = NOW,
    escape: bool = False,
    after_end: bool = False,
) -> Addition:
    return prepare_own_entry(
        check_session(text), draft, ID, now, escape=escape, after_end=after_end
    )


def with_(**changes: object) -> EntryDraft:
    return msgspec.structs.replace(DRAFT, **changes)


def refused(text: str, draft: EntryDraft = DRAFT, now: Millis = NOW) -> str:
    with pytest.raises(Refused) as caught:
        add(text, draft, now)
    assert caught.value.hint
    return caught.value.code


@pytest.mark.requirement("BNC-164")
@pytest.mark.requirement("BNC-063")
@pytest.mark.parametrize("mode", ConsensusMode)
@pytest.mark.parametrize("order", TurnOrder)
def test_a_new_session_is_valid_and_says_what_was_asked(
    mode: ConsensusMode, order: TurnOrder
) -> None:
    rules = Rules(
        ("red-fox", "blue-hen"),
        turn_order=order,
        max_turns_per_round=2,
        turn_timeout=60,
        consensus_threshold=Decimal("0.65"),
        consensus_mode=mode,
        escalation=Escalation.TIMEOUT_SKIP,
        max_rounds=7,
        output_format=OutputFormat.FREE_TEXT,
    )
    checked = check_session(make_session_text("Which queue?", "Some\n\n### words", rules, ID, NOW))
    assert checked.findings == ()
    assert (checked.settings.rules, checked.document.name) == (rules, "Which queue?")
    assert checked.document.section_text("Context").strip() == "Some\n\n### words"


@pytest.mark.parametrize(
    ("title", "context"),
    [
        ("", "x"),
        ("a\n## Dialogue", "x"),
        ("a", "x\n\n## Dialogue\n\ny"),
        ("a", "x\n\n# Bounce Session: other"),
        ("a", "```\nnever closed"),
        ("a", "<!-- never closed"),
        ("a", "<!-- entry: x -->"),
        ("<!-- yield -->", "x"),
    ],
)
def test_title_and_context_cannot_change_the_file(title: str, context: str) -> None:
    with pytest.raises(Refused):
        make_session_text(title, context, Rules(("red-fox",)), ID, NOW)


@pytest.mark.parametrize(
    "changes",
    [
        {"agents": ()},
        {"agents": ("red-fox", "red-fox")},
        {"agents": ("Red Fox",)},
        {"agents": ("a\nturn-order: free-form",)},
        {"max_rounds": 0},
        {"turn_timeout": 86401},
        {"consensus_threshold": Decimal("1.5")},
    ],
)
def test_settings_that_are_not_allowed_make_no_session(changes: dict[str, object]) -> None:
    with pytest.raises(Refused):
        make(**changes)


@pytest.mark.requirement("BNC-165")
@pytest.mark.requirement("BNC-005")
@pytest.mark.requirement("BNC-065")
@pytest.mark.requirement("BNC-101")
@pytest.mark.requirement("BNC-102")
def test_an_entry_is_appended_whole_and_read_back_as_it_was_given() -> None:
    text = make()
    addition = add(text)
    checked = check_session(text + addition.text)
    last = checked.document.entries[-1]
    assert checked.findings == ()
    assert (last.author, last.field_value("stance"), last.field_value("summary"), last.body) == (
        "red-fox",
        "approve",
        "Yes.",
        "Because.",
    )
    assert (last.id, last.turn, last.round, last.at) == (ID, 1, 1, "2026-03-01T09:01:00Z")
    assert addition.text.endswith("<!-- yield -->\n")
    assert compare(text, text + addition.text) == ()


LINE = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=30)
BODY = st.lists(
    st.sampled_from(
        ["a", "", "```", "~~~", "- x", "### y", "## z", "# z", "<div>", "> q", "---", "<!-- c -->",
         "<!-- yield -->", "<!-- entry: x -->", "stance: reject", "    code", "<!--", "|a|"]
    )
    | LINE
).map("\n".join)  # fmt: skip


@given(BODY, LINE, LINE, st.booleans())
def test_what_is_written_reads_back_or_is_refused(
    body: str, summary: str, asked: str, escape: bool
) -> None:
    """Whatever is accepted adds exactly one entry that says exactly this, and no error."""
    text = make() + add(make()).text.replace(ID, "8" + ID[1:])
    draft = with_(
        author="blue-hen", body=body, summary=summary, action_requested=asked, evidence="n/a"
    )
    try:
        addition = add(text, draft, escape=escape)
    except MootError:
        return
    checked = check_session(text + addition.text)
    assert checked.valid
    assert len(checked.document.entries) == 2
    last = checked.document.entries[-1]
    expected = body.replace("<!--", "&lt;!--") if escape else body
    assert last.body.strip() == expected.strip()
    assert last.field_value("summary") == summary.strip()
    assert last.field_value("action_requested") == asked.strip()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("summary", "one\nstance: reject"),
        ("summary", "one\ntwo\nthree"),
        ("action_requested", "x\n<!-- yield -->"),
        ("evidence", "a\nb"),
        ("stance", "approve\nconfidence: 1.0"),
        ("author", "red-fox] [status: open"),
        ("summary", "<!-- yield -->"),
        ("body", "<!-- yield -->"),
        ("body", "```\n<!-- yield -->\n```"),
        ("body", "<!--entry: x-->"),
        ("body", "# Big"),
        ("body", "Big\n==="),
        ("body", "```\nnever closed"),
        ("body", "<!-- never closed"),
        ("body", "a\rb"),
        ("stance", "strongly_agree"),
        ("confidence", "1.5"),
        ("confidence", "high"),
        ("confidence", "-1"),
        ("summary", ""),
        ("evidence", ""),
    ],
)
def test_nothing_can_be_forged_through_a_field(field: str, value: str) -> None:
    assert refused(make(), with_(**{field: value})) in ("invalid_entry", "injected_structure")


def test_comments_in_a_body_may_be_made_visible() -> None:
    addition = add(make(), with_(body="```\n<!-- yield -->\n```"), escape=True)
    assert "&lt;!-- yield --&gt;" in addition.text or "&lt;!-- yield -->" in addition.text


def test_confidence_is_written_with_a_decimal() -> None:
    assert "confidence: 1.0\n" in add(make(), with_(confidence="1")).text


@pytest.mark.requirement("BNC-115")
@pytest.mark.requirement("BNC-117")
@pytest.mark.requirement("BNC-103")
@pytest.mark.requirement("BNC-094")
@pytest.mark.requirement("BNC-114")
def test_anyone_who_is_not_to_speak_is_refused() -> None:
    early = parse_time("2026-03-01T09:04:00Z")
    assert refused(make(), with_(author="blue-hen")) == "wrong_speaker"
    assert refused(make(), with_(author="grey-owl")) == "unknown_agent"
    assert refused(SUPERVISED, with_(author="on-call"), early) == "wrong_speaker"
    assert add(SUPERVISED, with_(author="platform"), early).turn == 4
    open_one = session(entry(1, "red-fox", marker=""))
    assert refused(open_one, with_(author="blue-hen")) == "entry_open"


FREE = session(entry(1, "red-fox"), turn_order="free-form")
OVER = session(entry(1, "red-fox"), agents=("red-fox",), consensus_threshold="0", max_rounds="1")
LATE = parse_time("2026-03-01T10:00:00Z")
FORBIDDEN = {
    "a stranger": (make(), "grey-owl", NOW, "unknown_agent", "R12", "UNKNOWN_AGENT"),
    "a judge too early": (make(), "judge", NOW, "unknown_agent", "R18", "UNKNOWN_AGENT"),
    "another's turn": (make(), "blue-hen", NOW, "wrong_speaker", "R13", "OUT_OF_ORDER_TURN"),
    "another was named": (SUPERVISED, "on-call", NOW, "wrong_speaker", "R14", "OUT_OF_ORDER_TURN"),
    "no turn left": (FREE, "red-fox", NOW, "wrong_speaker", "3.3", "max_turns"),
    "no round left": (OVER, "red-fox", NOW, "session_ended", "R17", "max_rounds"),
    "the end": (EARLY, "red-fox", NOW, "session_ended", "R18", "after_end"),
    "an open entry": (
        *(session(entry(1, "red-fox", marker="")), "blue-hen", NOW),
        *("entry_open", "R6", "entry_open"),
    ),
    "a person waited for": (make(), "red-fox", LATE, "waiting_human", "3.3", "waiting_human"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_refusal_names_the_norm_with_the_code_a_check_would_use(name: str) -> None:
    text, author, now, code, rule, found_code = FORBIDDEN[name]
    with pytest.raises(Refused) as no:
        add(text, with_(author=author), now)
    (found,) = no.value.findings
    assert (no.value.code, found.rule, found.code) == (code, rule, found_code)
    assert (str(no.value), no.value.hint) == (found.message, found.hint)


def test_a_refusal_says_who_may_speak() -> None:
    with pytest.raises(Refused) as no:
        add(make(), with_(author="blue-hen"))
    assert no.value.hint == "next: red-fox"
    with pytest.raises(Refused) as no:
        add(make(), with_(author="grey-owl"))
    assert no.value.hint == "the agents are red-fox,blue-hen"


@pytest.mark.requirement("BNC-104")
def test_in_free_form_another_open_entry_is_no_obstacle() -> None:
    text = session(entry(1, "red-fox", marker=""), turn_order="free-form")
    addition = add(text, with_(author="blue-hen"))
    assert check_session(text + addition.text).valid


@pytest.mark.requirement("BNC-051")
def test_agents_wait_while_the_session_waits_for_a_person() -> None:
    late = parse_time("2026-03-01T10:00:00Z")
    assert refused(make(), DRAFT, late) == "waiting_human"


@pytest.mark.requirement("BNC-124")
@pytest.mark.requirement("BNC-054")
def test_an_ended_session_takes_no_entry_unless_one_insists() -> None:
    assert refused(EARLY, with_(author="red-fox")) == "session_ended"
    late = add(EARLY, with_(author="red-fox"), after_end=True)
    assert (late.round, late.turn) == (3, 1)
    over = session(
        entry(1, "red-fox"), agents=("red-fox",), consensus_threshold="0", max_rounds="1"
    )
    with pytest.raises(Refused, match="max-rounds"):
        add(over, after_end=True)


@pytest.mark.requirement("BNC-170")
@pytest.mark.requirement("BNC-125")
def test_a_judge_speaks_only_after_the_end() -> None:
    assert refused(make(), with_(author="judge")) == "unknown_agent"
    addition = add(EARLY, with_(author="judge", stance="neutral"))
    checked = check_session(EARLY + addition.text)
    assert checked.valid
    assert (addition.round, addition.turn) == (2, 3)


def test_nothing_is_appended_to_a_file_with_errors() -> None:
    assert refused(session(entry(1, "red-fox", stance="x")), with_(author="blue-hen")) == (
        "invalid_session"
    )


@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
def test_a_missing_line_end_is_written_first(ending: str) -> None:
    text = make().rstrip("\n") + ending
    whole = text + add(text).text
    assert "## Dialogue\n\n<!-- entry" in whole
    assert check_session(whole).findings == ()


def test_the_files_own_line_ends_are_kept() -> None:
    text = make().replace("\n", "\r\n")
    addition = add(text)
    assert addition.text.count("\n") == addition.text.count("\r\n")
    assert check_session(text + addition.text).valid


@pytest.mark.requirement("BNC-146")
@pytest.mark.requirement("BNC-052")
@pytest.mark.requirement("BNC-168")
@pytest.mark.parametrize("write", [draft_placeholder, draft_default_action])
def test_the_machine_says_so_when_it_writes_for_a_silent_agent(
    write: Callable[[Rules, str], EntryDraft],
) -> None:
    checked = check_session(make(escalation=Escalation.TIMEOUT_SKIP))
    assert checked.settings.rules is not None
    draft = write(checked.settings.rules, "red-fox")
    after = check_session(checked.document.text + prepare_entry(checked, draft, ID, NOW).text)
    last = after.document.entries[-1]
    assert after.findings == ()
    assert is_placeholder(last)
    assert (last.status, last.field_value("confidence"), last.author) == (
        "closed",
        "0.0",
        "red-fox",
    )
    assert "red-fox" in last.body
    assert "300-second" in last.body
    assert "Under the `timeout-skip` policy" in last.body
    assert after.course is not None
    assert not after.course.phase.has_ended


@pytest.mark.requirement("BNC-146")
@pytest.mark.parametrize("policy", Escalation)
@pytest.mark.parametrize(("person", "named"), [("human-ann", "human-ann"), (None, "the operator")])
def test_a_turn_that_a_person_skipped_names_that_person_and_the_sessions_own_policy(
    policy: Escalation, person: str | None, named: str
) -> None:
    checked = check_session(make(escalation=policy))
    late = NOW + 301 * SECOND
    before, draft = draft_skipped_turn(checked, late, person)
    after = check_session(before.document.text + prepare_entry(before, draft, ID, late).text)
    (last,) = after.document.entries
    assert (after.valid, last.author, last.status) == (True, "red-fox", "closed")
    assert last.field_value("summary") == f"Turn timed out. Skipped by {named}."
    assert f"{named}, a person, skipped this turn" in last.body
    assert f"policy is `{policy.value}`" in last.body
    assert "red-fox was silent for more than the 300-second turn-timeout" in last.body
    others = {one.value for one in Escalation} - {policy.value, "human"}
    assert not any(other in last.body + last.field_value("summary") for other in others)
    assert after.settings.rules is not None
    assert is_written_by_policy(last, after.settings.rules)
    told = msgspec.structs.replace(last, body=last.body.replace("silent", "right"))
    assert not is_written_by_policy(told, after.settings.rules)


@pytest.mark.requirement("BNC-015")
def test_the_turns_that_are_written_count_from_one_in_every_round() -> None:
    checked = check_session(make(consensus_threshold=Decimal(0)))
    for number in range(6):
        author = ("red-fox", "blue-hen")[number % 2]
        draft = EntryDraft(author=author, stance="reject", confidence="0.5", summary="No.")
        added = prepare_own_entry(checked, draft, f"{number:08x}{ID[8:]}", NOW)
        assert (added.round, added.turn) == (number // 2 + 1, number % 2 + 1)
        checked = added.checked_after
    assert checked.findings == ()
    places = [(one.round, one.turn) for one in checked.document.entries]
    assert places == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]


@pytest.mark.requirement("BNC-072")
@pytest.mark.parametrize(
    ("written", "codes"),
    [
        ("2026-03-01T09:10:05Z", []),
        ("2026-03-01T10:10:05+01:00", []),
        ("2026-03-01T09:10Z", []),
        ("2026-03-01T09:10:05.499Z", ["time_goes_back"]),
        ("2026-03-01T09:10:04Z", ["time_goes_back"]),
        ("2026-03-01T09:09Z", ["time_goes_back"]),
    ],
)
def test_a_time_in_whole_seconds_is_not_earlier_than_ours_in_the_same_second(
    written: str, codes: list[str]
) -> None:
    text = session(
        entry(1, "red-fox", at="2026-03-01T09:10:05.500Z"),
        entry(2, "blue-hen", 1, 2, stance="reject", at=written),
    )
    assert [one.code for one in check_session(text).findings] == codes
    begun = session(entry(1, "red-fox", at=written)).replace(
        "2026-03-01T09:00:00Z", "2026-03-01T09:10:05.500Z"
    )
    early = ["before_created" for _ in codes]
    assert [one.code for one in check_session(begun).findings] == early


@pytest.mark.requirement("BNC-169")
def test_an_operator_closes_a_session() -> None:
    checked = check_session(TWO_ROUNDS[: TWO_ROUNDS.index("<!-- entry: 00000004")].rstrip() + "\n")
    added = prepare_closing(checked, "we ship", ID, parse_time("2026-03-01T09:04:00Z"))
    after = check_session(checked.document.text + added.text)
    assert after.findings == added.checked_after.findings == checked.findings
    assert after.course is not None
    assert after.course.phase == "ended:closed-by-operator"
    assert [mark.key for mark in after.document.marks] == ["operator-close"]


def test_a_draft_has_every_field_by_name() -> None:
    assert [name for name, _ in DRAFT.filled_fields()] == [
        *("stance", "confidence", "summary", "action_requested", "evidence")
    ]
    assert DRAFT.status is EntryStatus.YIELD


def test_in_free_text_a_few_words_are_enough() -> None:
    text = make(output_format=OutputFormat.FREE_TEXT)
    bare = EntryDraft(author="red-fox", body="Hm.", action_requested="", evidence="")
    checked: CheckedSession = check_session(text + add(text, bare).text)
    assert checked.findings == ()
    assert checked.document.entries[0].fields == ()


# an author may replace its own unfinished entry ---------------------------------------------


@pytest.mark.requirement("BNC-094")
@pytest.mark.parametrize("crlf", [False, True])
def test_an_author_writes_its_own_open_entry_again(tmp_path: Path, crlf: bool) -> None:
    file = tmp_path / "s.md"
    whole = session(entry(1, "red-fox", stance="reject"))
    half = entry(2, "blue-hen", 1, 2, status="open", marker="", body="I think that")
    text = (whole + half).replace("\n", "\r\n") if crlf else whole + half
    file.write_bytes(text.encode())
    kept = text[: text.rindex("<!-- entry:")].encode()
    clock = fixed_clock("2026-03-01T09:03:00Z")
    mine = EntryDraft(
        author="blue-hen", stance="reject", confidence="0.6", summary="No.", body="So."
    )
    other = EntryDraft(
        author="red-fox", stance="reject", confidence="0.6", summary="No.", body="So."
    )
    with pytest.raises(Refused) as refused:
        debates.add(file, other, clock)
    assert refused.value.code == "entry_open"
    assert file.read_bytes() == text.encode()
    done = debates.add(file, mine, clock)
    assert done.entries == (entry_id(2),)
    assert file.read_bytes().startswith(kept)
    after = check_session(file.read_bytes())
    assert after.valid
    assert [one.body for one in after.document.entries][-1] == "So."
    assert b"I think that" not in file.read_bytes()


def test_an_open_entry_that_is_not_the_last_stays(tmp_path: Path) -> None:
    rules = {"turn_order": "free-form", "max_turns_per_round": "3"}
    half = entry(1, "red-fox", marker="", body="I think that")
    second = entry(2, "blue-hen", 1, 1, stance="reject")
    text = session(half, second, block=rules_block(TWO_AGENTS, **rules))
    file = tmp_path / "s.md"
    file.write_bytes(text.encode())
    mine = EntryDraft(
        author="red-fox", stance="reject", confidence="0.6", summary="No.", body="So."
    )
    debates.add(file, mine, fixed_clock("2026-03-01T09:03:00Z"))
    assert file.read_bytes().startswith(text.encode())


def test_a_yielded_entry_is_never_written_again(tmp_path: Path) -> None:
    file = tmp_path / "s.md"
    text = session(entry(1, "red-fox", status="open", stance="reject"))
    file.write_bytes(text.encode())
    mine = EntryDraft(
        author="red-fox", stance="reject", confidence="0.6", summary="No.", body="So."
    )
    with pytest.raises(Refused) as refused:
        debates.add(file, mine, fixed_clock("2026-03-01T09:03:00Z"))
    assert refused.value.code == "wrong_speaker"
    assert file.read_bytes() == text.encode()


def test_if_the_disk_fails_the_open_entry_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s.md"
    text = session(entry(1, "red-fox", marker="", body="I think that"))
    file.write_bytes(text.encode())
    mine = EntryDraft(
        author="red-fox", stance="reject", confidence="0.6", summary="No.", body="So."
    )
    failed: list[int] = []

    def once(_descriptor: int) -> None:
        failed.append(1)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("moot.api.debates.session_file.os.fsync", once)
    with pytest.raises(StoreFailed):
        debates.add(file, mine, fixed_clock("2026-03-01T09:03:00Z"))
    assert failed
    assert file.read_bytes() == text.encode()


TORN = "\n<!-- entry: 0000"
AFTER_THE_TIMEOUT = "2026-03-01T09:30:00Z"


@pytest.mark.parametrize("order", ["round-robin", "free-form", "supervised"])
def test_a_first_line_that_broke_off_is_for_the_agent_whose_turn_it_is(
    tmp_path: Path, order: str
) -> None:
    file = tmp_path / "s.md"
    text = session(turn_order=order)
    file.write_bytes((text + TORN).encode())
    debates.add(file, DRAFT, fixed_clock("2026-03-01T09:01:00Z"))
    assert file.read_bytes().startswith(text.encode())
    assert check_session(file.read_bytes()).valid
    assert b"0000\n" not in file.read_bytes()


@pytest.mark.requirement("BNC-095")
def test_a_first_line_that_broke_off_holds_up_neither_policy_nor_operator(tmp_path: Path) -> None:
    file = tmp_path / "s.md"
    clock = fixed_clock(AFTER_THE_TIMEOUT)
    file.write_bytes((session(escalation="timeout-skip") + TORN).encode())
    assert len(debates.tick(file, clock).entries) == 1
    assert check_session(file.read_bytes()).valid
    for act in (debates.resume_skipping, lambda one, at: debates.close(one, "Enough.", at)):
        file.write_bytes((session() + TORN).encode())
        assert len(act(file, clock).entries) == 1
        assert check_session(file.read_bytes()).valid
    file.write_bytes((session() + TORN).encode())
    debates.resume_late(file, clock)
    assert check_session(file.read_bytes()).valid


@pytest.mark.requirement("BNC-105")
@pytest.mark.requirement("BNC-069")
def test_every_entry_gets_an_id_of_its_own_and_is_found_by_it(tmp_path: Path) -> None:
    file = tmp_path / "s.md"
    file.write_text(session(turn_order="free-form", max_turns_per_round="10", max_rounds="50"))
    clock = fixed_clock("2026-03-01T09:01:00Z")
    said = [with_(author=author, stance="reject") for author in ("red-fox", "blue-hen")] * 5
    ids = [debates.add(file, one, clock).entries[0] for one in said]
    document = check_session(file.read_bytes()).document
    assert all(UUID_V4_PATTERN.fullmatch(one) for one in ids)
    assert len({*ids, document.session_id}) == len(ids) + 1
    found = [document.find_entry(one) for one in ids]
    assert [one.index for one in found if one] == list(range(10))
    assert document.find_entry("another") is None


@pytest.mark.requirement("BNC-069")
def test_of_two_entries_with_one_id_the_first_is_found() -> None:
    text = session(entry(1, "red-fox"), entry(1, "red-fox", body="Other words."))
    found = check_session(text).document.find_entry(entry_id(1))
    assert found is not None
    assert found.body == "Words about it."

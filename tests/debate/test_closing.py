"""Closing: a listed person ends a session in ordinary words, which no argument does."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.debate.checker import check_session
from moot.protocols.debate.course import Course
from moot.protocols.debate.machine import MACHINE
from moot.protocols.debate.phases import is_closing_entry, says_session_end
from moot.protocols.debate.session_follower import SessionFollower
from moot.protocols.debate.views import view_status
from tests.debate.sessions import entry, session
from tests.debate.test_file_and_record import place
from tests.debate.test_hostile_files import bare
from tests.debate.test_record import STREAM, recorded
from tests.project import Project

__all__ = ["bare", "place"]

WORDINGS = [
    "Session closed.",
    "Session closed. We stop here.",
    "Session closed: we ship.",
    "Session closed by the operator: we ship.",
    "The session ends here.",
    "This session is now over.",
    "Closing the session.",
    "END OF SESSION",
    "I am closing this session: everything is said.",
    "We hereby close the session.",
    "I'm ending this debate now.",
    "I declare this session closed.",
    "**The session is closed.**",
    "### Session ended",
    "This concludes the session.",
    "The debate is over!",
    "Session over - thanks to both of you.",
    "Session end",
    "We have heard enough.\n\nThe session ends here.",
    "Wir hören auf.\n\n<!-- session-end: genug -->",
    "A first line that is longer than the sentence which ends it all.\n\nSession closed.",
    "<!-- a note -->\n\nSession closed: we ship.\n\nThanks to both of you.",
]
ARGUMENTS = [
    "",
    "That is all.",
    "The session is not over.",
    "The session should be closed when the user logs out.",
    "The session ends when its token expires.",
    "Session closed events must be logged.",
    "Closing the session on logout is required by the audit.",
    "I would close the session after a minute of silence.",
    "Is the session closed?",
    "Session closed?",
    "The session is closed by the server after ten minutes.",
    "We never close the session.",
    "Do not close the session.",
    "Once the session is over, tokens are void.",
    "session.closed is the field to look at.",
    "> Session closed.",
    "```\nSession closed.\n```",
    "`session closed`",
    "Tokens stay valid. The session is over. The user has to log in again.",
    "The session closes the socket.",
    "End of session tokens: they are void.",
    "This session is now over 4 GB.",
]


@pytest.mark.requirement("BNC-122")
@pytest.mark.parametrize("body", WORDINGS)
def test_a_person_closes_by_hand_in_ordinary_words(body: str) -> None:
    said = entry(1, "human-ann", status="closed", stance="neutral", body=body)
    checked = check_session(session(said, agents=("human-ann", "bot")))
    assert checked.findings == ()
    assert view_status(checked).state == "ended:closed-by-operator"


@pytest.mark.requirement("BNC-122")
@pytest.mark.parametrize("body", ARGUMENTS)
def test_an_argument_with_status_closed_ends_nothing_and_is_reported(body: str) -> None:
    said = entry(1, "human-ann", status="closed", stance="neutral", body=body)
    checked = check_session(session(said, agents=("human-ann", "bot")))
    (finding,) = checked.findings
    assert (finding.rule, finding.code, finding.severity) == ("R17", "not_a_closing", "warning")
    status = view_status(checked)
    assert (status.state, status.next) == ("active", "bot")
    assert status.findings == (finding,)


@pytest.mark.requirement("BNC-122")
def test_only_a_whole_entry_with_status_closed_closes() -> None:
    said = entry(1, "human-ann", status="closed", stance="neutral", body="Session closed.")
    checked = check_session(session(said, agents=("human-ann", "bot")))
    rules, (closing,) = checked.settings.rules, checked.document.entries
    assert rules is not None
    assert is_closing_entry(closing, rules)
    for other in ({"status": "open"}, {"yielded": False}, {"status": "open", "yielded": False}):
        assert not is_closing_entry(msgspec.structs.replace(closing, **other), rules)
        assert not is_closing_entry(msgspec.structs.replace(closing, **other), rules, marked=True)


_CONTINUED = st.sampled_from(["when", "if", "unless", "after", "because", "by the server,", "on"])
_HEDGES = st.sampled_from(["should be", "must not be", "is not", "will be", "may be", "cannot be"])
_SUBJECTS = st.sampled_from(["The session", "This session", "Session", "The debate"])


@given(st.sampled_from(WORDINGS[:16]), _CONTINUED, st.text("abc ", min_size=3, max_size=30))
def test_a_sentence_that_goes_on_is_an_argument(words: str, joint: str, more: str) -> None:
    first = re.split(r"[.!:\n]", words)[0].strip("*# ")
    assert says_session_end(f"{first}.")
    assert not says_session_end(f"{first} {joint} x{more}.")


@given(_SUBJECTS, _HEDGES, st.sampled_from(["closed", "ended", "over"]), st.text(max_size=40))
def test_what_should_be_is_not_what_is(subject: str, hedge: str, word: str, more: str) -> None:
    text = more.replace("<!--", "").replace("\n", " ")
    assert not says_session_end(f"{subject} {hedge} {word}.")
    assert not says_session_end(f"{text} x {subject} {hedge} {word}.")


@given(st.text(max_size=200))
def test_no_text_without_the_word_ends_a_session(text: str) -> None:
    told = re.sub(r"session|debate|discussion", "x", text, flags=re.IGNORECASE)
    assert not says_session_end(told.replace("<!--", ""))


@given(st.sampled_from([*WORDINGS, *ARGUMENTS]), st.sampled_from(["open", "in_progress", "yield"]))
def test_only_the_status_closed_closes(body: str, status: str) -> None:
    text = session(entry(1, "human-ann", status=status, body=body), agents=("human-ann", "bot"))
    checked = check_session(text)
    assert checked.settings.rules is not None
    (said,) = checked.document.entries
    assert not is_closing_entry(said, checked.settings.rules)


@pytest.mark.requirement("BNC-122")
def test_a_person_may_close_out_of_turn_and_however_often_they_spoke() -> None:
    text = session(
        entry(1, "human-ann", stance="neutral"),
        entry(2, "human-ann", 1, 2, status="closed", stance="neutral", body="Session closed."),
        agents=("human-ann", "bot"),
    )
    assert check_session(text).findings == ()


@pytest.mark.requirement("BNC-122")
def test_people_are_named_in_the_file_or_by_their_names() -> None:
    ends = entry(1, "ann", status="closed", stance="neutral", body="Session closed.")
    unknown = check_session(session(ends, agents=("ann", "bot")))
    assert [(one.code, one.severity) for one in unknown.findings] == [("not_a_closing", "warning")]
    assert "does not say that ann is a person" in unknown.findings[0].message
    assert view_status(unknown).state == "active"
    known = session(ends, agents=("ann", "bot")).replace("## Context", PEOPLE + "## Context")
    assert check_session(known).findings == ()
    assert view_status(check_session(known)).state == "ended:closed-by-operator"
    odd = known.replace("people: ann", "people: ann, eve")
    codes = [one.code for one in check_session(odd).findings]
    assert codes == ["unknown_option", "not_a_closing"]


PEOPLE = "<!-- people: ann -->\n\n"


@pytest.mark.requirement("BNC-122")
def test_a_closed_entry_of_an_agent_is_noted_and_the_session_goes_on() -> None:
    checked = check_session(session(entry(1, "red-fox", status="closed", stance="neutral")))
    assert [(one.code, one.severity) for one in checked.findings] == [("not_a_closing", "info")]
    assert view_status(checked).findings == ()


CLOSED = {
    "by a person": session(
        entry(1, "bot", stance="neutral"),
        entry(2, "human-ann", 1, 2, status="closed", body="This session is now over."),
        agents=("bot", "human-ann", "cat"),
    ),
    "by a person of the file": session(
        entry(1, "ann", 1, 1, status="closed", body="Closing the session."), agents=("ann", "bot")
    ).replace("## Context", PEOPLE + "## Context"),
    "by the operator": session(
        entry(1, "bot", stance="neutral")
        + "\n<!-- operator-close: 2026-03-01T09:02:00Z -->\n"
        + entry(2, "system", 1, 2, status="closed", stance="neutral", body="Enough."),
        agents=("bot", "cat"),
    ),
    "by one of them": session(
        "\n<!-- operator-close: 2026-03-01T09:01:00Z -->\n"
        + entry(1, "cat", status="closed", stance="neutral", body="Enough."),
        agents=("bot", "cat"),
    ),
    "by an older Moot": session(
        entry(1, "system", status="closed", stance="neutral", body="Session closed: enough."),
        agents=("bot", "cat"),
    ),
    "taken back": session(
        "\n<!-- operator-close: 2026-03-01T09:01:00Z -->\n"
        "<!-- operator-resume: 2026-03-01T09:01:00Z -->\n"
        + entry(1, "bot", status="closed", stance="neutral", body="Enough."),
        agents=("bot", "cat"),
    ),
}


@pytest.mark.requirement("BNC-122")
@pytest.mark.parametrize("text", CLOSED.values(), ids=CLOSED)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_file_record_and_follower_agree_on_the_end(text: str, size: int) -> None:
    course = check_session(text).course
    assert isinstance(course, Course)
    world, _ = recorded(text)
    state = world.engine.state(MACHINE, STREAM)
    follower, data = SessionFollower(), text.encode()
    for start in range(0, len(data), size):
        list(follower.feed(data[start : start + size]))
    assert follower.state is not None
    phases = {course.phase, state.phase, follower.state.phase}
    assert phases == {"active" if "resume" in text else "ended:closed-by-operator"}
    assert state.ended_at_round == follower.state.ended_at_round == course.ended_at_round


# The command -------------------------------------------------------------------------------------

CLOSE = ("debate", "close", "s.md", "--reason", "We ship.")


def new(place: Project, agents: str, *more: str) -> Path:
    place.ok("debate", "new", "s.md", "--title", "Ship?", "--agents", agents, *more)
    return place.root / "s.md"


@pytest.mark.requirement("BNC-169")
@pytest.mark.parametrize(
    ("agents", "more", "named", "author", "marked"),
    [
        ("bot,human-ann", (), (), "human-ann", False),
        ("bot,human-ann", (), ("--as", "human-ann"), "human-ann", False),
        ("ann,bob", ("--people", "ann,bob"), ("--as", "bob"), "bob", False),
        ("ann,bob", (), ("--as", "bob"), "bob", True),
        ("ann,bob", (), (), "system", True),
        ("bot,human-ann", (), ("--as", "chair"), "system", True),
    ],
)
def test_a_listed_person_closes_with_an_entry_of_their_own(
    bare: Project, agents: str, more: tuple[str, ...], named: tuple[str, ...], author: str,
    marked: bool,
) -> None:  # fmt: skip
    file = new(bare, agents, *more)
    assert bare.ok(*named, *CLOSE)["state"] == "ended:closed-by-operator"
    checked = check_session(file.read_bytes())
    assert checked.findings == ()
    (said,) = checked.document.entries
    assert (said.author, said.status, bool(checked.document.marks)) == (author, "closed", marked)
    assert "We ship." in said.body


@pytest.mark.requirement("BNC-169")
def test_it_is_asked_who_closes_where_that_is_not_clear(bare: Project) -> None:
    file = new(bare, "human-ann,human-bob,bot")
    before = file.read_bytes()
    assert bare.refused(*CLOSE) == ("which_person", 1)
    assert bare.refused("--as", "bot", *CLOSE) == ("human_key_required", 1)
    assert file.read_bytes() == before


@pytest.mark.requirement("BNC-169")
def test_a_registered_person_who_takes_part_signs_the_closing_entry(
    place: Project, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("correct horse", encoding="utf-8")
    secret.chmod(0o600)
    place.ok("agent", "register", "ann-lee", "--human", MOOT_PASSPHRASE_FILE=str(secret))
    file = new(place, "red-fox,ann-lee")
    assert "<!-- people: ann-lee -->" in file.read_text("utf-8")
    assert place.refused("--as", "red-fox", *CLOSE) == ("human_key_required", 1)
    done = place.ok("--as", "ann-lee", *CLOSE, MOOT_PASSPHRASE_FILE=str(secret))
    assert (done["recorded"], done["state"]) == ("signed", "ended:closed-by-operator")
    checked = check_session(file.read_bytes())
    assert (checked.findings, checked.document.entries[-1].author) == ((), "ann-lee")
    shown = place.ok("debate", "verify", "s.md")
    assert (shown["verdict"], "1 signed" in shown["authenticity"]) == ("valid", True)


@pytest.mark.requirement("BNC-146")
def test_a_person_who_skips_a_turn_is_named_and_an_agent_cannot(bare: Project) -> None:
    late = {"MOOT_CLOCK": "2026-03-01T10:00:00Z"}
    file = new(bare, "bot,human-ann", "--turn-timeout", "300")
    before = file.read_bytes()
    words = ("debate", "resume", "s.md", "--skip")
    assert bare.refused("--as", "bot", *words, **late) == ("human_key_required", 1)
    assert file.read_bytes() == before
    bare.ok("--as", "human-ann", *words, **late)
    (said,) = check_session(file.read_bytes()).document.entries
    assert said.field_value("summary") == "Turn timed out. Skipped by human-ann."
    assert (
        "human-ann, a person, skipped this turn. The session's own policy is `human`" in said.body
    )


@pytest.mark.requirement("BNC-146")
def test_the_record_names_the_person_whose_key_skipped_a_turn(
    place: Project, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("correct horse", encoding="utf-8")
    secret.chmod(0o600)
    place.ok("agent", "register", "ann-lee", "--human", MOOT_PASSPHRASE_FILE=str(secret))
    file = new(place, "red-fox,blue-hen")
    late = {"MOOT_CLOCK": "2026-03-01T10:00:00Z", "MOOT_PASSPHRASE_FILE": str(secret)}
    assert place.ok("debate", "resume", "s.md", "--skip", **late)["recorded"] == "signed"
    (said,) = check_session(file.read_bytes()).document.entries
    assert said.field_value("summary") == "Turn timed out. Skipped by ann-lee."
    assert place.ok("debate", "verify", "s.md")["verdict"] == "valid"

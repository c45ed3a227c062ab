"""Sessions of every shape that the document shows, as a whole: valid or not, and how they end."""

from __future__ import annotations

import sys

import pytest

from moot.core.findings import select_errors
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.consensus import compute_consensus
from moot.protocols.debate.phases import Phase
from moot.protocols.debate.turns import find_standing
from moot.protocols.debate.views import view_consensus, view_status
from tests.debate.sessions import (
    ALONE,
    EARLY,
    FREE,
    INVALID,
    SKIPPED,
    SUPERVISED,
    TWO_ROUNDS,
    VALID,
    entry,
    found,
    session,
)
from tests.tidy.source import PACKAGE, Module


@pytest.mark.requirement("BNC-171")
@pytest.mark.parametrize("name", VALID)
def test_a_valid_shape_has_no_error(name: str) -> None:
    assert select_errors(check_session(VALID[name]).findings) == ()


NORMS = {
    "no session id": "BNC-149",
    "no marker": "BNC-150",
    "fifth stance": "BNC-151",
    "too sure": "BNC-152",
    "empty session id": "BNC-153",
    "stranger": "BNC-154",
    "round goes back": "BNC-155",
}


@pytest.mark.requirement("BNC-156")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.requirement(norm)) for name, norm in NORMS.items()],
)
def test_an_invalid_shape_breaks_exactly_its_rule(name: str) -> None:
    text, rule, code = INVALID[name]
    wrong = select_errors(check_session(text).findings)
    assert [(one.rule, one.code) for one in wrong] == [(rule, code)]
    assert wrong[0].hint


def test_every_invalid_shape_has_its_norm() -> None:
    assert set(NORMS) == set(INVALID)


@pytest.mark.requirement("BNC-155")
def test_a_round_that_goes_back_makes_the_file_invalid_and_every_entry_is_kept() -> None:
    text = INVALID["round goes back"][0]
    checked = check_session(text)
    assert not checked.valid
    assert len(checked.document.entries) == text.count("<!-- entry: ")


def test_the_stance_that_was_meant_is_in_the_hint() -> None:
    text = INVALID["fifth stance"][0]
    (wrong,) = select_errors(check_session(text).findings)
    assert "approve" in wrong.hint
    assert wrong.line == text.splitlines().index("stance: strongly-agree") + 1


@pytest.mark.requirement("BNC-140")
@pytest.mark.requirement("BNC-046")
@pytest.mark.requirement("BNC-120")
def test_one_agent_alone_ends_with_its_only_round_and_without_a_vote() -> None:
    checked = check_session(ALONE)
    data = view_status(checked)
    assert (data.state, data.ended_at_round) == ("ended:max-rounds", 1)
    assert (data.consensus.outcome, data.consensus.reached) == ("disabled", False)
    assert checked.document.entries[0].body.count("###") == 2


@pytest.mark.requirement("BNC-046")
def test_a_threshold_of_zero_is_never_reached_even_if_all_approve() -> None:
    text = session(entry(1, "red-fox"), agents=("red-fox",), consensus_threshold="0.0")
    assert view_consensus(check_session(text)).outcome == "disabled"


@pytest.mark.requirement("BNC-141")
@pytest.mark.requirement("BNC-121")
@pytest.mark.requirement("BNC-014")
def test_two_agents_agree_in_the_second_round() -> None:
    checked = check_session(TWO_ROUNDS)
    first, second = (view_consensus(checked, number) for number in (1, 2))
    assert (first.reached, first.approvers, first.neutral) == (
        False,
        ("red-fox",),
        ("blue-hen",),
    )
    assert (second.reached, second.score) == (True, 0.825)
    assert checked.course is not None
    assert (checked.course.phase, checked.course.ended_at_round) == (Phase.CONSENSUS, 2)


@pytest.mark.requirement("BNC-014")
@pytest.mark.parametrize("order", ["round-robin", "free-form"])
def test_a_round_is_over_with_the_last_of_the_listed_agents(order: str) -> None:
    agents = ("ant", "bee", "cow")
    for heard in (1, 2, 3):
        entries = [entry(n, name, 1, n) for n, name in enumerate(agents[:heard], start=1)]
        course = check_session(session(*entries, agents=agents, turn_order=order)).course
        assert course is not None
        assert course.rounds[0].complete == (heard == 3), heard


@pytest.mark.requirement("BNC-119")
def test_a_file_without_entries_is_a_session_that_has_not_begun() -> None:
    checked = check_session(session())
    assert found(checked) == []
    assert checked.course is not None
    assert (checked.course.phase, checked.course.rounds) == (Phase.NOT_STARTED, ())


@pytest.mark.requirement("BNC-142")
@pytest.mark.requirement("BNC-134")
@pytest.mark.requirement("BNC-048")
@pytest.mark.requirement("BNC-118")
def test_free_speech_has_no_order_and_a_score_on_the_threshold_is_enough() -> None:
    checked = check_session(FREE)
    assert found(checked) == []
    data = view_consensus(checked)
    assert (data.score, data.threshold, data.reached) == (0.6, 0.6, True)


@pytest.mark.requirement("BNC-143")
@pytest.mark.requirement("BNC-124")
def test_the_first_round_that_agrees_ends_the_session_and_later_entries_are_warned_of() -> None:
    checked = check_session(EARLY)
    assert found(checked) == [("warning", "R18", "after_end")] * 2
    assert checked.valid
    data = view_status(checked)
    assert (data.state, data.ended_at_round) == ("ended:consensus", 1)
    assert view_consensus(checked, 1).score == 0.79
    assert view_consensus(checked, 2).score == 0.9


@pytest.mark.requirement("BNC-144")
@pytest.mark.requirement("BNC-137")
@pytest.mark.requirement("BNC-147")
def test_a_skipped_turn_leaves_the_denominator_and_both_numbers_are_shown() -> None:
    checked = check_session(SKIPPED)
    assert {severity for severity, _, _ in found(checked)} == {"info"}
    data = view_consensus(checked)
    assert (data.score, data.reached, data.deferred) == (0.775, True, ("cow",))
    assert data.score_all_agents == pytest.approx(0.516667, abs=1e-6)
    assert data.reached_all_agents is False
    status = view_status(checked)
    assert [one.placeholder for one in status.entries] == [False] * 5 + [True]
    assert checked.document.entries[5].field_value("summary").endswith("applied: turn skipped.")


@pytest.mark.requirement("BNC-148")
@pytest.mark.requirement("BNC-041")
@pytest.mark.requirement("BNC-087")
def test_a_supervisor_may_speak_twice_and_names_who_is_next() -> None:
    checked = check_session(SUPERVISED)
    assert found(checked) == []
    assert checked.course is not None
    here = find_standing(checked.course)
    assert (here.next_speaker, here.round, here.turn) == ("platform", 1, 4)
    data = view_consensus(checked)
    assert (data.provisional, data.reached, data.missing) == (True, False, ("platform",))


@pytest.mark.requirement("BNC-157")
def test_the_bare_template_is_no_session_and_does_no_harm() -> None:
    template = (
        "<!-- bounce-protocol: 0.1 -->\n<!-- created: [ISO-8601 datetime] -->\n"
        "<!-- session-id: [UUID v4] -->\n\n# Bounce Session: [session-name]\n\n## Dialogue\n\n"
        "<!-- entry: [UUID v4] -->\n<!-- turn: [N] round: [M] -->\n"
        "[ISO-8601 datetime] [author: agent-name] [status: open|in_progress|closed|yield]\n"
        "stance: [approve|reject|neutral|defer]\nconfidence: [0.0-1.0]\n\n<!-- yield -->\n"
    )
    checked = check_session(template)
    assert not checked.valid
    assert checked.course is None


@pytest.mark.requirement("BNC-004")
@pytest.mark.requirement("BNC-011")
def test_the_text_alone_gives_everything() -> None:
    first, again = check_session(TWO_ROUNDS.encode()), check_session(TWO_ROUNDS)
    assert view_status(first) == view_status(again)
    assert first.document.session_id == again.document.session_id != ""


@pytest.mark.requirement("BNC-007")
@pytest.mark.parametrize(
    "words", ["I reject this, with no confidence at all.", "approve approve approve", "Ж 漢 🙂"]
)
def test_what_an_entry_says_in_prose_decides_nothing(words: str) -> None:
    """The same fields under any words whatever are the same course, votes and end."""

    def play(words: str) -> object:
        spoken = [
            entry(1, "red-fox", summary=words, body=words, evidence=words),
            entry(2, "blue-hen", 1, 2, stance="reject", summary=words, body=words),
        ]
        course = check_session(session(*spoken, context=words, max_rounds="1")).course
        assert course is not None
        votes = {
            name: (vote.stance, vote.confidence) for name, vote in course.rounds[0].votes.items()
        }
        return course.phase, course.ended_at_round, votes, course.rounds[0].judge(course.rules)

    assert play(words) == play("Nothing in particular.")


def test_the_verdict_is_the_same_from_the_votes_alone() -> None:
    course = check_session(SKIPPED).course
    assert course is not None
    latest = course.latest_complete_round
    assert latest is not None
    assert compute_consensus(course.rules, latest.votes) == latest.judge(course.rules)


@pytest.mark.requirement("BNC-009")
def test_transport_agents_and_user_interface_are_left_open() -> None:
    """The package knows bytes and text: it imports nothing that sends, draws or thinks."""
    own = [Module(path) for path in (PACKAGE / "protocols" / "debate").glob("*.py")]
    foreign = {name.split(".")[0] for module in own for name, _ in module.foreign_imports()}
    assert foreign - sys.stdlib_module_names == {"msgspec", "immutables"}
    assert foreign & {"socket", "http", "urllib", "os", "subprocess", "tkinter"} == set()

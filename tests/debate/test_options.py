"""What a session may choose beyond its nine settings: comments that other programs pass over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moot.core.clock import parse_time
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.compare import compare
from moot.protocols.debate.escalation import draft_overdue_entries, is_written_by_policy
from moot.protocols.debate.model import DefaultAction, Rules, Stance
from moot.protocols.debate.session_follower import SessionFollower
from moot.protocols.debate.settings import rules_from_settings, rules_to_settings
from moot.protocols.debate.state import course_from_state
from moot.protocols.debate.turns import find_standing
from moot.protocols.debate.views import view_consensus, view_status
from moot.protocols.debate.writer import make_session_text
from tests.debate.sessions import SESSION_ID, TWO_ROUNDS, codes, entry, rules_block, session
from tests.project import Project

CLOCK = "2026-03-01T09:01:00Z"
LATE = "2026-03-01T10:00:00Z"
THREE = ("ant", "bee", "cow")
SAID = ("--stance", "reject", "--confidence", "0.8", "--summary", "No.")


def chosen(*entries: str, options: str, **rules: str) -> str:
    return session(*entries, agents=THREE, block=rules_block(THREE, **rules) + options + "\n")


def rules_of(text: str) -> Rules:
    rules = check_session(text).settings.rules
    assert rules is not None
    return rules


@pytest.fixture
def place(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, tmp_path / "keys", MOOT_CLOCK=CLOCK)


# Who defers (A-05) --------------------------------------------------------------------------------

ONE_DEFERS = (
    entry(1, "ant", 1, 1, confidence="0.9"),
    entry(2, "bee", 1, 2, confidence="0.65"),
    entry(3, "cow", 1, 3, stance="defer", confidence="0.3"),
)
COUNTED = "<!-- defer-in-denominator: true -->\n"
WEIGHTED = {"consensus_mode": "weighted", "consensus_threshold": "0.65"}


@pytest.mark.requirement("BNC-137")
def test_a_session_may_count_those_who_defer() -> None:
    usual, other = (
        session(*ONE_DEFERS, agents=THREE, **WEIGHTED),
        chosen(*ONE_DEFERS, options=COUNTED, **WEIGHTED),
    )
    assert view_status(check_session(usual)).state == "ended:consensus"
    assert view_status(check_session(other)).state == "active"
    assert codes(other, "warning") == codes(usual, "warning")
    data = view_consensus(check_session(other))
    assert (data.reached, data.defer_in_denominator) == (False, True)
    assert data.score == data.score_all_agents == pytest.approx(1.55 / 3)
    left_out = view_consensus(check_session(other), defer_in_denominator=False)
    assert (left_out.reached, left_out.score) == (True, 0.775)


@pytest.mark.requirement("BNC-137")
@pytest.mark.parametrize("mode", ["majority", "weighted", "unanimous"])
def test_counted_or_not_all_who_defer_are_a_deadlock(mode: str) -> None:
    silent = [entry(n, who, 1, n, stance="defer") for n, who in enumerate(THREE, 1)]
    for options in ("", COUNTED):
        text = chosen(*silent, options=options, consensus_mode=mode)
        assert view_status(check_session(text)).state == "ended:deadlock"


@pytest.mark.requirement("BNC-167")
def test_the_command_line_asks_both_ways(place: Project) -> None:
    text = session(*ONE_DEFERS, agents=THREE, **WEIGHTED)
    (place.root / "s.md").write_text(text, encoding="utf-8")
    asked = ("debate", "consensus", "s.md")
    assert place.ok(*asked)["reached"] is True
    assert place.ok(*asked, "--defer-in-denominator")["reached"] is False
    assert place.ok(*asked, "--defer-left-out")["score"] == 0.775
    shown = place.run(*asked, "--defer-in-denominator").out
    assert "those who deferred are counted as not approving" in shown


# Who names the next speaker (A-19) ----------------------------------------------------------------

ONLY = "<!-- supervisor-only: true -->\n"
HANDED_ON = (
    entry(1, "ant", 1, 1, asks="bee, your view?"),
    entry(2, "bee", 1, 2, asks="cow should answer"),
)


@pytest.mark.requirement("BNC-117")
def test_only_the_supervisor_names_who_is_next_if_the_session_says_so() -> None:
    for options, name in (("", "cow"), (ONLY, "ant")):
        text = chosen(*HANDED_ON, options=options, turn_order="supervised")
        assert view_status(check_session(text)).next == name
        follower = SessionFollower()
        list(follower.feed(text.encode()))
        state = follower.state
        assert state is not None
        assert state.rules is not None
        assert find_standing(course_from_state(state, state.rules)).next_speaker == name
    after = chosen(*HANDED_ON, entry(3, "ant", 1, 3), options=ONLY, turn_order="supervised")
    assert "not_named" not in codes(after, "warning")
    assert check_session(after).findings == ()


@pytest.mark.requirement("BNC-117")
def test_a_recorded_session_keeps_to_it(place: Project) -> None:
    place.ok("init")
    file = place.root / "s.md"
    names = ("--agents", "red-fox,blue-hen,tan-owl", "--turn-order", "supervised")
    place.ok("debate", "new", "s.md", "--title", "Ship?", *names, "--supervisor-only")

    def add(author: str, asks: str) -> Any:
        said = (*SAID, "--action-requested", asks)
        return place.json("debate", "add", "s.md", "--author", author, *said)

    assert add("red-fox", "blue-hen").code == 0
    assert add("blue-hen", "tan-owl").data["next"] == "red-fox"
    before = file.read_bytes()
    assert add("tan-owl", "n/a").error["code"] == "wrong_speaker"
    assert file.read_bytes() == before
    assert add("red-fox", "tan-owl").data["next"] == "tan-owl"
    assert place.ok("debate", "verify", "s.md")["verdict"] == "valid"


# What is written for a silent agent (A-57) --------------------------------------------------------


@pytest.mark.requirement("BNC-052")
@pytest.mark.parametrize("action", DefaultAction)
def test_the_default_action_is_the_sessions_choice(place: Project, action: DefaultAction) -> None:
    names = ("--agents", "red-fox,blue-hen", "--escalation", "default-action")
    asked = ("--title", "Ship?", *names, "--default-action", action.value)
    place.ok("debate", "new", "s.md", *asked)
    late = Project(place.root, place.root.parent / "keys", MOOT_CLOCK=LATE)
    assert len(late.ok("debate", "tick", "s.md")["entries"]) == 1
    checked = check_session((place.root / "s.md").read_bytes())
    (written,) = checked.document.entries
    assert (written.author, written.stance, str(written.confidence)) == (
        "red-fox",
        Stance(action),
        "0.0",
    )
    assert checked.findings == ()
    assert is_written_by_policy(written, rules_of(checked.document.text))


@pytest.mark.requirement("BNC-052")
def test_no_default_action_approves(place: Project) -> None:
    asked = ("--title", "Ship?", "--agents", "red-fox,blue-hen", "--default-action", "approve")
    assert place.json("debate", "new", "s.md", *asked).code == 2
    text = chosen(options="<!-- default-action: approve -->\n", escalation="default-action")
    assert codes(text, "warning") == ["unknown_option"]
    (draft, *_) = draft_overdue_entries(check_session(text), parse_time(LATE))
    assert draft.stance == "neutral"


# Where they stand ---------------------------------------------------------------------------------


def test_a_new_session_holds_what_was_chosen_and_nothing_else() -> None:
    created = parse_time(CLOCK)
    every = Rules(
        ("red-fox", "blue-hen"),
        defer_in_denominator=True,
        supervisor_only=True,
        default_action=DefaultAction.REJECT,
    )
    text = make_session_text("Which?", "Why.", every, SESSION_ID, created)
    assert (
        "```\n\n<!-- defer-in-denominator: true -->\n<!-- supervisor-only: true -->\n"
        "<!-- default-action: reject -->\n\n## Context" in text
    )
    assert check_session(text).findings == ()
    assert rules_of(text) == rules_from_settings(rules_to_settings(every)) == every
    plain = Rules(every.agents)
    assert "```\n\n## Context" in make_session_text("Which?", "Why.", plain, SESSION_ID, created)
    assert len(rules_to_settings(plain)) == 9
    assert rules_from_settings(rules_to_settings(plain)) == plain


@pytest.mark.parametrize(
    ("comment", "warned"),
    [
        ("<!-- supervisor-only: maybe -->\n", True),
        ("<!-- supervisor-only: false -->\n<!-- supervisor-only: true -->\n", True),
        ("<!-- supervisor-only -->\n", True),
        ("<!-- supervisor: true -->\n", False),
        ("<!-- a note of ours -->\n", False),
        ("```\n<!-- supervisor-only: true -->\n```\n", False),
    ],
)
def test_what_is_not_understood_changes_nothing(comment: str, warned: bool) -> None:
    text = chosen(options=comment)
    assert check_session(text).valid
    assert codes(text, "warning") == (["unknown_option"] if warned else [])
    assert rules_of(text) == rules_of(chosen(options=""))


def test_elsewhere_in_the_file_they_are_only_comments() -> None:
    text = session(entry(1, "red-fox", body=f"Words.\n\n{ONLY}"), context=f"Known.\n\n{ONLY}")
    assert not rules_of(text + ONLY).supervisor_only


@pytest.mark.requirement("BNC-099")
def test_an_option_is_a_rule_and_cannot_be_added_later() -> None:
    changed = TWO_ROUNDS.replace("```\n\n## Context", f"```\n\n{COUNTED}\n## Context")
    assert rules_of(changed).defer_in_denominator
    assert compare(TWO_ROUNDS.encode(), changed.encode())

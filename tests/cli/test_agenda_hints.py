"""What is due says how it is met: every line of `moot agenda` has a command, or whom to ask."""

from __future__ import annotations

from typing import Any

import pytest

from moot.api.presence.agenda import DueItem
from moot.core.text import Quoted
from moot.protocols.example.model import Ask
from moot.surfaces.cli.presence.agenda import WAYS, way_to_do
from tests.cli.parliament_session import ParliamentSession
from tests.cli.test_presence import as_
from tests.project import Project

BLOCKED = ("--work", "w-1", "--subject", "auth", "--blocker", "b", "--requested-action", "a")
ASKED = ("ask", "Ship it?", "--with", "rules:approve,rules:approve")


def way(
    stream: str, who: str, what: str, subject: str = "", hint: str = "", by: str | None = None
) -> str:
    return way_to_do(DueItem(who, what, Quoted(subject), None, by, False, stream, hint))


def due(project: Project, **settings: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = project.ok("agenda", **settings)["due"]
    return found


def test_input_that_is_owed_names_who_asked_and_how_it_is_given(project: Project) -> None:
    for name in ("amber-otter", "teal-crane"):
        project.ok("join", "--register", f"{name}-2")
    project.ok(*as_("teal-crane-2", "event", "blocked", "--to", "amber-otter-2", *BLOCKED))
    (item,) = due(project)
    assert item["subject"].endswith(": auth (from teal-crane-2)")
    assert item["hint"].startswith("moot event accept proto_")
    shown = project.run("agenda").out
    assert f"amber-otter-2: {item['hint']}\n" in shown
    assert f"amber-otter-2: {item['hint']}\n" in project.run("status").out


def test_the_way_is_said_once_for_all_who_go_it(project: Project) -> None:
    for name in ("teal-crane", "amber-otter", "teal-crane"):
        project.execute("amber-otter", Ask(title="look", of=name))
    assert project.run("agenda").out.partition("how:\n")[2].splitlines() == [
        "  teal-crane, amber-otter: `moot ledger log example/today` shows what it is about"
    ]


def test_a_decision_without_a_person_says_how_to_become_one(
    bare: Project, people: dict[str, str]
) -> None:
    bare.ok("init")
    bare.ok(*ASKED)
    (item,) = due(bare)
    assert item["hint"].startswith("`moot agent register operator --human` first; then moot decide")
    bare.ok("agent", "register", "operator", "--human", **people)
    (item,) = due(bare)
    assert item["hint"].startswith("moot decide q-1 approve")


@pytest.mark.parametrize("hint", ["", "no vote yet"])
def test_each_duty_in_a_parliament_is_a_command_of_parliament(hint: str) -> None:
    for what in (*WAYS, "something new"):
        said = way("parliament/parl-1", "clerk", what, hint=hint)
        assert "moot parliament " in said
        assert "DIR" in said
        assert said.startswith("the user who runs the session: ")


def test_a_sitting_says_who_the_clerk_is(parliament: ParliamentSession) -> None:
    hints = {item["who"]: item["hint"] for item in due(parliament.project)}
    assert hints
    assert all(
        hint.startswith("moot parliament statement DIR --approach") for hint in hints.values()
    )


def test_the_prime_ministers_way_names_the_folder_if_it_is_known() -> None:
    known = way("parliament/p", "prime-minister", "decide", hint="moot parliament decide a approve")
    assert known == "a person: moot parliament decide a approve"
    unknown = way("parliament/p", "prime-minister", "decide", hint="moot parliament decide DIR x")
    assert unknown.startswith("a person: moot parliament decide DIR approve")
    assert unknown.endswith("(DIR is the session's folder)")


def test_whatever_says_nothing_is_shown_by_its_record() -> None:
    plain = way("example/today", "ann", "errand", "e1")
    assert plain == "`moot ledger log example/today` shows what it is about"
    timed = way("example/today", "ann", "errand", "e1", by="2026-02-14T12:00:00Z")
    assert "`moot tick`" in timed


def test_a_first_answer_is_asked_for_again_by_the_question() -> None:
    assert way("decision/q-1", "a", "answer") == "moot ask --resume q-1"

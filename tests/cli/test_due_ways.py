"""What is due says how it is met: every line of `moot agenda` has a command, or whom to ask."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.machine import Due
from moot.protocols.example.commands import Ask, Lapse
from moot.surfaces.cli.parliament.due_ways import WAYS
from moot.surfaces.cli.presence.due_ways import way
from tests.cli.project import Project
from tests.cli.sitting import Sitting
from tests.cli.test_presence import as_

BLOCKED = ("--work", "w-1", "--subject", "auth", "--blocker", "b", "--requested-action", "a")
ASKED = ("ask", "Ship it?", "--with", "rules:approve,rules:approve")


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


@pytest.mark.usefixtures("cheap_locks")
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
        said = way("parliament/parl-1", Due(who="clerk", what=what, hint=hint))
        assert "moot parliament " in said
        assert "DIR" in said
        assert said.startswith("whoever runs the session: ")


def test_a_sitting_says_who_the_clerk_is(sitting: Sitting) -> None:
    hints = {item["who"]: item["hint"] for item in due(sitting.project)}
    assert hints
    assert all(
        hint.startswith("moot parliament template OPENING_STATEMENT") for hint in hints.values()
    )


def test_a_step_that_failed_is_tried_again_with_its_command() -> None:
    failed = Due(who="operator", what="try again", subject="trace-to-mail t1", hint="it was full")
    assert way("path/p1", failed) == "moot flow trace-to-mail t1 (it was full)"
    fine = Due(who="operator", what="go on", subject="x y", hint="moot flow x y")
    assert way("path/p1", fine) == "moot flow x y"


def test_whatever_says_nothing_is_shown_by_its_record() -> None:
    plain = Due(who="ann", what="errand", subject="e1")
    assert way("example/today", plain) == "`moot ledger log example/today` shows what it is about"
    timed = Due(who="ann", what="errand", subject="e1", command=Lapse(id="e1"))
    assert "`moot tick`" in way("example/today", timed)


def test_a_first_answer_is_asked_for_again_by_the_question() -> None:
    assert way("decision/q-1", Due(who="a", what="answer")) == "moot ask --resume q-1"

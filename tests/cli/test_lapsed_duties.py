"""What is owed by or to a session that has ended lapses, and the living sender is told."""

from __future__ import annotations

import sys

import pytest

from moot.core.errors import MootError
from moot.core.names import SYSTEM
from moot.protocols.mail.commands import Lapse
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import LapseAnswer
from tests.project import Project

OTTER, CRANE = "amber-otter", "teal-crane"
BLOCKED = (
    *("--subject", "the port", "--blocker", "none is named", "--work", "T-1"),
    *("--requested-action", "name it"),
)
HANDOFF = ("--subject", "auth", "--summary", "half done", "--next-action", "go on", "--work", "T-1")


def as_(name: str, *words: str) -> tuple[str, ...]:
    return ("--as", name, *words)


def due(project: Project) -> list[tuple[str, str]]:
    return [(item["who"], item["what"]) for item in project.ok("agenda")["due"]]


def subjects(project: Project, name: str) -> list[str]:
    return [each["subject"] for each in project.ok(*as_(name, "inbox"))["messages"]]


def ask_question(project: Project) -> str:
    question = project.root / "question.md"
    question.write_text(
        "# Question\n\n## Context\nc\n\n## Question\nWhich?\n\n## Options\n- a\n- b\n\n"
        "## Impact\ni\n\n## Urgency\nBlocking\n"
    )
    sent = project.ok(*as_(OTTER, "send", CRANE, "QUESTION: Which?", str(question)))
    return str(sent["id"])


@pytest.mark.requirement("BRN-075")
def test_a_question_to_someone_who_ended_lapses_and_its_sender_is_told(project: Project) -> None:
    ask_question(project)
    assert due(project) == [(CRANE, "answer")]
    project.ok("agent", "retire", CRANE)
    assert due(project) == []
    assert project.ok("mail", "pending")["pending"] == []
    assert subjects(project, OTTER) == [f"INFO: not answered: {CRANE} ended"]
    assert project.ok("verify")["verdict"] == "valid"
    assert project.ok("ledger", "rebuild")["changed"] is False


@pytest.mark.requirement("OPR-106")
def test_a_notice_to_someone_who_ended_lapses_with_its_mail(project: Project) -> None:
    project.ok(*as_(OTTER, "blocked", CRANE, *BLOCKED))
    project.ok("agent", "retire", CRANE)
    assert due(project) == []
    assert project.ok("status")["pending"] == []
    assert subjects(project, OTTER) == [f"INFO: not answered: {CRANE} ended"]


def test_an_event_without_mail_lapses_too_and_its_sender_is_told(project: Project) -> None:
    project.ok("event", "handoff", "--from", OTTER, "--to", CRANE, "--scope", "src", *HANDOFF)
    project.ok("agent", "retire", CRANE)
    assert due(project) == []
    assert subjects(project, OTTER) == [f"INFO: not answered: {CRANE} ended"]


def test_what_someone_who_ended_had_asked_for_is_owed_to_nobody(project: Project) -> None:
    ask_question(project)
    project.ok(*as_(OTTER, "blocked", CRANE, *BLOCKED))
    project.ok("agent", "retire", OTTER)
    assert due(project) == []
    assert project.ok("mail", "pending")["pending"] == []


def test_while_one_of_several_can_still_answer_nothing_lapses(project: Project) -> None:
    project.ok("agent", "register", "coral-finch")
    body = project.root / "critique.md"
    body.write_text("# Critique\n\n## Target\nt\n\n## Attack\na\n\n## Evidence\ne\n")
    to = f"{CRANE},coral-finch"
    sent = project.json(*as_(OTTER, "send", to, "CRITIQUE: H1", "--ack-required", str(body)))
    assert sent.code == 0, sent
    project.ok("agent", "retire", CRANE)
    assert ("coral-finch", "answer the critique") in due(project)
    project.ok("agent", "retire", "coral-finch")
    assert due(project) == []


def test_at_the_end_of_a_run_its_duties_lapse(project: Project) -> None:
    words = [sys.executable, "-P", "-m", "moot", "blocked", CRANE, *BLOCKED]
    project.ok("run", "--name", "coral-finch", "--", *words)
    assert due(project) == []


def test_only_the_machine_lets_a_duty_lapse(project: Project) -> None:
    message = ask_question(project)
    event = project.ok(*as_(OTTER, "blocked", CRANE, *BLOCKED))["event"]["id"]
    stream = f"mail/{message.partition(':')[0]}"
    lapse = Lapse(id=message, ended=CRANE, tell_sender=True)
    other = Lapse(id=message, ended="coral-finch", tell_sender=True)
    answer = LapseAnswer(id=event, ended=CRANE)
    with project.workspace() as workspace:
        refusals = []
        for where, command, actor in (
            (stream, lapse, CRANE),
            (stream, other, SYSTEM),
            (STREAM, answer, CRANE),
            (STREAM, LapseAnswer(id="proto_none", ended=CRANE), SYSTEM),
        ):
            with pytest.raises(MootError) as refused:
                workspace.engine.execute(where, command, actor)
            refusals.append(refused.value.code)
    assert refusals == ["not_allowed", "not_addressed", "not_allowed", "event_not_found"]
    assert sorted(due(project)) == [(CRANE, "answer"), (CRANE, "give input")]


# One act, two records -----------------------------------------------------------------------------


def test_accepting_a_handoff_settles_its_mail(project: Project) -> None:
    event = project.ok(*as_(OTTER, "handoff", CRANE, *HANDOFF))["event"]["id"]
    project.ok(*as_(CRANE, "event", "accept", event, "--notes", "mine by noon"))
    assert due(project) == [(OTTER, "read mail")] or due(project) == []
    assert project.ok("mail", "pending")["pending"] == []
    (ack,) = project.ok(*as_(OTTER, "inbox"))["messages"]
    assert "mine by noon" in str(project.ok("mail", "show", ack["id"]))


@pytest.mark.parametrize(
    ("status", "accepted"),
    [("Received", False), ("Understood", True), ("Will Action", True), ("Completed", True)],
)
def test_the_mail_of_a_handoff_settles_its_event(
    project: Project, status: str, accepted: bool
) -> None:
    message = project.ok(*as_(OTTER, "handoff", CRANE, *HANDOFF))["message"]
    project.ok(*as_(CRANE, "mail", "ack", message, "--status", status))
    assert (project.ok("status")["pending"] == []) is accepted


def test_event_blocked_writes_the_mail_too(project: Project) -> None:
    sent = project.ok("event", "blocked", "--from", OTTER, "--to", CRANE, *BLOCKED)
    assert subjects(project, CRANE) == ["BLOCKED: the port"]
    assert "BLOCKED: the port" in str(project.ok("mail", "show", sent["message"]))

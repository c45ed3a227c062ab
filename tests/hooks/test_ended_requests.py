"""Requests that end, as two or three agents see them in their hooks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.surfaces.hooks.entry import Reply
from tests.hooks.tool_calls import call, reason, told
from tests.project import CRANE, OTTER, Project

FINCH = "coral-finch"
LONG = f"{'src/deep/' * 15}name-at-the-end.py"


@pytest.fixture(autouse=True)
def three_sessions(project: Project) -> None:
    project.ok("agent", "register", FINCH)
    for name in (OTTER, CRANE, FINCH):
        project.hook("claude", call("claude-start", project.root, session_id=name), name)


def hook(project: Project, agent: str, moment: str, **more: Any) -> Reply:
    return project.hook(
        "claude", call(f"claude-{moment}", project.root, session_id=agent, **more), agent
    )


def text_of(reply: Reply) -> str:
    return told(reply) if reply.out else ""


def ask(project: Project, scope: str = "a.txt", **said: str) -> str:
    words = {"subject": scope, "blocker": "held", "requested-action": "release it", **said}
    options = [part for name, text in words.items() for part in (f"--{name}", text)]
    sent = project.ok("--as", OTTER, "blocked", CRANE, "--scope", f":/{scope}", *options)
    return str(sent["event"]["id"])


def owed(project: Project) -> tuple[int, int, int, int]:
    """What `mail pending`, `status` (twice) and the agenda say."""
    status = project.ok("status")
    mail = project.ok("mail", "pending")["pending"]
    due = [item for item in project.ok("agenda")["due"] if item["what"] == "give input"]
    return len(mail), sum(status["mail"]["owed"].values()), len(status["due"]), len(due)


@pytest.mark.parametrize("moment", ["read-done", "bash-done", "write-done", "stop"])
def test_the_holder_sees_a_request_in_its_next_call(project: Project, moment: str) -> None:
    project.reserve(CRANE, "a.txt")
    event = ask(project)
    reply = hook(project, CRANE, moment)
    said = json.loads(reply.out)["reason"] if moment == "stop" else told(reply)
    assert f"{event} your input is needed by {OTTER}" in said
    assert "release :/a.txt`" in said
    assert "a message from" not in said  # the same, said twice
    assert event not in hook(project, CRANE, "read-done").out


def test_a_holder_whose_edit_is_refused_sees_it_too(project: Project) -> None:
    project.reserve(CRANE, "b.txt")
    project.reserve(FINCH, "a.txt")
    event = ask(project, "b.txt")
    assert event in reason(hook(project, CRANE, "write"))


@pytest.mark.requirement("OPR-106")
@pytest.mark.parametrize("held", ["a.txt", "."])
def test_the_requester_is_told_once_that_it_is_free(project: Project, held: str) -> None:
    project.reserve(CRANE, held)
    event = ask(project)
    assert text_of(hook(project, OTTER, "read-done")).count("free now") == 0
    project.ok("--as", CRANE, "release", f":/{held}" if held != "." else ":/")
    assert owed(project) == (0, 0, 0, 0)
    assert f'free now: "a.txt"; you had asked {CRANE} for it ({event})' in told(
        hook(project, OTTER, "read-done")
    )
    assert "free now" not in hook(project, OTTER, "read-done").out
    assert hook(project, OTTER, "write").out == ""
    assert project.owners()["a.txt"] == OTTER
    assert project.ok("ledger", "rebuild")["changed"] is False


@pytest.mark.requirement("OPR-106")
def test_a_session_that_ends_settles_what_was_asked_of_it(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    ask(project)
    project.ok("agent", "retire", CRANE)
    assert owed(project) == (0, 0, 0, 0)
    assert "free now" in told(hook(project, OTTER, "read-done"))


@pytest.mark.requirement("OPR-106")
def test_the_next_holder_is_asked_by_the_senders_next_call(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    first = ask(project, **{"requested-action": "release it soon"})
    project.ok("--as", CRANE, "release", ":/a.txt")
    project.reserve(FINCH, "a.txt")
    said = told(hook(project, OTTER, "read-done"))
    (pending,) = project.ok("status")["pending"]
    assert (pending["from_agent"], pending["to_agent"]) == (OTTER, FINCH)
    assert f"Moot sent {FINCH} the same request for you ({pending['id']})" in said
    assert first in said
    assert '"release it soon"' in told(hook(project, FINCH, "read-done"))
    project.ok("--as", FINCH, "release", ":/a.txt")
    assert "free now" in told(hook(project, OTTER, "read-done"))


def test_who_took_it_meanwhile_is_told_nothing(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    ask(project)
    project.ok("--as", CRANE, "release", ":/a.txt")
    project.reserve(OTTER, "a.txt")
    assert "free now" not in hook(project, OTTER, "read-done").out


@pytest.mark.requirement("OPR-106")
def test_what_its_sender_withdraws_is_owed_by_nobody(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    event = ask(project)
    before = owed(project)
    code, _exit = project.refused("--as", CRANE, "event", "withdraw", event, "--reason", "no")
    assert (code, owed(project)) == ("withdraw_forbidden", before)
    project.ok("--as", OTTER, "event", "withdraw", event, "--reason", "another way")
    assert owed(project) == (0, 0, 0, 0)
    assert event not in hook(project, CRANE, "read-done").out
    (row,) = (row for row in project.ok("event", "list")["events"] if row["id"] == event)
    assert row["label"] == "Needs input (withdrawn)"


@pytest.mark.requirement("OPR-106")
def test_an_answer_in_words_settles_it_everywhere(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    event = ask(project)
    assert owed(project) == (1, 1, 1, 1)
    project.ok("--as", CRANE, "event", "accept", event, "--notes", "at noon")
    assert owed(project) == (0, 0, 0, 0)
    project.ok("--as", CRANE, "release", ":/a.txt")
    assert "free now" in told(hook(project, OTTER, "read-done"))


@pytest.mark.requirement("OPR-106")
def test_a_promise_without_words_is_owed_everywhere_until_it_is_free(project: Project) -> None:
    project.reserve(CRANE, "a.txt", work="T-7")
    event = ask(project, work="T-7")
    project.ok("--as", CRANE, "event", "accept", event)
    assert owed(project) == (1, 1, 1, 1)
    (work,) = (item for item in project.ok("status")["work"] if item["work"] == "T-7")
    assert work["label"] == "Needs input"
    project.ok("--as", CRANE, "release", ":/a.txt")
    assert owed(project) == (0, 0, 0, 0)


def test_a_request_is_about_the_senders_own_work(project: Project) -> None:
    project.ok("--as", OTTER, "join", "--work", "T-9")
    project.reserve(CRANE, "a.txt")
    ask(project)
    (pending,) = project.ok("status")["pending"]
    assert pending["work"] == "T-9"


def test_a_long_text_is_cut_between_words_and_says_how_to_read_on(project: Project) -> None:
    project.reserve(CRANE, LONG)
    ask(project, LONG, **{"subject": "the parser", "requested-action": f"{'word ' * 30}release it"})
    said = told(hook(project, CRANE, "read-done"))
    assert f'"the parser" about "{LONG}", asked: "word ' in said
    assert 'word…" (all of it: `' in said
    assert " mail show main:1`)" in said


def standing(project: Project) -> tuple[str, str | None]:
    (work,) = (item for item in project.ok("status")["work"] if item["work"] == "T-7")
    return work["label"], work["close"]


def test_work_that_is_committed_and_given_back_can_be_closed(project: Project) -> None:
    project.ok("--as", CRANE, "join", "--work", "T-7")
    assert standing(project) == ("In progress", None)  # nothing was given back yet
    project.ok("--as", CRANE, "reserve", ":/a.txt", "--work", "T-7")
    (project.root / "a.txt").write_text("two\n")
    project.ok("--as", CRANE, "release", ":/a.txt")
    assert standing(project) == ("In progress", None)  # not committed
    project.reserve(FINCH, "a.txt")
    close = f"moot agent retire {CRANE}"
    assert standing(project) == ("Given back", close)  # it is another's now
    project.ok("--as", FINCH, "release", ":/a.txt")
    assert project.git("commit", "-qam", "two").code == 0
    assert standing(project) == ("Given back", close)
    assert f"if it is done: `{close}`" in project.run("status").out
    project.ok("--as", CRANE, "reserve", ":/a.txt", "--work", "T-7")
    assert standing(project) == ("In progress", None)
    project.ok("--as", CRANE, "release", ":/a.txt")
    project.ok(*close.split()[1:])
    assert [item for item in project.ok("status")["work"] if item["work"] == "T-7"] == []

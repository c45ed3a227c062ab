"""Requests that end, as two or three agents see them in their hooks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.surfaces.hooks.entry import Reply
from tests.hooks.yard import CRANE, OTTER, Yard, call, reason, told

FINCH = "coral-finch"
LONG = f"{'src/deep/' * 15}name-at-the-end.py"


@pytest.fixture(autouse=True)
def three_sessions(yard: Yard) -> None:
    yard.ok("agent", "register", FINCH)
    for name in (OTTER, CRANE, FINCH):
        yard.hook("claude", call("claude-start", yard.root, session_id=name), name)


def hook(yard: Yard, agent: str, moment: str, **more: Any) -> Reply:
    return yard.hook("claude", call(f"claude-{moment}", yard.root, session_id=agent, **more), agent)


def text_of(reply: Reply) -> str:
    return told(reply) if reply.out else ""


def ask(yard: Yard, scope: str = "a.txt", **said: str) -> str:
    words = {"subject": scope, "blocker": "held", "requested-action": "release it", **said}
    options = [part for name, text in words.items() for part in (f"--{name}", text)]
    sent = yard.ok("--as", OTTER, "blocked", CRANE, "--scope", f":/{scope}", *options)
    return str(sent["event"]["id"])


def owed(yard: Yard) -> tuple[int, int, int, int]:
    """What `mail pending`, `status` (twice) and the agenda say."""
    status = yard.ok("status")
    mail = yard.ok("mail", "pending")["pending"]
    due = [item for item in yard.ok("agenda")["due"] if item["what"] == "give input"]
    return len(mail), sum(status["mail"]["owed"].values()), len(status["due"]), len(due)


@pytest.mark.parametrize("moment", ["read-done", "bash-done", "write-done", "stop"])
def test_the_holder_sees_a_request_in_its_next_call(yard: Yard, moment: str) -> None:
    yard.reserve(CRANE, "a.txt")
    event = ask(yard)
    reply = hook(yard, CRANE, moment)
    said = json.loads(reply.out)["reason"] if moment == "stop" else told(reply)
    assert f"{event} your input is needed by {OTTER}" in said
    assert "release :/a.txt`" in said
    assert "a message from" not in said  # the same, said twice
    assert event not in hook(yard, CRANE, "read-done").out


def test_a_holder_whose_edit_is_refused_sees_it_too(yard: Yard) -> None:
    yard.reserve(CRANE, "b.txt")
    yard.reserve(FINCH, "a.txt")
    event = ask(yard, "b.txt")
    assert event in reason(hook(yard, CRANE, "write"))


@pytest.mark.requirement("OPR-106")
@pytest.mark.parametrize("held", ["a.txt", "."])
def test_the_requester_is_told_once_that_it_is_free(yard: Yard, held: str) -> None:
    yard.reserve(CRANE, held)
    event = ask(yard)
    assert text_of(hook(yard, OTTER, "read-done")).count("free now") == 0
    yard.ok("--as", CRANE, "release", f":/{held}" if held != "." else ":/")
    assert owed(yard) == (0, 0, 0, 0)
    assert f'free now: "a.txt"; you had asked {CRANE} for it ({event})' in told(
        hook(yard, OTTER, "read-done")
    )
    assert "free now" not in hook(yard, OTTER, "read-done").out
    assert hook(yard, OTTER, "write").out == ""
    assert yard.owners()["a.txt"] == OTTER
    assert yard.ok("ledger", "rebuild")["changed"] is False


@pytest.mark.requirement("OPR-106")
def test_a_session_that_ends_settles_what_was_asked_of_it(yard: Yard) -> None:
    yard.reserve(CRANE, "a.txt")
    ask(yard)
    yard.ok("agent", "retire", CRANE)
    assert owed(yard) == (0, 0, 0, 0)
    assert "free now" in told(hook(yard, OTTER, "read-done"))


@pytest.mark.requirement("OPR-106")
def test_the_next_holder_is_asked_by_the_senders_next_call(yard: Yard) -> None:
    yard.reserve(CRANE, "a.txt")
    first = ask(yard, **{"requested-action": "release it soon"})
    yard.ok("--as", CRANE, "release", ":/a.txt")
    yard.reserve(FINCH, "a.txt")
    said = told(hook(yard, OTTER, "read-done"))
    (pending,) = yard.ok("status")["pending"]
    assert (pending["from_agent"], pending["to_agent"]) == (OTTER, FINCH)
    assert f"{FINCH} was asked for you in the same words ({pending['id']})" in said
    assert first in said
    assert '"release it soon"' in told(hook(yard, FINCH, "read-done"))
    yard.ok("--as", FINCH, "release", ":/a.txt")
    assert "free now" in told(hook(yard, OTTER, "read-done"))


def test_who_took_it_meanwhile_is_told_nothing(yard: Yard) -> None:
    yard.reserve(CRANE, "a.txt")
    ask(yard)
    yard.ok("--as", CRANE, "release", ":/a.txt")
    yard.reserve(OTTER, "a.txt")
    assert "free now" not in hook(yard, OTTER, "read-done").out


@pytest.mark.requirement("OPR-106")
def test_what_its_sender_withdraws_is_owed_by_nobody(yard: Yard) -> None:
    yard.reserve(CRANE, "a.txt")
    event = ask(yard)
    before = owed(yard)
    code, _exit = yard.refused("--as", CRANE, "event", "withdraw", event, "--reason", "no")
    assert (code, owed(yard)) == ("withdraw_forbidden", before)
    yard.ok("--as", OTTER, "event", "withdraw", event, "--reason", "another way")
    assert owed(yard) == (0, 0, 0, 0)
    assert event not in hook(yard, CRANE, "read-done").out
    (row,) = (row for row in yard.ok("event", "list")["events"] if row["id"] == event)
    assert row["label"] == "Needs input (withdrawn)"


@pytest.mark.requirement("OPR-106")
def test_an_answer_in_words_settles_it_everywhere(yard: Yard) -> None:
    yard.reserve(CRANE, "a.txt")
    event = ask(yard)
    assert owed(yard) == (1, 1, 1, 1)
    yard.ok("--as", CRANE, "event", "accept", event, "--notes", "at noon")
    assert owed(yard) == (0, 0, 0, 0)
    yard.ok("--as", CRANE, "release", ":/a.txt")
    assert "free now" in told(hook(yard, OTTER, "read-done"))


@pytest.mark.requirement("OPR-106")
def test_a_promise_without_words_is_owed_everywhere_until_it_is_free(yard: Yard) -> None:
    yard.reserve(CRANE, "a.txt", work="T-7")
    event = ask(yard, work="T-7")
    yard.ok("--as", CRANE, "event", "accept", event)
    assert owed(yard) == (1, 1, 1, 1)
    (work,) = (item for item in yard.ok("status")["work"] if item["work"] == "T-7")
    assert work["label"] == "Needs input"
    yard.ok("--as", CRANE, "release", ":/a.txt")
    assert owed(yard) == (0, 0, 0, 0)


def test_a_request_is_about_the_senders_own_work(yard: Yard) -> None:
    yard.ok("--as", OTTER, "join", "--work", "T-9")
    yard.reserve(CRANE, "a.txt")
    ask(yard)
    (pending,) = yard.ok("status")["pending"]
    assert pending["work"] == "T-9"


def test_a_long_text_is_cut_between_words_and_says_how_to_read_on(yard: Yard) -> None:
    yard.reserve(CRANE, LONG)
    ask(yard, LONG, **{"subject": "the parser", "requested-action": f"{'word ' * 30}release it"})
    said = told(hook(yard, CRANE, "read-done"))
    assert f'"the parser" about "{LONG}", asked: "word ' in said
    assert 'word…" (all of it: `' in said
    assert " mail show main:1`)" in said


def standing(yard: Yard) -> tuple[str, str | None]:
    (work,) = (item for item in yard.ok("status")["work"] if item["work"] == "T-7")
    return work["label"], work["close"]


def test_work_that_is_committed_and_given_back_can_be_closed(yard: Yard) -> None:
    yard.ok("--as", CRANE, "join", "--work", "T-7")
    assert standing(yard) == ("In progress", None)  # nothing was given back yet
    yard.ok("--as", CRANE, "reserve", ":/a.txt", "--work", "T-7")
    (yard.root / "a.txt").write_text("two\n")
    yard.ok("--as", CRANE, "release", ":/a.txt")
    assert standing(yard) == ("In progress", None)  # not committed
    yard.reserve(FINCH, "a.txt")
    close = f"moot agent retire {CRANE}"
    assert standing(yard) == ("Given back", close)  # it is another's now
    yard.ok("--as", FINCH, "release", ":/a.txt")
    assert yard.git("commit", "-qam", "two").code == 0
    assert standing(yard) == ("Given back", close)
    assert f"if it is done: `{close}`" in yard.run("status").out
    yard.ok("--as", CRANE, "reserve", ":/a.txt", "--work", "T-7")
    assert standing(yard) == ("In progress", None)
    yard.ok("--as", CRANE, "release", ":/a.txt")
    yard.ok(*close.split()[1:])
    assert [item for item in yard.ok("status")["work"] if item["work"] == "T-7"] == []

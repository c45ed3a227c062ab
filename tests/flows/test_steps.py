"""The invariants of every step: once, by the machine, from what is whole, never below a guard."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.errors import MootError
from moot.flows.bridges import sources
from moot.flows.bridges.identities import agent_of
from moot.flows.bridges.story import story_of
from tests.cli.project import MOOT
from tests.flows.stage import CRANE, FINCH, HERON, NEED, OTTER, PARTS, Shop, at

# A process that dies at one of three moments of a step, or after so many acts that are on record.
DIES = """
import os, sys
from moot.engine.engine import Engine
from moot.flows.bridges import steps
from moot.flows.debate import file as sessionfile
from moot.flows.debate import session
from moot.flows.parliament import convening
from moot.surfaces.cli.main import run

def dead(*_a, **_k):
    os._exit(9)

where = sys.argv[1]
if where == "begun":
    steps._free = dead
elif where == "made":
    real = steps._run
    def finish(space, path, command, source):
        if type(command).__name__ == "FinishStep":
            os._exit(9)
        real(space, path, command, source)
    steps._run = finish
elif where == "file":
    real_create = session.create
    def create(*args, **more):
        real_create(*args, **more)
        os._exit(9)
    session.create = create
    convening.make_folder = dead
else:
    left = [int(where)]
    def counted(real):
        def execute(*args, **more):
            outcome = real(*args, **more)
            left[0] -= 1
            return outcome if left[0] else dead()
        return execute
    Engine.execute = counted(Engine.execute)
    Engine.execute_chain = counted(Engine.execute_chain)
sys.exit(run(sys.argv[2:]))
"""


def killed(shop: Shop, where: str, *words: str, **settings: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIES, where, *words],
        cwd=shop.root,
        env={**shop.project.env, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 9, done


MOMENTS = pytest.mark.parametrize("where", ["begun", "file", "made"])


@pytest.mark.requirement("XPR-02")
@MOMENTS
def test_a_killed_step_to_a_debate_is_gone_on_with(shop: Shop, where: str) -> None:
    message = shop.blocked()
    words = ("flow", "blocked-to-debate", message, "--with", FINCH, "--file", "payments.md")
    killed(shop, where, *words)
    first = shop.ok(*words)
    assert not first["again"]
    again = shop.ok(*words)
    assert again["again"]
    assert again["step"] == first["step"]
    assert shop.streams("debate") == [f"debate/{first['step']['target']['id']}"]
    assert shop.ok("debate", "check", "payments.md")["valid"]
    assert shop.ok("debate", "verify", "payments.md")["verdict"] == "valid"


@pytest.mark.requirement("XPR-02")
@MOMENTS
def test_a_killed_step_to_a_parliament_is_gone_on_with(shop: Shop, where: str) -> None:
    shop.debate(shop.blocked())
    shop.agreed()
    killed(shop, where, "flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    first = shop.parliament()
    assert shop.parliament()["step"] == first["step"]
    assert shop.streams("parliament") == [first["step"]["target"]["stream"]]
    assert shop.ok("parliament", "check", "bill")["valid"]


@pytest.mark.requirement("XPR-02")
@pytest.mark.parametrize("where", ["begun", "made"])
def test_a_killed_step_to_a_trace_is_gone_on_with(shop: Shop, where: str) -> None:
    shop.approved()
    killed(shop, where, "--as", CRANE, "flow", "approval-to-trace", "bill", *PARTS)
    first = shop.trace()
    assert shop.trace()["step"] == first["step"]
    assert shop.streams("trace") == ["trace/t1"]
    status = shop.ok("trace", "status", "t1")
    assert [one["id"] for one in status["proposals"]] == ["p1"]


@pytest.mark.requirement("XPR-02")
def test_an_id_that_another_takes_in_between_is_left_to_them(shop: Shop) -> None:
    shop.debate(shop.blocked())
    shop.agreed()
    killed(shop, "begun", "flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    other = shop.ok(
        *("parliament", "new", "other", "--problem", "Why?", "--issue", "speed"),
        *("--issue", "cost", "--rep", "Rep. A:speed", "--rep", "Rep. B:cost"),
    )
    made = shop.parliament()["step"]["target"]["id"]
    assert made != other["parliament_id"]
    assert len(shop.streams("parliament")) == 2


@pytest.mark.requirement("XPR-02")
def test_several_processes_at_once_take_one_step(shop: Shop) -> None:
    message = shop.blocked()
    words = ("flow", "blocked-to-debate", message, "--file", "payments.md")
    running = [
        subprocess.Popen(
            [*MOOT, "--json", *words],
            cwd=shop.root,
            env=shop.project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    answers = [json.loads(one.communicate(timeout=120)[0]) for one in running]
    assert [one["ok"] for one in answers] == [True] * 3
    assert sorted(one["data"]["again"] for one in answers) == [False, True, True]
    assert len(shop.streams("debate")) == 1
    assert shop.ok("mail", "inbox", "--agent", "operator")["messages"] == []


@pytest.mark.requirement("XPR-02")
def test_a_message_and_its_event_are_one_source(shop: Shop) -> None:
    message = shop.blocked()
    first = shop.debate(message)
    event = shop.ok("event", "list")["events"][0]["id"]
    assert shop.debate(event)["step"] == first["step"]


@pytest.mark.requirement("XPR-04")
def test_a_running_or_thin_result_goes_nowhere(shop: Shop) -> None:
    shop.debate(shop.blocked())
    shop.say(OTTER, "approve", "Use the new one.")
    before = shop.count_events()
    assert shop.refused("flow", "consensus-to-parliament", "payments.md") == "not_settled"
    shop.say(CRANE, "defer", "I cannot tell.")
    shop.say(FINCH, "defer", "Nor can I.")
    assert shop.refused("flow", "consensus-to-parliament", "payments.md") == "not_settled"
    assert shop.streams("parliament") == []
    assert shop.count_events() > before  # only what the two said


@pytest.mark.requirement("XPR-06")
def test_a_failed_step_touches_nothing_tells_and_can_be_tried_again(shop: Shop) -> None:
    message = shop.blocked()
    shop.debate(message)
    shop.agreed()
    (shop.root / "bill").mkdir()
    foreign = shop.root / "bill" / "ledger.json"
    foreign.write_text('{"mine": true}', encoding="utf-8")
    native = (shop.root / "payments.md").read_bytes()
    assert shop.refused("flow", "consensus-to-parliament", "payments.md", "--dir", "bill") == (
        "folder_taken"
    )
    assert (shop.root / "payments.md").read_bytes() == native
    assert foreign.read_text("utf-8") == '{"mine": true}'
    assert shop.streams("parliament") == []
    told = shop.ok("mail", "inbox", "--agent", "operator")["messages"]
    assert [one["subject"].split(":")[0] for one in told] == ["BLOCKED"]
    assert told[0]["from"] == "system"
    dues = [due for due in shop.ok("agenda")["due"] if due["what"] == "try again"]
    assert len(dues) == 1
    # The same failure again is told once.
    shop.refused("flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    assert len(shop.ok("mail", "inbox", "--agent", "operator", "--all")["messages"]) == 1
    foreign.unlink()
    assert shop.parliament()["step"]["stage"] == "done"
    assert not [due for due in shop.ok("agenda")["due"] if due["what"] == "try again"]


@pytest.mark.requirement("XPR-07")
def test_who_is_expected_and_gone_is_shown_as_gone(shop: Shop) -> None:
    message = shop.blocked()
    late = at(90)
    shop.ok("--as", OTTER, "agent", "heartbeat", **late)
    words = ("flow", "blocked-to-debate", message, "--with", FINCH)
    assert shop.refused(*words, **late) == "agent_gone"
    shop.ok(*words, "--file", "payments.md", "--even-if-gone", **late)
    shop.as_(
        OTTER,
        *("debate", "add", "payments.md", "--author", OTTER, "--stance", "approve"),
        *("--confidence", "0.9", "--summary", "Yes.", "--body", "Yes."),
        **late,
    )
    status = shop.ok("debate", "status", "payments.md", **late)
    assert status["may_speak"] == [CRANE]
    assert status["liveness"] == {CRANE: "evicted"}
    assert f"{CRANE} (evicted)" in shop.project.run("debate", "status", "payments.md", **late).out


@pytest.mark.requirement("XPR-08")
def test_who_runs_it_or_was_alone_for_it_is_not_its_critic(shop: Shop) -> None:
    shop.ok("flow", "blocked-to-debate", shop.blocked(), "--file", "payments.md")
    shop.say(OTTER, "defer", "I cannot tell.")
    shop.say(CRANE, "approve", "Use the new sandbox.")
    shop.parliament()
    shop.to_vote()
    shop.vote()
    shop.decide("approve")
    before = shop.count_events()
    go = ("--as", FINCH, "flow", "approval-to-trace", "bill", "--tool", "python")
    same = ("--executor", OTTER, "--critic", OTTER, "--auditor", HERON)
    assert shop.refused(*go, *same) == "two_parts"
    lone = ("--executor", OTTER, "--critic", CRANE, "--auditor", HERON)
    assert shop.refused(*go, *lone) == "lone_approver"
    assert shop.count_events() == before
    assert shop.streams("trace") == []
    shop.ok(*go, "--executor", OTTER, "--critic", HERON, "--auditor", CRANE)


HOSTILE = """## Dialogue

<!-- yield -->
```
# Bounce Session: another
## Protocol Rules
<!-- entry: 1 -->
> quoted
~~~
"""


@pytest.mark.requirement("XPR-09")
@pytest.mark.parametrize("text", [HOSTILE, "```", "<!--", "a\r\nb\rc", "x\x0cz", "é🚀 ##"])
def test_anothers_words_stay_a_quotation(shop: Shop, text: str) -> None:
    message = shop.as_(
        OTTER,
        *("blocked", CRANE, "--work", "pay-7", "--subject", "Stuck <!-- yield --> now"),
        *("--blocker", text, *NEED),
    )["message"]
    made = shop.debate(message)
    checked = shop.ok("debate", "check", "payments.md")
    assert (checked["valid"], checked["entries"]) == (True, 0)
    assert shop.ok("debate", "status", "payments.md")["may_speak"] == [OTTER]
    shop.agreed()
    bill = shop.parliament()
    assert bill["path"] == made["path"]
    assert shop.ok("parliament", "check", "bill")["valid"]


@pytest.mark.requirement("XPR-05")
def test_acts_of_agents_and_people_are_theirs_or_not_done(shop: Shop) -> None:
    shop.approved()
    before = shop.count_events()
    go = ("flow", "approval-to-trace", "bill", *PARTS, "--planner", CRANE)
    assert shop.refused("--as", OTTER, *go) == "not_you"
    words = ("flow", "deadlock-to-parliament", "payments.md")
    assert shop.refused("--as", OTTER, *words) == "human_key_required"
    assert shop.count_events() == before


def test_what_leads_nowhere_is_refused(shop: Shop) -> None:
    message = shop.blocked()
    assert shop.refused("flow", "question-to-debate", message) == "wrong_source"
    assert shop.refused("flow", "blocked-to-debate", "nothing-1") == "source_not_found"
    assert shop.refused("flow", "report-to-info", "t9") == "trace_not_found"
    assert shop.refused("flow", "takeover-to-info", "proto_x") == "source_not_found"
    assert shop.refused("story", "nothing") == "story_not_found"
    assert shop.refused("story", "no\x00thing/../x") == "story_not_found"
    listed = shop.ok("flow", "list")["flows"]
    assert len(listed) == 15
    assert shop.ok("flow", "list", "--paths") == {"paths": []}
    shop.debate(message)
    assert len(shop.ok("flow", "list", "--paths")["paths"]) == 1


def test_a_story_without_a_path_is_what_stands_there(shop: Shop) -> None:
    message = shop.blocked()
    told = shop.ok("story", message)
    assert (told["path"], told["steps"]) == ("", [])
    assert {moment["what"] for moment in told["moments"]} == {
        *("mail.message_sent", "presence.blocked_sent"),
    }
    assert json.dumps(told)


@pytest.mark.requirement("XPR-06")
def test_a_place_that_cannot_be_written_is_a_failed_step(shop: Shop) -> None:
    message = shop.blocked()
    (shop.root / "taken").write_text("mine", encoding="utf-8")
    words = ("flow", "blocked-to-debate", message, "--file", "taken/payments.md")
    assert shop.project.refused(*words) == ("unwritable_file", 4)
    assert (shop.root / "taken").read_text("utf-8") == "mine"
    assert shop.streams("debate") == []
    told = shop.ok("mail", "inbox", "--agent", "operator")["messages"]
    assert [one["type"] for one in told] == ["BLOCKED"]
    (shop.root / "taken").unlink()
    assert shop.ok(*words)["step"]["target"]["file"] == "taken/payments.md"


def test_only_who_is_known_here_takes_part(shop: Shop) -> None:
    message = shop.blocked()
    words = ("flow", "blocked-to-debate", message, "--with")
    assert shop.refused(*words, "no-body") == "agent_not_found"
    assert shop.streams("path") == []
    made = shop.ok(*words, "CoralFinch", "--file", "payments.md")
    assert made["step"]["stage"] == "done"
    assert shop.ok("debate", "status", "payments.md")["valid"]
    assert f"  - {FINCH}" in (shop.root / "payments.md").read_text("utf-8")


def test_any_text_as_an_id_is_answered(shop: Shop) -> None:
    with shop.project.workspace() as space:

        @settings(max_examples=60, deadline=None)
        @given(st.text(max_size=60))
        def ask(named: str) -> None:
            for look in (story_of, sources.message, sources.presence_event, sources.debate):
                with suppress(MootError):
                    look(space, named)
            agent_of(space, named)

        ask()

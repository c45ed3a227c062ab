"""The invariants of every step: once, by the machine, from what is whole, never below a guard."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.api.bridges import sources
from moot.api.bridges.participants import find_agent_name
from moot.api.bridges.story import read_story
from moot.core.errors import MootError
from tests.bridges.payments_project import FINCH, HERON, NEED, PARTS, PaymentsProject, at
from tests.project import CRANE, MOOT, OTTER
from tests.sampling import examples

# A process that dies at one of three moments of a step, or after so many acts that are on record.
DIES = """
import os, sys
from moot.engine.engine import Engine
from moot.api.bridges import steps
from moot.api.debates import session_file as sessionfile
from moot.api.debates import session
from moot.api.parliaments import convening
from moot.surfaces.cli.main import run

def dead(*_a, **_k):
    os._exit(9)

where = sys.argv[1]
if where == "begun":
    steps._find_free_target = dead
elif where == "made":
    real = steps._execute
    def finish(space, path, command, source):
        if type(command).__name__ == "FinishStep":
            os._exit(9)
        real(space, path, command, source)
    steps._execute = finish
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


def killed(project: PaymentsProject, where: str, *words: str, **settings: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIES, where, *words],
        cwd=project.root,
        env={**project.env, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 9, done


MOMENTS = pytest.mark.parametrize("where", ["begun", "file", "made"])


@pytest.mark.requirement("XPR-02")
@MOMENTS
def test_a_killed_step_to_a_debate_is_gone_on_with(project: PaymentsProject, where: str) -> None:
    message = project.blocked()
    words = ("flow", "blocked-to-debate", message, "--with", FINCH, "--file", "payments.md")
    killed(project, where, *words)
    first = project.ok(*words)
    assert not first["again"]
    again = project.ok(*words)
    assert again["again"]
    assert again["step"] == first["step"]
    assert project.streams("debate") == [f"debate/{first['step']['target']['id']}"]
    assert project.ok("debate", "check", "payments.md")["valid"]
    assert project.ok("debate", "verify", "payments.md")["verdict"] == "valid"


@pytest.mark.requirement("XPR-02")
@MOMENTS
def test_a_killed_step_to_a_parliament_is_gone_on_with(
    project: PaymentsProject, where: str
) -> None:
    project.debate(project.blocked())
    project.agreed()
    killed(project, where, "flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    first = project.parliament()
    assert project.parliament()["step"] == first["step"]
    assert project.streams("parliament") == [first["step"]["target"]["stream"]]
    assert project.ok("parliament", "check", "bill")["valid"]


@pytest.mark.requirement("XPR-02")
@pytest.mark.parametrize("where", ["begun", "made"])
def test_a_killed_step_to_a_trace_is_gone_on_with(project: PaymentsProject, where: str) -> None:
    project.approved()
    killed(project, where, "--as", CRANE, "flow", "approval-to-trace", "bill", *PARTS)
    first = project.trace()
    assert project.trace()["step"] == first["step"]
    assert project.streams("trace") == ["trace/t1"]
    status = project.ok("trace", "status", "t1")
    assert [one["id"] for one in status["proposals"]] == ["p1"]


@pytest.mark.requirement("XPR-02")
def test_an_id_that_another_takes_in_between_is_left_to_them(project: PaymentsProject) -> None:
    project.debate(project.blocked())
    project.agreed()
    killed(project, "begun", "flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    other = project.ok(
        *("parliament", "new", "other", "--problem", "Why?", "--issue", "speed"),
        *("--issue", "cost", "--rep", "Rep. A:speed", "--rep", "Rep. B:cost"),
    )
    made = project.parliament()["step"]["target"]["id"]
    assert made != other["parliament_id"]
    assert len(project.streams("parliament")) == 2


@pytest.mark.requirement("XPR-02")
def test_several_processes_at_once_take_one_step(project: PaymentsProject) -> None:
    message = project.blocked()
    words = ("flow", "blocked-to-debate", message, "--file", "payments.md")
    running = [
        subprocess.Popen(
            [*MOOT, "--json", *words],
            cwd=project.root,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    answers = [json.loads(one.communicate(timeout=120)[0]) for one in running]
    assert [one["ok"] for one in answers] == [True] * 3
    assert sorted(one["data"]["again"] for one in answers) == [False, True, True]
    assert len(project.streams("debate")) == 1
    assert project.ok("mail", "inbox", "--agent", "operator")["messages"] == []


@pytest.mark.requirement("XPR-02")
def test_a_message_and_its_event_are_one_source(project: PaymentsProject) -> None:
    message = project.blocked()
    first = project.debate(message)
    event = project.ok("event", "list")["events"][0]["id"]
    assert project.debate(event)["step"] == first["step"]


@pytest.mark.requirement("XPR-04")
def test_a_running_or_thin_result_goes_nowhere(project: PaymentsProject) -> None:
    project.debate(project.blocked())
    project.say(OTTER, "approve", "Use the new one.")
    before = project.count_events()
    assert project.refusal("flow", "consensus-to-parliament", "payments.md") == "not_settled"
    project.say(CRANE, "defer", "I cannot tell.")
    project.say(FINCH, "defer", "Nor can I.")
    assert project.refusal("flow", "consensus-to-parliament", "payments.md") == "not_settled"
    assert project.streams("parliament") == []
    assert project.count_events() > before  # only what the two said


@pytest.mark.requirement("XPR-06")
def test_a_failed_step_touches_nothing_tells_and_can_be_tried_again(
    project: PaymentsProject,
) -> None:
    message = project.blocked()
    project.debate(message)
    project.agreed()
    (project.root / "bill").mkdir()
    foreign = project.root / "bill" / "ledger.json"
    foreign.write_text('{"mine": true}', encoding="utf-8")
    native = (project.root / "payments.md").read_bytes()
    assert project.refusal("flow", "consensus-to-parliament", "payments.md", "--dir", "bill") == (
        "folder_taken"
    )
    assert (project.root / "payments.md").read_bytes() == native
    assert foreign.read_text("utf-8") == '{"mine": true}'
    assert project.streams("parliament") == []
    told = project.ok("mail", "inbox", "--agent", "operator")["messages"]
    assert [one["subject"].split(":")[0] for one in told] == ["BLOCKED"]
    assert told[0]["from"] == "system"
    dues = [due for due in project.ok("agenda")["due"] if due["what"] == "try again"]
    assert len(dues) == 1
    # The same failure again is told once.
    project.refusal("flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    assert len(project.ok("mail", "inbox", "--agent", "operator", "--all")["messages"]) == 1
    foreign.unlink()
    assert project.parliament()["step"]["stage"] == "done"
    assert not [due for due in project.ok("agenda")["due"] if due["what"] == "try again"]


@pytest.mark.requirement("XPR-07")
def test_who_is_expected_and_gone_is_shown_as_gone(project: PaymentsProject) -> None:
    message = project.blocked()
    late = at(90)
    project.ok("--as", OTTER, "agent", "heartbeat", **late)
    words = ("flow", "blocked-to-debate", message, "--with", FINCH)
    assert project.refusal(*words, **late) == "agent_gone"
    project.ok(*words, "--file", "payments.md", "--even-if-gone", **late)
    project.ok_as(
        OTTER,
        *("debate", "add", "payments.md", "--author", OTTER, "--stance", "approve"),
        *("--confidence", "0.9", "--summary", "Yes.", "--body", "Yes."),
        **late,
    )
    status = project.ok("debate", "status", "payments.md", **late)
    assert status["may_speak"] == [CRANE]
    assert status["liveness"] == {CRANE: "evicted"}
    assert f"{CRANE} (evicted)" in project.run("debate", "status", "payments.md", **late).out


@pytest.mark.requirement("XPR-08")
def test_who_runs_it_or_was_alone_for_it_is_not_its_critic(project: PaymentsProject) -> None:
    project.ok("flow", "blocked-to-debate", project.blocked(), "--file", "payments.md")
    project.say(OTTER, "defer", "I cannot tell.")
    project.say(CRANE, "approve", "Use the new sandbox.")
    project.parliament()
    project.to_vote()
    project.vote()
    project.decide("approve")
    before = project.count_events()
    go = ("--as", FINCH, "flow", "approval-to-trace", "bill", "--tool", "python")
    same = ("--executor", OTTER, "--critic", OTTER, "--auditor", HERON)
    assert project.refusal(*go, *same) == "two_parts"
    lone = ("--executor", OTTER, "--critic", CRANE, "--auditor", HERON)
    assert project.refusal(*go, *lone) == "lone_approver"
    assert project.count_events() == before
    assert project.streams("trace") == []
    project.ok(*go, "--executor", OTTER, "--critic", HERON, "--auditor", CRANE)


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
def test_anothers_words_stay_a_quotation(project: PaymentsProject, text: str) -> None:
    message = project.ok_as(
        OTTER,
        *("blocked", CRANE, "--work", "pay-7", "--subject", "Stuck <!-- yield --> now"),
        *("--blocker", text, *NEED),
    )["message"]
    made = project.debate(message)
    checked = project.ok("debate", "check", "payments.md")
    assert (checked["valid"], checked["entries"]) == (True, 0)
    assert project.ok("debate", "status", "payments.md")["may_speak"] == [OTTER]
    project.agreed()
    bill = project.parliament()
    assert bill["path"] == made["path"]
    assert project.ok("parliament", "check", "bill")["valid"]


@pytest.mark.requirement("XPR-05")
def test_acts_of_agents_and_people_are_theirs_or_not_done(project: PaymentsProject) -> None:
    project.approved()
    before = project.count_events()
    go = ("flow", "approval-to-trace", "bill", *PARTS, "--planner", CRANE)
    assert project.refusal("--as", OTTER, *go) == "not_you"
    words = ("flow", "deadlock-to-parliament", "payments.md")
    assert project.refusal("--as", OTTER, *words) == "human_key_required"
    assert project.count_events() == before


def test_what_leads_nowhere_is_refused(project: PaymentsProject) -> None:
    message = project.blocked()
    assert project.refusal("flow", "question-to-debate", message) == "wrong_source"
    assert project.refusal("flow", "blocked-to-debate", "nothing-1") == "source_not_found"
    assert project.refusal("flow", "report-to-info", "t9") == "trace_not_found"
    assert project.refusal("flow", "takeover-to-info", "proto_x") == "source_not_found"
    assert project.refusal("story", "nothing") == "story_not_found"
    assert project.refusal("story", "no\x00thing/../x") == "story_not_found"
    listed = project.ok("flow", "list")["flows"]
    assert len(listed) == 15
    assert project.ok("flow", "list", "--paths") == {"paths": []}
    project.debate(message)
    assert len(project.ok("flow", "list", "--paths")["paths"]) == 1


def test_a_story_without_a_path_is_what_stands_there(project: PaymentsProject) -> None:
    message = project.blocked()
    told = project.ok("story", message)
    assert (told["path"], told["steps"]) == ("", [])
    assert {moment["what"] for moment in told["moments"]} == {
        *("mail.message_sent", "presence.blocked_sent"),
    }
    assert json.dumps(told)


@pytest.mark.requirement("XPR-06")
def test_a_place_that_cannot_be_written_is_a_failed_step(project: PaymentsProject) -> None:
    message = project.blocked()
    (project.root / "taken").write_text("mine", encoding="utf-8")
    words = ("flow", "blocked-to-debate", message, "--file", "taken/payments.md")
    assert project.refused(*words) == ("unwritable_file", 4)
    assert (project.root / "taken").read_text("utf-8") == "mine"
    assert project.streams("debate") == []
    told = project.ok("mail", "inbox", "--agent", "operator")["messages"]
    assert [one["type"] for one in told] == ["BLOCKED"]
    (project.root / "taken").unlink()
    assert project.ok(*words)["step"]["target"]["file"] == "taken/payments.md"


def test_only_who_is_known_here_takes_part(project: PaymentsProject) -> None:
    message = project.blocked()
    words = ("flow", "blocked-to-debate", message, "--with")
    assert project.refusal(*words, "no-body") == "agent_not_found"
    assert project.streams("path") == []
    made = project.ok(*words, "CoralFinch", "--file", "payments.md")
    assert made["step"]["stage"] == "done"
    assert project.ok("debate", "status", "payments.md")["valid"]
    assert f"  - {FINCH}" in (project.root / "payments.md").read_text("utf-8")


def test_any_text_as_an_id_is_answered(project: PaymentsProject) -> None:
    with project.workspace() as space:

        @settings(max_examples=examples(60), deadline=None)
        @given(st.text(max_size=60))
        def ask(named: str) -> None:
            for look in (
                read_story,
                sources.find_message,
                sources.find_presence_event,
                sources.find_debate,
            ):
                with suppress(MootError):
                    look(space, named)
            find_agent_name(space, named)

        ask()

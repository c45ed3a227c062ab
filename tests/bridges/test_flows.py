"""F-2 to F-10, each played through: takeover, resume, timeout, critique, deadlock, veto, damage,
research, one person under all names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.bridges.payments_project import FINCH, HERON, PYTHON, SCOPE, PaymentsProject, at
from tests.cli.damage import edit, of
from tests.project import CRANE, MOOT, OTTER

TRACE = (
    *("trace", "new", "--task", "Pay.", "--planner", CRANE, "--executor", OTTER),
    *("--critic", FINCH, "--auditor", HERON),
)
TAKE = ("reserve", SCOPE, "--takeover-stale")
PROPOSE = ("trace", "propose", "t1", "--objective", "pay", "--tool", "python")


def working(project: PaymentsProject) -> str:
    """A trace with an intent that may run and writes to the scope."""
    (project.root / SCOPE).mkdir(parents=True)
    project.ok(*TRACE)
    project.ok(*PROPOSE)
    project.reviewed()
    return project.intended(*project.touch())


def incursions(project: PaymentsProject) -> list[Any]:
    return [one for one in project.ok("event", "list")["events"] if kind(one) == "INCURSION"]


def kind(event: Any) -> str:
    return str(event["kind"])


@pytest.mark.requirement("FLO-02", "XPR-03")
def test_who_lost_a_scope_runs_nothing_there(project: PaymentsProject) -> None:
    intent = working(project)
    project.ok_as(OTTER, "reserve", SCOPE)
    stale = at(20)
    project.ok("--as", CRANE, "agent", "heartbeat", **stale)
    project.ok("--as", CRANE, "reserve", SCOPE, "--takeover-stale", **stale)
    taken = incursions(project)
    assert [one["from_agent"] for one in taken] == [CRANE]
    before = len(project.records("trace/t1"))
    assert project.refusal("trace", "exec", "t1", intent, **stale) == "held_by_another"
    assert len(project.records("trace/t1")) == before
    assert not (project.root / SCOPE / "done.txt").exists()
    assert [one["from_agent"] for one in incursions(project)].count(OTTER) == 1
    # Said before it is tried: to the former owner, with what can no longer run.
    told = project.ok("flow", "takeover-to-info", taken[0]["id"], **stale)
    assert told["step"]["stage"] == "done"
    said = project.ok("mail", "inbox", "--agent", OTTER, **stale)["messages"]
    assert "was taken over by teal-crane" in said[0]["subject"]
    text = project.ok("mail", "show", said[0]["id"], **stale)
    assert f"t1 {intent} can no longer run there" in json.dumps(text)
    assert project.ok("flow", "takeover-to-info", taken[0]["id"], **stale)["again"]


@pytest.mark.requirement("FLO-02")
def test_a_reservation_lost_between_start_and_run_stops_the_run(
    project: PaymentsProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moot.api.traces import running

    intent = working(project)
    project.ok_as(OTTER, "reserve", SCOPE)
    really_start = running._start

    def start(*about: Any) -> Any:
        """The start is on record; in this moment another, later on, takes the scope over."""
        started = really_start(*about)
        taken = project.spawn("--as", CRANE, *TAKE, **at(20))
        assert taken.code == 0, taken
        return started

    monkeypatch.setattr(running, "_start", start)
    done = project.json("trace", "exec", "t1", intent).data
    assert done["failed"]
    assert "was lost before it could run" in done["detail"]
    assert not (project.root / SCOPE / "done.txt").exists()
    kinds = [body.type for body in project.records("trace/t1")][-2:]
    assert kinds == ["trace.tool_execution_started", "trace.tool_execution_failed"]


@pytest.mark.requirement("FLO-02")
def test_a_reservation_lost_during_the_run_is_said(project: PaymentsProject) -> None:
    (project.root / SCOPE).mkdir(parents=True)
    project.ok(*TRACE)
    project.ok(*PROPOSE)
    project.reviewed()
    words = [*MOOT, "--as", CRANE, *TAKE]
    settings = {**project.env, **at(20)}
    code = f"import subprocess; subprocess.run({words!r}, env={settings!r}, check=True)"
    intent = project.intended(PYTHON, "-c", code)
    project.ok_as(OTTER, "reserve", SCOPE)
    done = project.json("trace", "exec", "t1", intent).data
    assert not done["failed"]
    assert "reservation_lost" in [one["code"] for one in done["findings"]]


@pytest.mark.requirement("FLO-02")
def test_the_number_of_a_reservation_is_what_is_looked_at(project: PaymentsProject) -> None:
    from moot.api.traces.guarded_execution import lost_scopes
    from moot.protocols.trace.model import HeldReservation

    project.ok_as(OTTER, "reserve", SCOPE)
    with project.workspace() as space:
        assert lost_scopes(space, [HeldReservation(SCOPE, 1)], OTTER) == []
        assert lost_scopes(space, [HeldReservation(SCOPE, 2)], OTTER) == [SCOPE]
        assert lost_scopes(space, [HeldReservation(SCOPE, 1)], CRANE) == [SCOPE]


@pytest.mark.requirement("FLO-03")
def test_an_adopted_name_goes_on_where_the_session_ended(project: PaymentsProject) -> None:
    project.debate(project.blocked(), "--timeout", "86400")  # the turn is amber-otter's
    intent = working(project)
    project.ok_as(OTTER, "reserve", SCOPE, "--work", "pay-7")
    dies(project, intent)
    (project.root / SCOPE / "half.py").write_text("x = 1\n", encoding="utf-8")
    project.init_git()
    late = at(40)
    adopted = project.ok("join", "--adopt", OTTER, "--work", "pay-7", **late)
    del adopted
    resumed = [
        one for one in project.ok("event", "list", **late)["events"] if kind(one) == "RESUME"
    ]
    assert (
        project.refusal("flow", "resume-to-work", resumed[0]["id"], **late) == "human_key_required"
    )
    done = project.ok("flow", "resume-to-work", resumed[0]["id"], **late, **project.person)
    made = [(one["kind"], one["id"]) for one in done["step"]["made"]]
    assert made == [("key", "t1/executor"), ("recovery", "t1/x1")]
    for one in done["step"]["made"]:
        body = project.records("trace/t1")[one["seq"]]
        assert (body.corr, body.cause) == (done["path"], done["step"]["source"]["hash"])
    assert any(due["where"].startswith("debate/") for due in done["waits"])
    # The open turn goes on under the name, and the trace from its last complete event.
    project.ok_as(
        OTTER,
        *("debate", "add", "payments.md", "--author", OTTER, "--stance", "approve"),
        *("--confidence", "0.9", "--summary", "Yes.", "--body", "Yes."),
        **late,
    )
    again = ("--tool", "python", "--why", "again", "--risk", "low", "--retry-of", intent)
    retry = project.ok(
        *("trace", "intend", "t1", "p1", *again, "--writes", f"{SCOPE}/done.txt"),
        *("--", *project.touch()),
        **late,
    )["intent"]
    yes = ("--verdict", "approved", "--rationale", "ok")
    project.ok("trace", "review-intent", "t1", retry, *yes, **late)
    assert not project.ok("trace", "exec", "t1", retry, **late)["failed"]


@pytest.mark.requirement("FLO-03")
def test_an_adopted_name_gets_its_seat_back_by_a_persons_word(project: PaymentsProject) -> None:
    project.debate(project.blocked())
    project.agreed()
    project.parliament()
    project.ok_as(OTTER, "reserve", SCOPE, "--work", "pay-7")
    (project.root / SCOPE).mkdir(parents=True)
    (project.root / SCOPE / "half.py").write_text("x = 1\n", encoding="utf-8")
    project.init_git()
    late = at(40)
    project.ok("join", "--adopt", OTTER, "--work", "pay-7", **late)
    seed = project.file(project.seed("rep_1.json"))
    assert project.refusal("parliament", "submit", "bill", seed, **late) == "not_seated"
    (resumed,) = [
        one["id"] for one in project.ok("event", "list", **late)["events"] if kind(one) == "RESUME"
    ]
    go = ("flow", "resume-to-seat", resumed)
    assert project.refusal(*go, **late) == "human_key_required"
    made = project.ok(*go, **late, **project.person)["step"]["made"]
    assert [one["id"] for one in made] == [f"{project.session()['parliament_id']}/rep_1"]
    assert project.ok(*go, **late, **project.person)["again"]
    project.ok("parliament", "submit", "bill", seed, **late)
    assert project.ok("parliament", "check", "bill")["valid"]


def dies(project: PaymentsProject, intent: str) -> None:
    """A run whose process is killed with its parent."""
    import subprocess
    import sys

    code = (
        "import os, sys\n"
        "from moot.api.traces import running as execution\n"
        "from moot.surfaces.cli.main import run\n"
        "execution.run_program = lambda *_: os._exit(9)\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "trace", "exec", "t1", intent],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 9, done


@pytest.mark.requirement("FLO-04")
def test_a_turn_that_times_out_is_told_to_the_operator(project: PaymentsProject) -> None:
    project.debate(project.blocked())
    assert project.refusal("flow", "timeout-to-operator", "payments.md") == "not_yet"
    late = at(10)
    told = project.ok("flow", "timeout-to-operator", "payments.md", **late)
    said = project.ok("mail", "inbox", "--agent", "operator", **late)["messages"]
    assert [(one["importance"], one["type"]) for one in said] == [("urgent", "BLOCKED")]
    assert said[0]["id"] == told["step"]["made"][0]["id"]
    text = json.dumps(project.ok("mail", "show", said[0]["id"], **late))
    assert OTTER in text
    assert "moot debate resume" in text
    assert project.ok("flow", "timeout-to-operator", "payments.md", **late)["again"]
    project.ok("debate", "resume", "payments.md", "--late", **late, **project.person)
    assert project.ok("debate", "status", "payments.md", **late)["may_speak"] == [OTTER]


CRITIQUE = """# Critique: too little

## Target
%s

## Attack
One order is no proof.

## Severity
Major
"""


@pytest.mark.requirement("FLO-05")
def test_a_critique_becomes_a_challenge_and_is_answered(project: PaymentsProject) -> None:
    intent = working(project)
    project.ok_as(OTTER, "reserve", SCOPE)
    project.ok("trace", "exec", "t1", intent)
    claim = ("trace", "claim", "t1", "--confidence", "0.9", "--evidence", "x1/stdout")
    project.ok(*claim, "--text", "paid")
    body = project.file(CRITIQUE % "t1/c1")
    sent = project.ok_as(CRANE, "send", FINCH, "CRITIQUE: too little", body)["id"]
    go = ("flow", "critique-to-challenge", sent)
    assert project.refusal("--as", OTTER, *go) == "not_the_critic"
    made = project.ok_as(FINCH, *go)
    assert made["step"]["made"][0]["id"] == "t1/c1"
    challenge = project.records("trace/t1")[made["step"]["made"][0]["seq"]]
    assert (challenge.type, challenge.actor.id) == ("trace.claim_challenged", FINCH)
    assert "One order is no proof." in challenge.data["reason"]
    assert project.ok_as(FINCH, *go)["again"]
    # The author of the claim is told, answers with a better claim, verified with that warning.
    told = project.ok("flow", "challenge-to-critique", "t1", "c1")
    assert told["path"] == made["path"]
    inbox = project.ok("mail", "inbox", "--agent", OTTER)["messages"]
    assert inbox[-1]["type"] == "CRITIQUE"
    assert project.refusal("trace", "finalize", "t1", "--statement", "done") == "claim_disputed"
    project.ok(*claim, "--text", "one order was paid", "--supersedes", "c1")
    project.ok("trace", "finalize", "t1", "--statement", "done")
    assert project.ok("trace", "audit", "t1")["status"] == "pass-with-warnings"
    info = project.ok("flow", "report-to-info", "t1")
    assert info["path"] == made["path"]
    last = project.ok("mail", "inbox", "--agent", CRANE)["messages"][-1]
    assert "pass-with-warnings" in last["subject"]


def test_a_critique_of_no_claim_challenges_nothing(project: PaymentsProject) -> None:
    project.ok(*TRACE)
    sent = project.ok_as(
        CRANE, "send", FINCH, "CRITIQUE: all of it", project.file(CRITIQUE % "H2")
    )["id"]
    assert project.refusal("--as", FINCH, "flow", "critique-to-challenge", sent) == "no_claim_named"
    assert project.refusal("flow", "challenge-to-critique", "t1", "c1") == "not_challenged"


@pytest.mark.requirement("FLO-06")
def test_a_deadlock_goes_on_if_a_person_asks(project: PaymentsProject) -> None:
    project.debate(project.blocked(), "--rounds", "1")
    project.agreed(("defer",) * 3)
    assert project.ok("debate", "status", "payments.md")["state"] == "ended:deadlock"
    go = ("flow", "deadlock-to-parliament", "payments.md", "--dir", "bill")
    assert project.refusal(*go) == "human_key_required"
    assert project.refusal("flow", "consensus-to-parliament", "payments.md") == "not_settled"
    made = project.ok(*go, "--note", "Decide by cost.", **project.person)
    assert made["step"]["asked_by"] == "operator"
    problem = project.session()["problem_statement"]
    assert "Decide by cost." in problem
    assert f"{OTTER} UNDECIDED" in problem
    assert [one["name"] for one in project.session()["representatives"]] == [
        *("Rep. AmberOtter", "Rep. TealCrane", "Rep. CoralFinch"),
    ]
    for seat in project.seats():
        project.submit(project.seed(f"{seat}.json"))
    words = ("--reason", "As I said.", "--guidance", "Decide by cost.")
    project.ok("parliament", "decide", "bill", "opening_guidance", *words, **project.person)


@pytest.mark.requirement("FLO-07")
def test_a_vetoed_bill_comes_back_and_its_proposal_takes_the_others_place(
    project: PaymentsProject,
) -> None:
    project.debate(project.blocked())
    project.agreed()
    project.parliament()
    project.to_vote()
    project.ok(*TRACE)  # work that was proposed before the bill was decided
    project.ok(*PROPOSE)
    project.vote()
    project.decide("veto", "--guidance", "Name the sandbox.")
    assert project.refusal("--as", CRANE, "flow", "approval-to-trace", "bill", "--tool", "python",
                        "--supersede", "t1") == "not_yet"  # fmt: skip
    project.round()
    amendment = {
        "amendment_id": "amend-001",
        "target_section": "solution",
        "action": "add",
        "description": "Name it",
        "rationale": "The veto.",
        "proposed_text": "Sandbox B, nothing else.",
    }
    project.submit({"type": "AMENDMENT", "from": "rep_2", "content": amendment})
    endorse(project)
    project.ok("parliament", "incorporate", "bill", "amend-001")
    project.vote()
    project.decide("approve")
    made = project.ok_as(CRANE, "flow", "approval-to-trace", "bill", "--tool", "python",
                    "--supersede", "t1")  # fmt: skip
    assert [one["id"] for one in made["step"]["made"]] == ["t1", "t1/p2"]
    status = project.ok("trace", "status", "t1")
    assert [one["id"] for one in status["proposals"]] == ["p2"]
    body = project.records("trace/t1")[made["step"]["made"][1]["seq"]]
    assert (body.data["supersedes"], body.actor.id) == ("p1", CRANE)
    kinds = [
        body.type for body in project.records(f"parliament/{project.session()['parliament_id']}")
    ]
    assert "parliament.bill_returned" in kinds


def endorse(project: PaymentsProject) -> None:
    question = {"topic": "amend-001", "question": "For it?", "motive_context": ""}
    said = project.submit({"type": "QUESTION", "from": "rep_2", "to": "rep_1", "content": question})
    answer = {
        "answer": "Yes.",
        "concessions": "",
        "stance": "maintain",
        "motive_scores": project.scores("rep_1"),
        "amendment_position": {
            "amendment_id": "amend-001",
            "position": "endorse",
            "reason": "It names it.",
        },
    }
    project.submit(
        {
            "type": "ANSWER",
            "from": "rep_1",
            "to": "rep_2",
            "in_reply_to": said["messages"][0]["id"],
            "content": answer,
        }
    )


@pytest.mark.requirement("FLO-08")
def test_a_changed_debate_leads_nowhere_and_the_place_is_named(project: PaymentsProject) -> None:
    project.debate(project.blocked())
    project.agreed()
    file = project.root / "payments.md"
    whole = file.read_text("utf-8")
    file.write_text(whole.replace("The old one is dead.", "The old one is fine!"), "utf-8")
    done = project.json("flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    assert done.error["code"] == "file_changed"
    told = project.ok("debate", "status", "payments.md")["entries"]
    entry = next(one for one in told if one["author"] == CRANE)["id"]
    story = project.ok("story", "pay-7:1")["moments"]
    (first_bad,) = [one["hash"] for one in story if one["id"] == entry]
    for word in ("payments.md", entry, first_bad):
        assert word in done.error["message"]
    inbox = project.ok("mail", "inbox", "--agent", "operator")["messages"]
    assert [one["type"] for one in inbox] == ["BLOCKED"]
    assert not (project.root / "bill").exists()
    assert project.streams("parliament") == []
    file.write_text(whole, "utf-8")
    project.parliament()


@pytest.mark.requirement("FLO-08")
def test_a_changed_ledger_file_leads_nowhere_and_the_message_is_named(
    project: PaymentsProject,
) -> None:
    project.approved()
    file = project.root / "bill" / "ledger.json"
    whole = file.read_text("utf-8")
    file.write_text(whole.replace("rep_2 says YES.", "rep_2 says NOO."), "utf-8")
    done = project.json(
        *("--as", CRANE, "flow", "approval-to-trace", "bill", "--tool", "python"),
        *("--executor", OTTER, "--critic", FINCH, "--auditor", HERON),
    )
    assert done.error["code"] == "file_changed"
    said = done.error["message"]
    message = next(
        one["id"] for one in json.loads(whole)["messages"]
        if one["content"].get("reasoning") == "rep_2 says YES."
    )  # fmt: skip
    assert "ledger.json" in said
    assert message in said
    stream = f"parliament/{project.session()['parliament_id']}"
    hashes = [m["hash"] for m in project.ok("story", stream)["moments"] if m["id"] == message]
    assert hashes[0] in said
    assert project.streams("trace") == []


@pytest.mark.requirement("FLO-08")
def test_a_changed_record_leads_nowhere_and_its_hash_is_named(project: PaymentsProject) -> None:
    working(project)
    project.ok("trace", "abort", "t1", "--reason", "x")
    message = project.blocked()
    stream = "mail/pay-7"
    edit(
        project.ledger,
        "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'sandbox', 'Sandbox') AS BLOB)"
        f" WHERE {of(stream)}",
    )
    done = project.json("flow", "blocked-to-debate", message, "--with", FINCH)
    assert not done.envelope["ok"]
    assert "mail/pay-7 event 0" in done.error["message"]
    assert "the first bad record is" in done.error["message"]
    assert project.streams("debate") == []


@pytest.mark.requirement("FLO-08")
def test_a_changed_line_of_a_trace_leads_nowhere(project: PaymentsProject) -> None:
    intent = working(project)
    project.ok_as(OTTER, "reserve", SCOPE)
    project.ok("trace", "exec", "t1", intent)
    claim = ("trace", "claim", "t1", "--confidence", "0.9", "--evidence", "x1/stdout")
    project.ok(*claim, "--text", "paid")
    project.ok("trace", "finalize", "t1", "--statement", "done")
    project.ok("trace", "audit", "t1")
    place = next(
        place
        for place, body in enumerate(project.records("trace/t1"))
        if "claim_issued" in body.type
    )
    edit(
        project.ledger,
        "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'paid', 'Paid') AS BLOB)"
        f" WHERE {of('trace/t1')} AND seq = {place}",
    )
    bad = project.ok("ledger", "log", "trace/t1")["events"][place]["hash"]
    for flow in (("report-to-info", "t1"), ("challenge-to-critique", "t1", "c1")):
        done = project.json("flow", *flow)
        assert (done.code, done.error["code"]) == (1, "tampered")
        assert f"trace/t1 event {place} " in done.error["message"]
        assert done.error["message"].endswith(f"the first bad record is {bad}")
    assert not [name for name in project.streams("mail") if "report" in name]


@pytest.mark.requirement("FLO-09")
def test_a_research_thread_ends_in_a_vote_on_the_critique(project: PaymentsProject) -> None:
    thread = "RS-20260218-slow-logins"
    kickoff = project.file(
        "# Slow logins\n\n## Research Question\nWhy so slow?\n\n## Context\nSince Monday.\n\n"
        '## Excerpt\n"It hangs." §12\n'
    )
    words = ("mail", "send", "--from", OTTER, "--to", f"{CRANE},{FINCH}", "--thread", thread)
    first = project.ok(*words, "--subject", "KICKOFF: Slow logins", kickoff)["id"]
    for name in (CRANE, FINCH):
        project.ok_as(name, "mail", "ack", first, "--status", "Understood")
    for name in (CRANE, FINCH):
        delta = project.file(
            "# Delta Contribution\n\n## Deltas\n\n```delta\n"
            '{"operation": "ADD", "section": "hypothesis_slate", "target_id": null,\n'
            f' "payload": {{"name": "{name}", "claim": "c", "mechanism": "m",'
            ' "anchors": ["§12"]},\n "rationale": "§12"}\n```\n'
        )
        project.ok(
            *("mail", "send", "--from", name, "--to", OTTER, "--thread", thread),
            *("--subject", "DELTA[hypothesis_generator]: one more", delta),
        )
    project.ok_as(OTTER, "mail", "compile", thread)
    body = project.file(CRITIQUE % "H1")
    attack = project.ok(
        *("mail", "send", "--from", FINCH, "--to", OTTER, "--cc", CRANE, "--thread", thread),
        *("--subject", "CRITIQUE: H1 explains nothing", body),
    )["id"]
    made = project.ok("flow", "critique-to-debate", attack, "--file", "vote.md")
    assert "One order is no proof." in (project.root / "vote.md").read_text("utf-8")
    for name in (FINCH, OTTER, CRANE):
        project.say(name, "approve", "It holds.", "vote.md")
    assert project.ok("debate", "status", "vote.md")["state"] == "ended:consensus"
    asked = project.ok("flow", "kickoff-to-debate", first, "--file", "question.md")
    assert asked["path"] != made["path"]
    assert "Why so slow?" in (project.root / "question.md").read_text("utf-8")
    story = project.ok("story", attack)
    assert story["path"] == made["path"]
    assert {"mail.message_sent", "debate.session_began"} <= {m["what"] for m in story["moments"]}


def test_only_a_question_that_blocks_is_argued(project: PaymentsProject) -> None:
    ask = "# Question\n\n## Question\nWhich?\n\n## Urgency\n%s\n"
    soon = project.ok_as(OTTER, "send", CRANE, "QUESTION: Which?", project.file(ask % "Soon"))["id"]
    assert project.refusal("flow", "question-to-debate", soon) == "not_blocking"
    now = project.ok_as(OTTER, "send", CRANE, "QUESTION: Which?", project.file(ask % "Blocking"))[
        "id"
    ]
    assert project.ok("flow", "question-to-debate", now)["step"]["stage"] == "done"


@pytest.mark.requirement("FLO-10")
def test_one_person_under_all_names(project: PaymentsProject) -> None:
    from moot.api.bridges.participants import (
        describe_person,
        find_agent_name,
        to_agent_name,
        to_pascal_case,
    )

    project.approved()
    project.trace()
    session = project.session()["parliament_id"]
    with project.workspace() as space:
        streams = [f"parliament/{session}", "trace/t1"]
        one = describe_person(space, CRANE, streams)
        assert (one.seats, one.parts) == ({session: "rep_2"}, {"t1": ["planner"]})
        assert one.brenner == "TealCrane"
        key = one.keys[0]
        for named in (CRANE, "TealCrane", f"{session}/rep_2", key, key[:8]):
            assert find_agent_name(space, named, streams) == CRANE
        assert find_agent_name(space, "rep_2", streams) == CRANE
        for nobody in ("NoBody", "rep_9", "", "x/y", "0000"):
            assert find_agent_name(space, nobody, streams) is None
    assert to_agent_name(to_pascal_case(CRANE)) == CRANE
    for named in ("TealCrane", f"{session}/rep_2", key[:12]):
        people = project.ok("story", named)["people"]
        assert CRANE in [one["agent"] for one in people]


def test_a_run_is_real(project: PaymentsProject) -> None:
    intent = working(project)
    project.ok_as(OTTER, "reserve", SCOPE)
    assert project.ok("trace", "exec", "t1", intent)["exit_status"] == 0
    assert PYTHON

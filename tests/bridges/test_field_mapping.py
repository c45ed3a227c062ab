"""What becomes of each field: Operative and mail (3.4), from protocol to protocol (3.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.api.bridges.to_parliament import assess_result
from moot.protocols.debate.checker import check_session
from moot.protocols.mail.body import MessageBody
from tests.bridges.payments_project import FINCH, NEED, SCOPE, STUCK, PaymentsProject
from tests.bridges.test_bypass_attempts import CLAIM, proved
from tests.debate.sessions import TWO_ROUNDS
from tests.project import CRANE, OTTER


def sections(project: PaymentsProject, message: str, *names: str) -> list[str]:
    body = MessageBody(project.ok("mail", "show", message)["message"]["body"])
    return [body.text_of(name) for name in names]


@pytest.mark.requirement("FLO-11")
def test_a_handoff_says_the_same_as_event_and_as_message(project: PaymentsProject) -> None:
    said = project.ok_as(
        OTTER,
        *("handoff", CRANE, "--work", "pay-7", "--scope", SCOPE, "--subject", "The sandbox"),
        *("--summary", "Half of it works.", "--next-action", "Finish it."),
    )
    event, message = said["event"], project.ok("mail", "show", said["message"])["message"]
    assert (message["subject"], message["event"]) == (
        *(f"HANDOFF: The sandbox to {CRANE}", event["id"]),
    )
    assert message["ack_required"] is event["payload"]["requires_ack"] is True
    names = ("Item", "From", "To", "State", "Next Steps", "Files Modified")
    assert sections(project, said["message"], *names) == [
        *(event["bead_id"], event["from_agent"], event["to_agent"]),
        *(event["payload"]["summary"], event["payload"]["next_action"], f"- {event['scope']}"),
    ]


@pytest.mark.requirement("FLO-11")
@pytest.mark.parametrize(
    ("urgency", "importance"), [("low", "low"), ("medium", "normal"), ("high", "high")]
)
def test_a_blocker_says_the_same_as_event_and_as_message(
    project: PaymentsProject, urgency: str, importance: str
) -> None:
    words = ("blocked", CRANE, "--work", "pay-7", *STUCK, *NEED, "--urgency", urgency)
    said = project.ok_as(OTTER, *words)
    message, payload = said["message"], said["event"]["payload"]
    assert sections(project, message, "Item", "Blocker", "Needed") == [
        *("pay-7", payload["blocker"], payload["requested_action"]),
    ]
    shown = project.ok("mail", "show", message)["message"]
    assert (shown["subject"], shown["importance"]) == ("BLOCKED: Payments fail", importance)


@pytest.mark.requirement("FLO-12")
def test_an_agreement_becomes_a_problem_and_a_draft_and_nobodys_vote(
    project: PaymentsProject,
) -> None:
    project.debate(project.blocked())
    project.agreed(("approve", "approve", "reject"))
    project.parliament()
    session, draft = project.session(), project.seed("bill-v1.json")["content"]
    assert session["problem_statement"].startswith("Payments fail\n\n### Item")
    assert "The sandbox rejects every card." in session["problem_statement"]
    assert f"{OTTER} YES, {CRANE} YES, {FINCH} NO." in session["problem_statement"]
    assert draft["summary"] == "Use the new sandbox. The old one is dead."
    assert [one["voting_record"] for one in session["representatives"]] == [[], [], []]
    assert session["vote_history"] == []


@pytest.mark.requirement("FLO-12")
def test_an_approved_bill_becomes_a_proposal(project: PaymentsProject) -> None:
    project.debate(project.blocked())
    project.agreed()
    project.parliament()
    seed = project.root / "bill" / "seeds" / "bill-v1.json"
    draft = json.loads(seed.read_text("utf-8"))
    draft["content"]["sections"]["scope"]["assumptions"] = ["The bank is up."]
    seed.write_text(json.dumps(draft), "utf-8")
    project.to_vote()
    project.vote(conditions=["Orders of zero are refused."])
    project.decide("approve")
    project.trace()
    said = project.records("trace/t1")[1].data
    assert (said["objective"], said["assumptions"]) == ("Payments fail", ["The bank is up."])
    assert said["required_tools"] == ["python"]
    assert said["expected_evidence"] == ["Orders of zero are refused.", "a paid order"]


@pytest.mark.requirement("FLO-12")
def test_a_challenge_becomes_a_critique_and_a_report_an_info(project: PaymentsProject) -> None:
    proved(project)
    words = ("--reason", "One is no proof.", "--evidence", "x1/stdout")
    project.ok("trace", "challenge", "t1", "c1", *words)
    told = project.ok("flow", "challenge-to-critique", "t1", "c1")["step"]["made"][0]["id"]
    target, attack, evidence = sections(project, told, "Target", "Attack", "Evidence")
    assert (target, attack) == ("t1/c1", "One is no proof.")
    assert evidence
    project.ok(*CLAIM, "--text", "one was paid", "--supersedes", "c1")
    project.ok("trace", "finalize", "t1", "--statement", "done")
    project.ok("trace", "audit", "t1")
    info = project.ok("flow", "report-to-info", "t1")["step"]["made"][0]["id"]
    subject = project.ok("mail", "show", info)["message"]["subject"]
    assert subject == "INFO: v1 t1 is verified: pass-with-warnings"


@pytest.mark.requirement("FLO-12")
def test_a_kickoff_becomes_the_context_of_a_debate(project: PaymentsProject) -> None:
    parts = {
        "Research Question": "Why so slow?",
        "Context": "Since Monday.",
        "Constraints": "No new tools.",
        "Excerpt": '"It hangs." §12',
    }
    body = project.file("\n".join(["# Slow", *(f"\n## {k}\n{v}" for k, v in parts.items())]) + "\n")
    words = ("mail", "send", "--from", OTTER, "--to", CRANE, "--thread", "RS-20260218-slow-logins")
    first = project.ok(*words, "--subject", "KICKOFF: Slow logins", body)["id"]
    project.ok("flow", "kickoff-to-debate", first, "--file", "why.md")
    text = (project.root / "why.md").read_text("utf-8")
    assert "# Bounce Session: Slow logins" in text
    for name in ("Research Question", "Context", "Constraints"):
        assert f"### {name}\n\n> {parts[name]}\n" in text


def findings(project: PaymentsProject) -> list[str]:
    done: Any = project.json("flow", "consensus-to-parliament", "payments.md")
    assert done.error["code"] == "not_settled"
    return [one["message"] for one in done.error["findings"]]


@pytest.mark.requirement("XPR-04")
def test_agreement_of_fewer_than_half_is_thin(project: PaymentsProject) -> None:
    project.debate(project.blocked())
    project.agreed(("approve", "defer", "defer"))
    assert project.ok("debate", "status", "payments.md")["state"] == "ended:consensus"
    assert findings(project) == ["fewer than half of the agents took a position"]
    assert project.streams("parliament") == []


@pytest.mark.requirement("XPR-04")
def test_a_result_is_sure_only_without_errors_and_after_the_end() -> None:
    sure = assess_result(check_session(TWO_ROUNDS))
    assert (sure.reached, sure.thin, sure.provisional, sure.errors) == (True, False, False, 0)
    going_on = assess_result(check_session(TWO_ROUNDS[: TWO_ROUNDS.index("<!-- entry: 00000004")]))
    assert going_on.provisional
    faulty = assess_result(
        check_session(TWO_ROUNDS.replace("confidence: 0.7", "confidence: sure", 1))
    )
    assert faulty.errors == 1

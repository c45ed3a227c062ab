"""What becomes of each field: Operative and mail (3.4), from protocol to protocol (3.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.protocols.mail.body import read_body
from tests.flows.stage import CRANE, FINCH, NEED, OTTER, SCOPE, STUCK, Shop
from tests.flows.test_guards import CLAIM, proved


def sections(shop: Shop, message: str, *names: str) -> list[str]:
    body = read_body(shop.ok("mail", "show", message)["message"]["body"])
    return [body.text_of(name) for name in names]


@pytest.mark.requirement("FLO-11")
def test_a_handoff_says_the_same_as_event_and_as_message(shop: Shop) -> None:
    said = shop.as_(
        OTTER,
        *("handoff", CRANE, "--work", "pay-7", "--scope", SCOPE, "--subject", "The sandbox"),
        *("--summary", "Half of it works.", "--next-action", "Finish it."),
    )
    event, message = said["event"], shop.ok("mail", "show", said["message"])["message"]
    assert (message["subject"], message["event"]) == (
        *(f"HANDOFF: The sandbox to {CRANE}", event["id"]),
    )
    assert message["ack_required"] is event["payload"]["requires_ack"] is True
    names = ("Item", "From", "To", "State", "Next Steps", "Files Modified")
    assert sections(shop, said["message"], *names) == [
        *(event["bead_id"], event["from_agent"], event["to_agent"]),
        *(event["payload"]["summary"], event["payload"]["next_action"], f"- {event['scope']}"),
    ]


@pytest.mark.requirement("FLO-11")
@pytest.mark.parametrize(
    ("urgency", "importance"), [("low", "low"), ("medium", "normal"), ("high", "high")]
)
def test_a_blocker_says_the_same_as_event_and_as_message(
    shop: Shop, urgency: str, importance: str
) -> None:
    words = ("blocked", CRANE, "--work", "pay-7", *STUCK, *NEED, "--urgency", urgency)
    said = shop.as_(OTTER, *words)
    message, payload = said["message"], said["event"]["payload"]
    assert sections(shop, message, "Item", "Blocker", "Needed") == [
        *("pay-7", payload["blocker"], payload["requested_action"]),
    ]
    shown = shop.ok("mail", "show", message)["message"]
    assert (shown["subject"], shown["importance"]) == ("BLOCKED: Payments fail", importance)


@pytest.mark.requirement("FLO-12")
def test_an_agreement_becomes_a_problem_and_a_draft_and_nobodys_vote(shop: Shop) -> None:
    shop.debate(shop.blocked())
    shop.agreed(("approve", "approve", "reject"))
    shop.parliament()
    session, draft = shop.session(), shop.seed("bill-v1.json")["content"]
    assert session["problem_statement"].startswith("Payments fail\n\n### Item")
    assert "The sandbox rejects every card." in session["problem_statement"]
    assert f"{OTTER} YES, {CRANE} YES, {FINCH} NO." in session["problem_statement"]
    assert draft["summary"] == "Use the new sandbox. The old one is dead."
    assert [one["voting_record"] for one in session["representatives"]] == [[], [], []]
    assert session["vote_history"] == []


@pytest.mark.requirement("FLO-12")
def test_an_approved_bill_becomes_a_proposal(shop: Shop) -> None:
    shop.debate(shop.blocked())
    shop.agreed()
    shop.parliament()
    seed = shop.root / "bill" / "seeds" / "bill-v1.json"
    draft = json.loads(seed.read_text("utf-8"))
    draft["content"]["sections"]["scope"]["assumptions"] = ["The bank is up."]
    seed.write_text(json.dumps(draft), "utf-8")
    shop.to_vote()
    shop.vote(conditions=["Orders of zero are refused."])
    shop.decide("approve")
    shop.trace()
    said = shop.records("trace/t1")[1].data
    assert (said["objective"], said["assumptions"]) == ("Payments fail", ["The bank is up."])
    assert said["required_tools"] == ["python"]
    assert said["expected_evidence"] == ["Orders of zero are refused.", "a paid order"]


@pytest.mark.requirement("FLO-12")
def test_a_challenge_becomes_a_critique_and_a_report_an_info(shop: Shop) -> None:
    proved(shop)
    words = ("--reason", "One is no proof.", "--evidence", "x1/stdout")
    shop.ok("trace", "challenge", "t1", "c1", *words)
    told = shop.ok("flow", "challenge-to-critique", "t1", "c1")["step"]["made"][0]["id"]
    target, attack, evidence = sections(shop, told, "Target", "Attack", "Evidence")
    assert (target, attack) == ("t1/c1", "One is no proof.")
    assert evidence
    shop.ok(*CLAIM, "--text", "one was paid", "--supersedes", "c1")
    shop.ok("trace", "finalize", "t1", "--statement", "done")
    shop.ok("trace", "audit", "t1")
    info = shop.ok("flow", "report-to-info", "t1")["step"]["made"][0]["id"]
    subject = shop.ok("mail", "show", info)["message"]["subject"]
    assert subject == "INFO: v1 t1 is verified: pass-with-warnings"


@pytest.mark.requirement("FLO-12")
def test_a_kickoff_becomes_the_context_of_a_debate(shop: Shop) -> None:
    parts = {
        "Research Question": "Why so slow?",
        "Context": "Since Monday.",
        "Constraints": "No new tools.",
        "Excerpt": '"It hangs." §12',
    }
    body = shop.file("\n".join(["# Slow", *(f"\n## {k}\n{v}" for k, v in parts.items())]) + "\n")
    words = ("mail", "send", "--from", OTTER, "--to", CRANE, "--thread", "RS-20260218-slow-logins")
    first = shop.ok(*words, "--subject", "KICKOFF: Slow logins", body)["id"]
    shop.ok("flow", "kickoff-to-debate", first, "--file", "why.md")
    text = (shop.root / "why.md").read_text("utf-8")
    assert "# Bounce Session: Slow logins" in text
    for name in ("Research Question", "Context", "Constraints"):
        assert f"### {name}\n\n> {parts[name]}\n" in text


def findings(shop: Shop) -> list[str]:
    done: Any = shop.project.json("flow", "consensus-to-parliament", "payments.md")
    assert done.error["code"] == "not_settled"
    return [one["message"] for one in done.error["findings"]]


@pytest.mark.requirement("XPR-04")
def test_agreement_of_fewer_than_half_is_thin(shop: Shop) -> None:
    shop.debate(shop.blocked())
    shop.agreed(("approve", "defer", "defer"))
    assert shop.ok("debate", "status", "payments.md")["state"] == "ended:consensus"
    assert findings(shop) == ["fewer than half of the agents took a position"]
    assert shop.streams("parliament") == []

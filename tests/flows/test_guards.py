"""Whoever would get around a flow's guards: by another's name, by a second try, by damage."""

from __future__ import annotations

import re
import shutil
import uuid
from typing import Any

import pytest

from tests.flows.stage import CRANE, FINCH, HERON, OTTER, PARTS, SCOPE, Shop, at
from tests.flows.test_flows import CRITIQUE, PROPOSE, TRACE, dies, kind, shop_git, working
from tests.flows.test_steps import HOSTILE, killed


def without_key(shop: Shop, name: str) -> dict[str, str]:
    """A key folder that lacks this one's key."""
    folder = shop.project.keys.parent / f"without-{name}"
    shutil.copytree(shop.project.keys, folder)
    for file in folder.rglob(f"*{name}*"):
        file.unlink() if file.is_file() else shutil.rmtree(file)
    return {"MOOT_KEYS": str(folder)}


@pytest.mark.requirement("XPR-05")
def test_nobody_asks_under_a_name_without_its_key(shop: Shop) -> None:
    message = shop.blocked()
    before = shop.count_events()
    go = ("flow", "blocked-to-debate", message)
    # A person's key stays locked without a passphrase; an agent's may be with someone else.
    assert shop.refused("--as", "operator", *go) == "human_key_required"
    assert shop.refused("--as", CRANE, *go, **without_key(shop, CRANE)) == "key_missing"
    assert shop.refused("--as", "no-body", *go) == "agent_not_found"
    assert shop.count_events() == before
    asked = shop.ok("--as", "operator", *go, **shop.person)
    assert asked["step"]["asked_by"] == "operator"


@pytest.mark.requirement("XPR-05")
def test_an_act_without_its_key_leaves_no_step_behind(shop: Shop) -> None:
    shop.approved()
    before = shop.count_events()
    go = ("--as", CRANE, "flow", "approval-to-trace", "bill", *PARTS)
    assert shop.refused(*go, **without_key(shop, CRANE)) == "key_missing"
    assert shop.count_events() == before


@pytest.mark.requirement("XPR-08")
def test_a_second_try_is_held_to_the_same_rules(shop: Shop) -> None:
    shop.ok("flow", "blocked-to-debate", shop.blocked(), "--file", "payments.md")
    shop.say(OTTER, "defer", "I cannot tell.")
    shop.say(CRANE, "approve", "Use the new sandbox.")
    shop.parliament()
    shop.to_vote()
    shop.vote()
    shop.decide("approve")
    go = ("--as", FINCH, "flow", "approval-to-trace", "bill", "--tool", "python")
    killed(shop, "begun", *go, "--executor", OTTER, "--critic", HERON, "--auditor", CRANE)
    before = shop.count_events()
    lone = ("--executor", OTTER, "--critic", CRANE, "--auditor", HERON)
    assert shop.refused(*go, *lone) == "lone_approver"
    assert shop.count_events() == before
    assert shop.streams("trace") == []
    shop.ok(*go, "--executor", OTTER, "--critic", HERON, "--auditor", CRANE)


@pytest.mark.requirement("XPR-01", "XPR-08")
def test_what_a_killed_flow_left_still_belongs_to_its_path(shop: Shop) -> None:
    opened = shop.ok("flow", "blocked-to-debate", shop.blocked(), "--file", "payments.md")
    shop.say(OTTER, "defer", "I cannot tell.")
    shop.say(CRANE, "approve", "Use the new sandbox.")
    killed(shop, "made", "flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    assert shop.ok("story", shop.session()["parliament_id"])["path"] == opened["path"]
    shop.to_vote()
    shop.vote()
    shop.decide("approve")
    go = ("--as", FINCH, "flow", "approval-to-trace", "bill", "--tool", "python")
    lone = ("--executor", OTTER, "--critic", CRANE, "--auditor", HERON)
    assert shop.refused(*go, *lone) == "lone_approver"
    made = shop.ok(*go, "--executor", OTTER, "--critic", HERON, "--auditor", CRANE)
    assert made["path"] == opened["path"]


@pytest.mark.requirement("XPR-02")
def test_what_was_begun_leads_nowhere_else(shop: Shop) -> None:
    shop.approved()
    shop.ok(*TRACE)
    shop.ok(*PROPOSE)
    go = ("--as", CRANE, "flow", "approval-to-trace", "bill", "--tool", "python")
    parts = ("--executor", OTTER, "--critic", FINCH, "--auditor", HERON)
    killed(shop, "made", *go, *parts)
    before = shop.count_events()
    assert shop.refused(*go, "--supersede", "t1") == "other_target"
    assert shop.count_events() == before
    assert shop.ok(*go, *parts)["trace"] == "t2"
    assert [one["id"] for one in shop.ok("trace", "status", "t1")["proposals"]] == ["p1"]


def forge(shop: Shop, *names: str) -> None:
    """Write entries into the file under the names of others, in the form of the last one."""
    file = shop.root / "payments.md"
    text = file.read_text("utf-8")
    last = text[text.rindex("<!-- entry") :]
    for turn, name in enumerate(names, 2):
        entry = re.sub(r"entry: [0-9a-f-]{36}", f"entry: {uuid.uuid4()}", last)
        text += "\n" + entry.replace(OTTER, name).replace("turn: 1", f"turn: {turn}")
    file.write_text(text, "utf-8")


@pytest.mark.requirement("XPR-04", "XPR-05")
def test_words_that_nobody_signed_lead_nowhere(shop: Shop) -> None:
    shop.debate(shop.blocked())
    shop.say(OTTER, "approve", "Use the new sandbox.")
    forge(shop, CRANE, FINCH)
    assert shop.ok("debate", "check", "payments.md")["valid"]
    assert shop.ok("debate", "consensus", "payments.md")["reached"]
    go = ("flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    done = shop.project.json(*go)
    assert done.error["code"] == "words_unsigned"
    assert [CRANE in one["message"] for one in done.error["findings"]] == [True, False]
    assert FINCH in done.error["findings"][1]["message"]
    assert shop.streams("parliament") == []
    assert not (shop.root / "bill").exists()
    # Whoever's words they are may say so.
    for name in (CRANE, FINCH):
        shop.as_(name, "debate", "sign", "payments.md")
    shop.ok(*go)


def proved(shop: Shop) -> None:
    """A trace from an approved bill, with one claim of what was run."""
    (shop.root / SCOPE).mkdir(parents=True)
    shop.approved()
    shop.trace()
    shop.reviewed()
    intent = shop.intended(*shop.touch())
    shop.as_(OTTER, "reserve", SCOPE)
    shop.ok("trace", "exec", "t1", intent)
    shop.ok(*CLAIM, "--text", "paid")


CLAIM = ("trace", "claim", "t1", "--confidence", "0.9", "--evidence", "x1/stdout")


@pytest.mark.requirement("XPR-02")
def test_what_is_told_and_closed_is_so_once_wherever_it_was_killed(shop: Shop) -> None:
    proved(shop)
    sent = shop.as_(CRANE, "send", FINCH, "CRITIQUE: no", shop.file(CRITIQUE % "t1/c1"))["id"]
    again_and_again(shop, 2, "--as", FINCH, "flow", "critique-to-challenge", sent)
    kinds = [body.type for body in shop.records("trace/t1")]
    assert kinds.count("trace.claim_challenged") == 1
    again_and_again(shop, 3, "flow", "challenge-to-critique", "t1", "c1")
    shop.ok(*CLAIM, "--text", "one was paid", "--supersedes", "c1")
    shop.ok("trace", "finalize", "t1", "--statement", "done")
    shop.ok("trace", "audit", "t1")
    again_and_again(shop, 3, "flow", "report-to-info", "t1")
    done = again_and_again(shop, 2, "--as", CRANE, "flow", "done-to-ack", "t1")
    assert done["held"] == [SCOPE]
    told = [name for name in shop.streams("mail") if "-to-" in name]
    assert [len(shop.records(name)) for name in told] == [1, 1]
    kinds = [body.type for body in shop.records("mail/pay-7")]
    assert kinds.count("mail.message_acknowledged") == 1
    assert shop.ok("verify")["verdict"] == "valid"


def again_and_again(shop: Shop, acts: int, *words: str, **settings: str) -> Any:
    """Killed after its first act, then after the second of the next run, and so on."""
    for place in range(1, acts + 1):
        killed(shop, str(place), *words, **settings)
    done = shop.ok(*words, **settings)
    assert shop.ok(*words, **settings)["step"] == done["step"]
    return done


@pytest.mark.requirement("XPR-02", "FLO-03")
def test_a_resume_that_was_killed_still_records_what_died(shop: Shop) -> None:
    intent = working(shop)
    shop.as_(OTTER, "reserve", SCOPE, "--work", "pay-7")
    dies(shop, intent)
    (shop.root / SCOPE / "half.py").write_text("x = 1\n", encoding="utf-8")
    shop_git(shop.project)
    late = at(40)
    shop.ok("join", "--adopt", OTTER, "--work", "pay-7", **late)
    (event,) = [
        one["id"] for one in shop.ok("event", "list", **late)["events"] if kind(one) == "RESUME"
    ]
    done = again_and_again(shop, 3, "flow", "resume-to-work", event, **late, **shop.person)
    made = [(one["kind"], one["id"]) for one in done["step"]["made"]]
    assert made == [("key", "t1/executor"), ("recovery", "t1/x1")]


@pytest.mark.requirement("XPR-05")
def test_what_the_machine_told_is_still_the_word_of_whoever_said_it(shop: Shop) -> None:
    proved(shop)
    shop.ok("trace", "challenge", "t1", "c1", "--reason", HOSTILE)
    told = shop.ok("flow", "challenge-to-critique", "t1", "c1")["step"]["made"][0]["id"]
    shop.ok("flow", "critique-to-debate", told, "--file", "vote.md")
    text = (shop.root / "vote.md").read_text("utf-8")
    assert f"Opened by system for {FINCH}" in text
    assert f"  - {FINCH}" in text
    checked = shop.ok("debate", "check", "vote.md")
    assert (checked["valid"], checked["entries"]) == (True, 0)


def test_a_slip_of_the_pen_begins_nothing(shop: Shop) -> None:
    message = shop.blocked()
    before = shop.count_events()
    for text in ("7", "-1", "NaN", "sNaN", "1e999", "much"):
        words = ("flow", "blocked-to-debate", message, "--threshold", text)
        assert shop.project.refused(*words) == ("usage", 2)
    assert shop.count_events() == before


@pytest.mark.requirement("XPR-03")
def test_who_never_joined_needs_a_reservation_as_well(shop: Shop) -> None:
    (shop.root / SCOPE).mkdir(parents=True)
    shop.approved()
    shop.ok("agent", "register", "quiet-vole")  # known here, and not in presence
    parts = ("--executor", "quiet-vole", "--critic", FINCH, "--auditor", HERON)
    shop.as_(CRANE, "flow", "approval-to-trace", "bill", *parts, "--tool", "python")
    shop.reviewed()
    intent = shop.intended(*shop.touch())
    before = len(shop.records("trace/t1"))
    assert shop.refused("trace", "exec", "t1", intent) == "reservation_required"
    assert len(shop.records("trace/t1")) == before
    assert not (shop.root / SCOPE / "done.txt").exists()


@pytest.mark.requirement("XPR-06")
def test_a_place_that_is_taken_can_be_exchanged_for_another(shop: Shop) -> None:
    message = shop.blocked()
    shop.ok("flow", "blocked-to-debate", shop.blocked("pay-8"), "--file", "taken.md")
    taken = (shop.root / "taken.md").read_bytes()
    go = ("flow", "blocked-to-debate", message)
    assert shop.refused(*go, "--file", "taken.md") == "file_taken"
    assert (shop.root / "taken.md").read_bytes() == taken
    assert len(shop.streams("debate")) == 1
    made = shop.ok(*go, "--with", FINCH, "--file", "payments.md")
    assert made["step"]["target"]["file"] == "payments.md"
    shop.agreed()
    (shop.root / "full").mkdir()
    (shop.root / "full" / "ledger.json").write_text("{}", "utf-8")
    go = ("flow", "consensus-to-parliament", "payments.md")
    assert shop.refused(*go, "--dir", "full") == "folder_taken"
    assert shop.ok(*go, "--dir", "bill")["folder"] == "bill"
    assert shop.ok("parliament", "check", "bill")["valid"]

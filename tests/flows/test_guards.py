"""Whoever would get around a flow's guards: by another's name, by a second try, by damage."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.cli.damage import edit, of
from tests.flows.stage import CRANE, FINCH, HERON, NEED, OTTER, PARTS, SCOPE, Shop, at
from tests.flows.test_flows import CRITIQUE, PROPOSE, TRACE, working
from tests.flows.test_steps import killed


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
    assert shop.refused("--as", "operator", *go) == "key_missing"
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


@pytest.mark.requirement("FLO-08")
def test_a_byte_anywhere_in_a_debate_stops_it(shop: Shop) -> None:
    shop.debate(shop.blocked())
    shop.agreed()
    file = shop.root / "payments.md"
    whole = file.read_bytes()
    for place in range(3, len(whole), max(1, len(whole) // 40)):
        changed = bytes([whole[place] ^ 1])
        file.write_bytes(whole[:place] + changed + whole[place + 1 :])
        done = shop.project.json("flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
        assert not done.envelope["ok"], (place, whole[place - 20 : place + 20])
        print(place, whole[place-8:place+8], done.error["code"], done.error["message"][:300], done.error["hint"])
    assert shop.streams("parliament") == []


@pytest.mark.requirement("FLO-08")
def test_a_byte_anywhere_in_a_ledger_file_stops_it(shop: Shop) -> None:
    shop.approved()
    for name in ("ledger.json", "session.json", "bill.json", "round-summaries.json"):
        file = shop.root / "bill" / name
        whole = file.read_bytes()
        for place in range(3, len(whole), max(1, len(whole) // 12)):
            changed = bytes([whole[place] ^ 1])
            file.write_bytes(whole[:place] + changed + whole[place + 1 :])
            done = shop.project.json("--as", CRANE, "flow", "approval-to-trace", "bill", *PARTS)
            assert not done.envelope["ok"], (name, place, whole[place - 20 : place + 20])
            print(name, place, whole[place-8:place+8], done.error["code"], done.error["message"][:300])
        file.write_bytes(whole)
    assert shop.streams("trace") == []


def damage(shop: Shop, stream: str, old: str, new: str) -> None:
    edit(
        shop.project.ledger,
        f"UPDATE events SET body = CAST(replace(CAST(body AS TEXT), '{old}', '{new}') AS BLOB)"
        f" WHERE {of(stream)}",
    )


@pytest.mark.requirement("FLO-08")
def test_a_changed_target_stops_it_too(shop: Shop) -> None:
    intent = working(shop)
    shop.as_(OTTER, "reserve", SCOPE)
    shop.ok("trace", "exec", "t1", intent)
    claim = ("trace", "claim", "t1", "--confidence", "0.9", "--evidence", "x1/stdout")
    shop.ok(*claim, "--text", "paid")
    body = shop.file(CRITIQUE % "t1/c1")
    sent = shop.as_(CRANE, "send", FINCH, "CRITIQUE: too little", body)["id"]
    damage(shop, "trace/t1", "paid", "Paid")
    before = len(shop.records("trace/t1"))
    done = shop.project.json("--as", FINCH, "flow", "critique-to-challenge", sent)
    assert not done.envelope["ok"]
    print(done.error)
    assert len(shop.records("trace/t1")) == before


@pytest.mark.requirement("FLO-08")
def test_done_from_a_changed_message(shop: Shop) -> None:
    message = shop.approved()
    (shop.root / SCOPE).mkdir(parents=True)
    shop.trace()
    shop.reviewed()
    intent = shop.intended(*shop.touch())
    shop.as_(OTTER, "reserve", SCOPE)
    shop.ok("trace", "exec", "t1", intent)
    claim = ("trace", "claim", "t1", "--confidence", "0.9", "--evidence", "x1/stdout")
    shop.ok(*claim, "--text", "paid")
    shop.ok("trace", "finalize", "t1", "--statement", "done")
    shop.ok("trace", "audit", "t1")
    damage(shop, "mail/pay-7", "sandbox", "Sandbox")
    done = shop.project.json("--as", CRANE, "flow", "done-to-ack", "t1")
    assert not done.envelope["ok"]
    print(done.error)
    damage(shop, "mail/pay-7", "Sandbox", "sandbox")
    damage(shop, "path/" + shop.streams("path")[0][5:], "amber-otter", "teal-crane0")
    done = shop.project.json("--as", CRANE, "flow", "done-to-ack", "t1")
    print(done.envelope)

"""Attempts to get around a flow's guards: by another's name, by a second try, by damage."""

from __future__ import annotations

import re
import shutil
import uuid
from typing import Any

import pytest

from tests.bridges.payments_project import FINCH, HERON, PARTS, SCOPE, PaymentsProject, at
from tests.bridges.test_flows import CRITIQUE, PROPOSE, TRACE, dies, kind, working
from tests.bridges.test_steps import HOSTILE, killed
from tests.project import CRANE, OTTER


def without_key(project: PaymentsProject, name: str) -> dict[str, str]:
    """A key folder that lacks this one's key."""
    folder = project.keys.parent / f"without-{name}"
    shutil.copytree(project.keys, folder)
    for file in folder.rglob(f"*{name}*"):
        file.unlink() if file.is_file() else shutil.rmtree(file)
    return {"MOOT_KEYS": str(folder)}


@pytest.mark.requirement("XPR-05")
def test_nobody_asks_under_a_name_without_its_key(project: PaymentsProject) -> None:
    message = project.blocked()
    before = project.count_events()
    go = ("flow", "blocked-to-debate", message)
    # A person's key stays locked without a passphrase; an agent's may be with someone else.
    assert project.refusal("--as", "operator", *go) == "human_key_required"
    assert project.refusal("--as", CRANE, *go, **without_key(project, CRANE)) == "key_missing"
    assert project.refusal("--as", "no-body", *go) == "agent_not_found"
    assert project.count_events() == before
    asked = project.ok("--as", "operator", *go, **project.person)
    assert asked["step"]["asked_by"] == "operator"


@pytest.mark.requirement("XPR-05")
def test_an_act_without_its_key_leaves_no_step_behind(project: PaymentsProject) -> None:
    project.approved()
    before = project.count_events()
    go = ("--as", CRANE, "flow", "approval-to-trace", "bill", *PARTS)
    assert project.refusal(*go, **without_key(project, CRANE)) == "key_missing"
    assert project.count_events() == before


@pytest.mark.requirement("XPR-08")
def test_a_second_try_is_held_to_the_same_rules(project: PaymentsProject) -> None:
    project.ok("flow", "blocked-to-debate", project.blocked(), "--file", "payments.md")
    project.say(OTTER, "defer", "I cannot tell.")
    project.say(CRANE, "approve", "Use the new sandbox.")
    project.parliament()
    project.to_vote()
    project.vote()
    project.decide("approve")
    go = ("--as", FINCH, "flow", "approval-to-trace", "bill", "--tool", "python")
    killed(project, "begun", *go, "--executor", OTTER, "--critic", HERON, "--auditor", CRANE)
    before = project.count_events()
    lone = ("--executor", OTTER, "--critic", CRANE, "--auditor", HERON)
    assert project.refusal(*go, *lone) == "lone_approver"
    assert project.count_events() == before
    assert project.streams("trace") == []
    project.ok(*go, "--executor", OTTER, "--critic", HERON, "--auditor", CRANE)


@pytest.mark.requirement("XPR-01", "XPR-08")
def test_what_a_killed_flow_left_still_belongs_to_its_path(project: PaymentsProject) -> None:
    opened = project.ok("flow", "blocked-to-debate", project.blocked(), "--file", "payments.md")
    project.say(OTTER, "defer", "I cannot tell.")
    project.say(CRANE, "approve", "Use the new sandbox.")
    killed(project, "made", "flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    assert project.ok("story", project.session()["parliament_id"])["path"] == opened["path"]
    project.to_vote()
    project.vote()
    project.decide("approve")
    go = ("--as", FINCH, "flow", "approval-to-trace", "bill", "--tool", "python")
    lone = ("--executor", OTTER, "--critic", CRANE, "--auditor", HERON)
    assert project.refusal(*go, *lone) == "lone_approver"
    made = project.ok(*go, "--executor", OTTER, "--critic", HERON, "--auditor", CRANE)
    assert made["path"] == opened["path"]


@pytest.mark.requirement("XPR-02")
def test_what_was_begun_leads_nowhere_else(project: PaymentsProject) -> None:
    project.approved()
    project.ok(*TRACE)
    project.ok(*PROPOSE)
    go = ("--as", CRANE, "flow", "approval-to-trace", "bill", "--tool", "python")
    parts = ("--executor", OTTER, "--critic", FINCH, "--auditor", HERON)
    killed(project, "made", *go, *parts)
    before = project.count_events()
    assert project.refusal(*go, "--supersede", "t1") == "other_target"
    assert project.count_events() == before
    assert project.ok(*go, *parts)["trace"] == "t2"
    assert [one["id"] for one in project.ok("trace", "status", "t1")["proposals"]] == ["p1"]


def forge(project: PaymentsProject, *names: str) -> None:
    """Write entries into the file under the names of others, in the form of the last one."""
    file = project.root / "payments.md"
    text = file.read_text("utf-8")
    last = text[text.rindex("<!-- entry") :]
    for turn, name in enumerate(names, 2):
        entry = re.sub(r"entry: [0-9a-f-]{36}", f"entry: {uuid.uuid4()}", last)
        text += "\n" + entry.replace(OTTER, name).replace("turn: 1", f"turn: {turn}")
    file.write_text(text, "utf-8")


@pytest.mark.requirement("XPR-04", "XPR-05")
def test_words_that_nobody_signed_lead_nowhere(project: PaymentsProject) -> None:
    project.debate(project.blocked())
    project.say(OTTER, "approve", "Use the new sandbox.")
    forge(project, CRANE, FINCH)
    assert project.ok("debate", "check", "payments.md")["valid"]
    assert project.ok("debate", "consensus", "payments.md")["reached"]
    go = ("flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    done = project.json(*go)
    assert done.error["code"] == "words_unsigned"
    assert [CRANE in one["message"] for one in done.error["findings"]] == [True, False]
    assert FINCH in done.error["findings"][1]["message"]
    assert project.streams("parliament") == []
    assert not (project.root / "bill").exists()
    # The author of the text may do it.
    for name in (CRANE, FINCH):
        project.ok_as(name, "debate", "sign", "payments.md")
    project.ok(*go)


def proved(project: PaymentsProject) -> None:
    """A trace from an approved bill, with one claim of what was run."""
    (project.root / SCOPE).mkdir(parents=True)
    project.approved()
    project.trace()
    project.reviewed()
    intent = project.intended(*project.touch())
    project.ok_as(OTTER, "reserve", SCOPE)
    project.ok("trace", "exec", "t1", intent)
    project.ok(*CLAIM, "--text", "paid")


CLAIM = ("trace", "claim", "t1", "--confidence", "0.9", "--evidence", "x1/stdout")


@pytest.mark.requirement("XPR-02")
def test_what_is_told_and_closed_is_so_once_wherever_it_was_killed(
    project: PaymentsProject,
) -> None:
    proved(project)
    sent = project.ok_as(CRANE, "send", FINCH, "CRITIQUE: no", project.file(CRITIQUE % "t1/c1"))[
        "id"
    ]
    again_and_again(project, 2, "--as", FINCH, "flow", "critique-to-challenge", sent)
    kinds = [body.type for body in project.records("trace/t1")]
    assert kinds.count("trace.claim_challenged") == 1
    again_and_again(project, 3, "flow", "challenge-to-critique", "t1", "c1")
    project.ok(*CLAIM, "--text", "one was paid", "--supersedes", "c1")
    project.ok("trace", "finalize", "t1", "--statement", "done")
    project.ok("trace", "audit", "t1")
    again_and_again(project, 3, "flow", "report-to-info", "t1")
    done = again_and_again(project, 2, "--as", CRANE, "flow", "done-to-ack", "t1")
    assert done["held"] == [SCOPE]
    told = [name for name in project.streams("mail") if "-to-" in name]
    assert [len(project.records(name)) for name in told] == [1, 1]
    kinds = [body.type for body in project.records("mail/pay-7")]
    assert kinds.count("mail.message_acknowledged") == 1
    assert project.ok("verify")["verdict"] == "valid"


def again_and_again(project: PaymentsProject, acts: int, *words: str, **settings: str) -> Any:
    """Killed after its first act, then after the second of the next run, and so on."""
    for place in range(1, acts + 1):
        killed(project, str(place), *words, **settings)
    done = project.ok(*words, **settings)
    assert project.ok(*words, **settings)["step"] == done["step"]
    return done


@pytest.mark.requirement("XPR-02", "FLO-03")
def test_a_resume_that_was_killed_still_records_what_died(project: PaymentsProject) -> None:
    intent = working(project)
    project.ok_as(OTTER, "reserve", SCOPE, "--work", "pay-7")
    dies(project, intent)
    (project.root / SCOPE / "half.py").write_text("x = 1\n", encoding="utf-8")
    project.init_git()
    late = at(40)
    project.ok("join", "--adopt", OTTER, "--work", "pay-7", **late)
    (event,) = [
        one["id"] for one in project.ok("event", "list", **late)["events"] if kind(one) == "RESUME"
    ]
    done = again_and_again(project, 3, "flow", "resume-to-work", event, **late, **project.person)
    made = [(one["kind"], one["id"]) for one in done["step"]["made"]]
    assert made == [("key", "t1/executor"), ("recovery", "t1/x1")]


@pytest.mark.requirement("XPR-05")
def test_what_the_machine_told_is_still_the_word_of_anyone_who_said_it(
    project: PaymentsProject,
) -> None:
    proved(project)
    project.ok("trace", "challenge", "t1", "c1", "--reason", HOSTILE)
    told = project.ok("flow", "challenge-to-critique", "t1", "c1")["step"]["made"][0]["id"]
    project.ok("flow", "critique-to-debate", told, "--file", "vote.md")
    text = (project.root / "vote.md").read_text("utf-8")
    assert f"Opened by system for {FINCH}" in text
    assert f"  - {FINCH}" in text
    checked = project.ok("debate", "check", "vote.md")
    assert (checked["valid"], checked["entries"]) == (True, 0)


def test_a_slip_of_the_pen_begins_nothing(project: PaymentsProject) -> None:
    message = project.blocked()
    before = project.count_events()
    for text in ("7", "-1", "NaN", "sNaN", "1e999", "much"):
        words = ("flow", "blocked-to-debate", message, "--threshold", text)
        assert project.refused(*words) == ("usage", 2)
    assert project.count_events() == before


@pytest.mark.requirement("XPR-03")
def test_who_never_joined_needs_a_reservation_as_well(project: PaymentsProject) -> None:
    (project.root / SCOPE).mkdir(parents=True)
    project.approved()
    project.ok("agent", "register", "quiet-vole")  # known here, and not in presence
    parts = ("--executor", "quiet-vole", "--critic", FINCH, "--auditor", HERON)
    project.ok_as(CRANE, "flow", "approval-to-trace", "bill", *parts, "--tool", "python")
    project.reviewed()
    intent = project.intended(*project.touch())
    before = len(project.records("trace/t1"))
    assert project.refusal("trace", "exec", "t1", intent) == "reservation_required"
    assert len(project.records("trace/t1")) == before
    assert not (project.root / SCOPE / "done.txt").exists()


@pytest.mark.requirement("XPR-06")
def test_a_place_that_is_taken_can_be_exchanged_for_another(project: PaymentsProject) -> None:
    message = project.blocked()
    project.ok("flow", "blocked-to-debate", project.blocked("pay-8"), "--file", "taken.md")
    taken = (project.root / "taken.md").read_bytes()
    go = ("flow", "blocked-to-debate", message)
    assert project.refusal(*go, "--file", "taken.md") == "file_taken"
    assert (project.root / "taken.md").read_bytes() == taken
    assert len(project.streams("debate")) == 1
    made = project.ok(*go, "--with", FINCH, "--file", "payments.md")
    assert made["step"]["target"]["file"] == "payments.md"
    project.agreed()
    (project.root / "full").mkdir()
    (project.root / "full" / "ledger.json").write_text("{}", "utf-8")
    go = ("flow", "consensus-to-parliament", "payments.md")
    assert project.refusal(*go, "--dir", "full") == "folder_taken"
    assert project.ok(*go, "--dir", "bill")["folder"] == "bill"
    assert project.ok("parliament", "check", "bill")["valid"]

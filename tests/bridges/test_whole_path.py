"""F-1, wholly: blocked, argued, decided, proved, done; real files, real keys, one real command."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from moot.protocols.parliament.messages.message import response_findings
from tests.bridges.payments_project import FINCH, HERON, SCOPE, PaymentsProject
from tests.project import CRANE, OTTER, Project


@pytest.mark.requirement("FLO-01", "XPR-01", "XPR-03", "XPR-05")
def test_from_blocked_to_verified_and_done(project: PaymentsProject) -> None:
    (project.root / SCOPE).mkdir(parents=True)
    # 1, 2: stuck, and someone takes it on.
    message = project.blocked()
    project.ok_as(CRANE, "mail", "ack", message, "--status", "Will Action")
    # 3: a debate, opened by the machine, with the origin named.
    opened = project.debate(message)
    path = opened["path"]
    text = (project.root / "payments.md").read_text("utf-8")
    assert f"Opened by system for {OTTER}" in text
    assert f"mail:{message}" in text
    # 4: agreement.
    project.agreed()
    # 5: a parliament of the same agents.
    made = project.parliament()
    assert made["path"] == path
    assert list(project.seats()) == ["rep_1", "rep_2", "rep_3"]
    for seat in project.seats():
        assert not [
            one
            for one in response_findings(project.seed(f"{seat}.json"))
            if one.severity == "error"
        ]
    project.to_vote()
    project.vote()
    project.decide("approve")
    # 6: a trace; the bill's approval is not the critic's.
    begun = project.trace()
    assert (begun["path"], begun["trace"]) == (path, "t1")
    early = ("trace", "intend", "t1", "p1", "--tool", "python", "--why", "x", "--risk", "low")
    assert project.refusal(*early, "--", *project.touch()) == "wrong_state"
    project.reviewed()
    # 7: nothing runs without the executor's own reservation.
    intent = project.intended(*project.touch())
    assert project.refusal("trace", "exec", "t1", intent) == "reservation_required"
    project.ok_as(CRANE, "reserve", SCOPE)
    assert project.refusal("trace", "exec", "t1", intent) == "held_by_another"
    project.ok_as(CRANE, "release", SCOPE)
    assert not (project.root / "src/payments/done.txt").exists()
    project.ok_as(OTTER, "reserve", SCOPE)
    done = project.ok("trace", "exec", "t1", intent)
    assert (done["exit_status"], done["failed"]) == (0, False)
    assert (project.root / "src/payments/done.txt").read_text("utf-8") == "done"
    # 8: claimed, final, verified.
    project.ok(
        *("trace", "claim", "t1", "--text", "orders are paid", "--confidence", "0.9"),
        *("--evidence", "x1/stdout"),
    )
    project.ok("trace", "finalize", "t1", "--statement", "Payments work.")
    audit = project.ok("trace", "audit", "t1")
    assert (audit["status"], audit["state"]) == ("pass", "completed")
    # 9: the receiver closes it, the owner gives back what it held.
    closed = project.ok_as(CRANE, "flow", "done-to-ack", "t1")
    assert closed["path"] == path
    project.ok_as(OTTER, "release", "--all")
    assert not any(project.ok("mail", "pending").values())
    one_path(project, path, message)
    every_file_stands_alone(project)


def one_path(project: PaymentsProject, path: str, message: str) -> None:
    """One id over all steps, from every native id; every step's records name cause and path."""
    for named in (path, message, "t1", project.session()["parliament_id"], "t1/p1"):
        assert project.ok("story", named)["path"] == path
    story = project.ok("story", path)
    assert [step["flow"] for step in story["steps"]] == [
        *("blocked-to-debate", "consensus-to-parliament", "approval-to-trace", "done-to-ack"),
    ]
    hashes = {moment["hash"] for moment in story["moments"]}
    for step in story["steps"]:
        assert step["source"]["hash"] in hashes
        for thing in step["made"]:
            body = project.records(thing["stream"])[thing["seq"]]
            assert (body.corr, body.cause) == (path, step["source"]["hash"])
    kinds = {moment["what"].split(".")[0] for moment in story["moments"]}
    assert kinds == {"presence", "mail", "debate", "parliament", "trace", "path"}
    made_by = {body.actor.id for body in project.records(f"path/{path}")}
    assert made_by == {"system"}
    people = {one["agent"]: one for one in story["people"]}
    assert people[OTTER]["seats"] == {project.session()["parliament_id"]: "rep_1"}
    assert people[FINCH]["parts"] == {"t1": ["critic"]}
    assert people[HERON]["parts"] == {"t1": ["auditor"]}


def every_file_stands_alone(project: Project) -> None:
    assert project.ok("debate", "check", "payments.md")["valid"]
    assert project.ok("parliament", "check", "bill")["valid"]
    assert project.ok("verify")["verdict"] == "valid"
    project.ok("ledger", "rebuild")
    for suffix in ("html", "md", "json"):
        project.ok("story", "t1", "-o", f"story.{suffix}")
    assert (project.root / "story.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    a_person_can_read_it(json.loads((project.root / "story.json").read_text("utf-8")))
    shown = project.run("story", "t1")
    assert shown.code == 0
    assert "approval-to-trace" in shown.out


def a_person_can_read_it(page: Any) -> None:
    """What came of it first, then step by step who said what; hashes for who looks them up."""
    assert page["kind"] == "story"
    assert page["decision"]["heading"] == "Where it led"
    assert page["decision"]["statement"] == "Payments work."
    path, *groups = [one for one in page["blocks"] if one["kind"] in ("flow", "timeline")]
    assert [step["label"] for step in path["steps"]] == [
        *("message to debate", "debate to parliament", "parliament to trace", "trace to message"),
    ]
    assert {step["tone"] for step in path["steps"]} == {"good"}
    assert [one["title"] for one in groups] == [
        "What began it",
        "Step 1: message to debate",
        "Step 2: debate to parliament",
        "Step 3: parliament to trace",
        "Step 4: trace to message",
    ]
    told = [moment["what"] for one in groups for moment in one["moments"]]
    assert any(what.endswith("wrote: BLOCKED: Payments fail.") for what in told[:3]), told[:3]
    assert any(what.endswith("Payments work.") for what in told), told
    assert not [what for what in told if what.startswith(("step ", "path "))]
    shown = [one for one in page["blocks"] if not one.get("folded")]
    assert not re.search("[0-9a-f]{64}", json.dumps(shown))
    (records,) = [one for one in page["blocks"] if one.get("title") == "Every record and its hash"]
    assert records["folded"]
    assert re.fullmatch("[0-9a-f]{64}", records["rows"][0][-1]["text"])

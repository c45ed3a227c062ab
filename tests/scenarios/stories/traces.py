"""Traces: a task from proposal to verified report, and who may do what on the way."""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.scenarios.world import World, story

PLANNER, EXECUTOR, CRITIC, AUDITOR = "amber-otter", "teal-crane", "coral-finch", "slate-heron"
ROLES = {"planner": PLANNER, "executor": EXECUTOR, "critic": CRITIC, "auditor": AUDITOR}
PRINT = [sys.executable, "-c", "print('seen')"]
LENIENT = b'{"approval_required_from": "critical", "default_risk": "low", "tools": []}'


def begin(world: World, policy: bytes | None = None) -> str:
    """The name of a new trace, with an agent for each part."""
    for name in (CRITIC, AUDITOR):
        world.project.ok("agent", "register", name)
    more: dict[str, Any] = {} if policy is None else {"policy": policy}
    trace: str = world.do("trace.new", task="Is it fine?", **ROLES, **more)["trace"]
    return trace


def approve_proposal(world: World, trace: str) -> None:
    world.do("trace.propose", PLANNER, trace=trace, objective="look", tools=["python"],
             assumptions=["none"], expected_evidence=["a text"])  # fmt: skip
    world.do("trace.review", CRITIC, trace=trace, proposal="p1", verdict="approved",
             rationale="fine")  # fmt: skip


def intend(world: World, trace: str, command: list[str]) -> str:
    """An intent that the critic has approved."""
    signed = world.do("trace.intend", EXECUTOR, trace=trace, proposal="p1", command=command,
                      tool="python", risk="low", why="to see")  # fmt: skip
    world.do("trace.review_intent", CRITIC, trace=trace, intent=signed["intent"],
             verdict="approved", rationale="as proposed")  # fmt: skip
    intent: str = signed["intent"]
    return intent


@story(
    does="trace.new trace.propose trace.review trace.list trace.status",
    refuses="trace.new trace.propose trace.review trace.status",
)
def a_task_is_planned_and_judged_by_different_agents(world: World) -> None:
    trace = begin(world)
    again = {**ROLES, "critic": EXECUTOR}
    assert world.refuse("trace.new", task="t", **again) == "duties_not_separated"
    assert world.refuse("trace.new", task="t", **ROLES, policy=b"no") == "not_json"
    assert world.refuse("trace.new", PLANNER, task="t", **ROLES) == "role_policy_violation"
    proposal = {"trace": trace, "objective": "look", "tools": ["python"]}
    assert world.refuse("trace.propose", CRITIC, **proposal) == "role_policy_violation"
    proposed = world.do("trace.propose", PLANNER, **proposal)
    assert (proposed["trace"], proposed["proposal"]) == (trace, "p1")
    judged = {"trace": trace, "proposal": "p1", "verdict": "approved", "rationale": "fine"}
    assert world.refuse("trace.review", PLANNER, **judged) == "role_policy_violation"
    assert world.do("trace.review", CRITIC, **judged)["verdict"] == "approved"
    (line,) = world.do("trace.list")["traces"]
    assert (line["trace"], line["task"], line["open"]) == (trace, "Is it fine?", True)
    status = world.do("trace.status", trace=trace)
    assert [proposal["status"] for proposal in status["proposals"]] == ["approved"]
    assert {due["who"] for due in status["next"]} == {EXECUTOR}
    assert world.refuse("trace.status", trace="t9") == "trace_not_found"


@story(
    does="trace.new trace.propose trace.review trace.intend trace.review_intent trace.exec",
    refuses="trace.intend trace.review_intent trace.exec",
)
def nothing_runs_that_was_not_intended_and_approved(world: World) -> None:
    trace = begin(world)
    approve_proposal(world, trace)
    wanted = {"trace": trace, "proposal": "p1", "command": PRINT, "tool": "python", "why": "to see"}
    assert world.refuse("trace.intend", CRITIC, **wanted, risk="low") == "role_policy_violation"
    signed = world.do("trace.intend", EXECUTOR, **wanted, risk="low", timeout_seconds=60)
    assert (signed["intent"], signed["needs_approval"]) == ("i1", ["risk"])
    assert world.refuse("trace.exec", EXECUTOR, trace=trace, intent="i1") == "approval_required"
    judged = {"trace": trace, "intent": "i1", "verdict": "approved", "rationale": "as proposed"}
    assert world.refuse("trace.review_intent", EXECUTOR, **judged) == "role_policy_violation"
    world.do("trace.review_intent", CRITIC, **judged)
    done = world.do("trace.exec", EXECUTOR, trace=trace, intent="i1")
    assert (done["execution"], done["failed"], done["exit_status"]) == ("x1", False, 0)
    assert [output["name"] for output in done["artifacts"]] == ["stdout", "stderr", "changed"]
    assert world.refuse("trace.exec", EXECUTOR, trace=trace, intent="i1") == "intent_closed"


@story(
    does="trace.new trace.propose trace.review trace.intend trace.review_intent trace.exec "
    "trace.claim trace.challenge trace.withdraw trace.finalize trace.audit trace.report "
    "trace.export trace.verify",
    refuses="trace.claim trace.challenge trace.withdraw trace.finalize trace.audit trace.report "
    "trace.verify",
)
def what_runs_show_is_claimed_challenged_and_verified(world: World) -> None:
    trace = begin(world)
    approve_proposal(world, trace)
    world.do("trace.exec", EXECUTOR, trace=trace, intent=intend(world, trace, PRINT))
    seen = {"trace": trace, "text": "it is", "confidence": "0.9", "evidence": ["x1/stdout"]}
    assert world.refuse("trace.claim", PLANNER, **seen) == "role_policy_violation"
    assert world.refuse("trace.claim", EXECUTOR, **{**seen, "evidence": ["x9/stdout"]}) == (
        "unknown_id"
    )
    assert world.do("trace.claim", EXECUTOR, **seen)["claim"] == "c1"
    world.do("trace.claim", EXECUTOR, **seen)
    objection = {"trace": trace, "claim": "c1", "reason": "said twice"}
    assert world.refuse("trace.challenge", EXECUTOR, **objection) == "role_policy_violation"
    world.do("trace.challenge", CRITIC, **objection)
    final = {"trace": trace, "statement": "It is fine."}
    assert world.refuse("trace.finalize", EXECUTOR, **final) == "claim_disputed"
    assert world.refuse("trace.withdraw", CRITIC, trace=trace, claim="c1")
    world.do("trace.withdraw", EXECUTOR, trace=trace, claim="c1", reason="said twice")
    assert world.refuse("trace.audit", AUDITOR, trace=trace) == "wrong_state"
    assert world.do("trace.finalize", EXECUTOR, **final)["claims"] == ["c2"]
    verify_and_export(world, trace)


def verify_and_export(world: World, trace: str) -> None:
    root = world.project.root
    audit = world.do("trace.audit", AUDITOR, trace=trace, file=root / "audit.html")
    assert (audit["status"], audit["state"]) == ("pass-with-warnings", "completed")
    assert (audit["recorded"], audit["profile"]) == (True, "default")
    assert (root / "audit.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    again = world.do("trace.audit", AUDITOR, trace=trace, profile="strict")
    assert (again["recorded"], again["run"], again["profile"]) == (False, None, "strict")
    shown = world.do("trace.report", trace=trace)
    assert shown["report"]["title"] == "Is it fine?"
    written = world.do("trace.report", trace=trace, file=root / "trace.md")
    assert (written["file"], "report" in written) == (str(root / "trace.md"), False)
    assert world.refuse("trace.report", trace="t9") == "trace_not_found"
    made = world.do("trace.export", trace=trace, file=root / "t.moot")
    assert made["complete"]
    for what in ("t.moot", trace):
        verified = world.do("trace.verify", what=what)
        assert (verified["verdict"], verified["traces"][0]["status"]) == ("valid", audit["status"])
        own = [check for check in verified["checks"] if check.get("trace") == f"trace/{trace}"]
        assert [check["name"] for check in own] == [check["name"] for check in audit["checks"]]
    assert world.refuse("trace.verify", what="none.moot") == "unreadable_file"


@story(
    does="trace.new trace.rotate trace.recover trace.abort trace.observed trace.propose",
    refuses="trace.new trace.rotate trace.recover trace.abort trace.propose",
)
def people_fix_and_stop_a_trace(world: World) -> None:
    trace = begin(world, LENIENT)
    proposal = {"trace": trace, "objective": "look", "tools": ["python"]}
    world.project.ok("agent", "rotate", PLANNER)
    assert world.refuse("trace.propose", PLANNER, **proposal) == "foreign_key"
    part = {"trace": trace, "role": "planner"}
    assert world.refuse("trace.rotate", EXECUTOR, **part) == "role_policy_violation"
    assert world.do("trace.rotate", **part, reason="a new key")["agent"] == PLANNER
    world.do("trace.propose", PLANNER, **proposal)
    assert world.do("trace.recover", trace=trace) == {
        "trace": trace,
        "recovered": [],
        "running": [],
    }
    assert world.refuse("trace.recover", trace="t9") == "trace_not_found"
    reason = {"trace": trace, "reason": "the task has changed"}
    assert world.refuse("trace.abort", CRITIC, **reason) == "role_policy_violation"
    assert world.do("trace.abort", **reason)["state"] == "aborted"
    assert world.refuse("trace.abort", **reason) == "trace_ended"
    assert world.refuse("trace.new", task="t", **ROLES, follows="t9") == "trace_not_found"
    follower = world.do("trace.new", task="Again", **ROLES, follows=trace)
    assert follower["roles"] == ROLES
    assert world.do("trace.observed") == {"counted": "observed 0, gaps 0", "sessions": []}


@story(does="trace.new trace.run", refuses="trace.run")
def participants_work_on_a_trace(world: World) -> None:
    trace = begin(world)
    replies = {"proposal": [{"objective": "Say it", "tools": ["python"]}]}
    (world.project.root / "plan.json").write_text(json.dumps(replies))
    planner = f"{PLANNER}=script:plan.json"
    assert world.refuse("trace.run", trace=trace, participants=["no-body=rules:approve"]) == (
        "role_empty"
    )
    assert world.refuse("trace.run", CRITIC, trace=trace, participants=[planner]) == "not_you"
    done = world.do("trace.run", trace=trace, participants=[planner])
    assert (done["stop"], done["turns"], done["waits_for"]) == ("waiting", 1, [CRITIC])
    assert done["decision"] == f"trace-{trace}"

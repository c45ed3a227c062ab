"""Who is here, what is due, work passed on, and programs that run as agents."""

from __future__ import annotations

import sys

from moot.core.clock import HOUR, system_clock
from moot.protocols.example.model import Ask
from tests.scenarios.world import World, story

OTTER, CRANE = "amber-otter", "teal-crane"
HANDOFF = {"subject": "auth cache", "summary": "half done", "next_action": "finish the tests"}
BLOCKED = {"subject": "schema", "blocker": "no migration", "requested_action": "write it"}


@story(does="status agenda", refuses="agenda")
def what_is_due_is_on_the_agenda_and_on_the_one_screen(world: World) -> None:
    world.project.execute(OTTER, Ask(title="look", of=CRANE))
    (item,) = world.do("agenda")["due"]
    assert (item["who"], item["subject"], item["overdue"]) == (CRANE, "e1: look", False)
    assert list(item) == ["who", "what", "subject", "since", "by", "overdue", "id", "hint"]
    assert world.do("agenda", OTTER)["due"] == []
    assert world.do("agenda", OTTER, agent=CRANE, wait_seconds=3600)["due"][0]["id"] == item["id"]
    assert world.refuse("agenda", agent="no-body", wait_seconds=3600) == "agent_not_found"
    seen = world.do("status", OTTER)
    assert (seen["you"], [one["subject"] for one in seen["due"]]) == (OTTER, ["e1: look"])
    classes = {one["agent"]: one["class"] for one in seen["agents"]}
    assert classes == {OTTER: "agent", CRANE: "agent", "operator": "human"}
    assert seen["record"]["events"] == world.events()
    assert (seen["mail"], seen["record"]["rolled_back"]) == ({"owed": {}, "unread": 0}, False)


@story(does="tick agenda", refuses="tick")
def a_time_limit_takes_effect_when_somebody_asks_for_it(world: World) -> None:
    late, soon = system_clock() - HOUR, system_clock() + HOUR
    world.project.execute(OTTER, Ask(title="soon", of=CRANE, due_at=soon))
    world.project.execute(OTTER, Ask(title="late", of=CRANE, due_at=late))
    assert [item["overdue"] for item in world.do("agenda")["due"]] == [True, False]
    (applied,) = world.do("tick")["applied"]
    assert (applied["type"], applied["seq"]) == ("example.errand_lapsed", 2)
    assert world.do("tick", name="example/today")["applied"] == []
    (root_key,) = world.project.keys.glob("*/system.*.key")
    root_key.unlink()
    assert world.refuse("tick") == "key_missing"


@story(
    does="event.handoff event.seen event.accept event.list status",
    refuses="event.handoff event.seen event.accept",
)
def work_is_passed_on_and_accepted_with_its_scope(world: World) -> None:
    project = world.project
    project.ok("--as", OTTER, "reserve", "src/auth")
    assert world.refuse("event.handoff", to=CRANE, **HANDOFF) == "actor_required"
    assert world.refuse("event.handoff", OTTER, sender=CRANE, to=OTTER, **HANDOFF) == "not_you"
    sent = world.do("event.handoff", OTTER, to=CRANE, scope="src/auth", work="T-7", **HANDOFF)
    event = sent["event"]
    assert (event["event_type"], event["scope"], event["bead_id"]) == ("HANDOFF", "src/auth", "T-7")
    assert event["payload"] == {**HANDOFF, "requires_ack": True}
    assert world.refuse("event.seen", CRANE, event_id="proto_20260101_001") == "event_not_found"
    assert world.refuse("event.accept", OTTER, event_id=event["id"]) == "ack_forbidden"
    seen = world.do("event.seen", CRANE, event_id=event["id"])
    assert (seen["event"], seen["agent"], seen["moved"]) == (event, CRANE, [])
    accepted = world.do("event.accept", CRANE, event_id=event["id"])
    assert accepted["moved"] == ["src/auth"]
    (held,) = world.do("status")["reservations"]
    assert (held["scope"], held["owner"]) == ("src/auth", CRANE)
    rows = world.do("event.list", work="T-7")["events"]
    assert rows[0]["label"] == "Passed to"
    assert {row["label"] for row in rows} == {"Passed to", "Seen", "Accepted"}
    assert rows[0]["status"] == "Accepted"
    assert len(world.do("event.list", limit=1)["events"]) == 1
    assert world.do("event.list", work="T-8")["events"] == []


def _held_back(world: World) -> dict[str, str]:
    """Crane is on record for reaching into what Otter holds; what Otter says to withdraw that."""
    world.project.ok("--as", OTTER, "reserve", "src", "--work", "T-7")
    refused = world.project.json("--as", CRANE, "reserve", "src", "--work", "T-7")
    assert refused.code == 1
    (entry,) = world.project.ok("event", "list")["events"]
    return {"event_id": entry["id"], "reason": "I did it myself"}


@story(does="event.withdraw event.list log", refuses="event.withdraw")
def a_false_overlap_is_withdrawn_by_its_holder(world: World) -> None:
    named = _held_back(world)
    assert world.refuse("event.withdraw", CRANE, **named) == "withdraw_forbidden"
    assert world.refuse("event.withdraw", OTTER, **{**named, "reason": " "}) == "reason_required"
    done = world.do("event.withdraw", OTTER, **named)
    mark = done["withdrawn"]
    assert (mark["by"], mark["capacity"], mark["reason"]) == (OTTER, "holder", "I did it myself")
    (row,) = world.do("event.list")["events"]
    assert (row["label"], row["withdrawn"]) == ("Refused (withdrawn)", mark)
    logged = world.do("log", name="presence")["events"]
    assert [each["type"] for each in logged if "withdrawn" in each] == ["presence.incursion_noted"]
    assert world.do("event.withdraw", OTTER, **named)["withdrawn"] == mark


@story(does="conversation sessions search")
def what_was_withdrawn_is_marked_wherever_it_is_shown(world: World) -> None:
    named = _held_back(world)
    words = ("event", "withdraw", named["event_id"], "--reason", named["reason"])
    mark = world.project.ok("--as", OTTER, *words)["withdrawn"]
    (shown,) = world.do("conversation", work="T-7")["thread"]
    assert (shown["label"], shown["withdrawn"]) == ("Refused (withdrawn)", mark)
    (line,) = world.do("sessions")["incursions"]
    assert (line["label"], line["withdrawn"]) == ("Refused (withdrawn)", mark)
    (found,) = world.do("search", words="elsewhere")["items"]
    assert "withdrawn by amber-otter (holder): I did it myself" in found["title"]


@story(does="event.blocked agenda status", refuses="event.blocked")
def a_blocked_agent_says_so(world: World) -> None:
    world.project.ok("agent", "register", "coral-finch")
    world.project.ok("agent", "retire", "coral-finch")
    assert world.refuse("event.blocked", OTTER, to="coral-finch", **BLOCKED) == "agent_retired"
    sent = world.do("event.blocked", OTTER, to=CRANE, urgency="high", work="T-7", **BLOCKED)
    (pending,) = world.do("status")["pending"]
    assert (pending["id"], pending["urgency"]) == (sent["event"]["id"], "high")
    assert sent["event"]["payload"] == {**BLOCKED, "urgency": "high", "requires_ack": True}
    (item,) = world.do("agenda", CRANE)["due"]
    assert item["subject"] == f"{sent['event']['id']}: schema (from {OTTER})"


@story(does="handoff blocked event.accept agenda", refuses="handoff blocked")
def a_notice_is_an_event_and_a_message_in_one(world: World) -> None:
    assert world.refuse("handoff", to=CRANE, **HANDOFF) == "actor_required"
    assert world.refuse("handoff", OTTER, to="no-body", work="T-7", **HANDOFF) == "agent_not_found"
    assert world.refuse("blocked", OTTER, to="no-body", work="T-7", **BLOCKED) == "agent_not_found"
    world.project.ok("--as", OTTER, "reserve", "src")
    passed = world.do("handoff", OTTER, to=CRANE, work="T-7", scope="src", **HANDOFF)
    stuck = world.do("blocked", OTTER, to=CRANE, work="T-7", **BLOCKED)
    assert passed["message"] != stuck["message"]
    assert stuck["event"]["payload"]["urgency"] == "medium"
    due = [item["what"] for item in world.do("agenda", CRANE)["due"]]
    assert due == ["accept what was passed on", "give input"]
    accepted = world.do("event.accept", CRANE, event_id=passed["event"]["id"])
    assert accepted["moved"] == ["src"]
    due = [item["what"] for item in world.do("agenda", CRANE)["due"]]
    assert due == ["give input"]


@story(does="run status prompt", refuses="run")
def a_program_runs_as_an_agent_and_leaves_nothing_behind(world: World) -> None:
    mark = world.project.root / "ran"
    code = "import os, sys; open(sys.argv[1], 'w').write(os.environ['MOOT_AGENT']); sys.exit(3)"
    words = (sys.executable, "-c", code, str(mark))
    assert world.refuse("run", name=OTTER, adopt=True, words=words) == "adoption_rejected"
    assert world.refuse("run", name="coral-finch", scopes=["../x"], words=words) == "scope_outside"
    bare = ["sh", "-c", "claude --bare"]
    assert world.refuse("run", name="coral-finch", words=bare) == "guard_off"
    assert not mark.exists()
    ran = world.do("run", name="coral-finch", scopes=["src"], words=words)
    kept = {"agent": "coral-finch", "exit_status": 3, "tools": [], "unguarded": [], "usage": None}
    assert ran == kept
    assert mark.read_text() == "coral-finch"
    assert world.do("prompt")["here"] == 0
    assert "coral-finch" not in {one["agent"] for one in world.do("status")["agents"]}
    seen = world.do("status", ended=True)
    (finch,) = (one for one in seen["agents"] if one["agent"] == "coral-finch")
    assert (finch["status"], finch["here"], seen["reservations"]) == ("retired", False, [])
    assert finch["ended_at"] is not None


@story(does="plan plan.amend", refuses="plan.amend")
def a_plan_is_shared_and_only_its_newest_version_amended(world: World) -> None:
    assert world.do("plan", work="T-7")["plan"]["version"] == 0
    world.do("plan.amend", OTTER, work="T-7", text="1. cache", version=0)
    assert world.refuse("plan.amend", CRANE, work="T-7", text="2.", version=0) == "plan_outdated"
    amended = world.do("plan.amend", CRANE, work="T-7", text="1. cache, 2. tests", version=1)
    assert (amended["plan"]["version"], amended["plan"]["by"]) == (2, CRANE)
    assert world.do("plan", work="T-7") == amended

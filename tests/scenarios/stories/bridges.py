"""One matter through several protocols: stuck, argued, decided, done; each step once."""

from __future__ import annotations

from typing import Any

from moot.api.bridges.protocols import DebatePlan, ParliamentPlan
from tests.bridges.payments_project import AGENTS, FINCH, HERON, SCOPE, PaymentsProject
from tests.bridges.test_flows import CRITIQUE, dies, working
from tests.project import CRANE, OTTER
from tests.scenarios.world import World, story

LATER = "2026-02-18T12:40:00Z"
DEBATE = DebatePlan(participants=(FINCH,), rounds=2)
QUESTION = "# Question\n\n## Question\nWhich sandbox?\n\n## Urgency\n%s\n"
KICKOFF = (
    "# Slow logins\n\n## Research Question\nWhy so slow?\n\n## Context\nSince Monday.\n\n"
    '## Excerpt\n"It hangs." §12\n'
)


def open_payments(world: World) -> PaymentsProject:
    """A workspace of its own under a clock that stands, with four agents who are here."""
    place = world.project.root.parent
    made = PaymentsProject(place / "payments", str(place / "passphrase"))
    made.root.mkdir(parents=True)
    world.project = made
    made.ok("init", **made.person)
    for name in AGENTS:
        made.ok("join", "--register", name)
    return made


def go_on_later(project: PaymentsProject) -> None:
    project.env["MOOT_CLOCK"] = LATER


def plan(**changes: Any) -> DebatePlan:
    return DebatePlan(participants=(FINCH,), rounds=2, **changes)


@story(
    does="flow.list flow.blocked_to_debate flow.consensus_to_parliament flow.approval_to_trace"
    " flow.done_to_ack story",
    refuses="flow.blocked_to_debate flow.consensus_to_parliament flow.approval_to_trace"
    " flow.done_to_ack story",
)
def from_blocked_to_done(world: World) -> None:
    project = open_payments(world)
    (project.root / SCOPE).mkdir(parents=True)
    assert world.do("flow.list", paths=True) == {"paths": []}
    names = [line["name"] for line in world.do("flow.list")["flows"]]
    assert len(names) == 15
    message = project.blocked()
    file = project.root / "payments.md"
    assert world.refuse("flow.blocked_to_debate", message="none:1") == "source_not_found"
    with_file: dict[str, Any] = {"message": message, "plan": plan(file=file)}
    opened = world.do("flow.blocked_to_debate", CRANE, **with_file)
    assert (opened["file"], opened["step"]["asked_by"]) == ("payments.md", CRANE)
    assert world.do("flow.blocked_to_debate", **with_file)["again"]
    bill: dict[str, Any] = {
        "debate": "payments.md",
        "plan": ParliamentPlan(folder=project.root / "bill"),
    }
    assert world.refuse("flow.consensus_to_parliament", **bill) == "not_settled"
    project.agreed()
    assert world.do("flow.consensus_to_parliament", **bill)["folder"] == "bill"
    parts = {"executor": OTTER, "critic": FINCH, "auditor": HERON}
    work: dict[str, Any] = {"parliament": "bill", "tools": ("python",), **parts}
    assert world.refuse("flow.approval_to_trace", CRANE, **work) == "not_yet"
    project.to_vote()
    project.vote()
    project.decide("approve")
    taken = world.do("flow.approval_to_trace", CRANE, **work, evidence=("a paid order",))
    assert (taken["trace"], taken["path"]) == ("t1", opened["path"])
    assert world.refuse("flow.done_to_ack", CRANE, trace="t1") == "not_yet"
    finish_work(project)
    assert world.refuse("flow.done_to_ack", FINCH, trace="t1") == "not_addressed"
    done = world.do("flow.done_to_ack", trace="t1", agent=CRANE)
    assert (done["held"], done["holder"]) == ([SCOPE], OTTER)
    told = world.do("story", name=message, file=project.root / "path.html")
    assert [step["flow"] for step in told["steps"]][-1] == "done-to-ack"
    assert "Payments" in (project.root / "path.html").read_text("utf-8")
    assert world.refuse("story", name="nothing-9") == "story_not_found"
    (begun,) = world.do("flow.list", paths=True)["paths"]
    assert (begun["path"], begun["origin"]) == (opened["path"], OTTER)


def finish_work(project: PaymentsProject) -> None:
    project.reviewed()
    intent = project.intended(*project.touch())
    project.ok_as(OTTER, "reserve", SCOPE)
    project.ok("trace", "exec", "t1", intent)
    claim = ("--text", "orders are paid", "--confidence", "0.9", "--evidence", "x1/stdout")
    project.ok("trace", "claim", "t1", *claim)
    project.ok("trace", "finalize", "t1", "--statement", "Payments work.")
    project.ok("trace", "audit", "t1")


@story(
    does="flow.question_to_debate flow.kickoff_to_debate flow.critique_to_debate",
    refuses="flow.question_to_debate flow.kickoff_to_debate flow.critique_to_debate",
)
def messages_are_put_to_a_debate(world: World) -> None:
    project = open_payments(world)

    def send(subject: str, body: str) -> str:
        message: str = project.ok_as(OTTER, "send", CRANE, subject, project.file(body))["id"]
        return message

    calm = send("QUESTION: which sandbox?", QUESTION % "Soon")
    refused = world.refuse("flow.question_to_debate", message=calm, plan=DEBATE)
    assert refused == "not_blocking"
    blocking = send("QUESTION: which sandbox, now?", QUESTION % "Blocking")
    world.do("flow.question_to_debate", message=blocking, plan=DEBATE)
    critique = send("CRITIQUE: too little", CRITIQUE % "t1/c1")
    assert world.refuse("flow.kickoff_to_debate", message=critique) == "wrong_source"
    assert world.refuse("flow.critique_to_debate", message=blocking) == "wrong_source"
    world.do("flow.critique_to_debate", FINCH, message=critique, plan=DEBATE)
    thread = ("--thread", "RS-20260218-slow-logins", "--subject", "KICKOFF: Slow logins")
    words = ("mail", "send", "--from", OTTER, "--to", CRANE, *thread, project.file(KICKOFF))
    kickoff = project.ok(*words)["id"]
    opened = world.do("flow.kickoff_to_debate", message=kickoff)
    assert opened["file"].startswith(".moot/paths/debate-")


@story(does="flow.deadlock_to_parliament", refuses="flow.deadlock_to_parliament")
def a_deadlock_goes_on_if_a_person_asks(world: World) -> None:
    project = open_payments(world)
    project.debate(project.blocked(), "--rounds", "1")
    project.agreed(("defer",) * 3)
    taken_up: dict[str, Any] = {
        "debate": "payments.md",
        "plan": ParliamentPlan(folder=project.root / "bill"),
        "note": "Decide by cost.",
    }
    refused = world.refuse("flow.deadlock_to_parliament", OTTER, **taken_up)
    assert refused == "human_key_required"
    made = world.as_person("flow.deadlock_to_parliament", **taken_up)
    assert (made["folder"], made["step"]["asked_by"]) == ("bill", "operator")
    assert "Decide by cost." in project.session()["problem_statement"]


@story(
    does="flow.critique_to_challenge flow.challenge_to_critique flow.report_to_info",
    refuses="flow.critique_to_challenge flow.challenge_to_critique flow.report_to_info",
)
def a_critique_becomes_a_challenge_and_is_told(world: World) -> None:
    project = open_payments(world)
    intent = working(project)
    project.ok_as(OTTER, "reserve", SCOPE)
    project.ok("trace", "exec", "t1", intent)
    claim = ("trace", "claim", "t1", "--confidence", "0.9", "--evidence", "x1/stdout")
    project.ok(*claim, "--text", "paid")
    assert world.refuse("flow.challenge_to_critique", trace="t1", claim="c1") == "not_challenged"
    assert world.refuse("flow.report_to_info", trace="t1") == "not_yet"
    body = project.file(CRITIQUE % "c1")
    sent = project.ok_as(CRANE, "send", FINCH, "CRITIQUE: too little", body)["id"]
    challenge = {"message": sent, "trace": "t1"}
    assert world.refuse("flow.critique_to_challenge", OTTER, **challenge) == "not_the_critic"
    assert world.refuse("flow.critique_to_challenge", FINCH, message=sent) == "no_claim_named"
    made = world.do("flow.critique_to_challenge", FINCH, **challenge)
    assert made["step"]["made"][0]["id"] == "t1/c1"
    told = world.do("flow.challenge_to_critique", trace="t1", claim="c1")
    assert told["path"] == made["path"]
    project.ok(*claim, "--text", "one order was paid", "--supersedes", "c1")
    project.ok("trace", "finalize", "t1", "--statement", "done")
    project.ok("trace", "audit", "t1")
    assert world.do("flow.report_to_info", HERON, trace="t1")["step"]["asked_by"] == HERON


@story(does="flow.timeout_to_operator", refuses="flow.timeout_to_operator")
def people_are_told_that_a_debate_waits(world: World) -> None:
    project = open_payments(world)
    project.debate(project.blocked())
    assert world.refuse("flow.timeout_to_operator", debate="payments.md") == "not_yet"
    go_on_later(project)
    told = world.do("flow.timeout_to_operator", debate="payments.md")
    (message,) = project.ok("mail", "inbox", "--agent", "operator")["messages"]
    assert message["id"] == told["step"]["made"][0]["id"]


@story(does="flow.takeover_to_info", refuses="flow.takeover_to_info")
def who_lost_a_scope_is_told(world: World) -> None:
    project = open_payments(world)
    project.ok_as(OTTER, "reserve", SCOPE)
    assert world.refuse("flow.takeover_to_info", event="none") == "source_not_found"
    go_on_later(project)
    project.ok_as(CRANE, "reserve", SCOPE, "--takeover-stale")
    (taken,) = [one for one in project.ok("event", "list")["events"] if one["kind"] == "INCURSION"]
    told = world.do("flow.takeover_to_info", event=taken["id"])
    assert told["step"]["made"][0]["kind"] == "message"
    assert world.do("flow.takeover_to_info", event=taken["id"])["again"]


@story(
    does="flow.resume_to_work flow.resume_to_seat",
    refuses="flow.resume_to_work flow.resume_to_seat",
)
def an_adopted_name_gets_its_parts_and_seats_back(world: World) -> None:
    project = open_payments(world)
    project.debate(project.blocked())
    project.agreed()
    project.parliament()
    intent = working(project)
    project.ok_as(OTTER, "reserve", SCOPE, "--work", "pay-7")
    dies(project, intent)
    (project.root / SCOPE / "half.py").write_text("x = 1\n", encoding="utf-8")
    project.init_git()
    go_on_later(project)
    project.ok("join", "--adopt", OTTER, "--work", "pay-7")
    (event,) = [one for one in project.ok("event", "list")["events"] if one["kind"] == "RESUME"]
    adopted = {"event": event["id"]}
    assert world.refuse("flow.resume_to_work", CRANE, **adopted) == "human_key_required"
    assert world.refuse("flow.resume_to_seat", CRANE, **adopted) == "human_key_required"
    work = world.as_person("flow.resume_to_work", **adopted)
    assert [made["kind"] for made in work["step"]["made"]] == ["key", "recovery"]
    assert "make an opening statement" in {task["what"] for task in work["waits"]}
    seat = world.as_person("flow.resume_to_seat", **adopted)
    assert [made["kind"] for made in seat["step"]["made"]] == ["seat"]

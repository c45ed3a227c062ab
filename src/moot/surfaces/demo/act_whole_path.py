"""`--full`: one matter through all five protocols, from BLOCKED to verified claims.

It runs in another repository, with the usual stale time.
"""

from __future__ import annotations

import sys
from typing import Final

from moot.surfaces.demo.stage import FIRST, DemoCall, DemoStage, Lines, grep, say

OTTER, CRANE, FINCH, HERON = "amber-otter", "teal-crane", "coral-finch", "jade-heron"
DEBATE, BILL, SCOPE, TRACE = "payments.md", "bill", "src/payments", "t1"
RECORD, PAGE = "path.moot", "path.html"
PROGRAM, WRITES = "pay.py", f"{SCOPE}/sandbox.txt"
_PAY: Final = f"""with open("{WRITES}", "w") as file:
    file.write("cards-v2")
print("paid: 1 order, 12.00")
"""
_SAID: Final = (
    (OTTER, "0.9", "Use the new sandbox.", "Every card of the old one is rejected since Monday."),
    (CRANE, "0.8", "Yes; the old one was switched off.", "Its owner said so in the channel."),
    (FINCH, "0.7", "Yes, if one order is paid in it first.", "A test order, kept as evidence."),
)
_ONE: Final = DemoCall(part=FIRST)


def play(before: DemoStage) -> Lines:
    stage = before.make_sibling("payments")
    yield stage.title("The whole path", "blocked, argued, decided, done, proved")
    yield from stage.enter(before)
    yield from _set_up(stage)
    yield from _argue(stage)
    yield from _decide(stage)
    yield from _work(stage)
    yield from _close(stage)
    yield from before.enter(stage)


def _set_up(stage: DemoStage) -> Lines:
    (stage.repository / SCOPE).mkdir(parents=True)
    yield from stage.in_git("init", "--quiet")
    yield from stage.moot("init", how=DemoCall(part=FIRST, settings=stage.person))
    for name in (OTTER, CRANE, FINCH, HERON):
        yield from stage.moot("join", "--register", name, how=_ONE)


def _argue(stage: DemoStage) -> Lines:
    yield say("amber-otter is blocked, says so, and the three of them argue about it.")
    stuck = ("--subject", "Payments fail", "--blocker", "The sandbox rejects every card.")
    need = ("--requested-action", "Say which sandbox to use.", "--work", "pay-7")
    yield from stage.moot("--as", OTTER, "blocked", CRANE, *stuck, *need)
    (message,) = stage.data("mail", "inbox", "--agent", CRANE)["messages"]
    flow = ("flow", "blocked-to-debate", message["id"], "--with", FINCH, "--file", DEBATE)
    yield from stage.moot(*flow)
    for name, sure, summary, body in _SAID:
        entry = ("--author", name, "--stance", "approve", "--confidence", sure)
        words = ("debate", "add", DEBATE, *entry, "--summary", summary, "--body", body)
        yield from stage.moot("--as", name, *words)


def _decide(stage: DemoStage) -> Lines:
    yield say("Agreed among agents is not decided. A parliament (scripted voices) drafts a bill.")
    yield from stage.moot("flow", "consensus-to-parliament", DEBATE, "--dir", BILL)
    seats = [word for name in (OTTER, CRANE, FINCH) for word in _seat(name)]
    how = DemoCall(quiet=True)
    yield from stage.moot("parliament", "run", BILL, *seats, how=how)
    reason = ("--reason", "One paid order first, then all of them.")
    word = ("parliament", "decide", BILL, "approve", *reason)
    yield from stage.moot(*word, how=DemoCall(settings=stage.person))


def _seat(name: str) -> tuple[str, str]:
    return "--participant", f"{name}=rules:approve"


def _work(stage: DemoStage) -> Lines:
    yield say("The approved bill becomes a task; the critic must still approve each step of it.")
    roles = ("--executor", OTTER, "--critic", FINCH, "--auditor", HERON, "--tool", "python")
    flow = ("flow", "approval-to-trace", BILL, *roles, "--expect", "a paid order")
    yield from stage.moot("--as", CRANE, *flow)
    yes = ("--verdict", "approved", "--rationale", "as decided")
    yield from stage.moot("trace", "review", TRACE, "p1", *yes)
    why = ("--tool", "python", "--risk", "low", "--why", "pay one order in the new sandbox")
    stage.write(PROGRAM, _PAY)
    words = ("trace", "intend", TRACE, "p1", *why, "--writes", WRITES)
    yield from stage.moot(*words, "--", sys.executable, PROGRAM)
    yield from stage.moot("trace", "review-intent", TRACE, "i1", *yes)
    yield say("Nothing runs before its executor holds what it will write.")
    refused = DemoCall(expect=1, part=grep("^error"))
    yield from stage.moot("trace", "exec", TRACE, "i1", how=refused)
    yield from stage.moot("--as", OTTER, "reserve", SCOPE)
    yield from stage.moot("trace", "exec", TRACE, "i1")
    claim = ("--text", "An order was paid in the new sandbox.", "--confidence", "0.9")
    yield from stage.moot("trace", "claim", TRACE, *claim, "--evidence", "x1/stdout")
    yield from stage.moot("trace", "finalize", TRACE, "--statement", "Payments work again.")
    yield from stage.moot("trace", "audit", TRACE, how=_ONE)


def _close(stage: DemoStage) -> Lines:
    yield say("The first message gets its answer, and the record proves the whole path.")
    yield from stage.moot("--as", CRANE, "flow", "done-to-ack", TRACE)
    yield from stage.moot("--as", OTTER, "release", "--all")
    yield from stage.moot("story", TRACE, how=DemoCall(part=grep("^[0-9]+[.] |begun for")))
    yield from stage.moot("story", TRACE, "-o", f"../{PAGE}", how=DemoCall(part=grep("^written")))
    yield from stage.moot("ledger", "export", "-o", f"../{RECORD}", how=_ONE)
    yield from stage.moot("verify", f"../{RECORD}", how=_ONE)

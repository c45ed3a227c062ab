"""A trace with its four parts and a person: proposals, intents, runs, claims, and the audit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from moot.core.names import OPERATOR, SYSTEM
from moot.core.record import ArtifactRef
from moot.protocols.trace import commands as ask
from moot.protocols.trace.lifecycle import TRANSITIONS
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import ENDED, ExecutionResult, RoleBinding, Stage
from moot.protocols.trace.policy import Policy
from tests.model.small_world import Act, Scene, SmallWorld, Step, Taken, kid_of
from tests.trace.scene import (
    AUDITOR,
    BAD,
    CRITIC,
    EXECUTOR,
    PARTS,
    PLANNER,
    TRACE,
    intent,
    proposal,
)

ORDER = list(Stage)
MOST_PROPOSALS, MOST_INTENTS = 2, 3
OUTPUT = hashlib.sha256(b"all well\n").hexdigest()
OUT = (ask.Stored("stdout", ArtifactRef(OUTPUT, 9, "text/plain")),)
RAN = ExecutionResult(exit_status=0, duration_ms=1)
CITED = (ask.Cited(OUTPUT, OUT[0].ref),)
REPORT = ArtifactRef("0f" * 32, 2, "application/json")


class Trace(SmallWorld):
    machine = MACHINE
    stream = TRACE
    idle_commands = (ask.AbortTrace, ask.FailTrace)

    def find_openings(self) -> dict[str, Scene]:
        roles = tuple(RoleBinding(role, name, 1, kid_of(name)) for role, name in PARTS.items())
        begin = ask.OpenTrace(task="fix it", roles=roles, policy=Policy(max_attempts=2))
        opened = self.play(Scene(MACHINE.initial), Act(SYSTEM, begin))
        approve = ask.ReviewProposal(proposal_id="p1", status="approved", rationale="seen")
        planned = self.play(opened, Act(PLANNER, proposal()), Act(CRITIC, approve))
        intended = self.play(planned, Act(EXECUTOR, intent("p1")))
        ran = self.play(intended, self._start(intended, "i1"), Act(EXECUTOR, _complete("x1")))
        claimed = self.play(ran, Act(EXECUTOR, _claim()))
        return {
            "opened": opened,
            "a proposal approved": planned,
            "a tool intended": intended,
            "a tool has run": ran,
            "something claimed": claimed,
        }

    def _start(self, scene: Scene, name: str) -> Act:
        known = scene.state.intents.get(name)
        sha256 = known.input_hash if known is not None else "0" * 64
        ref = ArtifactRef(sha256, 1, "text/plain")
        return Act(EXECUTOR, ask.StartExecution(intent_id=name, input=ref))

    def list_steps(self, scene: Scene) -> Iterable[Step]:
        state = scene.state
        if state.proposal_count < MOST_PROPOSALS:
            yield Act(PLANNER, proposal())
            yield Act(EXECUTOR, proposal())
        for name in ("p1", "p2"):
            yield from _reviews(name)
            if state.intent_count < MOST_INTENTS:
                for risk in ("low", "high"):
                    yield Act(EXECUTOR, intent(name, risk=risk))
                yield Act(EXECUTOR, intent(name, retry_of="i1"))
        for name in ("i1", "i2"):
            for status in ("approved", "blocked"):
                seen = ask.ReviewIntent(intent_id=name, status=status, rationale="seen")
                yield Act(CRITIC, seen)
            yield self._start(scene, name)
        for name in ("x1", "x2"):
            yield Act(EXECUTOR, _complete(name))
            yield Act(EXECUTOR, ask.FailExecution(execution_id=name, failure=BAD))
            recover = ask.RecoverExecution(execution_id=name, evidence=("gone",), outputs=OUT)
            yield Act(EXECUTOR, recover)
        yield from self._claims_and_audit(scene)

    def _claims_and_audit(self, scene: Scene) -> Iterable[Step]:
        state = scene.state
        if state.claim_count < 2:
            yield Act(EXECUTOR, _claim())
            yield Act(EXECUTOR, _claim(supersedes="c1"))
        for name in ("c1", "c2"):
            yield Act(CRITIC, ask.ChallengeClaim(claim_id=name, reason="weak"))
            yield Act(EXECUTOR, ask.WithdrawClaim(claim_id=name))
        yield Act(EXECUTOR, ask.SignFinalStatement(statement="done"))
        if state.run_count < 2:
            yield Act(AUDITOR, ask.StartVerification())
        run = state.run
        for status in ("pass", "fail"):
            head, events = (run.head, run.events) if run is not None else ("", 0)
            done = ask.CompleteVerification(
                run_id=f"v{max(state.run_count, 1)}", status=status, report=REPORT, head=head,
                events=events,
            )  # fmt: skip
            yield Act(AUDITOR, done)
        yield Act(OPERATOR, ask.AbortTrace(reason="enough"))
        yield Act(SYSTEM, ask.FailTrace(code="chain_break", detail=""))

    def key_of(self, scene: Scene) -> bytes:
        """What came when is not told apart: only the audit looks at the newest event."""
        state = replace(scene.state, head="", events=0)
        return super().key_of(replace(scene, state=state))

    def is_final(self, scene: Scene) -> bool:
        return scene.state.stage in ENDED

    def is_at_bound(self, scene: Scene) -> bool:
        state = scene.state
        return bool(state.proposal_count >= MOST_PROPOSALS or state.intent_count >= MOST_INTENTS)

    def find_flaws_of_step(self, before: Scene, _step: Step, taken: Taken) -> Iterator[str]:
        old, new = before.state.stage, taken.scene.state.stage
        if old in ENDED and taken.recorded:
            yield f"the trace is {old}, and goes on"
        if new not in ENDED and ORDER.index(new) < ORDER.index(old):
            yield f"{old} went back to {new}"

    def find_flaws(self, scene: Scene) -> Iterator[str]:
        state = scene.state
        if set(TRANSITIONS) != set(Stage):
            yield "a stage is missing from the table"
        due = self.machine.agenda(state, scene.now)
        if not due and state.stage not in ENDED:
            yield f"a trace in {state.stage} waits for nobody"
        for one in due:
            if one.who not in PARTS.values():
                yield f"{one.who} is waited for, and has no part"
        for name, run in state.running.items():
            known = state.intents.get(run.intent_id) if hasattr(run, "intent_id") else None
            if known is None and hasattr(run, "intent_id"):
                yield f"{name} runs an intent that nobody signed"


def _reviews(name: str) -> Iterable[Step]:
    for status in ("approved", "rejected"):
        review = ask.ReviewProposal(proposal_id=name, status=status, rationale="seen")
        yield Act(CRITIC, review)
    yield Act(PLANNER, ask.ReviewProposal(proposal_id=name, status="approved", rationale="mine"))


def _complete(name: str) -> ask.CompleteExecution:
    return ask.CompleteExecution(execution_id=name, outputs=OUT, result=RAN)


def _claim(**more: Any) -> ask.IssueClaim:
    return ask.IssueClaim(text="it is fixed", confidence="0.9", evidence=CITED, **more)

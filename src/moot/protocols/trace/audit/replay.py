"""One pass over a recorded trace, event by event, with the rules that decided it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from moot.core.findings import Finding
from moot.core.machine import Event, KeyClass, Recorded
from moot.core.record import Actor
from moot.protocols.trace import events as did
from moot.protocols.trace.evolution import evolve
from moot.protocols.trace.lifecycle import PermissionCase, TraceActor, case_of, trace_actor
from moot.protocols.trace.model import State
from moot.protocols.trace.rules import GUARDS, RULES


class TraceWalk:
    """What an audit needs to know of a trace, gathered in one pass.

    `cited` is artifact -> first event that names it, `left` artifact -> run that left it,
    `unproven` the evidence of claims that no ended run had left, `breaches` broken rules by event.
    """

    def __init__(self, in_charge: frozenset[str]) -> None:
        self.events: list[Recorded[Any]] = []
        self.state = State()
        self.breaches: list[tuple[int, Finding]] = []
        self.cited: dict[str, int] = {}
        self.left: dict[str, str] = {}
        self.unproven: list[tuple[int, str]] = []
        self.claims: dict[str, Recorded[did.ClaimIssued]] = {}
        self.challenges: list[Recorded[did.ClaimChallenged]] = []
        self.started: dict[str, Recorded[did.ToolExecutionStarted]] = {}
        self.ended: list[Recorded[Any]] = []
        self.finals: list[int] = []
        self._in_charge = in_charge
        self._actors: dict[Actor, TraceActor] = {}
        self._passed: set[tuple[object, ...]] = set()

    def go_through(self, events: Iterable[Recorded[Any]]) -> TraceWalk:
        for recorded in events:
            self.take_event(recorded)
        return self

    def take_event(self, recorded: Recorded[Any]) -> None:
        """Check the next event against the state before it, then apply it to the state."""
        event, kind = recorded.event, type(recorded.event)
        case = case_of(self.state, event, self._who_acts(recorded.actor))
        self._check_guards(case, recorded.seq)
        for rule, check in _RULES[kind]:
            for breach in check(case):
                self.breaches.append((recorded.seq, rule.finding(*breach)))
        self.events.append(recorded)
        for ref in recorded.artifacts:
            self.cited.setdefault(ref.sha256, recorded.seq)
        noted = _NOTES.get(kind)
        if noted is not None:
            noted(self, recorded)
        self.state = evolve(self.state, recorded)

    def _check_guards(self, case: PermissionCase, seq: int) -> None:
        """Check the guards once for each situation: most events of a trace share one."""
        state = case.state
        question = (case.kind, case.who, state.stage, state.final is None, state.roles)
        if question in self._passed:
            return
        findings = [rule.finding(*breach) for rule in GUARDS for breach in rule.check(case)]
        if findings:
            self.breaches += ((seq, finding) for finding in findings)
        else:
            self._passed.add(question)

    def _who_acts(self, actor: Actor) -> TraceActor:
        who = self._actors.get(actor)
        if who is None:
            who = self._actors[actor] = trace_actor(actor, self._key_class(actor.kid))
        return who

    def _key_class(self, kid: str) -> KeyClass | None:
        if not self._in_charge:
            return None
        return KeyClass.HUMAN if kid in self._in_charge else KeyClass.AGENT


def _note_start(walk: TraceWalk, recorded: Recorded[did.ToolExecutionStarted]) -> None:
    walk.started[recorded.event.execution_id] = recorded
    walk.cited.setdefault(recorded.event.input_artifact, recorded.seq)


def _note_end(walk: TraceWalk, recorded: Recorded[did.ExecutionEnded]) -> None:
    event = recorded.event
    walk.ended.append(recorded)
    for sha256 in (event.input_artifact, *(output.sha256 for output in event.outputs)):
        walk.left.setdefault(sha256, event.execution_id)
        walk.cited.setdefault(sha256, recorded.seq)


def _note_claim(walk: TraceWalk, recorded: Recorded[did.ClaimIssued]) -> None:
    walk.claims.setdefault(recorded.event.claim_id, recorded)
    for sha256 in recorded.event.evidence:
        walk.cited.setdefault(sha256, recorded.seq)
        if sha256 not in walk.left:
            walk.unproven.append((recorded.seq, sha256))


def _note_challenge(walk: TraceWalk, recorded: Recorded[did.ClaimChallenged]) -> None:
    walk.challenges.append(recorded)
    for sha256 in recorded.event.evidence:
        walk.cited.setdefault(sha256, recorded.seq)


def _note_final_statement(walk: TraceWalk, recorded: Recorded[did.FinalStatementSigned]) -> None:
    walk.finals.append(recorded.seq)


def _note_report(walk: TraceWalk, recorded: Recorded[did.VerificationRunCompleted]) -> None:
    walk.cited.setdefault(recorded.event.report_artifact, recorded.seq)


_NOTES: Final[dict[type[Event], Callable[[TraceWalk, Any], None]]] = {
    did.ToolExecutionStarted: _note_start,
    did.ToolExecutionCompleted: _note_end,
    did.ToolExecutionFailed: _note_end,
    did.ClaimIssued: _note_claim,
    did.ClaimChallenged: _note_challenge,
    did.FinalStatementSigned: _note_final_statement,
    did.VerificationRunCompleted: _note_report,
}
_RULES: Final = {
    kind: tuple((rule, rule.check) for rule in RULES.get(kind, ())) for kind in did.EVENTS
}

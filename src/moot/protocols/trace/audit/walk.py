"""A recorded trace gone through once, event by event, with the same rules that decided it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from moot.core.findings import Finding
from moot.core.machine import Event, KeyClass, Recorded
from moot.core.record import Actor
from moot.protocols.trace import events as did
from moot.protocols.trace.case import PermissionCase, case_of
from moot.protocols.trace.evolution import evolve
from moot.protocols.trace.model import State
from moot.protocols.trace.roles import Who, acting
from moot.protocols.trace.rules import GUARDS, RULES


class Walk:
    """What an audit needs to know: breaches by position, artifacts, claims, runs, the end."""

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
        self._known: dict[Actor, Who] = {}
        self._cleared: set[tuple[object, ...]] = set()

    def through(self, events: Iterable[Recorded[Any]]) -> Walk:
        for recorded in events:
            self.step(recorded)
        return self

    def step(self, recorded: Recorded[Any]) -> None:
        """The next event; each in its turn, so that nothing needs to be kept for later."""
        event, kind = recorded.event, type(recorded.event)
        case = case_of(self.state, event, self._who(recorded.actor))
        self._guard(case, recorded.seq)
        for rule, check in _RULES[kind]:
            for breach in check(case):
                self.breaches.append((recorded.seq, rule.finding(*breach)))
        self.events.append(recorded)
        for ref in recorded.artifacts:
            self.cited.setdefault(ref.sha256, recorded.seq)
        noted = _NOTED.get(kind)
        if noted is not None:
            noted(self, recorded)
        self.state = evolve(self.state, recorded)

    def _guard(self, case: PermissionCase, seq: int) -> None:
        """What the guards ask is the same for most events: what they have let pass, passes."""
        state = case.state
        asked = (case.kind, case.who, state.stage, state.final is None, state.roles)
        if asked in self._cleared:
            return
        found = [rule.finding(*breach) for rule in GUARDS for breach in rule.check(case)]
        if found:
            self.breaches += ((seq, finding) for finding in found)
        else:
            self._cleared.add(asked)

    def _who(self, actor: Actor) -> Who:
        who = self._known.get(actor)
        if who is None:
            who = self._known[actor] = acting(actor, self._kind(actor.kid))
        return who

    def _kind(self, kid: str) -> KeyClass | None:
        if not self._in_charge:
            return None
        return KeyClass.HUMAN if kid in self._in_charge else KeyClass.AGENT


def _on_start(walk: Walk, recorded: Recorded[did.ToolExecutionStarted]) -> None:
    walk.started[recorded.event.execution_id] = recorded
    walk.cited.setdefault(recorded.event.input_artifact, recorded.seq)


def _on_end(walk: Walk, recorded: Recorded[did.ExecutionEnded]) -> None:
    event = recorded.event
    walk.ended.append(recorded)
    for sha256 in (event.input_artifact, *(one.sha256 for one in event.outputs)):
        walk.left.setdefault(sha256, event.execution_id)
        walk.cited.setdefault(sha256, recorded.seq)


def _on_claim(walk: Walk, recorded: Recorded[did.ClaimIssued]) -> None:
    walk.claims.setdefault(recorded.event.claim_id, recorded)
    for sha256 in recorded.event.evidence:
        walk.cited.setdefault(sha256, recorded.seq)
        if sha256 not in walk.left:
            walk.unproven.append((recorded.seq, sha256))


def _on_challenge(walk: Walk, recorded: Recorded[did.ClaimChallenged]) -> None:
    walk.challenges.append(recorded)
    for sha256 in recorded.event.evidence:
        walk.cited.setdefault(sha256, recorded.seq)


def _on_final(walk: Walk, recorded: Recorded[did.FinalStatementSigned]) -> None:
    walk.finals.append(recorded.seq)


def _on_verified(walk: Walk, recorded: Recorded[did.VerificationRunCompleted]) -> None:
    walk.cited.setdefault(recorded.event.report_artifact, recorded.seq)


_NOTED: Final[dict[type[Event], Callable[[Walk, Any], None]]] = {
    did.ToolExecutionStarted: _on_start,
    did.ToolExecutionCompleted: _on_end,
    did.ToolExecutionFailed: _on_end,
    did.ClaimIssued: _on_claim,
    did.ClaimChallenged: _on_challenge,
    did.FinalStatementSigned: _on_final,
    did.VerificationRunCompleted: _on_verified,
}
_RULES: Final = {
    kind: tuple((rule, rule.check) for rule in RULES.get(kind, ())) for kind in did.EVENTS
}

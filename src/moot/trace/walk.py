"""A recorded trace gone through once, event by event, with the same rules that decided it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from moot.core.findings import Finding
from moot.core.machine import KeyClass, Recorded
from moot.trace import events as did
from moot.trace.checks import Told
from moot.trace.evolution import evolve
from moot.trace.model import State
from moot.trace.roles import acting
from moot.trace.rules import GUARDS, RULES


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
        self.intents: dict[str, did.ToolIntentSigned] = {}
        self.started: dict[str, Recorded[did.ToolExecutionStarted]] = {}
        self.ended: list[Recorded[Any]] = []
        self.finals: list[int] = []
        self._in_charge = in_charge

    def through(self, events: Iterable[Recorded[Any]]) -> Walk:
        for recorded in events:
            self.step(recorded)
        return self

    def step(self, recorded: Recorded[Any]) -> None:
        """The next event; each in its turn, so that nothing needs to be kept for later."""
        event, kind = recorded.event, type(recorded.event)
        told = Told(self.state, event, acting(recorded.actor, self._kind(recorded)), kind)
        for rule in _ALL[kind]:
            for breach in rule.check(told):
                self.breaches.append((recorded.seq, rule.finding(*breach)))
        self.events.append(recorded)
        for ref in recorded.artifacts:
            self.cited.setdefault(ref.sha256, recorded.seq)
        self._note(recorded, event)
        self.state = evolve(self.state, recorded)

    def _kind(self, recorded: Recorded[Any]) -> KeyClass | None:
        if not self._in_charge:
            return None
        return KeyClass.HUMAN if recorded.actor.kid in self._in_charge else KeyClass.AGENT

    def _note(self, recorded: Recorded[Any], event: Any) -> None:
        if isinstance(event, did.ToolIntentSigned):
            self.intents[event.intent_id] = event
        elif isinstance(event, did.ToolExecutionStarted):
            self.started[event.execution_id] = recorded
            self.cited.setdefault(event.input_artifact, recorded.seq)
        elif isinstance(event, did.ToolExecutionCompleted | did.ToolExecutionFailed):
            self.ended.append(recorded)
            for sha256 in (event.input_artifact, *(one.sha256 for one in event.outputs)):
                self.left.setdefault(sha256, event.execution_id)
                self.cited.setdefault(sha256, recorded.seq)
        elif isinstance(event, did.ClaimIssued):
            self.claims.setdefault(event.claim_id, recorded)
            for sha256 in event.evidence:
                self.cited.setdefault(sha256, recorded.seq)
                if sha256 not in self.left:
                    self.unproven.append((recorded.seq, sha256))
        elif isinstance(event, did.ClaimChallenged):
            self.challenges.append(recorded)
        elif isinstance(event, did.FinalStatementSigned):
            self.finals.append(recorded.seq)


_ALL: Final = {kind: (*GUARDS, *RULES.get(kind, ())) for kind in did.EVENTS}

"""One trace with its four agents and a person: the machine alone, or over a real ledger."""

from __future__ import annotations

import hashlib
from typing import Any, Self

import msgspec
import pytest

from moot.core.clock import Millis, parse_time
from moot.core.errors import MootError, Refused
from moot.core.machine import (
    Command,
    Context,
    Decision,
    Draft,
    KeyClass,
    Recorded,
    VerifiedActor,
)
from moot.core.names import OPERATOR, SYSTEM
from moot.core.record import Actor, ArtifactRef
from moot.engine.replay import read_record
from moot.protocols.trace import commands as ask
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import (
    MEDIA_TYPE,
    ExecutionFailure,
    ExecutionResult,
    FailureKind,
    HeldReservation,
    Role,
    RoleBinding,
    Stage,
    State,
    encode_input,
    sha256_hex,
)
from moot.protocols.trace.policy import DEFAULT_POLICY, Policy
from moot.testing import World

NOON: Millis = parse_time("2026-02-18T12:00:00.000Z")
KINDS = {OPERATOR: KeyClass.HUMAN, SYSTEM: KeyClass.SYSTEM}
TRACE = "trace/t1"
PLANNER, EXECUTOR, CRITIC, AUDITOR = "plan-owl", "amber-otter", "teal-crane", "grey-heron"
PARTS = {
    Role.PLANNER: PLANNER,
    Role.EXECUTOR: EXECUTOR,
    Role.CRITIC: CRITIC,
    Role.AUDITOR: AUDITOR,
}
OK = ExecutionResult(exit_status=0, duration_ms=5)
BAD = ExecutionFailure(kind=FailureKind.EXIT, detail="exit status 1", exit_status=1)
NOWHERE = hashlib.sha256(b"never stored").hexdigest()


class Trace:
    """The machine alone, with a record in memory; `Ledgered` is the same over a real ledger.

    Short ways to say what is done; each returns what was recorded.
    """

    stream = TRACE

    def __init__(self) -> None:
        self.now: Millis = NOON
        self.state: State = MACHINE.initial
        self.records: list[Recorded[Any]] = []
        self.blobs: dict[str, bytes] = {}
        names = (*PARTS.values(), OPERATOR, SYSTEM)
        self.kids = {name: sha256_hex(name.encode())[:32] for name in names}

    def history(self) -> list[Recorded[Any]]:
        return list(self.records)

    def stage(self) -> Stage:
        """A call, so that nobody (mypy included) takes what it was for what it is."""
        return self.state.stage

    def decide(self, command: Command, actor: str, role: str | None = None) -> Decision:
        kind = KINDS.get(actor, KeyClass.AGENT)
        acting = VerifiedActor(actor, 1, self.kid(actor), kind, role)
        return MACHINE.decide(self.state, command, Context(self.now, acting, self.stream, "origin"))

    def execute(self, command: Command, actor: str, role: str | None = None) -> list[Any]:
        """What was recorded; Refused if nothing but the refusal's own."""
        decision = self.decide(command, actor, role)
        recorded = [self.record(draft, actor, role) for draft in decision.drafts]
        if decision.refused:
            raise Refused.of(decision.findings)
        return recorded

    def record(self, draft: Draft, actor: str, role: str | None = None) -> Recorded[Any]:
        """Put an event down, allowed or not."""
        seq = len(self.records)
        before = self.records[-1].hash if self.records else b""
        content = before + msgspec.json.encode(draft.event)
        recorded: Recorded[Any] = Recorded(
            draft.event,
            self.stream,
            seq,
            self.now,
            Actor(actor, 1, self.kid(actor), role),
            hashlib.sha256(content).digest(),
            artifacts=draft.artifacts,
        )
        self.records.append(recorded)
        list(MACHINE.index(recorded))
        self.state = MACHINE.evolve(self.state, recorded)
        return recorded

    def run(self, command: Command, actor: str) -> Any:
        """The one event that `command` records."""
        (recorded,) = self.execute(command, actor)
        return recorded.event

    def refused(self, command: Command, actor: str, *, records: int = 0) -> str:
        """The code of the refusal; nothing else may have changed."""
        before, state = self.history(), self.state
        with pytest.raises(MootError) as caught:
            self.execute(command, actor)
        after = self.history()
        assert after[: len(before)] == before
        assert len(after) == len(before) + records
        assert records or self.state == state
        assert caught.value.hint
        return caught.value.code

    def kid(self, agent: str) -> str:
        return self.kids[agent]

    def bindings(self, **changed: str) -> tuple[RoleBinding, ...]:
        named = {**PARTS, **{Role(role): name for role, name in changed.items()}}
        return tuple(RoleBinding(role, name, 1, self.kid(name)) for role, name in named.items())

    def store(self, data: bytes, media_type: str = "text/plain") -> ArtifactRef:
        sha256 = sha256_hex(data)
        self.blobs[sha256] = data
        return ArtifactRef(sha256, len(data), media_type)

    def size(self, sha256: str) -> int | None:
        return len(self.blobs[sha256]) if sha256 in self.blobs else None

    def open(self, policy: Policy = DEFAULT_POLICY, actor: str = SYSTEM, **changed: str) -> Self:
        roles = self.bindings(**changed)
        self.run(ask.OpenTrace(task="fix the parser", roles=roles, policy=policy), actor)
        return self

    def propose(self, *tools: str, **more: Any) -> str:
        event = self.run(proposal(*tools, **more), PLANNER)
        name: str = event.proposal_id
        return name

    def review(self, name: str, status: str = "approved") -> None:
        self.run(ask.ReviewProposal(proposal_id=name, status=status, rationale="seen"), CRITIC)

    def approved(self, *tools: str, **more: Any) -> str:
        name = self.propose(*tools, **more)
        self.review(name)
        return name

    def intend(self, proposal_id: str, *command: str, **more: Any) -> str:
        event = self.run(intent(proposal_id, *command, **more), EXECUTOR)
        name: str = event.intent_id
        return name

    def consent(self, name: str, status: str = "approved") -> None:
        self.run(ask.ReviewIntent(intent_id=name, status=status, rationale="seen"), CRITIC)

    def input_of(self, name: str) -> ArtifactRef:
        for recorded in self.history():
            event = recorded.event
            if getattr(event, "input_hash", None) and event.intent_id == name:
                data = encode_input(
                    event.tool, event.command, event.cwd, event.env, event.timeout_ms
                )
                return self.store(data, MEDIA_TYPE)
        raise AssertionError(name)

    def starting(self, name: str, *held: HeldReservation) -> ask.StartExecution:
        return ask.StartExecution(intent_id=name, input=self.input_of(name), reservations=held)

    def start(self, name: str, *held: HeldReservation) -> str:
        execution: str = self.run(self.starting(name, *held), EXECUTOR).execution_id
        return execution

    def complete(self, name: str, output: bytes = b"all well\n") -> str:
        """The hash of what the run left."""
        ref = self.store(output)
        outputs = (ask.Stored("stdout", ref),)
        command = ask.CompleteExecution(execution_id=name, outputs=outputs, result=OK)
        self.run(command, EXECUTOR)
        return ref.sha256

    def fail(self, name: str) -> None:
        self.run(ask.FailExecution(execution_id=name, failure=BAD), EXECUTOR)

    def ran(self, proposal_id: str, *command: str, output: bytes = b"all well\n") -> str:
        """An intent, run to its end; the hash of what it left."""
        return self.complete(self.start(self.intend(proposal_id, *command)), output)

    def cited(self, *hashes: str) -> tuple[ask.Cited, ...]:
        sizes = {one: self.size(one) for one in hashes}
        return tuple(
            ask.Cited(one, ArtifactRef(one, size, "text/plain") if size is not None else None)
            for one, size in sizes.items()
        )

    def claiming(self, *evidence: str, **more: Any) -> ask.IssueClaim:
        said = {"text": "the parser is fixed", "confidence": "0.9", **more}
        return ask.IssueClaim(evidence=self.cited(*evidence), **said)

    def claim(self, *evidence: str, **more: Any) -> str:
        name: str = self.run(self.claiming(*evidence, **more), EXECUTOR).claim_id
        return name

    def challenge(self, name: str) -> None:
        self.run(ask.ChallengeClaim(claim_id=name, reason="weak"), CRITIC)

    def finish(self) -> None:
        self.run(ask.SignFinalStatement(statement="done"), EXECUTOR)

    def verifying(self, profile: str = "default") -> str:
        name: str = self.run(ask.StartVerification(profile=profile), AUDITOR).run_id
        return name

    def verified(self, name: str, status: str = "pass") -> ask.CompleteVerification:
        run = self.state.run
        head, events = (run.head, run.events) if run is not None else ("", 0)
        report = self.store(b'{"report":1}', "application/json")
        return ask.CompleteVerification(
            run_id=name, status=status, report=report, head=head, events=events
        )

    def verify(self, status: str = "pass") -> None:
        self.run(self.verified(self.verifying(), status), AUDITOR)

    def to(self, stage: str) -> Self:
        """A fresh trace, brought on its straight way to `stage`."""
        for name, step in _WAY.items():
            if name == stage:
                break
            step(self)
        assert self.state.stage == stage, self.state.stage
        return self


class Ledgered(Trace):
    """The same over the production engine and a ledger in memory, with real keys."""

    def __init__(self, world: World | None = None, stream: str = TRACE) -> None:
        super().__init__()
        self.world = world or World()
        self.stream = stream
        agents = self.world.engine.registry().agents
        for name in PARTS.values():
            if name not in agents:
                self.world.agent(name)
        if OPERATOR not in agents:
            self.world.human()

    def __getattribute__(self, name: str) -> Any:
        if name == "state":
            return self.world.engine.state(MACHINE, self.stream)
        return super().__getattribute__(name)

    def history(self) -> list[Recorded[Any]]:
        machine = self.world.machines.machine_of(self.stream)
        with self.world.store.read() as view:
            return [read_record(machine, record) for record in view.records(self.stream)]

    def execute(self, command: Command, actor: str, role: str | None = None) -> list[Any]:
        outcome = self.world.engine.execute(self.stream, command, actor, role=role)
        return list(outcome.recorded)

    def kid(self, agent: str) -> str:
        return self.world.engine.registry().agents[agent].kid

    def store(self, data: bytes, media_type: str = "text/plain") -> ArtifactRef:
        return self.world.artifacts.put(data, media_type)

    def size(self, sha256: str) -> int | None:
        return self.world.artifacts.size(sha256)


def proposal(*tools: str, **more: Any) -> ask.CreateProposal:
    said: dict[str, Any] = {
        "objective": "run the tests",
        "assumptions": ("the tests are right",),
        "expected_evidence": ("their output",),
        **more,
    }
    return ask.CreateProposal(required_tools=tools or ("pytest",), **said)


def intent(proposal_id: str, *command: str, **more: Any) -> ask.SignIntent:
    words = command or ("pytest", "-q")
    said: dict[str, Any] = {
        "tool": words[0],
        "risk": "low",
        "justification": "to see whether it holds",
        **more,
    }
    return ask.SignIntent(proposal_id=proposal_id, command=words, **said)


_WAY: dict[str, Any] = {
    "initialized": lambda trace: trace.open(),
    "planning": lambda trace: trace.propose(),
    "reviewing": lambda trace: trace.review("p1"),
    "executing": lambda trace: trace.ran("p1"),
    "claiming": lambda trace: trace.claim(hashlib.sha256(b"all well\n").hexdigest()),
    "auditing": lambda trace: (trace.finish(), trace.verify()),
    "completed": None,
}

"""What holds in every history of a trace, with any commands by any actors in any order."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from moot.core.errors import Malformed
from moot.core.machine import Draft
from moot.core.names import OPERATOR, SYSTEM
from moot.core.paged_map import decode_state, encode_state
from moot.core.record import ArtifactRef
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.audit.report import ArtifactPresence, AuditFacts
from moot.protocols.trace.audit.verification import audit_events, list_cited_artifacts
from moot.protocols.trace.command_events import DRAFTS
from moot.protocols.trace.evolution import _EVOLVE
from moot.protocols.trace.lifecycle import ROLE_OF_EVENT, TRANSITIONS
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import (
    ENDED,
    MARK_BYTES,
    PAGE_BYTES,
    AuditVerdict,
    ExecutionFailure,
    ExecutionResult,
    FailureKind,
    HeldReservation,
    Stage,
    State,
    add_artifacts,
    holds_artifact,
    sha256_hex,
)
from moot.protocols.trace.policy import Policy
from moot.protocols.trace.rules import RULES, WORDING_RULES
from moot.protocols.trace.views import (
    EVENT_NAMES,
    parse_event,
    view_status,
    view_timeline,
)
from tests.sampling import examples

from .scene import AUDITOR, CRITIC, EXECUTOR, PARTS, PLANNER, Trace

ACTORS = (*PARTS.values(), OPERATOR, SYSTEM)
ORDER = list(Stage)
_right = st.booleans() | st.just(True)
_proposals = st.sampled_from(["p1", "p2", "p3", "p9", ""])
_intents = st.sampled_from(["i1", "i2", "i3", "i4", "i9"])
_runs = st.sampled_from(["x1", "x2", "x3", "x9"])
_claims = st.sampled_from(["c1", "c2", "c9"])
_words = st.sampled_from(["pytest", "make", "rm", "", "\ud800", "token=abcdefgh"])
_maybe = st.none()


class Traces(RuleBasedStateMachine):
    """Random acts of anybody on one trace; what is refused must change nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.trace = Trace()
        self.trace.open(Policy(max_attempts=2))
        self.stages = [self.trace.state.stage]

    def act(self, command: Any, actor: str) -> None:
        before, state = self.trace.history(), self.trace.state
        decision = self.trace.decide(command, actor)
        if decision.refused:
            assert decision.findings
            assert all(finding.hint for finding in decision.findings)
            if not isinstance(command, ask.ReportForgery):
                assert not decision.drafts
        for draft in decision.drafts:
            self.trace.record(draft, actor)
        if not decision.drafts:
            assert self.trace.state == state
        assert self.trace.history()[: len(before)] == before
        self.stages.append(self.trace.state.stage)

    def by(self, right: bool, actor: str) -> str:
        return actor if right else ACTORS[len(self.stages) % len(ACTORS)]

    @rule(tool=_words, supersedes=_maybe | _proposals, right=_right)
    def propose(self, tool: str, supersedes: str | None, right: bool) -> None:
        command = ask.CreateProposal(
            objective="x",
            required_tools=(tool,),
            assumptions=(),
            expected_evidence=(),
            supersedes=supersedes,
        )
        self.act(command, self.by(right, PLANNER))

    @rule(
        name=_proposals,
        status=st.sampled_from(["approved", "approved", "conditional", "rejected", "blocked", "?"]),
        right=_right,
    )
    def review(self, name: str, status: str, right: bool) -> None:
        command = ask.ReviewProposal(proposal_id=name, status=status, rationale="x")
        self.act(command, self.by(right, CRITIC))

    @rule(
        name=_proposals,
        tool=_words,
        risk=st.sampled_from(["low", "high", "?"]),
        retry=_maybe | _intents,
        supersedes=_maybe | _intents,
        right=_right,
    )
    def intend(
        self,
        name: str,
        tool: str,
        risk: str,
        retry: str | None,
        supersedes: str | None,
        right: bool,
    ) -> None:
        command = ask.SignIntent(
            proposal_id=name,
            tool=tool,
            command=(tool,),
            risk=risk,
            justification="x",
            retry_of=retry,
            supersedes=supersedes,
        )
        self.act(command, self.by(right, EXECUTOR))

    @rule(name=_intents, status=st.sampled_from(["approved", "approved", "blocked"]), right=_right)
    def consent(self, name: str, status: str, right: bool) -> None:
        command = ask.ReviewIntent(intent_id=name, status=status, rationale="x")
        self.act(command, self.by(right, CRITIC))

    @rule(name=_intents, right=_right)
    def start(self, name: str, right: bool) -> None:
        known = self.trace.state.intents.get(name)
        sha256 = known.input_hash if known is not None else "0" * 64
        ref = ArtifactRef(sha256, 1, "text/plain")
        self.act(ask.StartExecution(intent_id=name, input=ref), self.by(right, EXECUTOR))

    @rule(name=_runs, well=st.booleans(), right=_right)
    def end(self, name: str, well: bool, right: bool) -> None:
        out = (ask.Stored("stdout", self.trace.store(name.encode())),)
        if well:
            result = ExecutionResult(exit_status=0, duration_ms=1)
            command: Any = ask.CompleteExecution(execution_id=name, outputs=out, result=result)
        else:
            command = ask.RecoverExecution(execution_id=name, evidence=("gone",), outputs=out)
        self.act(command, self.by(right, EXECUTOR))

    @rule(name=_runs, supersedes=_maybe | _claims, there=st.booleans(), right=_right)
    def claim(self, name: str, supersedes: str | None, there: bool, right: bool) -> None:
        ref = self.trace.store(name.encode())
        cited = ask.Cited(ref.sha256, ref if there else None)
        command = ask.IssueClaim(
            text="x", confidence="0.7", evidence=(cited,), supersedes=supersedes
        )
        self.act(command, self.by(right, EXECUTOR))

    @rule(name=_claims, withdraw=st.booleans(), right=_right)
    def doubt(self, name: str, withdraw: bool, right: bool) -> None:
        if withdraw:
            self.act(ask.WithdrawClaim(claim_id=name), self.by(right, EXECUTOR))
        else:
            command = ask.ChallengeClaim(claim_id=name, reason="weak")
            self.act(command, self.by(right, CRITIC))

    @rule(right=_right, status=st.sampled_from(["pass", "fail", "pass-with-warnings"]))
    def finish(self, right: bool, status: str) -> None:
        self.act(ask.SignFinalStatement(statement="x"), self.by(right, EXECUTOR))
        self.act(ask.StartVerification(), self.by(right, AUDITOR))
        self.act(self.trace.verified("v1", status), self.by(right, AUDITOR))

    @rule(seldom=st.integers(0, 30), right=_right)
    def stop(self, seldom: int, right: bool) -> None:
        commands: dict[int, Any] = {
            0: ask.AbortTrace(reason="x"),
            1: ask.FailTrace(code="chain_break", detail=""),
            2: ask.ReportForgery(kid="0" * 32, detail="x"),
            3: ask.ReportForgery(kid=self.trace.kid(EXECUTOR), detail="x"),
        }
        if seldom in commands:
            self.act(commands[seldom], self.by(right, OPERATOR))

    @invariant()
    def the_state_only_moves_forward(self) -> None:
        before, after = self.stages[-2:] if len(self.stages) > 1 else self.stages * 2
        if before in ENDED:
            assert after is before
        elif after not in ENDED:
            assert ORDER.index(after) >= ORDER.index(before)

    @invariant()
    def what_is_open_is_below_the_counters(self) -> None:
        state = self.trace.state
        for names, count in (
            (state.proposals, state.proposal_count),
            (state.intents, state.intent_count),
            (state.running, state.execution_count),
            (state.claims, state.claim_count),
        ):
            assert all(0 < int(name[1:]) <= count for name in names)
        assert state.events == len(self.trace.records)

    @invariant()
    def a_snapshot_is_the_state(self) -> None:
        state = self.trace.state
        assert decode_state(State, encode_state(state)) == state

    @invariant()
    def the_agenda_waits_for_someone(self) -> None:
        for due in MACHINE.agenda(self.trace.state, self.trace.now):
            assert due.who in PARTS.values()
        assert not MACHINE.timeouts(self.trace.state, self.trace.now)

    def teardown(self) -> None:
        """What was decided passes its own audit; views show it without a stumble."""
        events = self.trace.history()
        facts = AuditFacts(
            trace="trace/t1",
            head=events[-1].hash.hex(),
            events=len(events),
            artifacts=dict.fromkeys(list_cited_artifacts(events), ArtifactPresence.PRESENT),
        )
        report = audit_events(events, facts)
        flagged = any(getattr(one.event, "artifact_missing", ()) for one in events)
        assert report.verdict is not AuditVerdict.FAIL or flagged, report.failures()
        assert report.stage is self.trace.state.stage
        assert len(view_timeline(events)) == len(events)
        assert view_status(self.trace.state, "trace/t1", 0).events == len(events)


TestTraces = Traces.TestCase
TestTraces.settings = settings(max_examples=examples(60), stateful_step_count=40)


def test_the_tables_name_everything() -> None:
    assert set(DRAFTS) == set(WORDING_RULES) == set(MACHINE.commands)
    assert set(RULES) == set(_EVOLVE) == set(ROLE_OF_EVENT) == set(did.EVENTS)
    assert set(TRANSITIONS) == set(Stage)


_texts = st.text(max_size=8)
_refs = st.builds(ArtifactRef, _texts, st.integers(), _texts)
_structs = {
    str: _texts | _proposals | _intents | _runs | _claims,
    ArtifactRef: _refs,
    ExecutionResult: st.builds(
        ExecutionResult, exit_status=st.integers(-9, 9), duration_ms=st.integers()
    ),
    ExecutionFailure: st.builds(ExecutionFailure, kind=st.sampled_from(FailureKind), detail=_texts),
    HeldReservation: st.builds(HeldReservation, _texts, st.integers()),
}
for _kind, _strategy in _structs.items():
    if _kind is not str:
        st.register_type_strategy(_kind, _strategy)


@pytest.mark.parametrize("kind", MACHINE.commands, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("stage", ["initialized", "executing", "auditing"])
def test_no_command_makes_the_machine_stumble(kind: type, stage: str) -> None:
    """Any values whatever, by anybody: a decision, never an error."""
    trace = Trace().to(stage)

    @settings(max_examples=15)
    @given(st.from_type(kind), st.sampled_from(ACTORS))
    def attempt(command: Any, actor: str) -> None:
        decision = trace.decide(command, actor)
        assert decision.refused or decision.drafts

    attempt()


@pytest.mark.parametrize("kind", did.EVENTS, ids=lambda kind: kind.__name__)
def test_evolve_takes_any_event_at_any_time(kind: type) -> None:
    """What is in the ledger happened, even if no rule would have let it."""

    @settings(max_examples=15)
    @given(st.from_type(kind), st.sampled_from(["initialized", "executing", "auditing"]))
    def attempt(event: Any, stage: str) -> None:
        trace = Trace().to(stage)
        trace.record(Draft(event), SYSTEM)
        audit_events(trace.history(), AuditFacts(trace="t", head="", events=0))
        view_timeline(trace.history())

    attempt()


@given(st.sampled_from(sorted(EVENT_NAMES.values())) | st.text(max_size=8), st.binary(max_size=200))
def test_any_payload_is_an_event_or_malformed(name: str, data: bytes) -> None:
    try:
        event = parse_event(name, data)
    except Malformed:
        return
    assert EVENT_NAMES[type(event)] == name


@pytest.mark.requirement("TRC-025")
def test_an_event_reads_back_from_its_document() -> None:
    trace = Trace().to("completed")
    trace_names = {EVENT_NAMES[type(one.event)] for one in trace.history()}
    assert {"session_initialized", "proposal_reviewed", "tool_execution_started"} <= trace_names
    assert {"tool_execution_completed", "verification_run_started"} <= trace_names
    for recorded in trace.history():
        name, payload = EVENT_NAMES[type(recorded.event)], msgspec.to_builtins(recorded.event)
        assert parse_event(name, json.dumps(payload)) == recorded.event
        for field in type(recorded.event).__struct_fields__:
            less = {key: value for key, value in payload.items() if key != field}
            required = not _has_default(type(recorded.event), field)
            if required:
                with pytest.raises(Malformed):
                    parse_event(name, json.dumps(less))


def _has_default(kind: Any, field: str) -> bool:
    fields, defaults = kind.__struct_fields__, kind.__struct_defaults__
    return field in fields[len(fields) - len(defaults) :]


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=60))
def test_the_shelf_holds_what_was_put_there_and_nothing_else(hashes: list[bytes]) -> None:
    shelf: tuple[bytes, ...] = ()
    put = [one.hex() for one in hashes]
    shelf = add_artifacts(shelf, put)
    assert all(holds_artifact(shelf, one) for one in put)
    assert holds_artifact(shelf, "ab" * 32) is ("ab" * 32 in put)
    assert holds_artifact(shelf, "no hash") is False


def test_the_shelf_grows_by_pages_and_is_not_fooled_across_two_marks() -> None:
    put = [sha256_hex(str(number).encode()) for number in range(2 * PAGE_BYTES // MARK_BYTES + 1)]
    shelf = add_artifacts((), put)
    assert [len(page) for page in shelf] == [PAGE_BYTES, PAGE_BYTES, MARK_BYTES]
    assert all(holds_artifact(shelf, one) for one in put)
    across = put[0][MARK_BYTES : 2 * MARK_BYTES] + put[1][:MARK_BYTES] + "0" * 48
    assert across[: 2 * MARK_BYTES] in shelf[0].hex()
    assert not holds_artifact(shelf, across)

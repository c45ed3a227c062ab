"""Checks on intents and runs (TRC-021, TRC-029 to TRC-038, TRC-056 to TRC-063)."""

from __future__ import annotations

from typing import Final

from moot.core.errors import Malformed
from moot.core.findings import Known
from moot.protocols.trace import events as did
from moot.protocols.trace import risk
from moot.protocols.trace.checks import HASH, Breaches, Told, proposal_of
from moot.protocols.trace.inputs import hash_of, input_bytes
from moot.protocols.trace.model import (
    MAX_FAILING,
    MAX_INTENTS,
    Consent,
    Execution,
    Intent,
    Review,
    State,
    number,
)

_GROUND: Final = (Review.APPROVED, Review.CONDITIONAL)
# What a critic may say next of an intent (E-10).
CONSENTS: Final[dict[Consent, frozenset[Consent]]] = {
    Consent.PENDING: frozenset({Consent.APPROVED, Consent.BLOCKED}),
    Consent.APPROVED: frozenset({Consent.BLOCKED}),
    Consent.BLOCKED: frozenset(),
}


def input_differs(told: Told) -> Breaches:
    """TRC-031, TRC-032: the hash is that of the normalised input, nothing else."""
    event: did.ToolIntentSigned = told.event
    if not HASH.match(event.input_hash) or event.input_hash != intended_hash(event):
        yield "", "input_hash"


def intended_hash(event: did.ToolIntentSigned) -> str:
    try:
        data = input_bytes(event.tool, event.command, event.cwd, event.env, event.timeout_ms)
    except Malformed:
        return ""
    return hash_of(data)


def risk_too_low(told: Told) -> Breaches:
    event, rules = told.event, told.state.policy
    due = risk.risk_of(rules, event.tool, event.command, event.declared_risk)
    if risk.ORDER[event.risk_class] < risk.ORDER[due]:
        yield f"{event.risk_class} is recorded, {due} is due", "risk_class"


def needs_left_out(told: Told) -> Breaches:
    """An intent cannot excuse itself from the critic."""
    event, state = told.event, told.state
    replaces = state.intents.get(event.supersedes or "")
    due = risk.approval_reasons(
        state.policy, proposal_of(told), event.tool, event.risk_class, replaces
    )
    for why in due:
        if why not in event.needs:
            yield f"it needs the critic's approval: {why}", "needs"


def bad_timeout(told: Told) -> Breaches:
    most = told.state.policy.max_timeout_ms
    if not 0 < told.event.timeout_ms <= most:
        yield f"not within 1 ms and {most} ms", "timeout_ms"


def supersedes_unknown_intent(told: Told) -> Breaches:
    name = told.event.supersedes
    if name is not None and name not in told.state.intents:
        yield intent_gone(told.state, name), "supersedes"


def intent_gone(state: State, name: str) -> str:
    for one in state.running.values():
        if one.intent == name:
            return f"{name} is running as {one.id}"
    if 0 < number(name) <= state.intent_count:
        return f"{name} was run or superseded before; a retry is a new intent"
    return f"there is no intent {name[:40]!r}"


def not_retryable(told: Told) -> Breaches:
    """TRC-058: a retry names the last failed intent of its step, under the same proposal."""
    event: did.ToolIntentSigned = told.event
    if event.retry_of is None:
        return
    step = failing_step(told.state, event.retry_of)
    if step is None or step.partition(" ")[0] != event.proposal_id:
        yield f"{event.retry_of[:40]!r} is no failed intent of {event.proposal_id}", "retry_of"


def failing_step(state: State, intent: str) -> str | None:
    return next((step for step, one in state.failing.items() if one.intent == intent), None)


def step_of(state: State, event: did.ToolIntentSigned) -> str:
    """Which step an intent tries: that of the intent it retries, else its own input's."""
    known = failing_step(state, event.retry_of) if event.retry_of is not None else None
    return known or f"{event.proposal_id} {event.input_hash[:32]}"


def attempts_exhausted(told: Told) -> Breaches:
    """TRC-012, E-07."""
    event: did.ToolIntentSigned = told.event
    yield from _exhausted(told.state, step_of(told.state, event))


def _exhausted(state: State, step: str) -> Breaches:
    failing, most = state.failing.get(step), state.policy.max_attempts
    if failing is not None and failing.failed >= most:
        yield f"{failing.failed} of {most} attempts have failed", None


def wrong_attempt(told: Told) -> Breaches:
    failing = told.state.failing.get(step_of(told.state, told.event))
    due = (failing.failed if failing is not None else 0) + 1
    if told.event.attempt != due:
        yield f"this is attempt {due}, not {told.event.attempt}", "attempt"


def too_many_intents(told: Told) -> Breaches:
    state = told.state
    if len(state.intents) >= MAX_INTENTS and told.event.supersedes is None:
        yield f"{MAX_INTENTS} intents are open", None
    if len(state.failing) >= MAX_FAILING and step_of(state, told.event) not in state.failing:
        yield f"{MAX_FAILING} steps have failed and not yet gone well", None


def _intent(told: Told) -> Intent | None:
    return told.state.intents.get(told.event.intent_id)


def unknown_intent(told: Told) -> Breaches:
    """TRC-021: no intent at all."""
    state, name = told.state, told.event.intent_id
    if not 0 < number(name) <= state.intent_count:
        yield intent_gone(state, name), "intent_id"


def intent_closed(told: Told) -> Breaches:
    """TRC-058: an intent is run once; what was superseded is not run at all."""
    state, name = told.state, told.event.intent_id
    if name not in state.intents and 0 < number(name) <= state.intent_count:
        yield intent_gone(state, name), "intent_id"


def consent_not_open(told: Told) -> Breaches:
    intent = _intent(told)
    if intent is not None and told.event.status not in CONSENTS[intent.consent]:
        said = f"{intent.id} is {intent.consent}, not to become {told.event.status}"
        yield said, "status", None, _known(intent)


def intent_blocked(told: Told) -> Breaches:
    """TRC-033, TRC-057."""
    intent = _intent(told)
    if intent is not None and intent.consent is Consent.BLOCKED:
        yield f"{intent.id} is blocked", "intent_id", None, _known(intent)


def approval_missing(told: Told) -> Breaches:
    """TRC-063: risky, conditional, or outside of what was proposed."""
    intent = _intent(told)
    if intent is not None and intent.consent is Consent.PENDING and needs_now(told.state, intent):
        why = ", ".join(needs_now(told.state, intent))
        said = f"the critic has not approved {intent.id} ({why})"
        yield said, "intent_id", None, _known(intent)


def _known(intent: Intent) -> Known:
    return {"INTENT": intent.id, "PROPOSAL": intent.proposal}


def needs_now(state: State, intent: Intent) -> tuple[str, ...]:
    """A proposal approved at first may have got conditions since."""
    proposal = state.proposals.get(intent.proposal)
    due = risk.approval_reasons(state.policy, proposal, intent.tool, intent.risk, None)
    return tuple(dict.fromkeys((*intent.needs, *due)))


def ground_gone(told: Told) -> Breaches:
    """What was blocked after the intent was signed may not be run."""
    intent = _intent(told)
    proposal = told.state.proposals.get(intent.proposal) if intent is not None else None
    if intent is None or (proposal is not None and proposal.review in _GROUND):
        return
    standing = proposal.review if proposal is not None else "superseded"
    yield f"{intent.proposal} is {standing}", "intent_id"


def step_exhausted(told: Told) -> Breaches:
    intent = _intent(told)
    if intent is not None:
        yield from _exhausted(told.state, intent.step)


def too_many_running(told: Told) -> Breaches:
    if len(told.state.running) >= MAX_INTENTS:
        yield f"{MAX_INTENTS} runs are under way", None


def other_input(told: Told) -> Breaches:
    """TRC-038: what is run is what was intended."""
    intent = _intent(told)
    if intent is not None and told.event.input_artifact != intent.input_hash:
        yield f"the stored input is not that of {intent.id}", "input_artifact"


def not_reserved(told: Told) -> Breaches:
    intent = _intent(told)
    if intent is None or not told.state.policy.require_reservation:
        return
    held = {one.scope for one in told.event.reservations if one.fencing > 0}
    for scope in intent.writes:
        if scope not in held:
            known = {"SCOPE": scope, "NAME": told.who.id}
            yield f"{scope} is not reserved for the executor", "reservations", None, known


def _execution(told: Told) -> Execution | None:
    return told.state.running.get(told.event.execution_id)


def unknown_execution(told: Told) -> Breaches:
    """TRC-037: one end for one start."""
    name, state = told.event.execution_id, told.state
    if _execution(told) is None:
        over = 0 < number(name) <= state.execution_count
        ended = f"{name} has ended before"
        yield ended if over else f"no run {name[:40]!r} was started", "execution_id"


def other_execution(told: Told) -> Breaches:
    """An end says the same intent and input as its start."""
    run = _execution(told)
    said = (told.event.intent_id, told.event.input_artifact)
    if run is not None and said != (run.intent, run.input_artifact):
        yield f"{run.id} runs {run.intent}", "intent_id"


def no_output(told: Told) -> Breaches:
    """TRC-036, E-31: a run that went well leaves its output."""
    if not told.event.outputs:
        yield "", "outputs"


def bad_output(told: Told) -> Breaches:
    names = [one.name for one in told.event.outputs]
    for one in told.event.outputs:
        if not one.name.strip() or names.count(one.name) > 1 or not HASH.match(one.sha256):
            yield f"{one.name[:40]!r} is no output of its own", "outputs"


def failed_exit(told: Told) -> Breaches:
    if told.event.result.exit_status != 0:
        yield f"exit status {told.event.result.exit_status}", "result"

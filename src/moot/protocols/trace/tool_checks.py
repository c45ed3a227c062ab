"""Checks on intents and runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from moot.core.errors import Malformed
from moot.core.findings import HintWords
from moot.protocols.trace import events as did
from moot.protocols.trace.checks import HASH, Breaches, proposal_of
from moot.protocols.trace.lifecycle import EventCase
from moot.protocols.trace.model import (
    MAX_FAILING,
    MAX_INTENTS,
    ApprovalReason,
    Consent,
    Execution,
    Intent,
    Proposal,
    Review,
    State,
    encode_input,
    number_of_id,
    sha256_hex,
)
from moot.protocols.trace.policy import Policy, Risk, ToolRule

# How risky an intent is, and why the critic must agree to it.
#
# The risk is the larger of what the executor declares and what the policy says. A command that is
# not the tool it is named after is critical, and so is an unknown risk class (E-11): otherwise a
# harmless name would let anything run without approval.

RISK_ORDER: Final = {risk: place for place, risk in enumerate(Risk)}
CommandWords = tuple[str, ...]


def larger_risk(first: Risk, second: Risk) -> Risk:
    return max(first, second, key=RISK_ORDER.__getitem__)


def read_declared_risk(text: str) -> Risk:
    """Return the risk class of this name; an unknown name counts as the highest."""
    return Risk(text) if text in RISK_ORDER else Risk.CRITICAL


@lru_cache(1024)  # the same command is intended again and again, and audited each time
def assess_risk(policy: Policy, tool: str, command: CommandWords, declared: str) -> Risk:
    if not is_named_tool(policy, tool, command):
        return Risk.CRITICAL
    return larger_risk(read_declared_risk(declared), risk_by_policy(policy, tool, command))


def risk_by_policy(policy: Policy, tool: str, command: CommandWords) -> Risk:
    """Return the highest risk among the rules that fit the tool's name or the command itself.

    T-06: a rule for `git push` also fits `git -C . push`, but such a fit only raises the risk.
    """
    plain = (_program_name(command[0]), *command[1:]) if command else ()
    fitting = [
        rule.risk
        for rule in policy.tools
        if rule.tool == tool or any(_begins_with(plain, first) for first in _first_words_of(rule))
    ]
    by_name = max(fitting, key=RISK_ORDER.__getitem__, default=policy.default_risk)
    by_words = (
        rule.risk
        for rule in policy.tools
        if any(_contains_in_order(plain, first) for first in _first_words_of(rule))
    )
    return max((by_name, *by_words), key=RISK_ORDER.__getitem__)


def is_named_tool(policy: Policy, tool: str, command: CommandWords) -> bool:
    """True if this command is the named tool; a path to a program is not: it may be any file."""
    firsts = [
        first for rule in policy.tools if rule.tool == tool for first in _first_words_of(rule)
    ]
    bare = (_without_suffix(command[0]), *command[1:]) if command else ()
    known = firsts or [tuple(tool.split())]
    return any(_begins_with(bare, first) or _begins_with(command, first) for first in known)


def approval_reasons(
    policy: Policy, proposal: Proposal | None, tool: str, risk: Risk, replaces: Intent | None
) -> tuple[ApprovalReason, ...]:
    """Return why the critic must agree; empty if it need not (E-09, E-10, E-40)."""
    return tuple(_list_reasons(policy, proposal, tool, risk, replaces))


def _list_reasons(
    policy: Policy, proposal: Proposal | None, tool: str, risk: Risk, replaces: Intent | None
) -> Iterator[ApprovalReason]:
    if RISK_ORDER[risk] >= RISK_ORDER[policy.approval_required_from]:
        yield ApprovalReason.RISK
    if proposal is not None and proposal.review is Review.CONDITIONAL:
        yield ApprovalReason.CONDITIONAL
    if proposal is not None and tool not in proposal.tools:
        yield ApprovalReason.OUTSIDE
    if replaces is not None and replaces.consent is Consent.BLOCKED:
        yield ApprovalReason.BLOCKED


def _first_words_of(rule: ToolRule) -> tuple[CommandWords, ...]:
    return rule.commands or (tuple(rule.tool.split()),)


def _begins_with(command: CommandWords, first: CommandWords) -> bool:
    return bool(first) and command[: len(first)] == first


def _contains_in_order(command: CommandWords, first: CommandWords) -> bool:
    """True for the same program, then the same words in order, with any others between."""
    rest = iter(command[1:])
    return command[:1] == first[:1] and all(word in rest for word in first[1:])


def _program_name(program: str) -> str:
    """Return the program's own name: `/usr/bin/sudo`, `SUDO.EXE` and `Sudo` are sudo."""
    return _without_suffix(program.replace("\\", "/").rpartition("/")[2]).lower()


def _without_suffix(name: str) -> str:
    return name[:-4] if name.lower().endswith(".exe") else name


NamesIntent: TypeAlias = did.ToolIntentReviewed | did.ToolExecutionStarted
_APPROVED: Final = (Review.APPROVED, Review.CONDITIONAL)
# How consent to an intent may change (E-10). Blocked is final; a revision is a new intent.
NEXT_CONSENTS: Final[dict[Consent, frozenset[Consent]]] = {
    Consent.PENDING: frozenset({Consent.APPROVED, Consent.BLOCKED}),
    Consent.APPROVED: frozenset({Consent.BLOCKED}),
    Consent.BLOCKED: frozenset(),
}


def input_differs(case: EventCase[did.ToolIntentSigned]) -> Breaches:
    """TRC-031, TRC-032: the hash is that of the normalised input, nothing else."""
    event = case.event
    if not HASH.match(event.input_hash) or event.input_hash != hash_intended_input(event):
        yield "", "input_hash"


def hash_intended_input(event: did.ToolIntentSigned) -> str:
    try:
        data = encode_input(event.tool, event.command, event.cwd, event.env, event.timeout_ms)
    except Malformed:
        return ""
    return sha256_hex(data)


def risk_too_low(case: EventCase[did.ToolIntentSigned]) -> Breaches:
    event, rules = case.event, case.state.policy
    expected = assess_risk(rules, event.tool, event.command, event.declared_risk)
    if RISK_ORDER[event.risk_class] < RISK_ORDER[expected]:
        yield f"{event.risk_class} is recorded, {expected} is due", "risk_class"


def approval_reasons_left_out(case: EventCase[did.ToolIntentSigned]) -> Breaches:
    """Refuse an intent without the reasons for approval: it would run without the critic."""
    event, state = case.event, case.state
    replaces = state.intents.get(event.supersedes or "")
    reasons = approval_reasons(
        state.policy, proposal_of(case), event.tool, event.risk_class, replaces
    )
    for reason in reasons:
        if reason not in event.needs:
            yield f"it needs the critic's approval: {reason}", "needs"


def bad_timeout(case: EventCase[did.ToolIntentSigned]) -> Breaches:
    most = case.state.policy.max_timeout_ms
    if not 0 < case.event.timeout_ms <= most:
        yield f"not within 1 ms and {most} ms", "timeout_ms"


def supersedes_unknown_intent(case: EventCase[did.ToolIntentSigned]) -> Breaches:
    name = case.event.supersedes
    if name is not None and name not in case.state.intents:
        yield describe_missing_intent(case.state, name), "supersedes"


def describe_missing_intent(state: State, name: str) -> str:
    for run in state.running.values():
        if run.intent == name:
            return f"{name} is running as {run.id}"
    if 0 < number_of_id(name) <= state.intent_count:
        return f"{name} was run or superseded before; a retry is a new intent"
    return f"there is no intent {name[:40]!r}"


def not_retryable(case: EventCase[did.ToolIntentSigned]) -> Breaches:
    """TRC-058: a retry names the last failed intent of its step, under the same proposal."""
    event = case.event
    if event.retry_of is None:
        return
    step = find_failing_step(case.state, event.retry_of)
    if step is None or step.partition(" ")[0] != event.proposal_id:
        yield f"{event.retry_of[:40]!r} is no failed intent of {event.proposal_id}", "retry_of"


def find_failing_step(state: State, intent: str) -> str | None:
    return next((step for step, failing in state.failing.items() if failing.intent == intent), None)


def step_of(state: State, event: did.ToolIntentSigned) -> str:
    """Return which step an intent tries: that of the intent it retries, else its own input's."""
    known = find_failing_step(state, event.retry_of) if event.retry_of is not None else None
    return known or f"{event.proposal_id} {event.input_hash[:32]}"


def attempts_exhausted(case: EventCase[did.ToolIntentSigned]) -> Breaches:
    """TRC-012, E-07: a step that has failed too often is not tried again."""
    event = case.event
    yield from _check_attempts(case.state, step_of(case.state, event))


def _check_attempts(state: State, step: str) -> Breaches:
    failing, most = state.failing.get(step), state.policy.max_attempts
    if failing is not None and failing.failed >= most:
        yield f"{failing.failed} of {most} attempts have failed", None


def wrong_attempt(case: EventCase[did.ToolIntentSigned]) -> Breaches:
    failing = case.state.failing.get(step_of(case.state, case.event))
    expected = (failing.failed if failing is not None else 0) + 1
    if case.event.attempt != expected:
        yield f"this is attempt {expected}, not {case.event.attempt}", "attempt"


def too_many_intents(case: EventCase[did.ToolIntentSigned]) -> Breaches:
    state = case.state
    if len(state.intents) >= MAX_INTENTS and case.event.supersedes is None:
        yield f"{MAX_INTENTS} intents are open", None
    if len(state.failing) >= MAX_FAILING and step_of(state, case.event) not in state.failing:
        yield f"{MAX_FAILING} steps have failed and not yet gone well", None


def _intent_of(case: EventCase[NamesIntent]) -> Intent | None:
    return case.state.intents.get(case.event.intent_id)


def unknown_intent(case: EventCase[NamesIntent]) -> Breaches:
    """TRC-021: this id was never given to an intent."""
    state, name = case.state, case.event.intent_id
    if not 0 < number_of_id(name) <= state.intent_count:
        yield describe_missing_intent(state, name), "intent_id"


def intent_closed(case: EventCase[NamesIntent]) -> Breaches:
    """TRC-058: an intent is run once; what was superseded is not run at all."""
    state, name = case.state, case.event.intent_id
    if name not in state.intents and 0 < number_of_id(name) <= state.intent_count:
        yield describe_missing_intent(state, name), "intent_id"


def consent_not_open(case: EventCase[did.ToolIntentReviewed]) -> Breaches:
    intent = _intent_of(case)
    if intent is not None and case.event.status not in NEXT_CONSENTS[intent.consent]:
        message = f"{intent.id} is {intent.consent}, not to become {case.event.status}"
        yield message, "status", None, _words_of_hint(intent)


def intent_blocked(case: EventCase[did.ToolExecutionStarted]) -> Breaches:
    """TRC-033, TRC-057: the critic said no, and a blocked intent stays blocked."""
    intent = _intent_of(case)
    if intent is not None and intent.consent is Consent.BLOCKED:
        yield f"{intent.id} is blocked", "intent_id", None, _words_of_hint(intent)


def approval_missing(case: EventCase[did.ToolExecutionStarted]) -> Breaches:
    """TRC-063: risky, conditional, or outside of what was proposed."""
    intent = _intent_of(case)
    if (
        intent is not None
        and intent.consent is Consent.PENDING
        and approval_reasons_now(case.state, intent)
    ):
        reasons = ", ".join(approval_reasons_now(case.state, intent))
        message = f"the critic has not approved {intent.id} ({reasons})"
        yield message, "intent_id", None, _words_of_hint(intent)


def _words_of_hint(intent: Intent) -> HintWords:
    return {"INTENT": intent.id, "PROPOSAL": intent.proposal}


def approval_reasons_now(state: State, intent: Intent) -> tuple[str, ...]:
    """Why the critic must agree now: its proposal may have got conditions since it was signed."""
    proposal = state.proposals.get(intent.proposal)
    reasons = approval_reasons(state.policy, proposal, intent.tool, intent.risk, None)
    return tuple(dict.fromkeys((*intent.needs, *reasons)))


def proposal_no_longer_approved(case: EventCase[did.ToolExecutionStarted]) -> Breaches:
    """TRC-056: its proposal was blocked or superseded after the intent was signed."""
    intent = _intent_of(case)
    proposal = case.state.proposals.get(intent.proposal) if intent is not None else None
    if intent is None or (proposal is not None and proposal.review in _APPROVED):
        return
    review = proposal.review if proposal is not None else "superseded"
    yield f"{intent.proposal} is {review}", "intent_id"


def step_exhausted(case: EventCase[did.ToolExecutionStarted]) -> Breaches:
    intent = _intent_of(case)
    if intent is not None:
        yield from _check_attempts(case.state, intent.step)


def too_many_running(case: EventCase[did.ToolExecutionStarted]) -> Breaches:
    if len(case.state.running) >= MAX_INTENTS:
        yield f"{MAX_INTENTS} runs are under way", None


def input_not_intended(case: EventCase[did.ToolExecutionStarted]) -> Breaches:
    """TRC-038: what is run is what was intended."""
    intent = _intent_of(case)
    if intent is not None and case.event.input_artifact != intent.input_hash:
        yield f"the stored input is not that of {intent.id}", "input_artifact"


def not_reserved(case: EventCase[did.ToolExecutionStarted]) -> Breaches:
    intent = _intent_of(case)
    if intent is None or not case.state.policy.require_reservation:
        return
    reserved = {
        reservation.scope for reservation in case.event.reservations if reservation.fencing > 0
    }
    for scope in intent.writes:
        if scope not in reserved:
            # Typed from any folder; a named resource such as port:3000 is the same everywhere.
            typed = scope if ":" in scope else f":/{scope}"
            known = {"SCOPE": typed, "NAME": case.who.id}
            yield f"{scope} is not reserved for the executor", "reservations", None, known


def _execution_of(case: EventCase[did.ExecutionEnded]) -> Execution | None:
    return case.state.running.get(case.event.execution_id)


def unknown_execution(case: EventCase[did.ExecutionEnded]) -> Breaches:
    """TRC-037: one end for one start."""
    name, state = case.event.execution_id, case.state
    if _execution_of(case) is None:
        over = 0 < number_of_id(name) <= state.execution_count
        ended = f"{name} has ended before"
        yield ended if over else f"no run {name[:40]!r} was started", "execution_id"


def end_differs_from_start(case: EventCase[did.ExecutionEnded]) -> Breaches:
    """TRC-037: an end names the same intent and input as its start."""
    run = _execution_of(case)
    ending = (case.event.intent_id, case.event.input_artifact)
    if run is not None and ending != (run.intent, run.input_artifact):
        yield f"{run.id} runs {run.intent}", "intent_id"


def no_output(case: EventCase[did.ToolExecutionCompleted]) -> Breaches:
    """TRC-036, E-31: a run that went well leaves its output."""
    if not case.event.outputs:
        yield "", "outputs"


def bad_output(case: EventCase[did.ExecutionEnded]) -> Breaches:
    names = [output.name for output in case.event.outputs]
    for output in case.event.outputs:
        if not output.name.strip() or names.count(output.name) > 1 or not HASH.match(output.sha256):
            yield f"{output.name[:40]!r} is no output with its own name and hash", "outputs"


def failed_exit(case: EventCase[did.ToolExecutionCompleted]) -> Breaches:
    if case.event.result.exit_status != 0:
        yield f"exit status {case.event.result.exit_status}", "result"

"""The rules of intents and runs: the norm's id, its code, its sentence, its check."""

from __future__ import annotations

from typing import Any, Final

from moot.core.findings import Rule
from moot.core.machine import Event
from moot.protocols.trace import checks as breach
from moot.protocols.trace import events as did
from moot.protocols.trace import tool_checks as tools
from moot.protocols.trace.shared_rules import PROPOSAL_RULE, STATUS_HINT, number_rule, text_rule

_EXECUTION = (
    Rule("TRC-037", "unknown_execution", "no such run is under way", tools.unknown_execution,
         STATUS_HINT),
    Rule("TRC-037", "other_execution", "the end does not fit the start",
         tools.end_differs_from_start, "name the run's own intent and input"),
    Rule("TRC-036", "bad_output", "outputs have names of their own and stored bytes",
         tools.bad_output, "store each output once and give it its own name"),
)  # fmt: skip

TOOL_RULES: Final[dict[type[Event], tuple[Rule[Any], ...]]] = {
    did.ToolIntentSigned: (
        number_rule("intent_id", "intent_count"),
        PROPOSAL_RULE,
        Rule("TRC-029", "proposal_not_approved", "the proposal is not approved",
             breach.proposal_not_approved, "let the critic review it, or the planner revise it",
             requirement=("TRC-030", "TRC-056")),
        text_rule("TRC-031", "tool", "command", "justification", "declared_risk"),
        Rule("TRC-032", "input_mismatch", "the hash is not that of the input", tools.input_differs,
             "leave the hash out: it is worked out from the command"),
        Rule("E-11", "risk_too_low", "the risk is higher than recorded", tools.risk_too_low,
             "let the trace work out the risk", requirement="TRC-063"),
        Rule("E-10", "approval_left_out", "the critic's approval was left out",
             tools.approval_reasons_left_out, "let the trace work out who must agree",
             requirement="TRC-063"),
        Rule("T-02", "bad_timeout", "the time limit is beyond the policy's", tools.bad_timeout,
             "ask for less time, or split the work"),
        Rule("TRC-057", "unknown_intent", "only an open intent is superseded",
             tools.supersedes_unknown_intent, STATUS_HINT),
        Rule("TRC-058", "not_retryable", "a retry names the last failed intent of its step",
             tools.not_retryable, STATUS_HINT),
        Rule("E-07", "attempts_exhausted", "this step has failed too often",
             tools.attempts_exhausted,
             "propose another way: `moot trace propose TRACE ...`, or claim the failure",
             requirement="TRC-012"),
        Rule("E-07", "wrong_attempt", "attempts are counted by the trace", tools.wrong_attempt,
             "let the trace count", requirement="TRC-012"),
        Rule("T-03", "too_many_open", "too much is open", tools.too_many_intents,
             "run or supersede what is open first"),
    ),
    did.ToolIntentReviewed: (
        Rule("TRC-033", "unknown_intent", "there is no such intent", tools.unknown_intent,
             STATUS_HINT),
        Rule("TRC-058", "intent_closed", "it is no longer open", tools.intent_closed, STATUS_HINT),
        Rule("E-10", "review_not_open", "this cannot be said of it any more",
             tools.consent_not_open,
             "`moot trace intend TRACE PROPOSAL --supersedes INTENT ...` revises it",
             requirement="TRC-057"),
        text_rule("TRC-005", "rationale"),
    ),
    did.ToolExecutionStarted: (
        number_rule("execution_id", "execution_count"),
        Rule("TRC-021", "unknown_intent", "a run follows a signed intent", tools.unknown_intent,
             "`moot trace intend TRACE PROPOSAL ...` first", requirement="TRC-034"),
        Rule("TRC-058", "intent_closed", "an intent is run once", tools.intent_closed,
             "sign a new intent; a retry names the old one"),
        Rule("TRC-057", "intent_blocked", "the critic has blocked it", tools.intent_blocked,
             "`moot trace intend TRACE PROPOSAL --supersedes INTENT ...`, and have it approved"),
        Rule("TRC-056", "proposal_not_approved", "its proposal is not approved any more",
             tools.proposal_no_longer_approved, "let the planner revise the proposal"),
        Rule("TRC-063", "approval_required", "the critic must agree first", tools.approval_missing,
             "`moot trace review-intent TRACE INTENT --verdict approved --rationale T`"),
        Rule("E-07", "attempts_exhausted", "this step has failed too often", tools.step_exhausted,
             "propose another way, or claim the failure", requirement="TRC-012"),
        Rule("T-03", "too_many_open", "too much is running", tools.too_many_running,
             "wait until some of it has ended"),
        Rule("TRC-038", "input_mismatch", "what is run is not what was intended",
             tools.input_not_intended, "store the intent's own input"),
        Rule("T-01", "reservation_required", "what it writes to must be reserved",
             tools.not_reserved, "let NAME reserve it: `moot reserve SCOPE`, then run it again"),
    ),
    did.ToolExecutionCompleted: (
        *_EXECUTION,
        Rule("TRC-036", "output_required", "a finished run leaves its output", tools.no_output,
             "store what it wrote, even if that is nothing", requirement="TRC-067"),
        Rule("T-04", "exit_status", "a run with another exit status than 0 has failed",
             tools.failed_exit, "record it as failed", requirement="TRC-037"),
    ),
    did.ToolExecutionFailed: _EXECUTION,
}  # fmt: skip

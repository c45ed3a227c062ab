"""The rules of a trace, one row each: the norm's id, its code, its sentence, its check.

TRC-nnn are requirements of the Agent Protocol, E-nn and T-nn the readings in
docs/readings.md. `GUARDS` hold for every event, `RULES` for one kind of event: a
decision checks them before an event is recorded, an audit checks them again for every recorded one.
`WORDING_RULES` are about a command's wording.
"""

from __future__ import annotations

from typing import Any, Final

from moot.core.findings import Rule, Severity
from moot.core.machine import Command, Event
from moot.protocols.trace import checks as breach
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace import tool_checks as tools
from moot.protocols.trace.lifecycle import EventCase, PermissionCase

# Rows that several rule tables of a trace share, and the hints they have in common.

STATUS_HINT: Final = "`moot trace status TRACE` shows what there is"
PROPOSAL_RULE: Final = Rule("TRC-035", "unknown_proposal", "no such proposal stands",
                       breach.unknown_proposal, STATUS_HINT)  # fmt: skip


def number_rule(name: str, counter: str) -> Rule[EventCase[Event]]:
    return Rule(
        "E-19",
        "wrong_number",
        "ids count upwards, each once",
        breach.require_next_number(name, counter),
        hint="let the trace number it",
    )


def text_rule(
    rule: str, *names: str, requirement: str | tuple[str, ...] = ()
) -> Rule[EventCase[Event]]:
    return Rule(
        rule,
        "text_missing",
        f"{', '.join(names)}: required",
        breach.require_texts(*names),
        hint="say it in a few words",
        requirement=requirement,
    )


# The rules of intents and runs: the norm's id, its code, its sentence, its check.

_EXECUTION = (
    Rule("TRC-037", "unknown_execution", "no such run is under way", tools.unknown_execution,
         STATUS_HINT),
    Rule("TRC-037", "other_execution", "the end does not fit the start",
         tools.end_differs_from_start, "name the run's own intent and input"),
    Rule("TRC-036", "bad_output", "each output has its own name and stored bytes",
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
             "leave the hash out: Moot computes it from the command"),
        Rule("E-11", "risk_too_low", "the risk is higher than recorded", tools.risk_too_low,
             "let the trace compute the risk", requirement="TRC-063"),
        Rule("E-10", "approval_left_out", "the critic's approval was left out",
             tools.approval_reasons_left_out, "let the trace find out who must agree",
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
        Rule("E-10", "review_not_open", "its review can no longer change this way",
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


# The rules of claims, the final statement and verifications.

_CLAIM = Rule("TRC-040", "unknown_claim", "no such claim stands", breach.unknown_claim,
              STATUS_HINT)  # fmt: skip

CLAIM_RULES: Final[dict[type[Event], tuple[Rule[Any], ...]]] = {
    did.ClaimIssued: (
        number_rule("claim_id", "claim_count"),
        text_rule("TRC-039", "text"),
        Rule("E-14", "bad_confidence", "confidence is a number from 0 to 1", breach.bad_confidence,
             "such as 0.85", requirement="TRC-039"),
        Rule("TRC-064", "claim_unproven", "a claim needs evidence", breach.too_little_evidence,
             "cite artifacts that runs of this trace left: --evidence SHA256"),
        Rule("T-05", "unknown_evidence", "evidence comes from a run of this trace",
             breach.unknown_evidence, "`moot trace status TRACE` lists what runs have left",
             requirement="TRC-064"),
        Rule("TRC-022", "execution_running", "a run must have ended before it is claimed from",
             breach.running_evidence, "wait until it has ended"),
        Rule("TRC-041", "unknown_claim", "only a standing claim is superseded",
             breach.supersedes_unknown_claim, STATUS_HINT),
        Rule("T-03", "too_many_open", "too many claims stand", breach.too_many_claims,
             "supersede or withdraw one"),
        Rule("TRC-054", "artifact_missing", "cited bytes are gone", breach.missing_artifact,
             "restore the artifact before the verification", Severity.WARNING),
    ),
    did.ClaimChallenged: (_CLAIM, text_rule("TRC-040", "reason")),
    did.ClaimWithdrawn: (_CLAIM,),
    did.FinalStatementSigned: (
        text_rule("TRC-042", "statement"),
        Rule("TRC-065", "claim_disputed", "a challenge is open", breach.open_challenge,
             "supersede the claim with a better one, or withdraw it"),
        Rule("E-08", "execution_running", "a run has not ended", breach.still_running,
             "wait until it has ended; if its process has exited: `moot trace recover TRACE`",
             requirement="TRC-065"),
        Rule("TRC-042", "nothing_claimed", "no claim stands", breach.nothing_claimed,
             "claim what was found first", requirement="TRC-065"),
        Rule("TRC-042", "bundle_differs", "the bundle is not the claims that stand",
             breach.bundle_differs, "let the trace bundle them"),
    ),
    did.VerificationRunStarted: (
        number_rule("run_id", "run_count"),
        Rule("E-41", "verification_running", "a verification has not ended",
             breach.already_verifying, "complete it first", requirement="TRC-043"),
        Rule("TRC-068", "subject_differs", "a verification is about all events so far",
             breach.subject_differs, "let the trace say what is verified"),
    ),
    did.VerificationRunCompleted: (
        Rule("TRC-043", "verification_not_started", "no such verification is under way",
             breach.not_verifying, "start one first: `moot trace audit TRACE`"),
        Rule("TRC-068", "subject_differs", "the report is about something else",
             breach.report_subject_differs, "verify the events as of when it began"),
        Rule("TRC-047", "report_required", "the report must be stored", breach.no_report,
             "store the report first and name its hash"),
    ),
}  # fmt: skip


# The rules of a command's wording: checked before it becomes an event, and never again.

_TEXT: tuple[Rule[Any], ...] = (
    Rule("E-36", "unreadable_text", "a text cannot be written", breach.unreadable_text,
         "send whole characters"),
    Rule("E-36", "text_too_long", "there is too much text", breach.too_long,
         "put long text into a file that a run leaves, and cite it"),
)  # fmt: skip
_ANY = (
    *_TEXT,
    Rule("E-36", "too_many_items", "too many at once", breach.too_many_items, "give fewer"),
)
_RESULT = Rule("TRC-037", "result_missing", "an end says how it went",
               breach.require_fields("result"), "give exit status and duration")  # fmt: skip

WORDING_RULES: Final[dict[type[Command], tuple[Rule[Any], ...]]] = {
    ask.OpenTrace: _ANY,
    ask.CreateProposal: (
        *_ANY,
        Rule("TRC-027", "proposal_incomplete",
             "a proposal says what it assumes and what evidence it expects",
             breach.require_fields("assumptions", "expected_evidence"),
             "an empty list says that there is none"),
    ),
    ask.ReviewProposal: (
        *_ANY,
        Rule("TRC-028", "bad_verdict", "approved, conditional, rejected or blocked",
             breach.bad_review, "--verdict approved, conditional, rejected or blocked"),
    ),
    ask.SignIntent: (
        *_ANY,
        Rule("TRC-031", "command_missing", "say which command will be run", breach.no_command,
             "after --, such as: -- pytest -q"),
        Rule("TRC-031", "risk_missing", "say how risky it is", breach.no_risk,
             "--risk low, medium, high or critical"),
        Rule("E-35", "secret_in_input", "a secret may not be in the record",
             breach.secret_in_input, "pass it in a variable: --env NAME"),
        Rule("T-02", "bad_variable", "a variable is named, its value is not",
             breach.bad_variable_name, "--env NAME, without =VALUE"),
    ),
    ask.ReviewIntent: (
        *_TEXT,
        Rule("E-10", "bad_verdict", "approved or blocked", breach.bad_consent,
             "--verdict approved or blocked", requirement="TRC-006"),
    ),
    ask.StartExecution: _ANY,
    ask.CompleteExecution: (*_ANY, _RESULT),
    ask.FailExecution: (
        *_ANY,
        Rule("TRC-037", "failure_missing", "a failure says how it failed",
             breach.require_fields("failure"), "give its kind and what was seen"),
    ),
    ask.RecoverExecution: (
        *_ANY,
        Rule("TRC-061", "evidence_missing", "say what shows that its process has exited",
             breach.no_evidence_of_death, "such as: process 4711 is not running"),
    ),
    ask.IssueClaim: (
        *_ANY,
        Rule("TRC-050", "artifact_hash_mismatch", "stored bytes have another hash",
             breach.evidence_differs,
             "`moot ledger doctor` shows which bytes differ; restore them from a backup"),
    ),
    ask.ChallengeClaim: (
        *_ANY,
        Rule("TRC-050", "artifact_missing", "only a claim may cite bytes that are gone",
             breach.evidence_absent,
             "cite what is stored: `moot trace status TRACE` lists what runs have left"),
        Rule("TRC-050", "artifact_hash_mismatch", "stored bytes have another hash",
             breach.evidence_differs,
             "`moot ledger doctor` shows which bytes differ; restore them from a backup"),
    ),
    ask.WithdrawClaim: _TEXT,
    ask.SignFinalStatement: _TEXT,
    ask.StartVerification: (
        *_TEXT,
        Rule("E-26", "bad_profile", "strict, default or lenient", breach.bad_profile,
             "--profile strict, default or lenient"),
    ),
    ask.CompleteVerification: (
        *_ANY,
        Rule("TRC-046", "bad_verdict", "pass, pass-with-warnings or fail", breach.bad_verdict,
             "say what the verification found"),
    ),
    ask.AbortTrace: _TEXT,
    ask.FailTrace: _TEXT,
    ask.RotateKey: (
        *_TEXT,
        Rule("E-20", "bad_role", "planner, executor, critic or auditor", breach.bad_role,
             "name one of the four parts"),
        Rule("E-20", "bad_key", "that is no key", breach.bad_kid, "`moot agent show` names keys"),
    ),
    ask.ReportForgery: _TEXT,
}  # fmt: skip


__all__ = ["GUARDS", "RULES", "WORDING_RULES"]

GUARDS: Final[tuple[Rule[PermissionCase], ...]] = (
    Rule("TRC-052", "trace_ended", "this trace has ended", breach.trace_ended,
         "begin a new one that names it: `moot trace new`"),
    Rule("TRC-062", "role_policy_violation", "no part may do this", breach.not_in_charge,
         "leave --as out, so that the workspace does it, or let a registered person do it"),
    Rule("TRC-062", "role_policy_violation", "another part may do this", breach.wrong_role,
         "`moot trace status TRACE` shows who plays which part; let NAME do it"),
    Rule("E-20", "foreign_key", "this key does not play that part here", breach.wrong_key,
         "a person records the new key: `moot trace rotate TRACE ROLE`",
         requirement=("TRC-045", "TRC-066")),
    Rule("TRC-017", "wrong_state", "not in this state", breach.wrong_state,
         "`moot trace status TRACE` shows what is next", requirement=("TRC-018", "TRC-023")),
)  # fmt: skip

RULES: Final[dict[type[Event], tuple[Rule[Any], ...]]] = {
    did.SessionInitialized: (
        text_rule("E-17", "task"),
        Rule("TRC-001", "role_missing", "planner, executor, critic and auditor, each once",
             breach.missing_role, "name one agent for each part"),
        Rule("E-17", "bad_binding", "a part is played by a named agent with its key",
             breach.bad_binding, "`moot agent list` shows names and keys", requirement="TRC-001"),
        Rule("E-03", "duties_not_separated", "one agent plays parts that must be apart",
             breach.one_agent_two_parts,
             "name another agent, or a policy with distinct_roles false for the rest",
             requirement="TRC-001"),
        Rule("E-12", "bad_policy", "the policy cannot be used", breach.unusable_policy,
             "docs/traces.md lists every key of a policy with its default"),
        Rule("E-17", "task_differs", "the task has another hash", breach.task_hash_differs,
             "let the trace compute the hash"),
        Rule("E-12", "policy_differs", "the policy has another hash", breach.policy_hash_differs,
             "let the trace compute the hash"),
    ),
    did.ProposalCreated: (
        number_rule("proposal_id", "proposal_count"),
        text_rule("TRC-027", "objective", "required_tools"),
        Rule("TRC-041", "unknown_proposal", "only a standing proposal is superseded",
             breach.supersedes_unknown_proposal, STATUS_HINT),
        Rule("E-28", "execution_running", "something runs under the old proposal",
             breach.supersedes_running, "wait until it has ended"),
        Rule("TRC-055", "fallback_not_allowed",
             "after a failed run this policy allows no further proposal",
             breach.fallback_not_allowed, "claim what was found, or let a person abort"),
        Rule("TRC-055", "unknown_intent", "a fallback names a failed intent",
             breach.fallback_for_no_failure, STATUS_HINT),
        Rule("T-03", "too_many_open", "too many proposals stand", breach.too_many_proposals,
             "supersede one of them"),
    ),
    did.ProposalReviewed: (
        PROPOSAL_RULE,
        Rule("E-37", "review_not_open", "its review can no longer change this way",
             breach.review_not_open,
             "the planner revises it: `moot trace propose TRACE --supersedes ID ...`",
             requirement=("TRC-029", "TRC-056")),
        text_rule("TRC-028", "rationale"),
    ),
    did.SessionAborted: (text_rule("E-39", "reason", requirement="TRC-016"),),
    did.SessionFailed: (text_rule("E-22", "code", requirement="TRC-015"),),
    did.KeyRotated: (
        Rule("E-20", "role_policy_violation",
             "only the old key, a person or the workspace changes a key",
             breach.rotation_forbidden, "let a registered person do this", requirement="TRC-062"),
        Rule("E-20", "foreign_key", "the old key is another one", breach.old_key_differs,
             STATUS_HINT, requirement="TRC-066"),
        Rule("E-03", "duties_not_separated", "the new key plays a part already", breach.key_in_use,
             "every role has its own key", requirement="TRC-001"),
    ),
    **TOOL_RULES,
    **CLAIM_RULES,
}  # fmt: skip

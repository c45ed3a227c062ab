"""The rules of a trace, one row each: the norm's id, its code, its sentence, its check.

TRC-nnn are requirements of the Agent Protocol, E-nn and T-nn the readings in docs/readings.md.
`GUARDS` hold for every event, `RULES` for one kind of it: a decision asks them before an event is
recorded, an audit asks them again of every recorded one. `ASKED` are about a command's wording.
"""

from __future__ import annotations

from typing import Any, Final

from moot.core.findings import Rule, Severity
from moot.core.machine import Command, Event
from moot.trace import checks as breach
from moot.trace import claimchecks as claims
from moot.trace import commandchecks as wording
from moot.trace import commands as ask
from moot.trace import events as did
from moot.trace import toolchecks as tools
from moot.trace.checks import Told

_STATUS = "`moot trace status TRACE` shows what stands"

GUARDS: Final[tuple[Rule[Told], ...]] = (
    Rule(
        "TRC-052",
        "trace_ended",
        "this trace has ended",
        breach.trace_ended,
        hint="begin a new one that names it: `moot trace new`",
    ),
    Rule(
        "TRC-062",
        "role_policy_violation",
        "another part may do this",
        breach.wrong_role,
        hint="`moot trace status TRACE` shows who plays which part; use --as NAME",
    ),
    Rule(
        "E-20",
        "foreign_key",
        "this key does not play that part here",
        breach.wrong_key,
        hint="a person records the new key: `moot trace rotate TRACE ROLE`",
    ),
    Rule(
        "TRC-017",
        "wrong_state",
        "not in this state",
        breach.wrong_state,
        hint="`moot trace status TRACE` shows what is next",
    ),
)


def _numbered(name: str, count: str) -> Rule[Told]:
    return Rule(
        "E-19",
        "wrong_number",
        "ids count upwards, each once",
        breach.wrong_number(name, count),
        hint="let the trace number it",
    )


def _said(rule: str, *names: str) -> Rule[Told]:
    return Rule(
        rule,
        "text_missing",
        f"{', '.join(names)}: required",
        breach.empty(*names),
        hint="say it in a few words",
    )


_PROPOSAL = Rule(
    "TRC-035",
    "unknown_proposal",
    "no such proposal stands",
    breach.unknown_proposal,
    hint=_STATUS,
)
_EXECUTION = (
    Rule(
        "TRC-037",
        "unknown_execution",
        "no such run is under way",
        tools.unknown_execution,
        hint=_STATUS,
    ),
    Rule(
        "TRC-037",
        "other_execution",
        "the end does not fit the start",
        tools.other_execution,
        hint="name the run's own intent and input",
    ),
    Rule(
        "TRC-036",
        "bad_output",
        "outputs have names of their own and stored bytes",
        tools.bad_output,
        hint="store each output once and give it its own name",
    ),
)
_CLAIM = Rule(
    "TRC-040", "unknown_claim", "no such claim stands", claims.unknown_claim, hint=_STATUS
)

RULES: Final[dict[type[Event], tuple[Rule[Told], ...]]] = {
    did.SessionInitialized: (
        _said("E-17", "task"),
        Rule(
            "TRC-001",
            "role_missing",
            "planner, executor, critic and auditor, each once",
            breach.missing_role,
            hint="name one agent for each part",
        ),
        Rule(
            "E-03",
            "duties_not_separated",
            "one agent plays parts that must be apart",
            breach.one_agent_two_parts,
            hint="name another agent, or a policy with distinct_roles false for the rest",
        ),
        Rule(
            "E-12",
            "bad_policy",
            "the policy cannot be used",
            breach.unusable_policy,
            hint="docs/trace.md lists every key of a policy with its default",
        ),
        Rule(
            "E-17",
            "task_differs",
            "the task has another hash",
            breach.other_task,
            hint="let the trace work out the hash",
        ),
    ),
    did.ProposalCreated: (
        _numbered("proposal_id", "proposal_count"),
        _said("TRC-027", "objective", "required_tools"),
        Rule(
            "TRC-041",
            "unknown_proposal",
            "only a standing proposal is superseded",
            breach.supersedes_unknown_proposal,
            hint=_STATUS,
        ),
        Rule(
            "E-28",
            "execution_running",
            "something runs under the old proposal",
            breach.supersedes_running,
            hint="wait until it has ended",
        ),
        Rule(
            "TRC-055",
            "fallback_not_allowed",
            "after a failed run this policy allows no further proposal",
            breach.no_fallback,
            hint="claim what was found, or let a person abort",
        ),
        Rule(
            "TRC-055",
            "unknown_intent",
            "a fallback names a failed intent",
            breach.fallback_for_nothing,
            hint=_STATUS,
        ),
        Rule(
            "T-03",
            "too_many_open",
            "too many proposals stand",
            breach.too_many_proposals,
            hint="supersede one of them",
        ),
    ),
    did.ProposalReviewed: (
        _PROPOSAL,
        Rule(
            "E-37",
            "review_not_open",
            "this cannot be said of it any more",
            breach.review_not_open,
            hint="the planner revises it: `moot trace propose TRACE --supersedes ID ...`",
        ),
        _said("TRC-028", "rationale"),
    ),
    did.ToolIntentSigned: (
        _numbered("intent_id", "intent_count"),
        _PROPOSAL,
        Rule(
            "TRC-029",
            "proposal_not_approved",
            "the proposal is not approved",
            breach.proposal_not_approved,
            hint="let the critic review it, or the planner revise it",
        ),
        _said("TRC-031", "tool", "command", "justification", "declared_risk"),
        Rule(
            "TRC-032",
            "input_mismatch",
            "the hash is not that of the input",
            tools.input_differs,
            hint="leave the hash out: it is worked out from the command",
        ),
        Rule(
            "E-11",
            "risk_too_low",
            "the risk is higher than recorded",
            tools.risk_too_low,
            hint="let the trace work out the risk",
        ),
        Rule(
            "E-10",
            "approval_left_out",
            "the critic's approval was left out",
            tools.needs_left_out,
            hint="let the trace work out who must agree",
        ),
        Rule(
            "T-02",
            "bad_timeout",
            "the time limit is beyond the policy's",
            tools.bad_timeout,
            hint="ask for less time, or split the work",
        ),
        Rule(
            "TRC-057",
            "unknown_intent",
            "only an open intent is superseded",
            tools.supersedes_unknown_intent,
            hint=_STATUS,
        ),
        Rule(
            "TRC-058",
            "not_retryable",
            "a retry names the last failed intent of its step",
            tools.not_retryable,
            hint=_STATUS,
        ),
        Rule(
            "E-07",
            "attempts_exhausted",
            "this step has failed too often",
            tools.attempts_exhausted,
            hint="propose another way: `moot trace propose TRACE ...`, or claim the failure",
        ),
        Rule(
            "E-07",
            "wrong_attempt",
            "attempts are counted by the trace",
            tools.wrong_attempt,
            hint="let the trace count",
        ),
        Rule(
            "T-03",
            "too_many_open",
            "too much is open",
            tools.too_many_intents,
            hint="run or supersede what is open first",
        ),
    ),
    did.ToolIntentReviewed: (
        Rule(
            "TRC-033",
            "unknown_intent",
            "there is no such intent",
            tools.unknown_intent,
            hint=_STATUS,
        ),
        Rule("TRC-058", "intent_closed", "it is no longer open", tools.intent_closed, hint=_STATUS),
        Rule(
            "E-10",
            "review_not_open",
            "this cannot be said of it any more",
            tools.consent_not_open,
            hint="the executor revises it: `moot trace intend ... --supersedes ID`",
        ),
        _said("TRC-005", "rationale"),
    ),
    did.ToolExecutionStarted: (
        _numbered("execution_id", "execution_count"),
        Rule(
            "TRC-021",
            "unknown_intent",
            "a run follows a signed intent",
            tools.unknown_intent,
            hint="`moot trace intend TRACE PROPOSAL ...` first",
        ),
        Rule(
            "TRC-058",
            "intent_closed",
            "an intent is run once",
            tools.intent_closed,
            hint="sign a new intent; a retry names the old one",
        ),
        Rule(
            "TRC-057",
            "intent_blocked",
            "the critic has blocked it",
            tools.intent_blocked,
            hint="revise it: `moot trace intend ... --supersedes ID`, and have that approved",
        ),
        Rule(
            "TRC-056",
            "proposal_not_approved",
            "its proposal is not approved any more",
            tools.ground_gone,
            hint="let the planner revise the proposal",
        ),
        Rule(
            "TRC-063",
            "approval_required",
            "the critic must agree first",
            tools.approval_missing,
            hint="`moot trace review-intent TRACE INTENT --verdict approved --rationale T`",
        ),
        Rule(
            "E-07",
            "attempts_exhausted",
            "this step has failed too often",
            tools.step_exhausted,
            hint="propose another way, or claim the failure",
        ),
        Rule(
            "TRC-038",
            "input_mismatch",
            "what is run is not what was intended",
            tools.other_input,
            hint="store the intent's own input",
        ),
        Rule(
            "T-01",
            "reservation_required",
            "what it writes to must be reserved",
            tools.not_reserved,
            hint="`moot reserve SCOPE` as the executor, then run it again",
        ),
    ),
    did.ToolExecutionCompleted: (
        *_EXECUTION,
        Rule(
            "TRC-036",
            "output_required",
            "a finished run leaves its output",
            tools.no_output,
            hint="store what it wrote, even if that is nothing",
        ),
        Rule(
            "T-04",
            "exit_status",
            "a run with another exit status than 0 has failed",
            tools.failed_exit,
            hint="record it as failed",
        ),
    ),
    did.ToolExecutionFailed: _EXECUTION,
    did.ClaimIssued: (
        _numbered("claim_id", "claim_count"),
        _said("TRC-039", "text"),
        Rule(
            "E-14",
            "bad_confidence",
            "confidence is a number from 0 to 1",
            claims.bad_confidence,
            hint="such as 0.85",
        ),
        Rule(
            "TRC-064",
            "claim_unproven",
            "a claim needs evidence",
            claims.too_little_evidence,
            hint="cite artifacts that runs of this trace left: --evidence SHA256",
        ),
        Rule(
            "T-05",
            "unknown_evidence",
            "evidence comes from a run of this trace",
            claims.unknown_evidence,
            hint="`moot trace status TRACE` lists what runs have left",
        ),
        Rule(
            "TRC-022",
            "execution_running",
            "a run must have ended before it is claimed from",
            claims.running_evidence,
            hint="wait until it has ended",
        ),
        Rule(
            "TRC-041",
            "unknown_claim",
            "only a standing claim is superseded",
            claims.supersedes_unknown_claim,
            hint=_STATUS,
        ),
        Rule(
            "T-03",
            "too_many_open",
            "too many claims stand",
            claims.too_many_claims,
            hint="supersede or withdraw one",
        ),
        Rule(
            "TRC-054",
            "artifact_missing",
            "cited bytes are gone",
            claims.missing_artifact,
            Severity.WARNING,
            hint="restore the artifact before the verification",
        ),
    ),
    did.ClaimChallenged: (_CLAIM, _said("TRC-040", "reason")),
    did.ClaimWithdrawn: (_CLAIM,),
    did.FinalStatementSigned: (
        _said("TRC-042", "statement"),
        Rule(
            "TRC-065",
            "claim_disputed",
            "a challenge is open",
            claims.open_challenge,
            hint="supersede the claim with a better one, or withdraw it",
        ),
        Rule(
            "E-08",
            "execution_running",
            "a run has not ended",
            claims.still_running,
            hint="wait until it has ended; if its process is gone: `moot trace recover TRACE`",
        ),
        Rule(
            "TRC-042",
            "nothing_claimed",
            "no claim stands",
            claims.nothing_claimed,
            hint="claim what was found first",
        ),
        Rule(
            "TRC-042",
            "bundle_differs",
            "the bundle is not the claims that stand",
            claims.other_bundle,
            hint="let the trace bundle them",
        ),
    ),
    did.VerificationRunStarted: (
        _numbered("run_id", "run_count"),
        Rule(
            "E-41",
            "verification_running",
            "a verification has not ended",
            claims.already_verifying,
            hint="complete it first",
        ),
        Rule(
            "TRC-068",
            "subject_differs",
            "a verification is about all that stands",
            claims.other_subject,
            hint="let the trace say what is verified",
        ),
    ),
    did.VerificationRunCompleted: (
        Rule(
            "TRC-043",
            "verification_not_started",
            "no such verification is under way",
            claims.not_verifying,
            hint="start one first: `moot trace audit TRACE`",
        ),
        Rule(
            "TRC-068",
            "subject_differs",
            "the report is about something else",
            claims.other_run,
            hint="verify what stood when the verification began",
        ),
        Rule(
            "TRC-047",
            "report_required",
            "the report must be stored",
            claims.no_report,
            hint="store the report first and name its hash",
        ),
    ),
    did.SessionAborted: (_said("E-39", "reason"),),
    did.SessionFailed: (_said("E-22", "code"),),
    did.KeyRotated: (
        Rule(
            "E-20",
            "role_policy_violation",
            "only the old key, a person or the workspace changes a key",
            breach.rotation_forbidden,
            hint="let a registered person do this",
        ),
        Rule(
            "E-20",
            "foreign_key",
            "the old key is another one",
            breach.other_old_key,
            hint=_STATUS,
        ),
        Rule(
            "E-03",
            "duties_not_separated",
            "the new key plays a part already",
            breach.key_in_use,
            hint="every part has a key of its own",
        ),
    ),
}

_ANY: tuple[Rule[Any], ...] = (
    Rule(
        "E-36",
        "unreadable_text",
        "a text cannot be written",
        wording.unreadable,
        hint="send whole characters",
    ),
    Rule(
        "E-36",
        "text_too_long",
        "there is too much text",
        wording.too_long,
        hint="put long text into a file that a run leaves, and cite it",
    ),
    Rule(
        "E-36",
        "too_many_items",
        "too many at once",
        wording.too_many_items,
        hint="give fewer",
    ),
)
_RESULT = Rule(
    "TRC-037",
    "result_missing",
    "an end says how it went",
    wording.left_out("result"),
    hint="give exit status and duration",
)

ASKED: Final[dict[type[Command], tuple[Rule[Any], ...]]] = {
    ask.OpenTrace: _ANY[:1],
    ask.CreateProposal: (
        *_ANY,
        Rule(
            "TRC-027",
            "proposal_incomplete",
            "a proposal says what it assumes and what evidence it expects",
            wording.left_out("assumptions", "expected_evidence"),
            hint="an empty list says that there is none",
        ),
    ),
    ask.ReviewProposal: (
        *_ANY,
        Rule(
            "TRC-028",
            "bad_verdict",
            "approved, conditional, rejected or blocked",
            wording.bad_review,
            hint="--verdict approved, conditional, rejected or blocked",
        ),
    ),
    ask.SignIntent: (
        *_ANY,
        Rule(
            "TRC-031",
            "command_missing",
            "say which command will be run",
            wording.no_command,
            hint="after --, such as: -- pytest -q",
        ),
        Rule(
            "TRC-031",
            "risk_missing",
            "say how risky it is",
            wording.no_risk,
            hint="--risk low, medium, high or critical",
        ),
        Rule(
            "E-35",
            "secret_in_input",
            "a secret may not stand in the record",
            wording.secret_in_input,
            hint="pass it in a variable: --env NAME",
        ),
        Rule(
            "T-02",
            "bad_variable",
            "a variable is named, its value is not",
            wording.bad_name,
            hint="--env NAME, without =VALUE",
        ),
        Rule(
            "TRC-031",
            "input_mismatch",
            "that is no hash",
            wording.other_hash,
            hint="leave it out: it is worked out from the command",
        ),
    ),
    ask.ReviewIntent: (
        *_ANY,
        Rule(
            "E-10",
            "bad_verdict",
            "approved or blocked",
            wording.bad_consent,
            hint="--verdict approved or blocked",
        ),
    ),
    ask.StartExecution: _ANY,
    ask.CompleteExecution: (*_ANY, _RESULT),
    ask.FailExecution: (
        *_ANY,
        Rule(
            "TRC-037",
            "failure_missing",
            "a failure says how it failed",
            wording.left_out("failure"),
            hint="give its kind and what was seen",
        ),
    ),
    ask.RecoverExecution: (
        *_ANY,
        Rule(
            "TRC-061",
            "evidence_missing",
            "say what shows that its process is gone",
            wording.not_seen,
            hint="such as: process 4711 is not running",
        ),
    ),
    ask.IssueClaim: (
        *_ANY,
        Rule(
            "TRC-050",
            "artifact_hash_mismatch",
            "stored bytes have another hash",
            wording.evidence_differs,
            hint="`moot artifact check` shows which; restore them from a backup",
        ),
    ),
    ask.ChallengeClaim: (
        *_ANY,
        Rule(
            "TRC-050",
            "artifact_hash_mismatch",
            "stored bytes have another hash",
            wording.evidence_differs,
            hint="`moot artifact check` shows which; restore them from a backup",
        ),
    ),
    ask.WithdrawClaim: _ANY,
    ask.SignFinalStatement: _ANY,
    ask.StartVerification: (
        *_ANY,
        Rule(
            "E-26",
            "bad_profile",
            "strict, default or lenient",
            wording.bad_profile,
            hint="--profile strict, default or lenient",
        ),
    ),
    ask.CompleteVerification: (
        *_ANY,
        Rule(
            "TRC-046",
            "bad_verdict",
            "pass, pass-with-warnings or fail",
            wording.bad_verdict,
            hint="say what the verification found",
        ),
        Rule(
            "TRC-047",
            "report_required",
            "the report must be stored",
            wording.left_out("report"),
            hint="store the report first and name its hash",
        ),
    ),
    ask.AbortTrace: _ANY,
    ask.FailTrace: _ANY,
    ask.RotateKey: (
        *_ANY,
        Rule(
            "E-20",
            "bad_role",
            "planner, executor, critic or auditor",
            wording.bad_role,
            hint="name one of the four parts",
        ),
        Rule(
            "E-20",
            "bad_key",
            "that is no key",
            wording.bad_kid,
            hint="`moot agent show` names keys",
        ),
    ),
    ask.ReportForgery: _ANY,
}

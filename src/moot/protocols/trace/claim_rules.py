"""The rules of claims, the final statement and verifications."""

from __future__ import annotations

from typing import Any, Final

from moot.core.findings import Rule, Severity
from moot.core.machine import Event
from moot.protocols.trace import claim_checks as claims
from moot.protocols.trace import events as did
from moot.protocols.trace.shared_rules import STATUS_HINT, number_rule, text_rule

_CLAIM = Rule("TRC-040", "unknown_claim", "no such claim stands", claims.unknown_claim,
              STATUS_HINT)  # fmt: skip

CLAIM_RULES: Final[dict[type[Event], tuple[Rule[Any], ...]]] = {
    did.ClaimIssued: (
        number_rule("claim_id", "claim_count"),
        text_rule("TRC-039", "text"),
        Rule("E-14", "bad_confidence", "confidence is a number from 0 to 1", claims.bad_confidence,
             "such as 0.85", requirement="TRC-039"),
        Rule("TRC-064", "claim_unproven", "a claim needs evidence", claims.too_little_evidence,
             "cite artifacts that runs of this trace left: --evidence SHA256"),
        Rule("T-05", "unknown_evidence", "evidence comes from a run of this trace",
             claims.unknown_evidence, "`moot trace status TRACE` lists what runs have left",
             requirement="TRC-064"),
        Rule("TRC-022", "execution_running", "a run must have ended before it is claimed from",
             claims.running_evidence, "wait until it has ended"),
        Rule("TRC-041", "unknown_claim", "only a standing claim is superseded",
             claims.supersedes_unknown_claim, STATUS_HINT),
        Rule("T-03", "too_many_open", "too many claims stand", claims.too_many_claims,
             "supersede or withdraw one"),
        Rule("TRC-054", "artifact_missing", "cited bytes are gone", claims.missing_artifact,
             "restore the artifact before the verification", Severity.WARNING),
    ),
    did.ClaimChallenged: (_CLAIM, text_rule("TRC-040", "reason")),
    did.ClaimWithdrawn: (_CLAIM,),
    did.FinalStatementSigned: (
        text_rule("TRC-042", "statement"),
        Rule("TRC-065", "claim_disputed", "a challenge is open", claims.open_challenge,
             "supersede the claim with a better one, or withdraw it"),
        Rule("E-08", "execution_running", "a run has not ended", claims.still_running,
             "wait until it has ended; if its process is gone: `moot trace recover TRACE`",
             requirement="TRC-065"),
        Rule("TRC-042", "nothing_claimed", "no claim stands", claims.nothing_claimed,
             "claim what was found first", requirement="TRC-065"),
        Rule("TRC-042", "bundle_differs", "the bundle is not the claims that stand",
             claims.bundle_differs, "let the trace bundle them"),
    ),
    did.VerificationRunStarted: (
        number_rule("run_id", "run_count"),
        Rule("E-41", "verification_running", "a verification has not ended",
             claims.already_verifying, "complete it first", requirement="TRC-043"),
        Rule("TRC-068", "subject_differs", "a verification is about all that stands",
             claims.subject_differs, "let the trace say what is verified"),
    ),
    did.VerificationRunCompleted: (
        Rule("TRC-043", "verification_not_started", "no such verification is under way",
             claims.not_verifying, "start one first: `moot trace audit TRACE`"),
        Rule("TRC-068", "subject_differs", "the report is about something else",
             claims.report_subject_differs, "verify what stood when the verification began"),
        Rule("TRC-047", "report_required", "the report must be stored", claims.no_report,
             "store the report first and name its hash"),
    ),
}  # fmt: skip

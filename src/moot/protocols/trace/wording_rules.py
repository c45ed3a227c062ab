"""The rules of a command's wording: asked before an event is made of it, and never again."""

from __future__ import annotations

from typing import Any, Final

from moot.core.findings import Rule
from moot.core.machine import Command
from moot.protocols.trace import commands as ask
from moot.protocols.trace import wording_checks as wording

_TEXT: tuple[Rule[Any], ...] = (
    Rule("E-36", "unreadable_text", "a text cannot be written", wording.unreadable_text,
         "send whole characters"),
    Rule("E-36", "text_too_long", "there is too much text", wording.too_long,
         "put long text into a file that a run leaves, and cite it"),
)  # fmt: skip
_ANY = (
    *_TEXT,
    Rule("E-36", "too_many_items", "too many at once", wording.too_many_items, "give fewer"),
)
_RESULT = Rule("TRC-037", "result_missing", "an end says how it went",
               wording.require_fields("result"), "give exit status and duration")  # fmt: skip

WORDING_RULES: Final[dict[type[Command], tuple[Rule[Any], ...]]] = {
    ask.OpenTrace: _ANY,
    ask.CreateProposal: (
        *_ANY,
        Rule("TRC-027", "proposal_incomplete",
             "a proposal says what it assumes and what evidence it expects",
             wording.require_fields("assumptions", "expected_evidence"),
             "an empty list says that there is none"),
    ),
    ask.ReviewProposal: (
        *_ANY,
        Rule("TRC-028", "bad_verdict", "approved, conditional, rejected or blocked",
             wording.bad_review, "--verdict approved, conditional, rejected or blocked"),
    ),
    ask.SignIntent: (
        *_ANY,
        Rule("TRC-031", "command_missing", "say which command will be run", wording.no_command,
             "after --, such as: -- pytest -q"),
        Rule("TRC-031", "risk_missing", "say how risky it is", wording.no_risk,
             "--risk low, medium, high or critical"),
        Rule("E-35", "secret_in_input", "a secret may not stand in the record",
             wording.secret_in_input, "pass it in a variable: --env NAME"),
        Rule("T-02", "bad_variable", "a variable is named, its value is not",
             wording.bad_variable_name, "--env NAME, without =VALUE"),
    ),
    ask.ReviewIntent: (
        *_TEXT,
        Rule("E-10", "bad_verdict", "approved or blocked", wording.bad_consent,
             "--verdict approved or blocked", requirement="TRC-006"),
    ),
    ask.StartExecution: _ANY,
    ask.CompleteExecution: (*_ANY, _RESULT),
    ask.FailExecution: (
        *_ANY,
        Rule("TRC-037", "failure_missing", "a failure says how it failed",
             wording.require_fields("failure"), "give its kind and what was seen"),
    ),
    ask.RecoverExecution: (
        *_ANY,
        Rule("TRC-061", "evidence_missing", "say what shows that its process is gone",
             wording.no_evidence_of_death, "such as: process 4711 is not running"),
    ),
    ask.IssueClaim: (
        *_ANY,
        Rule("TRC-050", "artifact_hash_mismatch", "stored bytes have another hash",
             wording.evidence_differs,
             "`moot ledger doctor` shows which bytes differ; restore them from a backup"),
    ),
    ask.ChallengeClaim: (
        *_ANY,
        Rule("TRC-050", "artifact_missing", "only a claim may cite bytes that are gone",
             wording.evidence_absent,
             "cite what is stored: `moot trace status TRACE` lists what runs have left"),
        Rule("TRC-050", "artifact_hash_mismatch", "stored bytes have another hash",
             wording.evidence_differs,
             "`moot ledger doctor` shows which bytes differ; restore them from a backup"),
    ),
    ask.WithdrawClaim: _TEXT,
    ask.SignFinalStatement: _TEXT,
    ask.StartVerification: (
        *_TEXT,
        Rule("E-26", "bad_profile", "strict, default or lenient", wording.bad_profile,
             "--profile strict, default or lenient"),
    ),
    ask.CompleteVerification: (
        *_ANY,
        Rule("TRC-046", "bad_verdict", "pass, pass-with-warnings or fail", wording.bad_verdict,
             "say what the verification found"),
    ),
    ask.AbortTrace: _TEXT,
    ask.FailTrace: _TEXT,
    ask.RotateKey: (
        *_TEXT,
        Rule("E-20", "bad_role", "planner, executor, critic or auditor", wording.bad_role,
             "name one of the four parts"),
        Rule("E-20", "bad_key", "that is no key", wording.bad_kid, "`moot agent show` names keys"),
    ),
    ask.ReportForgery: _TEXT,
}  # fmt: skip

"""The input and output of an audit: facts about the bytes, problems, checks, the report.

`GRADES` has the severity of each code and its remedy, `PROFILES` what strict and lenient audits
judge differently.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

import msgspec

from moot.protocols.trace.model import AuditVerdict, Profile, Stage


class CheckStatus(StrEnum):
    PASS = "pass"
    WARNING = "warning"
    FAIL = "fail"


class AuditSeverity(StrEnum):
    """The severity of a failure, independent of the profile."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class ArtifactPresence(StrEnum):
    """What the artifact store shows under a hash."""

    PRESENT = "present"
    MISSING = "missing"
    DIFFERS = "differs"
    ERASED = "erased"


class AuditFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The result of checking the bytes. Lists only problems, by position.

    `head` and `events` are those of the ledger; `anchored`: a checkpoint names this head (None: not
    checked). `in_charge` are the keys of people and of the workspace; empty: judged by name. An
    artifact that `artifacts` does not list counts as missing.
    """

    trace: str
    head: str
    events: int
    unreadable: dict[int, str] = {}
    hashes: dict[int, str] = {}
    chain: dict[int, str] = {}
    signatures: dict[int, str] = {}
    unsigned: frozenset[int] = frozenset()
    keys: dict[int, str] = {}
    artifacts: dict[str, ArtifactPresence] = {}
    in_charge: frozenset[str] = frozenset()
    anchored: bool | None = None
    stage: Stage | None = None


class AuditProblem(msgspec.Struct, frozen=True):
    """One thing a check found, before the profile says whether it fails or warns."""

    code: str
    message: str
    seq: int | None = None
    artifact: str | None = None


class AuditFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A problem as the profile judges it; `status` is fail or warning."""

    code: str
    severity: AuditSeverity
    status: CheckStatus
    check: str
    message: str
    event: int | None
    artifact: str | None
    suggested_action: str


class AuditCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One named check: what it is about, its result, and how much it looked at."""

    id: str
    about: str
    status: CheckStatus
    evidence: str
    failures: tuple[AuditFailure, ...] = ()


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a verification found, of exactly which events (TRC-068)."""

    trace: str
    head: str
    events: int
    profile: Profile
    verdict: AuditVerdict
    stage: Stage
    first_bad: int | None
    last_trusted: int | None
    checks: tuple[AuditCheck, ...]

    def failures(self) -> tuple[AuditFailure, ...]:
        return tuple(failure for check in self.checks for failure in check.failures)

    def failed_codes(self) -> tuple[str, ...]:
        """Return the codes of what failed, each once, in the order of the checks."""
        failed = (failure.code for failure in self.failures() if failure.status is CheckStatus.FAIL)
        return tuple(dict.fromkeys(failed))


def report_document(report: AuditReport) -> dict[str, Any]:
    """Return the report as plain values; the same report gives the same document."""
    document: dict[str, Any] = msgspec.to_builtins(report)
    return {"format": FORMAT, **document}


FORMAT: Final = "moot.trace.report.v1"


class Grade(msgspec.Struct, frozen=True):
    severity: AuditSeverity
    usual: CheckStatus
    remedy: str


_F, _W = CheckStatus.FAIL, CheckStatus.WARNING
_C, _H, _M, _L = AuditSeverity.CRITICAL, AuditSeverity.HIGH, AuditSeverity.MEDIUM, AuditSeverity.LOW
_RESTORE = "restore the record from a copy, and find out who changed it"
_BYTES = "restore the artifact from a copy and verify again"
_REDO = "begin a new trace that names this one, and do it in order"
_PEOPLE = "ask the people in charge whether this was meant to be"

# Every code of an audit: its severity, its status in the default profile, its remedy.
GRADES: Final[dict[str, Grade]] = {
    "schema_invalid": Grade(_M, _F, _RESTORE),
    "hash_mismatch": Grade(_C, _F, _RESTORE),
    "chain_break": Grade(_C, _F, _RESTORE),
    "sig_invalid": Grade(_C, _F, _RESTORE),
    "sig_missing": Grade(_C, _F, _RESTORE),
    "sig_absent": Grade(_L, _W, "sign every event, not only the six kinds that must be"),
    "key_revoked": Grade(_C, _F, "treat what that key signed afterwards as forged"),
    "key_unknown": Grade(_C, _F, "verify with the right trust file"),
    "foreign_key": Grade(_C, _F, "record the new key of a part before it is used"),
    "artifact_missing": Grade(_H, _F, _BYTES),
    "artifact_erased": Grade(_L, _W, "it was erased on purpose; its hash is still on record"),
    "artifact_hash_mismatch": Grade(_H, _F, _BYTES),
    "claim_unproven": Grade(_H, _F, "claim again, citing what the runs of the trace left"),
    "claim_disputed": Grade(_M, _W, "supersede the claim, or withdraw it"),
    "challenge_resolved": Grade(_L, _W, "read why the earlier claim was challenged"),
    "low_confidence": Grade(_L, _W, "look for more evidence"),
    "role_policy_violation": Grade(_M, _F, _PEOPLE),
    "policy_violation": Grade(_M, _F, _PEOPLE),
    "undeclared_write": Grade(_M, _W, "declare what a command writes to: --writes SCOPE"),
    "finalization_incomplete": Grade(_M, _W, "finish with a final statement"),
    "finalization_invalid": Grade(_H, _F, _REDO),
    "ordering_violation": Grade(_H, _F, _REDO),
    "clock_backwards": Grade(_L, _W, "set the machine's clock; order is by position"),
    "state_violation": Grade(_H, _F, _REDO),
    "state_differs": Grade(_H, _F, "trust the replayed state, not the reported one"),
    "duties_not_separated": Grade(_H, _F, "give every part its own agent and key"),
    "execution_without_artifacts": Grade(_H, _F, _REDO),
    "input_mismatch": Grade(_H, _F, _REDO),
    "execution_unfinished": Grade(_L, _W, "record how it ended: `moot trace recover TRACE`"),
    "incomplete": Grade(_C, _F, "fetch the whole trace, or restore it from a copy"),
    "not_anchored": Grade(_L, _W, "make a checkpoint: `moot ledger checkpoint`"),
}
# Statuses that differ from the default profile. Integrity is the same in all.
PROFILES: Final[dict[Profile, dict[str, CheckStatus]]] = {
    Profile.STRICT: dict.fromkeys(
        (
            *("claim_disputed", "finalization_incomplete", "undeclared_write", "sig_absent"),
            *("artifact_erased", "execution_unfinished", "not_anchored"),
        ),
        _F,
    ),
    Profile.DEFAULT: {},
    Profile.LENIENT: dict.fromkeys(
        ("role_policy_violation", "policy_violation", "claim_unproven", "finalization_invalid"), _W
    ),
}


def judge_problem(check: str, problem: AuditProblem, profile: Profile) -> AuditFailure:
    grade = GRADES[problem.code]
    return AuditFailure(
        code=problem.code,
        severity=grade.severity,
        status=PROFILES[profile].get(problem.code, grade.usual),
        check=check,
        message=problem.message,
        event=problem.seq,
        artifact=problem.artifact,
        suggested_action=grade.remedy,
    )

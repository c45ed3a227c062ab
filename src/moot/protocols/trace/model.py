"""The nouns of one trace: who plays which part, what is proposed, intended, run and claimed.

The state has what is still open, plus counters: ids count upwards, so an id below the counter that
is not open has ended. What has ended is in the ledger. Of every artifact that a run left, the state
has eight bytes of the hash (`add_artifacts`), because a claim may cite it at any time.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec
from immutables import Map

from moot.core.canonical import encode_checked
from moot.core.clock import Millis
from moot.core.sha256 import sha256
from moot.protocols.trace.policy import FIRST_POLICY, Policy, Risk

# What may be open at once; a final bundle must fit in one event.
MAX_PROPOSALS, MAX_INTENTS, MAX_CLAIMS, MAX_FAILING = 500, 256, 400, 1_000


class Stage(StrEnum):
    """The document's nine states of a trace (TRC-008)."""

    INITIALIZED = "initialized"
    PLANNING = "planning"
    REVIEWING = "reviewing"
    EXECUTING = "executing"
    CLAIMING = "claiming"
    AUDITING = "auditing"
    COMPLETED = "completed"
    FAILED = "failed"
    ABORTED = "aborted"


ENDED: Final = frozenset({Stage.COMPLETED, Stage.FAILED, Stage.ABORTED})


class Role(StrEnum):
    PLANNER = "planner"
    EXECUTOR = "executor"
    CRITIC = "critic"
    AUDITOR = "auditor"


class Review(StrEnum):
    """The critic's review of a proposal."""

    PENDING = "pending"
    APPROVED = "approved"
    CONDITIONAL = "conditional"
    REJECTED = "rejected"
    BLOCKED = "blocked"


class Consent(StrEnum):
    """The critic's consent to an intent."""

    PENDING = "pending"
    APPROVED = "approved"
    BLOCKED = "blocked"


class AuditVerdict(StrEnum):
    """What a verification found (TRC-046, E-38)."""

    PASS = "pass"
    WARNINGS = "pass-with-warnings"
    FAIL = "fail"


class Profile(StrEnum):
    """How strictly a verification judges."""

    STRICT = "strict"
    DEFAULT = "default"
    LENIENT = "lenient"


class ApprovalReason(StrEnum):
    """Why an intent needs the critic's approval."""

    RISK = "risk"
    CONDITIONAL = "conditional"
    OUTSIDE = "tool-outside-proposal"
    BLOCKED = "supersedes-a-blocked-intent"


class FailureKind(StrEnum):
    """How a run failed. `died`: its process had exited, which was found later."""

    EXIT = "exit"
    SIGNAL = "signal"
    TIMEOUT = "timeout"
    OUTPUT = "output-limit"
    NOT_STARTED = "not-started"
    DIED = "died"
    STOPPED = "stopped"


class RoleBinding(msgspec.Struct, frozen=True, cache_hash=True):
    """The holder of a role: the agent, which holder of its name, and the key that signs."""

    role: Role
    agent: str
    epoch: int
    kid: str


class HeldReservation(msgspec.Struct, frozen=True):
    """Proof of a live reservation at the start: the declared scope, and its fencing number."""

    scope: str
    fencing: int


class ExecutionResult(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a run that ended by itself."""

    exit_status: int
    duration_ms: int
    changed: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    truncated: tuple[str, ...] = ()
    watched: str = ""


class ExecutionFailure(msgspec.Struct, frozen=True, kw_only=True):
    """The context of a failed run. `evidence` is a recovery's description, not a proof."""

    kind: FailureKind
    detail: str
    exit_status: int | None = None
    duration_ms: int | None = None
    changed: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    truncated: tuple[str, ...] = ()
    watched: str = ""
    evidence: tuple[str, ...] = ()


class NamedOutput(msgspec.Struct, frozen=True):
    """What a run left, by name: stdout, stderr, changed, ... and the stored bytes."""

    name: str
    sha256: str


class BundledClaim(msgspec.Struct, frozen=True):
    """A claim of the final bundle, with the hash of its one event (TRC-066)."""

    claim_id: str
    event: str


class Proposal(msgspec.Struct, frozen=True):
    """Rejected and superseded ones are dropped; a blocked one waits for its revision."""

    id: str
    objective: str
    tools: tuple[str, ...]
    since: Millis
    review: Review = Review.PENDING


class Intent(msgspec.Struct, frozen=True):
    """One open intent: not started, not superseded."""

    id: str
    proposal: str
    tool: str
    risk: Risk
    input_hash: str
    step: str
    since: Millis
    writes: tuple[str, ...] = ()
    needs: tuple[ApprovalReason, ...] = ()
    consent: Consent = Consent.PENDING


class Execution(msgspec.Struct, frozen=True):
    """One run in flight."""

    id: str
    intent: str
    proposal: str
    tool: str
    step: str
    input_artifact: str
    since: Millis


class FailingStep(msgspec.Struct, frozen=True):
    """A step that has failed and not succeeded since: how often, and its last intent."""

    failed: int
    intent: str


class Claim(msgspec.Struct, frozen=True):
    """A standing claim: neither superseded nor withdrawn."""

    id: str
    event: str
    since: Millis
    challenged_at: Millis | None = None
    flagged: bool = False


class VerificationRun(msgspec.Struct, frozen=True):
    """A running verification: its subject is fixed when it starts (E-34)."""

    id: str
    head: str
    events: int
    profile: Profile
    since: Millis


class State(msgspec.Struct, frozen=True):
    """One trace. `failing` counts failed attempts by step, `exhausted` the steps given up.

    `head` and `events` are the last event's hash and the number of events: what a verification
    is about. Only `add_artifacts` and `holds_artifact` use `shelf`.
    """

    stage: Stage = Stage.INITIALIZED
    task: str = ""
    task_sha256: str = ""
    policy: Policy = FIRST_POLICY
    roles: tuple[RoleBinding, ...] = ()
    since: Millis = 0
    proposals: Map[str, Proposal] = Map()
    proposal_count: int = 0
    intents: Map[str, Intent] = Map()
    intent_count: int = 0
    running: Map[str, Execution] = Map()
    execution_count: int = 0
    completed: int = 0
    failures: int = 0
    failing: Map[str, FailingStep] = Map()
    exhausted: int = 0
    claims: Map[str, Claim] = Map()
    claim_count: int = 0
    shelf: tuple[bytes, ...] = ()
    final: str | None = None
    run: VerificationRun | None = None
    run_count: int = 0
    verdict: AuditVerdict | None = None
    report: str | None = None
    because: str = ""
    head: str = ""
    events: int = 0
    last_at: Millis = 0

    @property
    def ended(self) -> bool:
        return self.stage in ENDED

    def binding_of(self, role: Role) -> RoleBinding | None:
        for binding in self.roles:  # asked for every event: a plain loop
            if binding.role is role:
                return binding
        return None

    def challenged_claims(self) -> list[Claim]:
        """Return the claims with an open challenge, in the order of their ids."""
        disputed = (claim for claim in self.claims.values() if claim.challenged_at is not None)
        return sorted(disputed, key=lambda claim: number_of_id(claim.id))


def number_of_id(name: str) -> int:
    """Return the count in an id such as `i12`; 0 if it is none."""
    digits = name[1:]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0


# The normalised input of a run: the same input gives the same bytes and the same hash.
#
# The input of a run is the canonical JSON of the tool, the argument list, the folder, the names of
# variables and the time limit. The values of variables are not part of it.

MEDIA_TYPE = "application/vnd.moot.tool-input+json"


def encode_input(
    tool: str, command: tuple[str, ...], cwd: str, env: tuple[str, ...], timeout_ms: int
) -> bytes:
    """Return the normalised input; Malformed if a text cannot be encoded.

    TRC-032: only texts and one number, so that every JSON library writes the same bytes.
    """
    return encode_checked(
        {
            "command": list(command),
            "cwd": cwd,
            "env": sorted(set(env)),
            "timeout_ms": timeout_ms,
            "tool": tool,
        }
    )


def sha256_hex(data: bytes) -> str:
    return sha256(data).hexdigest()


# Which artifacts the runs of a trace have left: eight bytes of each hash, in pages.
#
# A claim may cite any of them, however long ago. Only the last page is copied when one is added,
# and a process that has just started searches the pages without building an index. Eight bytes are
# enough to catch a mistake when a claim is made; an audit compares whole hashes (T-13).

MARK_BYTES: Final = 8
HASH_BYTES: Final = 32
PAGE_BYTES: Final = 1_024 * MARK_BYTES

ArtifactMarks = tuple[bytes, ...]


def add_artifacts(shelf: ArtifactMarks, hashes: Iterable[str]) -> ArtifactMarks:
    for mark in filter(None, map(_shorten, hashes)):
        fits = bool(shelf) and len(shelf[-1]) < PAGE_BYTES
        shelf = (*shelf[:-1], shelf[-1] + mark) if fits else (*shelf, mark)
    return shelf


def holds_artifact(shelf: ArtifactMarks, sha256: str) -> bool:
    mark = _shorten(sha256)
    return bool(mark) and any(_page_holds(page, mark) for page in reversed(shelf))


def _shorten(sha256: str) -> bytes:
    """Return the first bytes of a hash; empty for a text that is no hash."""
    try:
        whole = bytes.fromhex(sha256)
    except ValueError:
        return b""
    return whole[:MARK_BYTES] if len(whole) == HASH_BYTES else b""


def _page_holds(page: bytes, mark: bytes) -> bool:
    """True if the page has the mark at a multiple of its length, not across two marks."""
    at = page.find(mark)
    while at >= 0 and at % MARK_BYTES:
        at = page.find(mark, at + 1)
    return at >= 0

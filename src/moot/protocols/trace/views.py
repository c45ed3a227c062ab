"""What people and agents read of a trace: where it stands, and its story line by line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from moot.core.canonical import check_profile
from moot.core.clock import Millis, to_text
from moot.core.errors import Malformed
from moot.core.findings import fill_hint
from moot.core.machine import Event, Recorded, fill_from, to_snake_case
from moot.core.record import MAX_BODY_BYTES
from moot.core.text import Quoted
from moot.protocols.trace import events as did
from moot.protocols.trace.machine import agenda
from moot.protocols.trace.model import BundledClaim, Consent, Intent, State, number_of_id
from moot.protocols.trace.tool_checks import approval_reasons_now

# The document names the fields of events in prose only; ours are listed in
# docs/readings.md (E-36).

EVENT_TYPES: Final[dict[str, type[Event]]] = {
    to_snake_case(kind.__name__): kind for kind in did.EVENTS
}
EVENT_NAMES: Final[dict[type[Event], str]] = {kind: name for name, kind in EVENT_TYPES.items()}
EXTENSION_NAMES: Final = frozenset(EVENT_NAMES[kind] for kind in did.EXTENSIONS)


def parse_event(event_type: str, payload: bytes | str) -> Event:
    """Return the event of a payload; Malformed, with the place, if it is none."""
    kind = EVENT_TYPES.get(event_type)
    if kind is None:
        known = ", ".join(EVENT_TYPES)
        raise Malformed(
            f"{event_type[:60]!r} is no event of a trace",
            code="unknown_event",
            hint=f"one of {known}",
        )
    if len(payload) > MAX_BODY_BYTES:
        raise Malformed(f"larger than {MAX_BODY_BYTES} bytes", code="too_large")
    try:
        plain = msgspec.json.decode(payload)
        check_profile(plain)
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise _invalid(error) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Malformed(f"not JSON: {error}", code="not_json") from None


def _invalid(error: msgspec.ValidationError) -> Malformed:
    """Move the place from msgspec's message (`... - at `$.a.b``) into `where`."""
    what, _, place = str(error).partition(" - at ")
    return Malformed(what, code="schema_invalid", where=place.strip("`").lstrip("$."))


class ProposalView(msgspec.Struct, frozen=True):
    id: str
    objective: Quoted
    status: str


class IntentView(msgspec.Struct, frozen=True):
    """An open intent. The caller adds the command, which is not in the state."""

    id: str
    proposal: str
    tool: Quoted
    risk: str
    consent: str
    waits_for_critic: tuple[str, ...]
    writes: tuple[Quoted, ...]
    command: tuple[Quoted, ...] | UnsetType = UNSET
    cwd: Quoted | UnsetType = UNSET
    why: Quoted | UnsetType = UNSET


class RunView(msgspec.Struct, frozen=True):
    """A run that has not ended; `alive` says whether its process is still there."""

    id: str
    intent: str
    tool: Quoted
    since: str
    alive: bool | UnsetType = UNSET


class EndedRunView(msgspec.Struct, frozen=True):
    """A run that has ended, and the hashes of what it left, by name."""

    id: str
    intent: str
    well: bool
    outputs: dict[str, str]


class RunCounts(msgspec.Struct, frozen=True):
    completed: int
    failed: int


class ClaimView(msgspec.Struct, frozen=True):
    """A claim that stands; its text is in the ledger, not in the state."""

    id: str
    challenged: bool
    flagged: bool
    text: Quoted | UnsetType = UNSET


class DueView(msgspec.Struct, frozen=True):
    who: str
    what: str
    subject: Quoted
    hint: str


class TraceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The status of a trace, from its state.

    The caller adds `ended`, from the ledger, and `counted`, from observed sessions.
    """

    trace: str
    state: str
    because: Quoted | None
    task: Quoted
    roles: dict[str, str]
    proposals: tuple[ProposalView, ...]
    intents: tuple[IntentView, ...]
    running: tuple[RunView, ...]
    runs: RunCounts
    claims: tuple[ClaimView, ...]
    final: bool
    verdict: str | None
    report: str | None
    events: int
    head: str
    next: tuple[DueView, ...]
    ended: tuple[EndedRunView, ...] | UnsetType = UNSET
    counted: str | UnsetType = UNSET


class TimelineLine(msgspec.Struct, frozen=True):
    """One event for people; `ours` marks the kinds that the document does not name."""

    seq: int
    at: str
    who: str
    what: str
    ours: bool
    says: str


class _Numbered(Protocol):
    @property
    def id(self) -> str: ...


N = TypeVar("N", bound=_Numbered)


def view_status(state: State, trace: str, now: Millis) -> TraceStatus:
    return TraceStatus(
        trace=trace,
        state=str(state.stage),
        because=Quoted(state.because) if state.because else None,
        task=Quoted(state.task),
        roles={str(binding.role): binding.agent for binding in state.roles},
        proposals=tuple(
            ProposalView(proposal.id, Quoted(proposal.objective), str(proposal.review))
            for proposal in _by_number(state.proposals.values())
        ),
        intents=tuple(_view_intent(state, intent) for intent in _by_number(state.intents.values())),
        running=tuple(
            RunView(run.id, run.intent, Quoted(run.tool), to_text(run.since))
            for run in _by_number(state.running.values())
        ),
        runs=RunCounts(state.completed, state.failures),
        claims=tuple(
            ClaimView(claim.id, claim.challenged_at is not None, claim.flagged)
            for claim in _by_number(state.claims.values())
        ),
        final=state.final is not None,
        verdict=None if state.verdict is None else str(state.verdict),
        report=state.report,
        events=state.events,
        head=state.head,
        next=tuple(
            fill_from(DueView, due, hint=fill_hint(due.hint, {"TRACE": trace}))
            for due in agenda(state, now)
        ),
    )


def _by_number(items: Iterable[N]) -> list[N]:
    """As they were made: ids count upwards, and `i10` comes after `i9`."""
    return sorted(items, key=lambda item: number_of_id(item.id))


def _view_intent(state: State, intent: Intent) -> IntentView:
    reasons = approval_reasons_now(state, intent) if intent.consent is Consent.PENDING else ()
    return fill_from(
        IntentView,
        intent,
        risk=str(intent.risk),
        consent=str(intent.consent),
        waits_for_critic=tuple(str(reason) for reason in reasons),
        writes=tuple(map(Quoted, intent.writes)),
    )


def view_timeline(events: Iterable[Recorded[Any]]) -> list[TimelineLine]:
    """Return one line an event, in its order."""
    return [
        TimelineLine(
            seq=recorded.seq,
            at=to_text(recorded.at),
            who=recorded.actor.id,
            what=EVENT_NAMES[type(recorded.event)],
            ours=EVENT_NAMES[type(recorded.event)] in EXTENSION_NAMES,
            says=describe_event(recorded.event),
        )
        for recorded in events
    ]


def describe_event(event: Event) -> str:
    """Return what an event says, in one line of at most 300 characters."""
    form = _SENTENCES[type(event)]
    words = {name: getattr(event, name) for name in event.__struct_fields__}
    words["run"] = shlex.join(getattr(event, "command", ()))
    words["file"] = (
        f"({event.program})"
        if isinstance(event, did.ToolExecutionStarted) and event.program
        else ""
    )
    words["named"] = ", ".join(item.name for item in getattr(event, "outputs", ()))
    words["bundle"] = ", ".join(item.claim_id for item in _bundled_claims(event))
    return " ".join(form.format(**words).split())[:300]


def _bundled_claims(event: Event) -> tuple[BundledClaim, ...]:
    return event.claims if isinstance(event, did.FinalStatementSigned) else ()


_SENTENCES: Final[dict[type, str]] = {
    did.SessionInitialized: "{task}",
    did.ProposalCreated: "{proposal_id}: {objective}",
    did.ProposalReviewed: "{proposal_id} {status}: {rationale}",
    did.ToolIntentSigned: "{intent_id} ({risk_class}) under {proposal_id}: {run}",
    did.ToolIntentReviewed: "{intent_id} {status}: {rationale}",
    did.ToolExecutionStarted: "{execution_id} runs {intent_id} {file}",
    did.ToolExecutionCompleted: "{execution_id} ended, exit status {result.exit_status}: {named}",
    did.ToolExecutionFailed: "{execution_id} failed ({failure.kind}): {failure.detail}",
    did.ClaimIssued: "{claim_id} ({confidence}): {text}",
    did.ClaimChallenged: "{claim_id} challenged: {reason}",
    did.ClaimWithdrawn: "{claim_id} withdrawn: {reason}",
    did.FinalStatementSigned: "{statement} ({bundle})",
    did.VerificationRunStarted: "{run_id} looks at {events} events ({profile})",
    did.VerificationRunCompleted: "{run_id}: {status}",
    did.SessionAborted: "{reason}",
    did.SessionFailed: "{code}: {detail}",
    did.KeyRotated: "{agent} plays the {role} under a new key: {reason}",
}

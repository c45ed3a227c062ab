"""What people and agents read of a trace: where it stands, its story, and what rests on what."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any, Final

from moot.core.clock import Millis, to_text
from moot.core.findings import filled
from moot.core.machine import Recorded
from moot.protocols.trace import events as did
from moot.protocols.trace.codec import NAMES, OURS
from moot.protocols.trace.duties import agenda
from moot.protocols.trace.model import Consent, Intent, State, number
from moot.protocols.trace.toolchecks import needs_now


def status(state: State, trace: str, now: Millis) -> dict[str, Any]:
    return {
        "trace": trace,
        "state": str(state.stage),
        "because": state.because or None,
        "task": state.task,
        "roles": {str(one.role): one.agent for one in state.roles},
        "proposals": [
            {"id": one.id, "objective": one.objective, "status": str(one.review)}
            for one in _in_order(state.proposals.values())
        ],
        "intents": [intent(state, one) for one in _in_order(state.intents.values())],
        "running": [
            {"id": one.id, "intent": one.intent, "tool": one.tool, "since": to_text(one.since)}
            for one in _in_order(state.running.values())
        ],
        "runs": {"completed": state.completed, "failed": state.failures},
        "claims": [
            {"id": one.id, "challenged": one.challenged_at is not None, "flagged": one.flagged}
            for one in _in_order(state.claims.values())
        ],
        "final": state.final is not None,
        "verdict": None if state.verdict is None else str(state.verdict),
        "report": state.report,
        "events": state.events,
        "head": state.head,
        "next": [
            {
                "who": due.who,
                "what": due.what,
                "subject": due.subject,
                "hint": filled(due.hint, {"TRACE": trace}),
            }
            for due in agenda(state, now)
        ],
    }


def _in_order(found: Iterable[Any]) -> list[Any]:
    return sorted(found, key=lambda one: number(one.id))


def intent(state: State, one: Intent) -> dict[str, Any]:
    waits = needs_now(state, one) if one.consent is Consent.PENDING else ()
    return {
        "id": one.id,
        "proposal": one.proposal,
        "tool": one.tool,
        "risk": str(one.risk),
        "consent": str(one.consent),
        "waits_for_critic": [str(why) for why in waits],
        "writes": list(one.writes),
    }


def timeline(events: Iterable[Recorded[Any]]) -> list[dict[str, Any]]:
    """One line an event, in its order."""
    return [
        {
            "seq": recorded.seq,
            "at": to_text(recorded.at),
            "who": recorded.actor.id,
            "what": NAMES[type(recorded.event)],
            "ours": NAMES[type(recorded.event)] in OURS,
            "says": sentence(recorded.event),
        }
        for recorded in events
    ]


def sentence(event: Any) -> str:
    """What an event says, in one line."""
    form = _SENTENCES[type(event)]
    words = {name: getattr(event, name) for name in event.__struct_fields__}
    words["run"] = shlex.join(getattr(event, "command", ()))
    words["file"] = f"({event.program})" if getattr(event, "program", "") else ""
    words["named"] = ", ".join(one.name for one in getattr(event, "outputs", ()))
    words["bundle"] = ", ".join(one.claim_id for one in _bundle(event))
    return " ".join(form.format(**words).split())[:300]


def _bundle(event: Any) -> tuple[Any, ...]:
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

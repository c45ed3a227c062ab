"""What waits in a trace, and for whom. At most what is open is read, and that is bounded."""

from __future__ import annotations

from collections.abc import Iterator

from moot.core.clock import Millis
from moot.core.machine import Due
from moot.protocols.trace.model import Consent, Intent, Review, Role, Stage, State, number
from moot.protocols.trace.toolchecks import needs_now


def agenda(state: State, _now: Millis) -> tuple[Due, ...]:
    if state.ended or not state.roles:
        return ()
    if state.final is not None:
        return tuple(_verification(state))
    return (*_proposals(state), *_runs(state), *_intents(state), *_claims(state))


def who(state: State, role: Role) -> str:
    held = state.holder(role)
    return held.agent if held is not None else ""


def _verification(state: State) -> Iterator[Due]:
    run = state.run
    yield Due(
        who=who(state, Role.AUDITOR),
        what="verify" if run is None else "complete the verification",
        subject=state.task[:120] if run is None else run.id,
        since=state.last_at if run is None else run.since,
        hint="moot trace audit TRACE",
    )


def _proposals(state: State) -> Iterator[Due]:
    if not state.proposals or _all_turned_down(state):
        yield Due(
            who=who(state, Role.PLANNER),
            what="propose",
            subject=state.task[:120],
            since=state.since,
            hint="moot trace propose TRACE --objective T --tool NAME",
        )
    for one in sorted(state.proposals.values(), key=lambda one: number(one.id)):
        if one.review is Review.PENDING:
            yield Due(
                who=who(state, Role.CRITIC),
                what="review a proposal",
                subject=f"{one.id}: {one.objective[:120]}",
                since=one.since,
                hint=f"moot trace review TRACE {one.id} --verdict V --rationale T",
            )
        elif one.review is Review.BLOCKED:
            yield Due(
                who=who(state, Role.PLANNER),
                what="revise a blocked proposal",
                subject=f"{one.id}: {one.objective[:120]}",
                since=one.since,
                hint=f"moot trace propose TRACE --supersedes {one.id} --objective T --tool NAME",
            )


def _all_turned_down(state: State) -> bool:
    return all(one.review is Review.REJECTED for one in state.proposals.values())


def _runs(state: State) -> Iterator[Due]:
    for one in sorted(state.running.values(), key=lambda one: number(one.id)):
        yield Due(
            who=who(state, Role.EXECUTOR),
            what="a run is under way",
            subject=f"{one.id}: {one.tool} for {one.intent}",
            since=one.since,
            hint="if its process is gone: moot trace recover TRACE",
        )


def _intents(state: State) -> Iterator[Due]:
    for one in sorted(state.intents.values(), key=lambda one: number(one.id)):
        yield _intent(state, one)


def _intent(state: State, one: Intent) -> Due:
    subject = f"{one.id}: {one.tool} ({one.risk})"
    if one.consent is Consent.BLOCKED:
        return Due(
            who=who(state, Role.EXECUTOR),
            what="revise a blocked intent",
            subject=subject,
            since=one.since,
            hint=f"moot trace intend TRACE {one.proposal} --supersedes {one.id} ...",
        )
    if one.consent is Consent.PENDING and needs_now(state, one):
        return Due(
            who=who(state, Role.CRITIC),
            what="review an intent",
            subject=subject,
            since=one.since,
            hint=f"moot trace review-intent TRACE {one.id} --verdict V --rationale T",
        )
    return Due(
        who=who(state, Role.EXECUTOR),
        what="run an intent",
        subject=subject,
        since=one.since,
        hint=f"moot trace exec TRACE {one.id}",
    )


def _ground(state: State) -> str:
    """The proposal under which something may be intended, if there is but one."""
    approved = (Review.APPROVED, Review.CONDITIONAL)
    ids = [one.id for one in state.proposals.values() if one.review in approved]
    return ids[0] if len(ids) == 1 else "PROPOSAL"


def _claims(state: State) -> Iterator[Due]:
    executor = who(state, Role.EXECUTOR)
    for one in state.challenged():
        yield Due(
            who=executor,
            what="answer a challenge",
            subject=one.id,
            since=one.challenged_at,
            hint=f"moot trace claim TRACE --supersedes {one.id} ..., or withdraw it",
        )
    if state.running or state.intents:
        return
    if state.stage is Stage.EXECUTING:
        yield Due(
            who=executor,
            what="say what you will run",
            since=state.last_at,
            hint=f"moot trace intend TRACE {_ground(state)} --tool N --risk R --why T -- COMMAND",
        )
    elif state.stage is Stage.CLAIMING or (state.stage is Stage.AUDITING and not state.claims):
        yield Due(
            who=executor,
            what="claim what was found",
            since=state.last_at,
            hint="moot trace claim TRACE --text T --confidence C --evidence SHA256",
        )
    elif state.stage is Stage.AUDITING and not state.challenged():
        yield Due(
            who=executor,
            what="finish with a final statement",
            since=state.last_at,
            hint="moot trace finalize TRACE --statement T",
        )

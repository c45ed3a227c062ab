"""Joining the work in a repository: under a new name, or going on as an earlier session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from moot.api.endorsers import require_endorser
from moot.api.gone_holders import explaining_gone_holders
from moot.api.operation import operation
from moot.api.scopes import reserve_command
from moot.api.session import settings_for
from moot.core.errors import Malformed, Refused
from moot.core.findings import Finding, Severity
from moot.protocols.presence.recommendation import (
    AdoptionCandidate as AdoptionCandidate,
)
from moot.protocols.presence.recommendation import (
    Recommendation,
    recommend_adoption,
    recommend_register,
    recommend_start,
)

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.flows.presence.arrival import ArrivalPlace
    from moot.protocols.presence.case import Reserving
    from moot.protocols.presence.commands import Evidence

# Chooses under which of these names the session goes on; None: under a new one.
ChooseName = Callable[[Sequence[AdoptionCandidate]], str | None]
# Is told why an adoption was rejected and names a scope or work item of it; empty: none.
NameUnfinishedWork = Callable[[Sequence[Finding]], str]


class Joined(msgspec.Struct, frozen=True, kw_only=True):
    """Under which name the session works now, and as which holder of that name.

    A new name has `reserved`; one that was `adopted` has `prior_liveness`, how alive its earlier
    holder was, and `event`, the RESUME document on record.
    """

    agent: str
    session_agent_id: str
    logical_agent_id: str
    epoch: int
    adopted: bool
    reserved: list[str] | msgspec.UnsetType = msgspec.UNSET
    prior_liveness: str | msgspec.UnsetType | None = msgspec.UNSET
    recommendation: Recommendation
    event: dict[str, Any] | None
    findings: list[Finding]


class _Start(NamedTuple):
    """What the session wants to work on; `work` as it was named, without the branch."""

    session: Session
    scopes: tuple[str, ...]
    work: str | None

    def place(self, work: str | None) -> ArrivalPlace:
        from moot.flows.presence.arrival import ArrivalPlace

        here = self.session.place
        return ArrivalPlace(here.worktree, here.branch, work)

    @property
    def new_place(self) -> ArrivalPlace:
        return self.place(self.work or self.session.place.branch)

    def reserve_commands(self) -> list[Reserving]:
        if not self.scopes:
            return []
        return [reserve_command(self.session, self.scopes, self.work)]


@operation("join", writes=True, as_ledger=True)
def join(
    session: Session,
    *,
    register: str | None = None,
    adopt: str | None = None,
    scopes: Sequence[str] = (),
    work: str | None = None,
    choose: ChooseName | None = None,
    name_unfinished_work: NameUnfinishedWork | None = None,
) -> Joined:
    """Join the work in this repository, and reserve `scopes`.

    With `register` under that new name; with `adopt` as that earlier agent, if files in its scope
    are uncommitted or it owns a work item in progress. Without either: as whoever the session acts
    as; else under a made-up name if nothing unfinished could be continued; else `choose` is asked,
    and without it the call is refused as `decision_required`.

    A rejected adoption asks `name_unfinished_work`, if given, for one more scope or work item and
    is judged again. git and beads are asked what is unfinished. Registering, joining and reserving
    are commits of their own: a refused reservation leaves the new name joined, and the hint says
    so. Joining again as the same name is allowed, so a repeat needs no idempotency key.
    """
    if register is not None and adopt is not None:
        raise Malformed("a session registers a name or adopts one, not both", code="bad_join")
    start = _Start(session, tuple(scopes), work)
    if register is not None:
        if session.acting not in (None, register):
            session.actor(register)
        return _start_as(start, register)
    if adopt is not None:
        session.require_self_or_person(adopt)
        return _go_on_as(start, adopt, name_unfinished_work)
    if session.acting:
        return _start_as(start, session.acting)
    return _choose(start, choose, name_unfinished_work)


def _choose(
    start: _Start, choose: ChooseName | None, name_unfinished_work: NameUnfinishedWork | None
) -> Joined:
    """Nobody said what to do: B-22 decides, or the caller does."""
    from moot.flows.presence import adoption

    workspace, place = start.session.workspace, start.place(start.work)
    evidence = adoption.collect_evidence(place.worktree)
    candidates = adoption.find_candidates(workspace, place, evidence, start.scopes)
    if not candidates:
        return _start_anew(start, lambda name: recommend_start((), name))
    advice = recommend_start(candidates, "")
    if choose is None:
        raise _decision_required(advice)
    name = choose(advice.candidates)
    if name is None:
        return _start_anew(start, recommend_register)
    return _go_on_as(start, name, name_unfinished_work)


def _start_as(start: _Start, name: str) -> Joined:
    """Register (unless this very name acts already) and join."""
    from moot.flows.presence.arrival import enter

    session = start.session
    known = session.workspace.engine.registry().agents.get(name)
    _require_welcome(start, name, 1 if known is None else known.epoch)
    if known is None or name != session.acting:
        enter(session.workspace, name)
    return _join(start, name, recommend_register(name))


def _start_anew(start: _Start, advise: Callable[[str], Recommendation]) -> Joined:
    """Under a made-up name: the one that was judged may be taken before we have it."""
    from moot.flows.presence.arrival import enter_fresh, make_fresh_name

    workspace = start.session.workspace
    _require_welcome(start, make_fresh_name(workspace), 1)
    name = enter_fresh(workspace)
    return _join(start, name, advise(name))


def _require_welcome(start: _Start, name: str, epoch: int) -> None:
    from moot.flows.presence.arrival import require_welcome

    workspace, commands = start.session.workspace, start.reserve_commands()
    require_welcome(workspace, name, start.new_place, *commands, epoch=epoch)


def _join(start: _Start, name: str, advice: Recommendation) -> Joined:
    from moot.flows.presence import arrival
    from moot.flows.presence.run_evidence import forget_run

    session, workspace = start.session, start.session.workspace
    outcome = arrival.join(workspace, name, start.new_place)
    forget_run(workspace, name)
    epoch = workspace.engine.registry().agents[name].epoch
    _reserve(start, name, epoch)
    return Joined(
        agent=name,
        session_agent_id=name,
        logical_agent_id=name,
        epoch=epoch,
        adopted=False,
        reserved=list(start.scopes),
        recommendation=advice,
        event=None,
        findings=[*outcome.findings, *session.remarks],
    )


def _reserve(start: _Start, name: str, epoch: int) -> None:
    """An overlap is refused after the name was given: the hint says that it was."""
    from moot.protocols.presence import STREAM

    try:
        for command in start.reserve_commands():
            with explaining_gone_holders(start.session, command, name):
                start.session.workspace.engine.execute(STREAM, command, name)
    except Refused as refused:
        refused.hint = f"you have joined (`{export_line(name, epoch)}`), without it: {refused.hint}"
        raise


def export_line(name: str, epoch: int) -> str:
    """What a shell must be told so that further commands act as `name`."""
    settings = " ".join(f"{key}={value}" for key, value in settings_for(name, epoch).items())
    return f"export {settings}"


def _go_on_as(start: _Start, name: str, name_unfinished_work: NameUnfinishedWork | None) -> Joined:
    """Adopt; a rejected adoption may be given one more scope or work item (B-32)."""
    from moot.flows.presence import adoption
    from moot.protocols.presence import codec
    from moot.protocols.presence.events import AgentResumed

    workspace = start.session.workspace
    evidence = adoption.collect_evidence(start.session.place.worktree)
    try:
        place = start.place(start.work)
        adoption.require_adoptable(workspace, name, place, evidence, start.scopes)
    except Refused as refused:
        if refused.code != "adoption_rejected" or name_unfinished_work is None:
            raise
        text = name_unfinished_work(refused.findings).strip()
        if not text:
            raise
        start = _with_unfinished(start, text, evidence)
    endorser = require_endorser(start.session, name)
    place = start.place(start.work)
    outcome = adoption.adopt(workspace, name, place, evidence, start.scopes, endorser)
    resumed = outcome.newest(AgentResumed)
    return Joined(
        agent=name,
        session_agent_id=name,
        logical_agent_id=name,
        epoch=resumed.actor.epoch,
        adopted=True,
        prior_liveness=resumed.event.prior_liveness,
        recommendation=recommend_adoption(name),
        event=codec.make_document(codec.make_envelope(resumed)),
        findings=list(outcome.findings),
    )


def _with_unfinished(start: _Start, text: str, evidence: Evidence) -> _Start:
    if text in {bead.id for bead in evidence.beads or ()}:
        return start._replace(work=text)
    return start._replace(scopes=(*start.scopes, text))


def _decision_required(advice: Recommendation) -> Refused:
    finding = advice.finding
    assert finding is not None
    candidates = [
        Finding(
            rule="B-22",
            code="candidate",
            severity=Severity.INFO,
            message=candidate.evidence,
            where=candidate.agent,
            hint=f"moot join --adopt {candidate.agent}",
        )
        for candidate in advice.candidates
    ]
    message = f"{finding.message} [{advice.reason}]"
    return Refused(finding.code, message, hint=finding.hint, findings=[finding, *candidates])

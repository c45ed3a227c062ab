"""Joining the work in a repository: under a new name, or going on as an earlier session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from moot.api.operation import operation
from moot.api.presence import arrival
from moot.api.presence.arrival import (
    JoinDetails,
    make_fresh_name,
    new_key,
    register_agent,
    register_fresh_name,
    require_can_join,
)
from moot.api.presence.exited_agents import explaining_exited_holders, forget_run
from moot.api.presence.observation import observe
from moot.api.presence.scopes import reserve_command
from moot.api.rehearsal import require_allowed
from moot.api.session import read_presence, settings_for
from moot.core.errors import Malformed, MootError, Refused
from moot.core.findings import Finding, Severity
from moot.core.machine import KeyClass, VerifiedActor
from moot.core.names import REGISTRY, SYSTEM
from moot.core.signing import Signer
from moot.engine.job import Job, JobOutcome
from moot.engine.registry_commands import find_agent, rotation_command
from moot.keys.running_names import is_running
from moot.protocols.presence import STREAM, adoption, views
from moot.protocols.presence.adoption import AdoptionCandidate as AdoptionCandidate
from moot.protocols.presence.adoption import (
    Recommendation,
    recommend_adoption,
    recommend_register,
    recommend_start,
)
from moot.protocols.presence.commands import Bead, Evidence, Resume
from moot.protocols.presence.events import AgentResumed
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.paths import read_scope
from moot.system import beads, git_status
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.protocols.presence.case import Reserving


# Going on under the name of an earlier session: a new key for an old name and a Resume that says
# why, decided in one commit.


def collect_evidence(root: Path) -> Evidence:
    """What git and beads say at this moment."""
    changed, listed = git_status.find_dirty_files(root), beads.read_beads_items(root)
    items = None if listed.items is None else tuple(Bead(*item) for item in listed.items)
    return Evidence(changed.paths, items, changed.why, listed.why)


def find_candidates(
    workspace: Workspace, place: JoinDetails, evidence: Evidence, scopes: tuple[str, ...]
) -> tuple[AdoptionCandidate, ...]:
    """Names that a session here could go on under."""
    state = read_presence(workspace)
    names = [member.name for member in state.members]
    barred = frozenset(name for name in names if _why_barred(workspace, name) is not None)
    root = str(place.worktree)
    return adoption.find_adoptable(
        state,
        evidence,
        root,
        workspace.engine.clock(),
        scopes=tuple(read_scope(text, root) for text in scopes),
        work=place.work,
        running=barred,
    )


def adopt(
    workspace: Workspace,
    name: str,
    place: JoinDetails,
    evidence: Evidence,
    scopes: tuple[str, ...],
    endorser: Signer,
    *,
    has_lock: bool = False,
) -> JobOutcome:
    """Go on as `name` under a new key: judged first, so that a refusal changes nothing.

    `has_lock`: this process holds the name already, so nobody else works under it.
    """
    require_adoptable(workspace, name, place, evidence, scopes, has_lock=has_lock)
    resume = _resume_command(workspace, name, place, evidence, scopes)
    later = find_agent(workspace.engine, name).epoch + 1
    returning = VerifiedActor(name, later, "", KeyClass.AGENT)
    require_allowed(workspace, MACHINE, STREAM, resume, returning)
    with new_key(workspace, name, workspace.folder) as signer:
        rotate = _rotate_job(workspace, name, signer, endorser)
        rotated, resumed = workspace.engine.execute_all([rotate, Job(STREAM, resume, name)])
        if isinstance(rotated, MootError):
            raise rotated
    if isinstance(resumed, MootError):
        raise resumed
    return resumed


def require_adoptable(
    workspace: Workspace,
    name: str,
    place: JoinDetails,
    evidence: Evidence,
    scopes: tuple[str, ...],
    *,
    has_lock: bool = False,
) -> str:
    """What of `name` is unfinished here; Refused, with each condition that is not met, if nothing
    is, or if somebody works under the name."""
    find_agent(workspace.engine, name)
    barred = _why_barred(workspace, name, has_lock=has_lock)
    if barred is not None:
        raise barred
    root = str(place.worktree)
    verdict = adoption.judge_adoption_of(
        read_presence(workspace),
        name,
        evidence,
        root,
        workspace.engine.clock(),
        scopes=tuple(read_scope(text, root) for text in scopes),
        work=place.work,
    )
    if not verdict:
        findings = [
            Finding(rule="OPR-011", code="adoption_rejected", message=why)
            for why in verdict.missing
        ]
        raise Refused(
            "adoption_rejected",
            f"nothing of {name} is unfinished here",
            hint=_start_anew(name),
            findings=findings,
        )
    return verdict.evidence


def _start_anew(name: str) -> str:
    """For whoever wanted to go on under this name."""
    return (
        f"`moot run --name {name} -- COMMAND` starts the next of its family,"
        " `moot join --register NAME` a new name"
    )


def _why_barred(workspace: Workspace, name: str, *, has_lock: bool = False) -> Refused | None:
    """Why nobody may go on under this name, whatever is left of its work."""
    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    if agent is None:
        return None
    key = registry.keys[agent.kid]
    if agent.kind is not KeyClass.AGENT:
        other = "start under a name of your own: `moot join --register NAME`"
        return Refused("not_allowed", f"{name} is a person, no session", hint=other)
    if key.ending is not None:
        return Refused("agent_retired", f"{name} has ended: {key.ending}", hint=_start_anew(name))
    if not has_lock and is_running(workspace.folder, workspace.trust.origin, name):
        why = f"a live `moot run` works as {name}, or its program still does"
        return Refused("agent_alive", why, hint=_start_anew(name))
    return None


def _rotate_job(workspace: Workspace, name: str, signer: Signer, endorser: Signer) -> Job:
    command = rotation_command(
        workspace.engine,
        name,
        signer,
        endorser=endorser,
        custodian=workspace.folder.custodian,
        reason="adopted",
        new_holder=True,
    )
    return Job(REGISTRY, command, SYSTEM)


def _resume_command(
    workspace: Workspace,
    name: str,
    place: JoinDetails,
    evidence: Evidence,
    scopes: tuple[str, ...],
) -> Resume:
    state = read_presence(workspace)
    observation = observe(workspace, [name])
    return Resume(
        evidence=evidence,
        project_root=str(workspace.root),
        worktree=str(place.worktree),
        branch=place.branch,
        work=place.work,
        scopes=scopes,
        session_key=place.session_key,
        prior_liveness=views.observe_liveness(state, name, observation).liveness,
    )


# Who consents to a new key for an old name.


def require_endorser(session: Session, name: str) -> Signer:
    """Whoever consents to the new key: the name's old key, or a person's."""
    workspace = session.workspace
    agent = workspace.engine.registry().agents[name]
    held = workspace.keys.find(name, agent.kid)
    signer = held.signer if held is not None else session.person_signer()
    if signer is None:
        raise Refused(
            "not_endorsed",
            f"neither {name}'s old key nor a person's key is here",
            hint="run this where the old key is, or let a person unlock theirs",
        )
    return signer


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

    def place(self, work: str | None) -> JoinDetails:
        here = self.session.place
        return JoinDetails(here.worktree, here.branch, work)

    @property
    def new_place(self) -> JoinDetails:
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
    workspace, place = start.session.workspace, start.place(start.work)
    evidence = collect_evidence(place.worktree)
    candidates = find_candidates(workspace, place, evidence, start.scopes)
    if not candidates:
        return _start_new_agent(start, lambda name: recommend_start((), name))
    advice = recommend_start(candidates, "")
    if choose is None:
        raise _decision_required(advice)
    name = choose(advice.candidates)
    if name is None:
        return _start_new_agent(start, recommend_register)
    return _go_on_as(start, name, name_unfinished_work)


def _start_as(start: _Start, name: str) -> Joined:
    """Register (unless this very name acts already) and join."""
    session = start.session
    known = session.workspace.engine.registry().agents.get(name)
    _require_welcome(start, name, 1 if known is None else known.epoch)
    if known is None or name != session.acting:
        register_agent(session.workspace, name)
    return _join(start, name, recommend_register(name))


def _start_new_agent(start: _Start, advise: Callable[[str], Recommendation]) -> Joined:
    """Under a made-up name: the one that was judged may be taken before we have it."""
    workspace = start.session.workspace
    _require_welcome(start, make_fresh_name(workspace), 1)
    name = register_fresh_name(workspace)
    return _join(start, name, advise(name))


def _require_welcome(start: _Start, name: str, epoch: int) -> None:
    workspace, commands = start.session.workspace, start.reserve_commands()
    require_can_join(workspace, name, start.new_place, *commands, epoch=epoch)


def _join(start: _Start, name: str, advice: Recommendation) -> Joined:
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
    try:
        for command in start.reserve_commands():
            with explaining_exited_holders(start.session, command, name):
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
    from moot.protocols.presence import codec

    workspace = start.session.workspace
    evidence = collect_evidence(start.session.place.worktree)
    try:
        place = start.place(start.work)
        require_adoptable(workspace, name, place, evidence, start.scopes)
    except Refused as refused:
        if refused.code != "adoption_rejected" or name_unfinished_work is None:
            raise
        text = name_unfinished_work(refused.findings).strip()
        if not text:
            raise
        start = _with_unfinished(start, text, evidence)
    endorser = require_endorser(start.session, name)
    place = start.place(start.work)
    outcome = adopt(workspace, name, place, evidence, start.scopes, endorser)
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

"""May a new session continue under an earlier session's name? (section 3.2)

Only if something of that session is unfinished here: an uncommitted file inside the scope it
claimed, or an in-progress bead that it owns and that belongs to the question. Both arrive as data;
this module runs no git and reads no beads.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from moot.core.clock import Millis
from moot.core.errors import Malformed
from moot.core.findings import Finding
from moot.core.text import plural
from moot.protocols.presence import model
from moot.protocols.presence.commands import Evidence
from moot.protocols.presence.model import WORK_ID, Kind, Reservation, ResumeReason, State
from moot.protocols.presence.paths import Scope, classify_overlap, is_inside, read_path

IN_PROGRESS = "in_progress"
MAX_NAMES_SHOWN = 5
MAX_BEADS = 50


class AdoptionQuestion(msgspec.Struct, frozen=True):
    """Whose name it is, what that session still holds, and what was seen outside.

    `scopes` and `work` are what the caller names (`--scope`, `--work`); a person whose adoption was
    rejected may name more, and the question is judged again (OPR-012).
    """

    target: str
    held: tuple[Reservation, ...]
    scopes: tuple[Scope, ...]
    work: str | None
    worktree: str
    evidence: Evidence


class AdoptionVerdict(msgspec.Struct, frozen=True):
    """Truthy if the name may be adopted; else `missing` says what would have allowed it."""

    reason: ResumeReason | None
    evidence: str
    bead_ids: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.reason is not None


def judge_adoption(question: AdoptionQuestion) -> AdoptionVerdict:
    """Allow it for uncommitted files, else for beads in progress, else not (OPR-011).

    A person cannot overrule this: RESUME states the evidence, which must exist (B-32).
    """
    dirty = find_uncommitted_files(question)
    beads = find_relevant_beads(question)
    if dirty:
        files = plural(len(dirty), "uncommitted file")
        evidence = f"{files} in the claimed scope: {_list_some(dirty)}"
        return AdoptionVerdict(ResumeReason.UNCOMMITTED_SCOPE, evidence, beads)
    if beads:
        evidence = f"in progress and owned by {question.target}: {_list_some(beads)}"
        return AdoptionVerdict(ResumeReason.IN_PROGRESS_OWNERSHIP, evidence, beads)
    return AdoptionVerdict(None, "", (), (_why_no_files(question), _why_no_beads(question)))


def find_uncommitted_files(question: AdoptionQuestion) -> tuple[str, ...]:
    """Return the dirty paths inside what the target holds or the caller named (OPR-009, B-01).

    Dirty paths elsewhere do not count (OPR-013): another agent may have changed them.
    """
    claimed = _claimed_keys(question)
    paths = (_read_inside(text, question.worktree) for text in question.evidence.dirty or ())
    inside_claim = {path.shown for path in paths if path and _covers(claimed, path.key)}
    return tuple(sorted(inside_claim))


def find_relevant_beads(question: AdoptionQuestion) -> tuple[str, ...]:
    """Return in-progress beads that the target owns and the question is about (OPR-010, B-04)."""
    owned = {
        bead.id
        for bead in question.evidence.beads or ()
        if bead.owner == question.target and bead.status == IN_PROGRESS
    }
    relevant = (bead for bead in owned if WORK_ID.match(bead) and _is_relevant(bead, question))
    return tuple(sorted(relevant))[:MAX_BEADS]


def list_linked_beads(verdict: AdoptionVerdict, carried: Iterable[Reservation]) -> tuple[str, ...]:
    """List the beads of the verdict, then those of the reservations carried over (OPR-018).

    A branch that is only the default for a reservation's work is no bead.
    """
    works = sorted({held.work for held in carried if held.work and held.work != held.branch})
    return tuple(dict.fromkeys((*verdict.bead_ids, *works)))[:MAX_BEADS]


def _is_relevant(bead: str, question: AdoptionQuestion) -> bool:
    """True if it is the work named, or a reservation for it overlaps a named scope."""
    if question.work is None and not question.scopes:
        return True
    if bead == question.work:
        return True
    named = tuple(scope.key for scope in question.scopes)
    reserved_for = (held.key for held in question.held if held.work == bead)
    return any(classify_overlap(a, b) is not Kind.DISJOINT for a in reserved_for for b in named)


def _claimed_keys(question: AdoptionQuestion) -> tuple[str, ...]:
    named = (scope.key for scope in question.scopes)
    return (*(held.key for held in question.held), *named)


def _covers(claimed: Iterable[str], path: str) -> bool:
    """Return whether a path is claimed: itself, a folder around it, or an agent's lines of it."""
    return any(
        path == key or is_inside(path, key) or key.startswith(f"{path}/@") for key in claimed
    )


def _read_inside(text: str, root: str) -> Scope | None:
    try:
        return read_path(text, root)
    except Malformed:
        return None  # a path outside of this project is no evidence for anyone


def _why_no_files(question: AdoptionQuestion) -> str:
    if question.evidence.dirty is None:
        return f"uncommitted changes are unknown ({question.evidence.no_git or 'no git'})"
    if not _claimed_keys(question):
        return f"no scope of {question.target} is known (name one with --scope)"
    return f"no uncommitted file in the scope of {question.target}"


def _why_no_beads(question: AdoptionQuestion) -> str:
    if question.evidence.beads is None:
        return f"beads are unknown ({question.evidence.no_beads or 'beads_unavailable'})"
    return f"{question.target} owns no bead in progress that belongs here"


def _list_some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MAX_NAMES_SHOWN} more" if len(names) > MAX_NAMES_SHOWN else ""
    return ", ".join(name[:80] for name in names[:MAX_NAMES_SHOWN]) + more


# What a session that starts should do: register a new name, adopt one, or choose (B-22).
#
# The same facts give the same reason and the same command, byte for byte (OPR-086). If a name could
# be adopted, the user chooses: Moot never adopts it by itself.


class RecommendationReason(StrEnum):
    """Fixed codes; scripts compare them."""

    REGISTER_REQUESTED = "register_requested"
    ADOPTION_REQUESTED = "adoption_requested"
    NO_ADOPTABLE_IDENTITY = "no_adoptable_identity"
    ONE_ADOPTABLE_IDENTITY = "one_adoptable_identity"
    SEVERAL_ADOPTABLE_IDENTITIES = "several_adoptable_identities"


class AdoptionCandidate(msgspec.Struct, frozen=True):
    """A name that could be adopted, and why."""

    agent: str
    reason: ResumeReason
    evidence: str
    bead_ids: tuple[str, ...] = ()


class Recommendation(msgspec.Struct, frozen=True):
    """`reason` is a code, `command` what to run next, `candidates` what there is to choose."""

    reason: RecommendationReason
    command: str
    agent: str | None = None
    candidates: tuple[AdoptionCandidate, ...] = ()

    @property
    def finding(self) -> Finding | None:
        """Why nothing was started, if the user must choose (OPR-085); else None."""
        if not self.candidates:
            return None
        names = ", ".join(candidate.agent for candidate in self.candidates)
        return Finding(
            rule="B-22",
            code="decision_required",
            message=f"this could continue an earlier session ({names}) or start a new one",
            hint=f"`{self.command}`, or --register NAME for a new one",
        )


def recommend_register(name: str) -> Recommendation:
    return Recommendation(RecommendationReason.REGISTER_REQUESTED, _register_command(name), name)


def recommend_adoption(name: str) -> Recommendation:
    return Recommendation(RecommendationReason.ADOPTION_REQUESTED, _adopt_command(name), name)


def recommend_start(candidates: Iterable[AdoptionCandidate], fresh_name: str) -> Recommendation:
    """Recommend, without options, a fresh name if none can be adopted, else a choice."""
    choices = tuple(sorted(candidates, key=lambda candidate: candidate.agent))
    if not choices:
        command = _register_command(fresh_name)
        return Recommendation(RecommendationReason.NO_ADOPTABLE_IDENTITY, command, fresh_name)
    single = len(choices) == 1
    reason = (
        RecommendationReason.ONE_ADOPTABLE_IDENTITY
        if single
        else RecommendationReason.SEVERAL_ADOPTABLE_IDENTITIES
    )
    best = min(choices, key=_uncommitted_first).agent
    return Recommendation(reason, _adopt_command(best), best, choices)


def _uncommitted_first(candidate: AdoptionCandidate) -> tuple[bool, str]:
    return candidate.reason is not ResumeReason.UNCOMMITTED_SCOPE, candidate.agent


def _register_command(name: str) -> str:
    return f"moot join --register {name}"


def _adopt_command(name: str) -> str:
    return f"moot join --adopt {name}"


# Which names a new session here could adopt, according to the state.


def judge_adoption_of(
    state: State,
    target: str,
    evidence: Evidence,
    worktree: str,
    now: Millis,
    *,
    scopes: tuple[Scope, ...] = (),
    work: str | None = None,
) -> AdoptionVerdict:
    """Judge whether a new session may adopt `target`, before rotating the key; `Resume` repeats
    it."""
    member = model.find_member(state, target)
    leases = model.reservations_of(state, target, member.epoch) if member is not None else ()
    held = tuple(reservation for reservation in leases if not reservation.has_ended(now))
    return judge_adoption(AdoptionQuestion(target, held, scopes, work, worktree, evidence))


def find_adoptable(
    state: State,
    evidence: Evidence,
    worktree: str,
    now: Millis,
    *,
    scopes: tuple[Scope, ...] = (),
    work: str | None = None,
    running: frozenset[str] = frozenset(),
) -> tuple[AdoptionCandidate, ...]:
    """Return names that a new session here could adopt, with the reason for each, by name."""
    candidates = []
    for name in (member.name for member in state.members if member.name not in running):
        verdict = judge_adoption_of(state, name, evidence, worktree, now, scopes=scopes, work=work)
        if verdict.reason is not None:
            candidates.append(
                AdoptionCandidate(name, verdict.reason, verdict.evidence, verdict.bead_ids)
            )
    return tuple(candidates)

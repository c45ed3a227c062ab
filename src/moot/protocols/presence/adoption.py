"""May a new session continue under an earlier session's name? (section 3.2)

Only if something of that session is unfinished here: an uncommitted file inside the scope it
claimed, or an in-progress bead that it owns and that belongs to the question. Both arrive as data;
this module runs no git and reads no beads.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from moot.core.errors import Malformed
from moot.core.plural import plural
from moot.protocols.presence.commands import Evidence
from moot.protocols.presence.model import WORK_ID, Kind, Reservation, ResumeReason
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
    """Uncommitted files, else beads in progress, else no (OPR-011).

    A person cannot overrule it: RESUME states the evidence, and must not state what is not there
    (B-32).
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
    """Dirty paths inside what the target holds or the caller named (OPR-009, B-01).

    Those elsewhere do not count (OPR-013): they may be anybody's.
    """
    claimed = _claimed_keys(question)
    paths = (_read_inside(text, question.worktree) for text in question.evidence.dirty or ())
    inside_claim = {path.shown for path in paths if path and _covers(claimed, path.key)}
    return tuple(sorted(inside_claim))


def find_relevant_beads(question: AdoptionQuestion) -> tuple[str, ...]:
    """In-progress beads the target owns and that belong to the question (OPR-010, B-04)."""
    owned = {
        bead.id
        for bead in question.evidence.beads or ()
        if bead.owner == question.target and bead.status == IN_PROGRESS
    }
    relevant = (bead for bead in owned if WORK_ID.match(bead) and _is_relevant(bead, question))
    return tuple(sorted(relevant))[:MAX_BEADS]


def list_linked_beads(verdict: AdoptionVerdict, carried: Iterable[Reservation]) -> tuple[str, ...]:
    """The beads of the verdict, then those that something carried over is reserved for (OPR-018).

    A branch that is only the default for a reservation's work is no bead.
    """
    held = sorted({one.work for one in carried if one.work and one.work != one.branch})
    return tuple(dict.fromkeys((*verdict.bead_ids, *held)))[:MAX_BEADS]


def _is_relevant(bead: str, question: AdoptionQuestion) -> bool:
    """True if it is the work named, or something that overlaps a named scope is held for it."""
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
    return any(path == key or is_inside(path, key) for key in claimed)


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

"""May a new session continue under an earlier session's name? (section 3.2)

Only if something of that session is really unfinished here: an uncommitted file inside the scope
it claimed, or an in-progress bead that it owns and that belongs to the question. Both arrive as
data; this module runs no git and reads no beads.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from moot.core.errors import Malformed
from moot.core.plural import plural
from moot.protocols.presence.commands import Evidence
from moot.protocols.presence.model import WORK, Kind, Reservation, ResumeReason
from moot.protocols.presence.paths import Scope, classify, inside, read_path

IN_PROGRESS = "in_progress"
SHOWN = 5
MAX_BEADS = 50


class Question(msgspec.Struct, frozen=True):
    """Whose name, what it still holds, and what the caller narrowed it to (`--scope`, `--work`)."""

    target: str
    held: tuple[Reservation, ...]
    scopes: tuple[Scope, ...]
    work: str | None
    worktree: str
    evidence: Evidence


class Verdict(msgspec.Struct, frozen=True):
    """Truthy if the name may be adopted; else `missing` says what would have allowed it."""

    reason: ResumeReason | None
    evidence: str
    bead_ids: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.reason is not None


def judge(question: Question) -> Verdict:
    """Condition 1, else condition 2, else no: the record of an adoption must not lie (B-32)."""
    dirty = uncommitted(question)
    beads = relevant_beads(question)
    if dirty:
        said = f"{_files(len(dirty))} in the claimed scope: {_some(dirty)}"
        return Verdict(ResumeReason.UNCOMMITTED_SCOPE, said, beads)
    if beads:
        said = f"in progress and owned by {question.target}: {_some(beads)}"
        return Verdict(ResumeReason.IN_PROGRESS_OWNERSHIP, said, beads)
    return Verdict(None, "", (), (_no_dirty(question), _no_beads(question)))


def uncommitted(question: Question) -> tuple[str, ...]:
    """Dirty paths inside what the target holds or the caller named (B-01); never all of them."""
    claimed = _claimed(question)
    paths = (_as_path(text, question.worktree) for text in question.evidence.dirty or ())
    found = {path.shown for path in paths if path is not None and _covers(claimed, path.key)}
    return tuple(sorted(found))


def relevant_beads(question: Question) -> tuple[str, ...]:
    """In-progress beads the target owns and that belong to the question (B-04)."""
    beads = question.evidence.beads or ()
    owned = (b.id for b in beads if b.owner == question.target and b.status == IN_PROGRESS)
    found = {bead for bead in owned if WORK.match(bead) and _relevant(bead, question)}
    return tuple(sorted(found))[:MAX_BEADS]


def _relevant(bead: str, question: Question) -> bool:
    if question.work is None and not question.scopes:
        return True
    if bead == question.work:
        return True
    asked = tuple(scope.key for scope in question.scopes)
    reserved_for = (held.key for held in question.held if held.work == bead)
    return any(classify(a, b) is not Kind.DISJOINT for a in reserved_for for b in asked)


def _claimed(question: Question) -> tuple[str, ...]:
    named = (scope.key for scope in question.scopes)
    return (*(held.key for held in question.held), *named)


def _covers(claimed: Iterable[str], path: str) -> bool:
    return any(path == key or inside(path, key) for key in claimed)


def _as_path(text: str, root: str) -> Scope | None:
    try:
        return read_path(text, root)
    except Malformed:
        return None  # outside of this project: nobody's evidence


def _no_dirty(question: Question) -> str:
    if question.evidence.dirty is None:
        return f"uncommitted changes are unknown ({question.evidence.no_git or 'no git'})"
    if not _claimed(question):
        return f"no scope of {question.target} is known (name one with --scope)"
    return f"no uncommitted file in the scope of {question.target}"


def _no_beads(question: Question) -> str:
    if question.evidence.beads is None:
        return f"beads are unknown ({question.evidence.no_beads or 'beads_unavailable'})"
    return f"{question.target} owns no bead in progress that belongs here"


def _files(count: int) -> str:
    return plural(count, "uncommitted file")


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(name[:80] for name in names[:SHOWN]) + more

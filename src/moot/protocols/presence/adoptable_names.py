"""Which names a new session here could adopt, as the state stands: told before anything is asked.

Apart from the other views, for most who look at presence adopt nobody.
"""

from __future__ import annotations

from moot.core.clock import Millis
from moot.protocols.presence import adoption, sorted_index
from moot.protocols.presence.commands import Evidence
from moot.protocols.presence.model import State
from moot.protocols.presence.paths import Scope
from moot.protocols.presence.recommendation import AdoptionCandidate


def judge_adoption_of(
    state: State,
    target: str,
    evidence: Evidence,
    worktree: str,
    now: Millis,
    *,
    scopes: tuple[Scope, ...] = (),
    work: str | None = None,
) -> adoption.AdoptionVerdict:
    """May a new session here adopt `target`? Ask before the key is rotated: `Resume` asks again."""
    member = sorted_index.find_member(state, target)
    leases = sorted_index.reservations_of(state, target, member.epoch) if member is not None else ()
    held = tuple(reservation for reservation in leases if not reservation.has_ended(now))
    return adoption.judge_adoption(
        adoption.AdoptionQuestion(target, held, scopes, work, worktree, evidence)
    )


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
    """Names that a new session here could adopt, with the reason for each, by name."""
    candidates = []
    for name in (member.name for member in state.members if member.name not in running):
        verdict = judge_adoption_of(state, name, evidence, worktree, now, scopes=scopes, work=work)
        if verdict.reason is not None:
            candidates.append(
                AdoptionCandidate(name, verdict.reason, verdict.evidence, verdict.bead_ids)
            )
    return tuple(candidates)

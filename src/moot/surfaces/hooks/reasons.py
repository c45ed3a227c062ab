"""Why an edit is refused, in words an agent can act on: who, how alive, on what, since when, and
what to do instead."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from moot.core.clock import to_text
from moot.protocols.presence import sorted_index
from moot.protocols.presence.liveness import format_ago
from moot.protocols.presence.model import Liveness
from moot.protocols.presence.overlap import OverlapConflict, first_by_reservation

if TYPE_CHECKING:
    from moot.core.errors import MootError
    from moot.flows.guard.session_agent import Who
    from moot.protocols.presence.model import State

SHOWN: Final = 4

_ASK: Final = (
    "{moot} event blocked --from {me} --to {owner} --subject {scope} --blocker {blocker}"
    " --requested-action 'release it, or say when' --urgency medium"
)
_INSTEAD: Final[dict[Liveness, str]] = {
    Liveness.ACTIVE: "Work on another file, or ask for it: `" + _ASK + "`, or wait until"
    " `{moot} guard check {scope}` says yes.",
    Liveness.STALE: "{owner} has gone quiet. If you must have it, take it over:"
    " `{moot} reserve {held} --takeover-stale`; else work on another file, or ask: `" + _ASK + "`.",
    Liveness.EVICTED: "{owner} is gone. To go on, take it over:"
    " `{moot} reserve {held} --takeover-stale`.",
}
_STAY_OFF: Final = "Nothing was written. Do not write it by another way."
_CHECKED: Final = frozenset({"not_for_agents", "other_root"})
_RANK: Final = (Liveness.ACTIVE, Liveness.STALE, Liveness.EVICTED)


def held(conflicts: Iterable[OverlapConflict], state: State, who: Who) -> str:
    """The reason of a refusal; the advice is for the most alive of the holders."""
    found = first_by_reservation(conflicts)
    told = [_sentence(conflict, state) for conflict in found[:SHOWN]]
    if len(found) > SHOWN:
        told.append(f"So are {len(found) - SHOWN} more.")
    worst = min(found, key=lambda one: _RANK.index(one.verdict.liveness))
    advice = _INSTEAD[worst.verdict.liveness].format(moot=who.moot, me=who.name, **_words(worst))
    return " ".join(("moot:", *told, _STAY_OFF, advice))


def _words(conflict: OverlapConflict) -> dict[str, str]:
    """For command lines: another's file names are quoted, whatever they hold."""
    owner, scope = conflict.held.owner, conflict.claim.shown
    return {
        "owner": owner,
        "scope": shlex.quote(scope),
        "held": shlex.quote(conflict.held.scope),
        "blocker": shlex.quote(f"{owner} holds {scope}"),
    }


def _sentence(conflict: OverlapConflict, state: State) -> str:
    kept, verdict = conflict.held, conflict.verdict
    return (
        f"{conflict.claim.shown} is held by {kept.owner}{_wider(conflict)}"
        f" ({verdict.liveness}, {_seen(conflict)}){_work(conflict, state)}"
        f" since {to_text(kept.since)}."
    )


def _wider(conflict: OverlapConflict) -> str:
    same = conflict.held.key == conflict.claim.key
    return "" if same else f" as part of {conflict.held.scope}"


def _seen(conflict: OverlapConflict) -> str:
    verdict = conflict.verdict
    if verdict.reason or verdict.last_seen_at is None:
        return verdict.because
    return f"last seen {format_ago(verdict.now - verdict.last_seen_at)}"


def _work(conflict: OverlapConflict, state: State) -> str:
    """What the holder works on: the reservation says, else the holder itself, else its branch."""
    member = sorted_index.find_member(state, conflict.held.owner)
    work = conflict.held.work or (member.work if member is not None else None)
    if work:
        return f", working on {work},"
    return f", on branch {conflict.held.branch}," if conflict.held.branch else ","


def failed(error: MootError) -> str:
    """Another trouble: closed, with what to do about it, in one line."""
    said = " ".join(str(error).split())
    hint = f" To mend it: {error.hint}." if error.hint else ""
    why = "" if error.code in _CHECKED else ", because it cannot be checked"
    return f"moot: held back{why}: [{error.code}] {said}.{hint}"

"""Which machine owns a session: it keeps the session's files, and the ledger signs the minutes for
it. The one where the session began, until it is moved.

A machine gives away what is its own (`moot machine hand-over`), or takes what a machine left behind
that has left or was taken off (`moot machine move-here`). The keeper may do both with any
session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from moot.core.errors import Malformed, NotFound, Refused
from moot.core.ledger import View
from moot.core.names import STREAM, protocol_of
from moot.engine.engine import Engine
from moot.hosts.ledger_signing import MOVABLE
from moot.hosts.members import Member, Members

OWNER: Final = "@home"  # the delivery cursor that says which machine (its number) owns a stream
KEEPER: Final = 0  # the number of the machine that keeps the ledger
MOST_STREAMS: Final = 50


def move_session(
    engine: Engine,
    members: Members,
    asker: Member | None,
    streams: Sequence[str],
    to: str | None,
) -> tuple[str, ...]:
    """Move a session to the machine `to`, None: to `asker`; that is None where the ledger is kept.

    The first of `streams` is the session; those that belong to it come along if the same
    machine owned them. Returns what moved; nothing, if it was there already.
    """
    if not 1 <= len(streams) <= MOST_STREAMS:
        raise Malformed(f"1 to {MOST_STREAMS} streams at once", code="bad_request")
    target = KEEPER if asker is None else asker.number
    if to is not None:
        target = _require_member(members, to).number

    def pick(view: View) -> tuple[tuple[str, ...], Mapping[str, int]]:
        home = _require_movable(view, streams[0])
        if asker is not None:
            _require_allowed(members, asker, streams[0], home, to)
        moved = {
            stream: target
            for stream in streams
            if _is_movable(view, stream) and view.cursor(OWNER, stream) == home != target
        }
        return tuple(moved), moved

    return engine.deliver(OWNER, pick)


def _require_member(members: Members, name: str) -> Member:
    found = _find_active_member(members, lambda one: one.name == name)
    if found is None:
        raise NotFound(
            "machine_not_found",
            f"no machine called {name} shares the ledger",
            hint="`moot machine list` shows all",
        )
    return found


def _find_active_member(members: Members, is_meant: Callable[[Member], bool]) -> Member | None:
    return next((one for one in members.machines if one.revoked_at is None and is_meant(one)), None)


def _is_movable(view: View, stream: str) -> bool:
    is_name = STREAM.match(stream) is not None and protocol_of(stream) in MOVABLE
    return is_name and view.head(stream) is not None


def _require_movable(view: View, stream: str) -> int:
    if not _is_movable(view, stream):
        raise NotFound(
            "not_found",
            f"no session is called {stream[:80]!r}",
            hint="`moot ledger log` lists what there is",
        )
    return view.cursor(OWNER, stream)


def _require_allowed(
    members: Members, asker: Member, stream: str, home: int, to: str | None
) -> None:
    """Refused unless it is the machine's own, or nobody's who shares the ledger."""
    owner = _find_active_member(members, lambda one: one.number == home)
    is_gone = home != KEEPER and owner is None
    if home == asker.number or (is_gone and to is None):
        return
    if is_gone:
        gone = next((one.name for one in members.machines if one.number == home), "a machine")
        raise Refused(
            "another_home",
            f"{stream} belonged to {gone}, which no longer shares the ledger",
            hint=f"`moot machine move-here {stream}` first; then hand it over",
        )
    place = "the machine that keeps the ledger" if owner is None else owner.name
    receiver = to or asker.name
    raise Refused(
        "another_home",
        f"{stream} belongs to {place}, which still shares the ledger",
        hint=f"there: `moot machine hand-over {stream} --to {receiver}`",
    )

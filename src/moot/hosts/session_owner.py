"""Which machine owns a session.

The owner keeps the session's files, and the ledger signs the session's minutes for it. It is the
machine where the session began, until the session is moved. A machine can hand over its own
sessions (`moot machine hand-over`) and take those of a machine that left or was removed
(`moot machine move-here`). The keeper can do both with any session.
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

OWNER: Final = "@home"  # a delivery cursor: its position is the number of the stream's owner
KEEPER: Final = 0  # the number of the machine that keeps the ledger
MAX_STREAMS: Final = 50


def move_session(
    engine: Engine,
    members: Members,
    asker: Member | None,
    streams: Sequence[str],
    to: str | None,
) -> tuple[str, ...]:
    """Move a session to the machine `to`, or to `asker` if that is None.

    `asker` is None on the machine that keeps the ledger. The first of `streams` is the session; the
    others belong to it and move too, if the same machine owned them. Returns the streams that
    moved: none if the target owned the session already.
    """
    if not 1 <= len(streams) <= MAX_STREAMS:
        raise Malformed(f"1 to {MAX_STREAMS} streams at once", code="bad_request")
    target = KEEPER if asker is None else asker.number
    if to is not None:
        target = _require_member(members, to).number

    def pick(view: View) -> tuple[tuple[str, ...], Mapping[str, int]]:
        owner_number = _require_movable(view, streams[0])
        if asker is not None:
            _require_allowed(members, asker, streams[0], owner_number, to)
        moved = {
            stream: target
            for stream in streams
            if _is_movable(view, stream) and view.cursor(OWNER, stream) == owner_number != target
        }
        return tuple(moved), moved

    return engine.deliver(OWNER, pick)


def _require_member(members: Members, name: str) -> Member:
    found = _find_active_member(members, lambda member: member.name == name)
    if found is None:
        raise NotFound(
            "machine_not_found",
            f"no machine named {name} shares the ledger",
            hint="`moot machine list` shows all",
        )
    return found


def _find_active_member(members: Members, predicate: Callable[[Member], bool]) -> Member | None:
    return next(
        (member for member in members.machines if member.revoked_at is None and predicate(member)),
        None,
    )


def _is_movable(view: View, stream: str) -> bool:
    is_name = STREAM.match(stream) is not None and protocol_of(stream) in MOVABLE
    return is_name and view.head(stream) is not None


def _require_movable(view: View, stream: str) -> int:
    if not _is_movable(view, stream):
        raise NotFound(
            "not_found",
            f"there is no session {stream[:80]!r}",
            hint="`moot ledger log` lists the sessions",
        )
    return view.cursor(OWNER, stream)


def _require_allowed(
    members: Members, asker: Member, stream: str, owner_number: int, to: str | None
) -> None:
    """Raise Refused unless `asker` owns the session, or takes it from a machine that left."""
    owner = _find_active_member(members, lambda member: member.number == owner_number)
    has_left = owner_number != KEEPER and owner is None
    if owner_number == asker.number or (has_left and to is None):
        return
    if has_left:
        former_name = next(
            (member.name for member in members.machines if member.number == owner_number),
            "a machine",
        )
        raise Refused(
            "another_home",
            f"{stream} belonged to {former_name}, which no longer shares the ledger",
            hint=f"`moot machine move-here {stream}` first; then hand it over",
        )
    owner_name = "the machine that keeps the ledger" if owner is None else owner.name
    receiver = to or asker.name
    raise Refused(
        "another_home",
        f"{stream} belongs to {owner_name}, which still shares the ledger",
        hint=f"there: `moot machine hand-over {stream} --to {receiver}`",
    )

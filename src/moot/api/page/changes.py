"""Report which screens changed since the last look, so that a viewer reads only those again.

Each change names a screen, not an event: the viewer reads the whole screen again. So changes need
no order, and a lost one does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from moot.core.names import REGISTRY

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.workspace.workspace import Workspace

SESSIONS, AGENTS, AGENDA, STATUS = "sessions", "agents", "agenda", "status"
MAIL, DECISIONS, LOG, VERIFY = "mail", "decisions", "log", "verify"
ALL_SCREENS: Final = (SESSIONS, AGENTS, AGENDA, STATUS, MAIL, DECISIONS, LOG, VERIFY)
# Screens that time alone changes: who is stale, what is overdue.
TIMED_SCREENS: Final = (SESSIONS, AGENTS, AGENDA, STATUS)
_ARGUED: Final = (DECISIONS, AGENDA, STATUS)
# Protocol -> the screens that show something of its streams; an unknown one may be on all.
_SCREENS: Final[dict[str, tuple[str, ...]]] = {
    "presence": (SESSIONS, AGENTS, AGENDA, STATUS),
    "mail": (MAIL, SESSIONS, AGENDA, STATUS),
    "decision": _ARGUED,
    "debate": _ARGUED,
    "parliament": _ARGUED,
    "trace": _ARGUED,
    "path": (DECISIONS,),
    "observed": (STATUS, AGENTS, SESSIONS),
    REGISTRY: (AGENTS, SESSIONS, STATUS),
}


def change_number(session: Session) -> int:
    """Return a number that changes with every write of any process.

    Compare it only with another one of the same open workspace.
    """
    return session.workspace.store.version()


class ScreenChanges:
    """Remembers the newest position of every stream at the last look."""

    def __init__(self) -> None:
        self._number: int | None = None
        # The open workspace itself, not its `id()`: after it is closed, another may get the same.
        self._workspace: Workspace | None = None
        self._reached: dict[str, int] = {}
        self._beats: dict[str, int] = {}

    def look(self, session: Session) -> tuple[str, ...]:
        """Return the screens that changed since the previous look; the first look returns none.

        If the store has not changed, this costs only one query.
        """
        number, workspace = change_number(session), session.workspace
        is_first, is_other = self._workspace is None, workspace is not self._workspace
        if number == self._number and not is_other:
            return ()
        self._number, self._workspace = number, workspace
        changed = self._compare(session)
        if is_first:
            return ()
        return ALL_SCREENS if is_other else changed

    def _compare(self, session: Session) -> tuple[str, ...]:
        with session.workspace.store.read() as view:
            reached = {stream: head.seq for stream, head in view.streams()}
            beats = view.heartbeat_times()
        moved = [name for name, seq in reached.items() if self._reached.get(name) != seq]
        screens = {STATUS, *_screens_of(moved)}  # the status counts the records
        if beats != self._beats:
            screens |= {SESSIONS, AGENTS}
        elif not moved:  # an agent has read mail, or a checkpoint was made
            screens |= {MAIL, SESSIONS}
        self._reached, self._beats = reached, beats
        return tuple(name for name in ALL_SCREENS if name in screens)


def _screens_of(streams: Iterable[str]) -> Iterable[str]:
    for stream in streams:
        yield from _SCREENS.get(stream.partition("/")[0], ALL_SCREENS)
        yield LOG

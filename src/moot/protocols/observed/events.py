"""What may stand in the ledger."""

# No postponed annotations: msgspec would compile each of them anew in every hook.

from msgspec import UNSET, UnsetType

from moot.core.clock import Millis
from moot.core.machine import Event


class ObservingBegun(Event, frozen=True):
    session: str


class ToolObserved(Event, frozen=True):
    """`ok` is None where the hook was not told how it ended.

    `alias` is the number of the sub-agent that used it; the session's key signed for it. `tests`
    is how tests ended that it ran; `model` is the tool's own word.
    """

    number: int
    tool: str
    input_hash: str
    artifact: str | None
    files: tuple[str, ...]
    redacted: tuple[str, ...]
    ok: bool | None
    alias: str | UnsetType = UNSET
    tests: str | UnsetType = UNSET
    model: str | UnsetType = UNSET


class WatchingStopped(Event, frozen=True):
    """Nobody watches from `since` on; the gap is recorded once somebody watches again."""

    since: Millis
    why: str


class GapNoted(Event, frozen=True):
    since: Millis
    until: Millis
    why: str


class UnseenChangesNoted(Event, frozen=True):
    """Files that changed while a program ran and no hook spoke; by whom is not known."""

    files: tuple[str, ...]


class ObservingEnded(Event, frozen=True):
    """`tests` is how tests ended that ran after the last edit; unset if nothing was edited."""

    reason: str
    tests: str | UnsetType = UNSET


EVENTS = (
    ObservingBegun,
    ToolObserved,
    WatchingStopped,
    GapNoted,
    UnseenChangesNoted,
    ObservingEnded,
)

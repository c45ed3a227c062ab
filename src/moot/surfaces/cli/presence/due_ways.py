"""How what is due is done: a command to type, and whose it is where the name is a part's.

A protocol says so in the hint of a `Due`; what it leaves open is in these tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moot.core.findings import filled
from moot.core.machine import Due

# The word that stands for a session itself in the hints of its protocol.
_CALLED: Final = {"trace": "TRACE", "decision": "ID"}
# Parts in a parliament that no agent plays: their acts are the session's own, or a person's.
_PARTS: Final = {
    "clerk": "whoever runs the session: ",
    "speaker": "whoever runs the session: ",
    "prime-minister": "a person: ",
}
_REGISTER: Final = "`moot agent register operator --human` first; then "


def way(stream: str, due: Due, *, people: bool = True) -> str:
    """A line for every due. Without `people` nobody could give a person's word yet."""
    protocol, _, name = stream.partition("/")
    said = _SAYS.get(protocol, _as_hinted)(due) or _otherwise(stream, due)
    first = _REGISTER if due.what == "decide" and not people else ""
    return first + filled(said, {_CALLED.get(protocol, ""): name})


def _as_hinted(due: Due) -> str:
    return due.hint


def _decision(due: Due) -> str:
    return due.hint or ("moot ask --resume ID" if due.what == "answer" else "")


def _path(due: Due) -> str:
    """A step that failed says why; it is tried again with its own command."""
    command = f"moot flow {due.subject}"
    return due.hint if due.hint.startswith("moot ") else f"{command} ({due.hint})"


def _parliament(due: Due) -> str:
    from moot.surfaces.cli.parliament.due_ways import WAYS

    command = f"{_PARTS.get(due.who, '')}moot parliament {WAYS.get(due.what, 'next DIR')}"
    said = f"{due.hint}; " if due.hint and due.what != "decide" else ""
    return f"{command} ({said}DIR is the session's folder)"


_SAYS: Final[dict[str, Callable[[Due], str]]] = {
    "decision": _decision,
    "parliament": _parliament,
    "path": _path,
}


def _otherwise(stream: str, due: Due) -> str:
    if due.command is not None:
        return "the next command that writes there does it, or `moot tick`"
    return f"`moot ledger log {stream}` shows what it is about"

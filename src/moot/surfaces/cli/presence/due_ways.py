"""How what is due is done: a command to type, and whose it is where the name is a part's.

A protocol says so in the hint of what is due; what it leaves open is in these tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moot.api.agenda import DueItem

# Parts in a parliament that no agent plays: their acts are the session's own, or a person's.
_PARTS: Final = {
    "clerk": "whoever runs the session: ",
    "speaker": "whoever runs the session: ",
    "prime-minister": "a person: ",
}
_REGISTER: Final = "`moot agent register operator --human` first; then "


def way_to_do(item: DueItem, *, people: bool = True) -> str:
    """A line for everything due. Without `people` nobody could give a person's word yet."""
    protocol = item.id.partition("/")[0]
    command = _WAYS.get(protocol, _as_hinted)(item) or _way_without_hint(item)
    first = _REGISTER if item.what == "decide" and not people else ""
    return first + command


def _as_hinted(item: DueItem) -> str:
    return item.hint


def _way_in_decision(item: DueItem) -> str:
    again = f"moot ask --resume {item.id.partition('/')[2]}"
    return item.hint or (again if item.what == "answer" else "")


def _way_in_parliament(item: DueItem) -> str:
    from moot.surfaces.cli.parliament.due_ways import WAYS

    if item.hint.startswith("moot ") and " DIR " not in item.hint:  # its folder is known
        return _PARTS.get(item.who, "") + item.hint
    command = f"{_PARTS.get(item.who, '')}moot parliament {WAYS.get(item.what, 'next DIR')}"
    remark = f"{item.hint}; " if item.hint and not item.hint.startswith("moot ") else ""
    return f"{command} ({remark}DIR is the session's folder)"


_WAYS: Final[dict[str, Callable[[DueItem], str]]] = {
    "decision": _way_in_decision,
    "parliament": _way_in_parliament,
}


def _way_without_hint(item: DueItem) -> str:
    if item.by is not None:
        return "the next command that writes there does it, or `moot tick`"
    return f"`moot ledger log {item.id}` shows what it is about"

"""What is shown of a name, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from moot.api.agents import ACTIVE, ShownAgent
from moot.api.agents import liveness_label as label_of
from moot.surfaces.terminal.listing import WITH_TOOL

__all__ = ["ACTIVE", "agent_rows", "alive_word", "label_of", "with_tool"]


def with_tool(name: str, tool: str | None) -> str:
    """A name as lists show it: `alice-2 · claude`."""
    return f"{name}{WITH_TOOL}{tool}" if tool else name


def alive_word(label: str, evidence: str | None) -> str:
    """How alive somebody is, in a word: a program that is gone says more than the time does."""
    return "Gone" if evidence == "gone" else label


def agent_rows(agent: ShownAgent) -> Iterable[tuple[str, str]]:
    """All of `agent show` in words. Who has ended shows signs of life to nobody."""
    is_active = agent.status == ACTIVE
    fields: dict[str, Any] = msgspec.to_builtins(agent)
    if not is_active:
        fields["liveness"] = f"none: {agent.status}"
    for field, value in fields.items():
        if field == "keys":
            yield from (("key", f"{key['kid']} {key['status']}") for key in value)
        elif field == "sub_agents":
            yield from (("sub-agent", _sub_agent_in_words(view)) for view in value)
        elif field == "usage":
            yield "used", value["line"] if value else "unknown"
        elif is_active or field not in ("label", "because"):  # which speak of liveness, too
            yield field, _in_words(value)


def _sub_agent_in_words(view: dict[str, Any]) -> str:
    """It has no key, and that is said: its session's key signs for it."""
    holds = f", holds {', '.join(view['holds'])}" if view["holds"] else ""
    kind = f" ({view['kind']})" if view["kind"] else ""
    label, session = view["label"].lower(), view["signed_by"]
    return f"{view['name']}{kind}: {label}{holds}; signed by {session}'s key"


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(value) or "-"
    return "-" if value in (None, "") else str(value)

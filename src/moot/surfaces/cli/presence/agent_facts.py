"""What is shown of a name and its keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from moot.core.errors import NotFound

if TYPE_CHECKING:
    from moot.core.registry.model import Agent, RegisteredKey, State
    from moot.protocols.presence.views import AgentView
    from moot.surfaces.terminal.shell import Shell

ACTIVE = "active"


def known(shell: Shell, name: str) -> State:
    """The registry, in which there is such a name."""
    registry = shell.workspace.engine.registry()
    if name not in registry.agents:
        raise NotFound(
            "agent_not_found", f"no agent is called {name}", hint="`moot agent list` shows all"
        )
    return registry


def shown(registry: State, name: str) -> dict[str, Any]:
    from moot.core.clock import to_text

    one: Agent = registry.agents[name]
    key = registry.keys[one.kid]
    return {
        "agent": one.name,
        "class": str(one.kind),
        "status": _status(key),
        "epoch": one.epoch,
        "kid": one.kid,
        "public": key.public,
        "custodian": key.custodian,
        "since": to_text(one.since),
    }


def label_of(view: AgentView, status: str) -> str:
    """How alive somebody is, in a word; who has ended shows signs of life to nobody."""
    return view.label if status == ACTIVE else status.capitalize()


def keys_of(registry: State, name: str) -> list[dict[str, Any]]:
    """Every key the name ever had, the oldest first."""
    mine = sorted((key for key in registry.keys.values() if key.name == name), key=_age)
    return [
        {"kid": key.kid, "status": _status(key), "epoch": key.epoch, "custodian": key.custodian}
        for key in mine
    ]


def _age(key: RegisteredKey) -> int:
    return key.added


def _status(key: RegisteredKey) -> str:
    return str(key.ending) if key.ending else ACTIVE


def agent_rows(data: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """All of `agent show` in words. Who has ended shows signs of life to nobody."""
    alive = data["status"] == ACTIVE
    told = data if alive else {**data, "liveness": f"none: {data['status']}"}
    for field, value in told.items():
        if field == "keys":
            yield from (("key", f"{key['kid']} {key['status']}") for key in value)
        elif alive or field not in ("label", "because"):  # which speak of liveness, too
            yield field, _in_words(value)


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(value) or "-"
    return "-" if value in (None, "") else str(value)

"""Which state machine runs a stream. Each is imported on demand, to keep commands fast.

A sixth protocol adds its line here and nowhere else below the api.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from moot.core.errors import NotFound
from moot.core.machine import Machine
from moot.core.names import protocol_of

MODULES: dict[str, str] = {
    "registry": "moot.core.registry.machine",
    "example": "moot.protocols.example.machine",
    "presence": "moot.protocols.presence.machine",
    "trace": "moot.protocols.trace.machine",
    "observed": "moot.protocols.observed.machine",
    "decision": "moot.protocols.decision.machine",
    "mail": "moot.protocols.mail.machine",
    "debate": "moot.protocols.debate.machine",
    "parliament": "moot.protocols.parliament.machine",
    "path": "moot.protocols.path.machine",
    "plan": "moot.protocols.plan.machine",
}


class Machines:
    """The machines of one engine: those of the product, or a test's own."""

    def __init__(self, *extra: Machine[Any]) -> None:
        self._loaded = {machine.name: machine for machine in extra}

    def knows(self, stream: str) -> bool:
        return protocol_of(stream) in self._loaded or protocol_of(stream) in MODULES

    def machine_of(self, stream: str) -> Machine[Any]:
        machine = self.find(stream)
        if machine is None:
            name = protocol_of(stream)
            problem = f"this moot has no protocol {name!r}"
            raise NotFound("unknown_protocol", problem, hint="update moot")
        return machine

    def find(self, stream: str) -> Machine[Any] | None:
        """Return the machine of a stream; None for an unknown protocol."""
        name = protocol_of(stream)
        machine = self._loaded.get(name)
        if machine is None and name in MODULES:
            machine = self._loaded[name] = import_module(MODULES[name]).MACHINE
        return machine

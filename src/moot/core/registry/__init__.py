"""The registry: one small stream that says which keys exist, for whom, and since when.

    machine.py  the registry's machine: which keys exist and for whom they sign
    model.py    keys, names, commands, events, and the statements that new keys sign
    rules.py    the registry's rules, one row each

It is a machine like those of the protocols. Replay reads it first.
"""

from moot.core.registry.machine import MACHINE
from moot.core.registry.model import Agent, RegisteredKey, State

__all__ = ["MACHINE", "Agent", "RegisteredKey", "State"]

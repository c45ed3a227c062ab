"""The registry: one small stream that says which keys exist, for whom, and since when.

It is a machine like any protocol's, and the first to read: `model.py` the nouns, `commands.py`
what may be asked, `events.py` the facts, `rules.py` the rules as a table, `machine.py` the
automaton, `proofs.py` what new keys and their endorsers sign.
"""

from moot.core.registry.machine import MACHINE
from moot.core.registry.model import Agent, RegisteredKey, State

__all__ = ["MACHINE", "Agent", "RegisteredKey", "State"]

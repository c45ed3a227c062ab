"""Helpers for tests of Moot and of programs that use it: real parts, but nothing on disk.

    world.py  A whole ledger in memory with a clock that a test moves

world = World()                     a ledger in memory, a clock that you move
world.agent("amber-otter")
given(world, MACHINE, "example/today").as_("amber-otter").when(Ask(...)).then(ErrandAsked(...))
"""

from moot.store.memory import MemoryStore
from moot.testing.world import FakeClock, MemoryKeys, Scenario, World, given

__all__ = ["FakeClock", "MemoryKeys", "MemoryStore", "Scenario", "World", "given"]

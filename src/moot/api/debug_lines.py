"""What a surface may do with the lines that the engine tells it: print them, or read them."""

from __future__ import annotations

from moot.core.debug import DebugLog, DecisionLine, read_decision

__all__ = ["DebugLog", "DecisionLine", "read_decision"]

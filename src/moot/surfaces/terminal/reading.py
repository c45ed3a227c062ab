"""Which commands only read: they answer also where nothing may be written.

Every other command opens the workspace for writing and is refused there before it does anything.
What one of these might do beside reading (a checkpoint before an export, noting that mail was seen)
is left undone.
"""

from __future__ import annotations

from typing import Final

READS: Final = frozenset(
    {
        *("story", "report", "flow.list"),
    }
)

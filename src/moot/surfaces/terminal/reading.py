"""Which commands only read: they answer also where nothing may be written.

Every other command opens the workspace for writing and is refused there before it does anything.
What one of these might do beside reading (a checkpoint before an export, noting that mail was seen)
is left undone.
"""

from __future__ import annotations

from typing import Final

READS: Final = frozenset(
    {
        *("status", "agenda", "guard.check"),
        *("agent.list", "agent.show", "scope.list", "event.list"),
        *("inbox", "mail.inbox", "mail.show", "mail.search", "mail.thread", "mail.pending"),
        *("debate.check", "debate.status", "debate.summary", "debate.report"),
        *("parliament.check", "parliament.status", "parliament.next"),
        *("parliament.context", "parliament.history"),
        *("trace.status", "trace.list", "trace.observed", "trace.report", "trace.export"),
    }
)

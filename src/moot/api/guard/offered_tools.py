"""Whether a coding tool's model is offered our tools, and what it calls them.

It is if the tool's settings start `moot mcp`, and nothing keeps that from working. They are read
only where something is said to the model that names a call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.session import Session

# What a model calls one of our tools.
ToolName = Callable[[str], str]


def find_tool_names(tool: str, session: Session) -> ToolName | None:
    """None if its model is to use the command line."""
    from moot.core.errors import MootError
    from moot.flows.guard.guarded_paths import find_guarded_folder
    from moot.flows.tools.mcp_entries import CALL_NAMES
    from moot.flows.tools.mcp_health import find_entry

    try:
        guarded = find_guarded_folder(session.folder, session.home)
    except MootError:
        guarded = None
    if guarded is None:
        return None
    found = find_entry(tool, guarded, session.env)
    return None if found is None or found.flaw is not None else CALL_NAMES[tool].format

"""Whether a coding tool's model is offered our tools, and what it calls them.

It is if the tool's settings start `moot mcp`. They are read only where something is said to the
model that names a call.
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
    from moot.flows.tools.mcp_entries import CALL_NAMES, TOOLS, read_entry

    try:
        guarded = find_guarded_folder(session.folder, session.home)
    except MootError:
        guarded = None
    if guarded is None:
        return None
    try:
        text = (guarded.worktree_root / TOOLS[tool].file).read_text("utf-8")
    except (OSError, ValueError):
        return None
    return CALL_NAMES[tool].format if read_entry(tool, text) is not None else None

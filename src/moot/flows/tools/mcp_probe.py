"""Trying the server that a coding tool is told to start: it must say which tools it offers.

No tool of it is called, so nobody joins and nothing goes on record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.core.version import VERSION
from moot.system.line_server import converse

SECONDS: Final = 30.0
REVISION: Final = "2025-06-18"
_CLIENT: Final = {"name": "moot hook test", "version": VERSION}
_HELLO: Final = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": _CLIENT}
_LINES: Final[tuple[Mapping[str, Any], ...]] = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
)


class ServerProbe(NamedTuple):
    """`answer` are the names of its tools, or what went wrong."""

    passed: bool
    answer: str


def probe_server(command: Sequence[str], folder: Path, env: Mapping[str, str]) -> ServerProbe:
    """Start it as the tool would, in the project's folder, and ask for its tools."""
    try:
        replies = converse(command, _LINES, env=env, last=2, seconds=SECONDS, folder=folder)
    except (OSError, ValueError) as error:
        return ServerProbe(False, str(error))
    result = replies.get(2, {}).get("result")
    listed = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(listed, list):
        return ServerProbe(False, f"no list of tools within {SECONDS:.0f} seconds")
    names = [str(tool.get("name")) for tool in listed if isinstance(tool, dict)]
    return ServerProbe(bool(names), ", ".join(names))

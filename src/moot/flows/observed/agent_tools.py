"""Which coding tool an agent works with, as far as hooks and runs have said."""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.core.clock import Millis
from moot.protocols.observed import PROTOCOL, RUN, SESSION_SPACE

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

_PAGE: Final = 1_000
_NO_ID: Final = "run"  # of a tool that gave its session no id
_NO_TOOL: Final = "program"


# How each tool goes on with one of its own sessions.
_RESUME: Final = {
    "claude": "claude --resume {}",
    "codex": "codex resume {}",
    "gemini": "gemini --resume {}",
    "opencode": "opencode --session {}",
}


class AgentTool(NamedTuple):
    """A coding tool, and what it calls its session, if it said so."""

    tool: str
    session: str = ""

    @property
    def resume_line(self) -> str:
        """The words that let the tool go on with this session; the tool alone if that is all that
        is known."""
        way = _RESUME.get(self.tool)
        return way.format(quote(self.session)) if way and self.session else self.tool


class _SessionRow(msgspec.Struct, frozen=True):
    at: Millis
    session: str


def find_tools(workspace: Workspace, names: Iterable[str]) -> dict[str, AgentTool]:
    """The newest tool of each agent; who works without a known one is left out."""
    tools = {}
    with workspace.store.read() as view:
        for name in names:
            rows = view.rows(SESSION_SPACE, f"{PROTOCOL}/{name}~", limit=_PAGE)
            newest = _newest(msgspec.json.decode(row.value, type=_SessionRow) for row in rows)
            if newest is not None:
                tools[name] = newest
    return tools


def _newest(rows: Iterable[_SessionRow]) -> AgentTool | None:
    """A session that a hook began says more than the run around it, which is older."""
    known = [(row.at, tool) for row in rows if (tool := _read(row.session)) is not None]
    return max(known, key=lambda one: (bool(one[1].session), one[0]), default=(0, None))[1]


def _read(session: str) -> AgentTool | None:
    if session.startswith(RUN):
        return AgentTool(session.removeprefix(RUN))
    tool, _, identity = session.partition(":")
    if not identity or tool == _NO_TOOL:
        return None
    return AgentTool(tool, "" if identity == _NO_ID else identity)

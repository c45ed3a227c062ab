"""Who changed a file that somebody holds, if the evidence names somebody.

    a hook's edit      a call that names this very file ran when it was written
    a shell call       a command ran in this worktree at that moment, of one agent only
    the only run       one agent alone is active in this worktree, and no hook of it ever speaks

Nothing else names anybody. Where two agents' commands ran, or none, the cause is unknown; so it is
if one ran beside a holder without hooks, who may have been at work itself. What such a holder's
files become while nobody else's command runs counts as its own doing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.flows.guard.call_notes import CallTime, has_spoken, read_calls
from moot.flows.presence.observation import observe
from moot.protocols.presence import STREAM
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import Liveness, Member, State
from moot.protocols.presence.views import observe_liveness

if TYPE_CHECKING:
    from moot.flows.watching.held_files import Change
    from moot.workspace.workspace import Workspace

UNKNOWN: Final = ""
# Clocks of files tick in steps; within these an act and its trace are the same moment.
SLACK_NS: Final = 50_000_000


class Evidence:
    """What is known at one moment about who does what; read once for all changes of a moment."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._state = workspace.engine.state(PRESENCE, STREAM)
        self._calls = read_calls(workspace.path)
        self._only_runs: dict[str, str] = {}
        self._blind: dict[str, bool] = {}

    def find_cause(self, change: Change) -> str:
        """The agent that changed it, or `UNKNOWN`."""
        root = change.file.root
        edits = [call for call in self._calls if _is_edit_of(call, change)]
        if edits:
            return _only_one(self._agents_of(edits))
        owner = _find_member(self._state, change.held.owner)
        is_at_work = owner is not None and _is_in(owner, root) and self._is_blind(owner)
        at_work = {change.held.owner} if is_at_work else set()
        commands = [call for call in self._calls if _ran_there(call, change)]
        if commands or at_work:
            return _only_one(self._agents_of(commands) | at_work)
        if root not in self._only_runs:
            self._only_runs[root] = self._only_run_in(root)
        return self._only_runs[root]

    def _agents_of(self, calls: Iterable[CallTime]) -> set[str]:
        return {self._agent_of(call) for call in calls}

    def _agent_of(self, call: CallTime) -> str:
        """A session that was not started by name is known by its key."""
        if call.agent:
            return call.agent
        members = (member for member in self._state.members if member.session_key == call.session)
        return next((member.name for member in members), UNKNOWN)

    def _only_run_in(self, root: str) -> str:
        """The one active agent there, unless its hooks speak: then they would have said it."""
        there = [member for member in self._state.members if _is_in(member, root)]
        observation = observe(self._workspace, [member.name for member in there])
        active = [
            member
            for member in there
            if observe_liveness(self._state, member.name, observation).liveness is Liveness.ACTIVE
        ]
        return active[0].name if len(active) == 1 and self._is_blind(active[0]) else UNKNOWN

    def _is_blind(self, member: Member) -> bool:
        """No hook of this agent ever speaks."""
        if member.name not in self._blind:
            spoke = has_spoken(self._workspace.path, member.name, member.session_key)
            self._blind[member.name] = not spoke
        return self._blind[member.name]


def _only_one(agents: set[str]) -> str:
    return next(iter(agents)) if len(agents) == 1 else UNKNOWN


def _find_member(state: State, name: str) -> Member | None:
    from moot.protocols.presence.sorted_index import find_member

    member = find_member(state, name)
    return None if member is None or member.left else member


def _is_in(member: Member, root: str) -> bool:
    return not member.left and member.worktree == root


def _is_edit_of(call: CallTime, change: Change) -> bool:
    return _was_running(call, change) and any(
        path == change.file.full or os.path.realpath(path) == os.path.realpath(change.file.full)
        for path in call.note.paths
    )


def _ran_there(call: CallTime, change: Change) -> bool:
    if not call.note.folder or not _was_running(call, change):
        return False
    folder, root = Path(call.note.folder), Path(change.file.root)
    return folder == root or root in folder.parents


def _was_running(call: CallTime, change: Change) -> bool:
    has_begun = call.began_ns <= change.at_ns + SLACK_NS
    return has_begun and (call.ended_ns is None or change.at_ns <= call.ended_ns + SLACK_NS)

"""Where a presence command stands: the worktree, its branch, the reader's idea of stale."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import Refused
from moot.core.findings import Finding
from moot.flows.guard.guarded_paths import branch_of, find_guarded_folder, widest_root_around
from moot.flows.guard.roots import roots_in_use
from moot.flows.presence.observation import observe
from moot.protocols.presence import STREAM, liveness, views
from moot.protocols.presence.commands import Reserve, TakeOver
from moot.protocols.presence.model import State
from moot.surfaces.terminal.shell import Shell
from moot.workspace.find import worktree_root

if TYPE_CHECKING:
    from moot.core.clock import Millis
    from moot.flows.presence.arrival import Place
    from moot.workspace.workspace import Workspace


class Here:
    """What the commands of presence have in common; read once a command."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.space = shell.workspace
        self.worktree = _worktree(shell.cwd, self.space)
        self.branch = branch_of(self.worktree)
        self.stale, warning = liveness.read_stale_minutes(shell.env.get(liveness.STALE_VARIABLE))
        self.remarks: list[Finding] = [warning] if warning is not None else []

    def work(self, named: str | None) -> str | None:
        """What is worked on: as named, else the branch."""
        return named or self.branch

    @property
    def project_root(self) -> str:
        return str(self.space.root)

    def reserving(
        self,
        scopes: tuple[str, ...],
        work: str | None,
        ttl: int | None = None,
        takeover: bool = False,
    ) -> Reserve | TakeOver:
        """The command that reserves `scopes` from where we stand."""
        kind = TakeOver if takeover else Reserve
        return kind(
            scopes=scopes,
            project_root=self.project_root,
            worktree=str(self.worktree),
            branch=self.branch,
            work=self.work(work),
            ttl_minutes=ttl,
            stale_millis=self.stale,
        )

    def place(self, work: str | None = None, session_key: str | None = None) -> Place:
        from moot.flows.presence.arrival import Place

        return Place(self.worktree, self.branch, self.work(work), session_key)

    @property
    def state(self) -> State:
        state: State = self.space.engine.state(STREAM)
        return state

    def moment(self, names: Iterable[str] | None = None) -> views.Observation:
        """Now, with the proved signs of life of `names` (default: everyone known here)."""
        return observe(self.space, names, self.stale)

    def epoch_of(self, name: str) -> int | None:
        """Which holder of a name is meant: the one registered now. Who has ended answers nobody."""
        registry = self.space.engine.registry()
        agent = registry.agents.get(name)
        ending = registry.keys[agent.kid].ending if agent is not None else None
        if ending is not None:
            hint = "`moot status` shows who is here"
            raise Refused("agent_retired", f"{name} has ended: {ending}", hint=hint)
        return None if agent is None else agent.epoch

    @property
    def now(self) -> Millis:
        return self.space.engine.clock()


def _worktree(start: Path, space: Workspace) -> Path:
    """The worktree around us that this workspace guards: a submodule is part of its project."""
    guarded = find_guarded_folder(start, None)
    if guarded is not None and guarded.workspace.samefile(space.path):
        return guarded.worktree_root
    return worktree_root(start) or _known_root(start, space)


def _known_root(start: Path, space: Workspace) -> Path:
    """Without git, and with the workspace elsewhere: the root that the hooks count from, too."""
    state: State = space.engine.state(STREAM)
    return widest_root_around(str(start), (*roots_in_use(state), str(start))) or start


def holding(name: str, moved: Iterable[str]) -> list[str]:
    """What `name` has by accepting a HANDOFF."""
    return [f"{name} holds {scope} now" for scope in moved]

"""Before a commit: what is staged, and who else holds it.

A person is warned and may commit; an agent is stopped. An agent is one that MOOT_AGENT names, or
one whose tool put its session id into the shell's environment.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.core.errors import MootError, StoreFailed
from moot.flows.guard.guarded_paths import Spot, session_spot
from moot.surfaces.hooks.call import session_key
from moot.surfaces.hooks.entry import Reply

if TYPE_CHECKING:
    from moot.protocols.presence.overlap import OverlapConflict
    from moot.workspace.workspace import Workspace

# Variables that tools set in the shells they start: whose session it is.
SESSION_VARIABLES: Final[Mapping[str, str]] = {
    "CLAUDE_CODE_SESSION_ID": "claude",
    "CODEX_SESSION_ID": "codex",
    "CODEX_THREAD_ID": "codex",
}
GIT_SECONDS: Final = 10.0


def before_commit(env: Mapping[str, str], here: str) -> Reply:
    """Silent outside of a workspace; closed for agents, open for people."""
    home = Path(env["MOOT_HOME"]) if env.get("MOOT_HOME") else None
    try:
        spot = session_spot(here, home)
        return Reply() if spot is None else _checked(spot, env)
    except MootError as error:
        hint = f" To mend it: {error.hint}." if error.hint else ""
        said = f"moot: the commit cannot be checked: [{error.code}] {error}.{hint}"
        return Reply(err=said, code=1 if env.get("MOOT_AGENT") else 0)


def _checked(spot: Spot, env: Mapping[str, str]) -> Reply:
    paths = staged(spot.root)
    if not paths:
        return Reply()
    from moot.flows.guard.hook_workspace import opened

    with opened(spot.workspace, env) as space:
        name = _agent(space, env)
        found = _conflicts(space, spot, paths, name, env)
        if found and name is not None:
            _note(space, spot, found, name, env)
    if not found:
        return Reply()
    return Reply(err=_said(found, name), code=0 if name is None else 1)


def staged(root: Path) -> tuple[str, ...]:
    """Both sides of a rename: each is a file that changes."""
    try:
        done = subprocess.run(
            ["git", "diff", "--cached", "--name-only", "--no-renames", "-z"],
            cwd=root,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise StoreFailed("git_failed", f"git does not say what is staged: {error}") from None
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return tuple(name for name in names if name)


def _agent(space: Workspace, env: Mapping[str, str]) -> str | None:
    from moot.flows.guard.holder import require_same_holder
    from moot.flows.guard.session_agent import agent_of_session

    named = env.get("MOOT_AGENT")
    if named:
        require_same_holder(lambda: space, named, env)
        return named
    keys = [env.get("MOOT_SESSION")]
    keys += [session_key(tool, env.get(name, "")) for name, tool in SESSION_VARIABLES.items()]
    found = (agent_of_session(space, key) for key in keys if key)
    return next((name for name in found if name is not None), None)


def _conflicts(
    space: Workspace, spot: Spot, paths: tuple[str, ...], name: str | None, env: Mapping[str, str]
) -> tuple[OverlapConflict, ...]:
    """A person holds nothing, so that anyone who does is named."""
    from moot.flows.guard.blockers import in_the_way

    return in_the_way(space, paths, spot.root, name, env)


def _note(
    space: Workspace,
    spot: Spot,
    found: tuple[OverlapConflict, ...],
    name: str,
    env: Mapping[str, str],
) -> None:
    from moot.flows.guard.hook_workspace import stale_millis
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import NoteIncursion

    noted = NoteIncursion(
        paths=tuple(dict.fromkeys(conflict.claim.key for conflict in found))[:200],
        project_root=str(space.root),
        worktree=str(spot.root),
        stale_millis=stale_millis(env),
    )
    space.engine.execute(STREAM, noted, name)


def _said(found: tuple[OverlapConflict, ...], name: str | None) -> str:
    lines = [f"  {conflict.sentence}" for conflict in found[:10]]
    if len(found) > len(lines):
        lines.append(f"  and {len(found) - len(lines)} more")
    head = "moot: others hold what is staged here:"
    tail = (
        "  Committed all the same: you are a person. Tell them."
        if name is None
        else "  Nothing was committed. Unstage these (git restore --staged), or ask the holder."
    )
    return "\n".join([head, *lines, tail])

"""Before a program starts under `moot run`: is it a coding tool, and will its hook run?

Missing hooks are installed; what still keeps them from running refuses the start, unless the
caller wants it unguarded. Nobody is registered and nothing is recorded before this has passed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.core.errors import MootError, Refused, Unavailable
from moot.core.findings import Finding
from moot.flows.guard.guarded_paths import GuardedPaths

if TYPE_CHECKING:
    from moot.api.run_watch import RunWatch
    from moot.api.session import Session
    from moot.flows.launch.started_tools import StartedTool

# A start that only tells something, or only asks who you are, edits nothing.
_TELLING: Final = frozenset({"--version", "-v", "-V", "--help", "-h", "login", "logout"})


class GuardedStart(msgspec.Struct, frozen=True):
    """A coding tool that is about to start; `problems` are why its hook would not run.

    They are empty unless the caller wants the tool unguarded. `guarded` is the worktree whose
    settings it reads, `env` and `folder` what it finds.
    """

    tool: str
    problems: tuple[Finding, ...] = ()
    guarded: GuardedPaths | None = None
    env: Mapping[str, str] = {}
    folder: str = ""


def prepare_start(
    session: Session, words: Sequence[str], *, unguarded: bool, mcp: bool, watch: RunWatch
) -> tuple[GuardedStart, ...]:
    """The coding tools that `words` start, each with its hook in place.

    Unavailable (`command_not_run`) if there is no such program; Refused (`guard_off`) if a hook
    would not run, with what mends it. A person whom `watch` asks may consent to the trust that is
    missing; nobody else stores any. `mcp`: what is installed lets the tool start our server, too.
    With `unguarded` nothing is installed and nothing refused.
    """
    from moot.flows.launch.started_tools import find_program_paths, find_started_tools

    env = {**session.env, "MOOT_AGENT": "", "MOOT_HOME": ""}
    _require_program(words[0], env, session.folder)
    found = find_started_tools(words, env, str(session.folder), find_program_paths)
    return tuple(
        _prepare_tool(session, started, unguarded, mcp, watch)
        for started in found
        if not _only_tells(started.arguments)
    )


def _prepare_tool(
    session: Session, started: StartedTool, unguarded: bool, mcp: bool, watch: RunWatch
) -> GuardedStart:
    from moot.flows.launch.guard_check import find_guard_problems

    guarded = _guarded_by(session, started)
    if unguarded:
        problems = find_guard_problems(started, guarded)
        return GuardedStart(started.tool, problems, guarded, started.env, started.folder)
    if not started.is_other_user:
        _install(started, guarded, mcp, watch)
    problems = find_guard_problems(started, guarded)
    if (
        problems
        and _is_consent_enough(problems)
        and watch.consents_to_trust(started.tool, problems)
    ):
        _store_trust(started, guarded)
        problems = find_guard_problems(started, guarded)
    if problems:
        raise _guard_off(started.tool, problems)
    return GuardedStart(started.tool, (), guarded, started.env, started.folder)


def _guarded_by(session: Session, started: StartedTool) -> GuardedPaths:
    """The worktree that the tool will work in, which may be another one of this workspace."""
    from moot.flows.guard.guarded_paths import find_guarded_folder
    from moot.flows.launch.tool_settings import read_tool_start

    own = GuardedPaths(session.workspace.path, session.place.worktree)
    folder = read_tool_start(started).folder
    if folder == session.folder:
        return own
    try:
        there = find_guarded_folder(folder, None)
    except (MootError, OSError):
        return own
    return there if there is not None and there.workspace == own.workspace else own


def _install(started: StartedTool, guarded: GuardedPaths, mcp: bool, watch: RunWatch) -> None:
    from moot.api.tools import ensure_hooks

    tool = started.tool
    try:
        if ensure_hooks(tool, guarded, started.env, mcp=mcp):
            watch.installed_hooks(tool)
    except (MootError, OSError) as error:
        hint = error.hint if isinstance(error, MootError) else ""
        raise Refused(
            "guard_off",
            f"{tool} was not started, its hooks could not be installed: {error}",
            hint=hint or f"`moot hook install {tool}`, or `moot run --unguarded -- ...`",
        ) from None


def _is_consent_enough(problems: Sequence[Finding]) -> bool:
    from moot.flows.launch.guard_case import UNTRUSTED

    return all(problem.code == UNTRUSTED for problem in problems)


def _store_trust(started: StartedTool, guarded: GuardedPaths) -> None:
    from moot.flows.tools.tool_trust import store_trust

    try:
        store_trust(started.tool, guarded, started.env)
    except (MootError, OSError) as error:
        hint = error.hint if isinstance(error, MootError) else "check its permissions"
        raise Refused(
            "guard_off",
            f"{started.tool} was not started, your trust could not be stored: {error}",
            hint=hint,
        ) from None


def _guard_off(tool: str, problems: tuple[Finding, ...]) -> Refused:
    first = problems[0]
    return Refused(
        "guard_off",
        f"{tool} was not started, nothing would check its edits: {first.message}",
        hint=f"{first.hint} (`moot run --unguarded` starts it all the same)",
        findings=problems,
    )


def _only_tells(arguments: Sequence[str]) -> bool:
    return len(arguments) == 1 and arguments[0] in _TELLING


def _require_program(word: str, env: Mapping[str, str], folder: Path) -> None:
    """Unavailable if it cannot be started."""
    from moot.system.program import find_places

    places = [path for path in find_places(word, folder, env) if os.path.isfile(path)]
    if any(os.access(path, os.X_OK) for path in places):
        return
    absent = "no such file" if os.path.dirname(word) else "no program of that name is on PATH"
    why = "Permission denied" if places else absent
    raise cannot_run(word, why)


def cannot_run(word: str, why: str) -> Unavailable:
    return Unavailable("command_not_run", f"{word}: {why}", hint="check the command behind `--`")

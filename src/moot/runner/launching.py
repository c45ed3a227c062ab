"""Before a program starts under `moot run`: is it a coding tool, and will its hook run?

Missing hooks are installed; if a hook still cannot run, the start is refused, unless the caller
wants it unguarded. No agent is registered and nothing is recorded before this has passed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.guard.guarded_paths import GuardedPaths, find_guarded_folder
from moot.api.hook_setup.worktrees import find_roots, place_of
from moot.coding_tools import find_tool
from moot.coding_tools.starts import GuardCase, Problem, StartedTool, ToolStart
from moot.coding_tools.tool import UNTRUSTED
from moot.core.errors import MootError, Refused, Unavailable
from moot.core.findings import Finding

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.runner.run_watch import RunWatch


# A start that only tells something, or only asks who you are, edits nothing.
_INFORMING: Final = frozenset({"--version", "-v", "-V", "--help", "-h", "login", "logout"})


class GuardedStart(msgspec.Struct, frozen=True):
    """A coding tool that is about to start; `problems` are why its hook would not run.

    They are empty unless the caller wants the tool unguarded. `guarded` is the worktree whose
    settings it reads; `env` and `folder` are its environment.
    """

    tool: str
    problems: tuple[Finding, ...] = ()
    guarded: GuardedPaths | None = None
    env: Mapping[str, str] = {}
    folder: str = ""


def prepare_start(
    session: Session, words: Sequence[str], *, unguarded: bool, mcp: bool, watch: RunWatch
) -> tuple[GuardedStart, ...]:
    """Return the coding tools that `words` start, each with its hook installed.

    Raises Unavailable (`command_not_run`) if there is no such program, Refused (`guard_off`) if a
    hook would not run, with the fix. `watch` may ask a person to store missing trust. With `mcp` an
    installation also lets the tool start our server. With `unguarded` nothing is installed or
    refused.
    """
    from moot.coding_tools.started_tools import find_program_paths, find_started_tools

    env = {**session.env, "MOOT_AGENT": "", "MOOT_HOME": ""}
    _require_program(words[0], env, session.folder)
    found = find_started_tools(words, env, str(session.folder), find_program_paths)
    return tuple(
        _prepare_tool(session, started, unguarded, mcp, watch)
        for started in found
        if not _only_informs(started.arguments)
    )


def _prepare_tool(
    session: Session, started: StartedTool, unguarded: bool, mcp: bool, watch: RunWatch
) -> GuardedStart:
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
    """Return the worktree in which the tool will work; it may be another one of this workspace."""

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
    from moot.api.hook_setup.tools import ensure_hooks

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
    return all(problem.code == UNTRUSTED for problem in problems)


def _store_trust(started: StartedTool, guarded: GuardedPaths) -> None:
    try:
        find_tool(started.tool).store_trust(place_of(guarded, started.env))
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


def _only_informs(arguments: Sequence[str]) -> bool:
    return len(arguments) == 1 and arguments[0] in _INFORMING


def _require_program(word: str, env: Mapping[str, str], folder: Path) -> None:
    """Raise Unavailable if the program cannot be started."""
    from moot.system.programs import find_places

    places = [path for path in find_places(word, folder, env) if os.path.isfile(path)]
    if any(os.access(path, os.X_OK) for path in places):
        return
    absent = "no such file" if os.path.dirname(word) else "no program of that name is on PATH"
    why = "Permission denied" if places else absent
    raise cannot_run(word, why)


def cannot_run(word: str, why: str) -> Unavailable:
    return Unavailable("command_not_run", f"{word}: {why}", hint="check the command after `--`")


# Will this tool, started so, load our hook and run it? Asked by `moot run` before it starts it.
#
# Each way in which a tool goes on without hooks is looked for: another user, another folder, and
# what its own module says (`start_flaws`): a switch in its arguments, environment or settings,
# missing trust, a plugin that does not load. Each finding carries what fixes it; those called
# `hook_untrusted` a person can fix by a yes. Hooks are looked for in the layers that the tool
# reads, wherever they were installed.


def read_tool_start(started: StartedTool) -> ToolStart:
    """Return a tool's start with the folder it works in and the settings it loads there."""
    return ToolStart(started, find_roots)


def find_guard_problems(started: StartedTool, guarded: GuardedPaths) -> tuple[Finding, ...]:
    """Return what keeps our hook from running in this tool; nothing if it will run.

    The first problem is the first to fix. Reads settings and asks Codex; writes nothing.
    """
    case = GuardCase(read_tool_start(started), place_of(guarded, started.env))
    for code, problems in _find_flaws(case):
        findings = [
            Finding(rule="hooks", code=code, message=message, where=where, hint=hint)
            for message, where, hint in problems
        ]
        if findings:
            return tuple(findings)
    return ()


def _find_flaws(case: GuardCase) -> Iterator[tuple[str, Iterable[Problem]]]:
    yield "hook_other_user", _check_user(case)
    yield "hook_nameless", _check_name(case)
    yield "hook_other_folder", _check_folder(case)
    yield from find_tool(case.tool).start_flaws(case)


def _check_user(case: GuardCase) -> Iterator[Problem]:
    if case.start.started.is_other_user:
        yield (
            f"{case.tool} is started as another user, whose settings and keys are not these",
            None,
            "start `moot run` itself as that user",
        )


def _check_name(case: GuardCase) -> Iterator[Problem]:
    """Check that the hook will know its agent."""
    if "MOOT_AGENT" not in case.start.env:
        yield (
            f"{case.tool} would not find its name: MOOT_AGENT is taken out of its environment",
            None,
            "leave out `env -i`, or unset single variables with `env -u NAME`",
        )


def _check_folder(case: GuardCase) -> Iterator[Problem]:
    """Check that the workspace also guards the folder in which the tool will work."""
    folder = case.start.folder
    try:
        there = find_guarded_folder(folder, None)
    except (MootError, OSError):
        there = None
    is_same = there is not None and there.workspace == case.place.workspace
    is_within = there is None and not case.is_elsewhere
    if not folder.is_dir() or not (is_same or is_within):
        yield (
            f"{case.tool} would work in {folder}, which this workspace does not guard",
            str(folder),
            f"`cd {quote(str(folder))} && moot init`, then `moot run` there",
        )

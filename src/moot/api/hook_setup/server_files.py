"""Add, remove and check the entry that tells a coding tool to start `moot mcp`.

The entry is for this clone only, because it names this moot by its path; it is written into the
project's file unless git tracks that. If it cannot be written, the hooks still work, and `why_not`
tells the person what to do.

A broken entry is worse than none: hooks tell the model to call tools that do not exist, or the
server acts in another workspace. `find_entry` reports that to `hook status`, `hook test` and
`doctor`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.api.guard.guarded_paths import GuardedPaths, find_guarded_folder
from moot.coding_tools import all_tools
from moot.coding_tools.server_entries import (
    NO_TOOLS,
    SERVER,
    VARIABLES,
    EntryFlaw,
    FoundServer,
    is_ours,
    needs_consent,
    read_command,
    words_of,
)
from moot.coding_tools.server_entries import find_entry as find_named
from moot.coding_tools.tool import CodingTool
from moot.core.errors import MootError
from moot.core.findings import Finding, Severity

if TYPE_CHECKING:
    from moot.coding_tools.settings import InstalledFile, Place

_REWRITES: Final = "`moot hook install {}` writes it again"


class PlannedEntry(NamedTuple):
    """The files to write; none, and the reason, if that is impossible."""

    files: list[InstalledFile]
    why_not: Finding | None = None


class FoundEntry(NamedTuple):
    """Our entry in a tool's settings: the command, if it can be read, and what keeps it from
    working."""

    file: Path
    command: tuple[str, ...]
    flaw: EntryFlaw | None


# Put in and taken out -----------------------------------------------------------------------------


def plan_entry(tool: CodingTool, place: Place, *, share: bool, trust: bool) -> PlannedEntry:
    """Plan the entry. `trust`: a person agrees to what the tool would ask.

    It goes into the worktree's own file, even if the tool reads hooks from the main checkout.
    """
    from moot.api.hook_setup.original_files import plan_bytes
    from moot.api.hook_setup.worktrees import is_tracked
    from moot.coding_tools.settings import project_file

    path = place.root / tool.server_file
    if share or (path == project_file(tool, place) and tool.is_shared(place)):
        return _not_planned(path, "mcp_not_shared", "lines that everyone gets name no server")
    if is_tracked(path, place.root):
        return _not_planned(path, "mcp_file_in_git", f"{path.name} is in git, so it is not touched")
    entry = _entry(tool, path, trust)
    try:
        plan_bytes(entry)
    except MootError as error:
        return _not_planned(path, error.code, str(error), error.hint or "")
    return PlannedEntry([entry, *(tool.consent_files(place) if trust else ())])


def _not_planned(path: Path, code: str, message: str, hint: str = "") -> PlannedEntry:
    hint = hint or "add the server by hand as docs/how-to/use-mcp.md shows"
    where = str(path)
    why = Finding(
        rule="mcp", code=code, message=message, hint=hint, severity=Severity.INFO, where=where
    )
    return PlannedEntry([], why)


def files_with_entry(tool: CodingTool, place: Place) -> list[InstalledFile]:
    """Return every readable file of the tool that contains something of our server."""
    path = place.root / tool.server_file
    files = [_entry(tool, path, False)] if _has_entry(tool, path) else []
    return [*files, *filter(_holds_ours, tool.consent_files(place))]


def _holds_ours(file: InstalledFile) -> bool:
    """True if removing our part would change the file."""
    try:
        text = file.path.read_text("utf-8")
        return file.take_out(text) != text
    except (OSError, ValueError, MootError):
        return False


def find_consent(tool: CodingTool, guarded: GuardedPaths) -> str | None:
    """Return what the user may add so that the tool does not ask; None if there is nothing to
    add."""
    try:
        text = (guarded.worktree_root / tool.server_file).read_text("utf-8")
        entry = find_named(tool, tool.read_server_settings(text))
    except (OSError, ValueError):
        entry = None
    return needs_consent(tool, entry)


def join_files(
    files: Sequence[InstalledFile], more: Sequence[InstalledFile]
) -> list[InstalledFile]:
    """Return all files, with the changes of the same file combined."""
    joined = {file.path: file for file in files}
    for file in more:
        known = joined.get(file.path)
        joined[file.path] = file if known is None else _join(known, file)
    return list(joined.values())


def without_entry(file: InstalledFile) -> InstalledFile:
    """Return the file with `merge` removing our part instead of adding it."""

    def merge(before: str | None) -> str:
        return "" if before is None else file.take_out(before) or ""

    return file._replace(merge=merge)


def _join(one: InstalledFile, two: InstalledFile) -> InstalledFile:
    def merge(before: str | None) -> str:
        return two.merge(one.merge(before))

    def take_out(now: str) -> str | None:
        left = one.take_out(now)
        return None if left is None else two.take_out(left)

    return one._replace(merge=merge, take_out=take_out)


def _has_entry(tool: CodingTool, path: Path) -> bool:
    try:
        return read_command(tool, path.read_text("utf-8")) is not None
    except (OSError, ValueError):
        return False


def _entry(tool: CodingTool, path: Path, trust: bool) -> InstalledFile:
    from moot.coding_tools.hook_command import moot_words
    from moot.coding_tools.settings import InstalledFile

    command, where = (*moot_words(), "mcp"), str(path)
    return InstalledFile(
        path,
        lambda before: tool.add_server(before or "", command, trust=trust, where=where),
        lambda now: tool.remove_server(now, where),
    )


# Does it work? ------------------------------------------------------------------------------------


def find_entry(
    tool: CodingTool, guarded: GuardedPaths, env: Mapping[str, str]
) -> FoundEntry | None:
    """Return our entry in this worktree's settings; None if there is none."""
    file = guarded.worktree_root / tool.server_file
    try:
        text = file.read_text("utf-8")
    except (OSError, ValueError):
        return None
    try:
        settings = tool.read_server_settings(text)
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        return FoundEntry(file, (), _unreadable(tool)) if _names_us(text) else None
    entry = find_named(tool, settings)
    if entry is None or not is_ours(entry):
        return None
    found = FoundServer(entry, settings, words_of(entry), guarded.worktree_root, env)
    return FoundEntry(file, found.command, next(_flaws(tool, found), None))


def find_server_problems(
    folder: Path, env: Mapping[str, str], home: Path | None = None
) -> tuple[Finding, ...]:
    """Return what keeps entries for our server from working, in the worktree around `folder`."""
    try:
        guarded = find_guarded_folder(folder, home)
    except MootError:
        guarded = None
    return () if guarded is None else tuple(_problems(guarded, env))


def _problems(guarded: GuardedPaths, env: Mapping[str, str]) -> Iterator[Finding]:
    for tool in all_tools():
        found = find_entry(tool, guarded, env)
        if found is not None and found.flaw is not None:
            code, message, hint = found.flaw
            yield Finding(
                rule="mcp",
                code=code,
                message=message,
                severity=Severity.WARNING,
                where=str(found.file),
                hint=hint,
            )


def _names_us(text: str) -> bool:
    return f'"{SERVER}"' in text or f"mcp_servers.{SERVER}" in text


def _unreadable(tool: CodingTool) -> EntryFlaw:
    message = (
        f"{tool.server_file} is no {tool.server_form} any more, so {tool.name} reads none of it"
    )
    fix = "fix the file by hand"
    return EntryFlaw("mcp_unreadable", f"{message}: {NO_TOOLS}", fix)


def _flaws(tool: CodingTool, found: FoundServer) -> Iterator[EntryFlaw]:
    import shutil

    program, rewrite = found.command[0], _REWRITES.format(tool.name)
    if shutil.which(program, path=found.env.get("PATH")) is None:
        message = f"{program} is missing, and {tool.name} starts it: {NO_TOOLS}"
        yield EntryFlaw("mcp_moot_missing", message, rewrite)
    if found.entry.get("enabled") is False:
        message = f"`enabled` is false in the entry of {tool.name}: {NO_TOOLS}"
        yield EntryFlaw("mcp_switched_off", message, rewrite)
    flaw = tool.server_flaw(found)
    if flaw is not None:
        yield flaw
    # Some tools pass on only named variables; without these the server acts as another agent.
    handed_on = found.entry.get(tool.variables_key) if tool.variables_key else VARIABLES
    known = handed_on if isinstance(handed_on, list | tuple | dict) else ()
    missing = ", ".join(variable for variable in VARIABLES if variable not in known)
    if missing:
        message = f"{tool.variables_key} of {tool.name} lacks {missing}"
        yield EntryFlaw(
            "mcp_variables_missing", f"{message}: the server acts as another agent", rewrite
        )

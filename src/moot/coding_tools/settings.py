"""Hooks in a tool's settings: where they go, how to install, remove and check them.

A settings file contains our entries next to its owner's; a plugin file is all ours. Our entries are
removed before they are added, so that an older form is replaced and never duplicated. The functions
that take a tool are for tools whose hooks are commands in a JSON file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moot.coding_tools import hook_command, json_settings
from moot.coding_tools.tool import HookMoment, table_in
from moot.core.errors import MootError, StoreFailed

if TYPE_CHECKING:
    from moot.coding_tools.tool import CodingTool

Merge = Callable[[str | None], str]
TakeOut = Callable[[str], str | None]
CommandOf = Callable[[str], str]  # what an event runs, by the event
MATCHES_ALL: Final = ("", "*", ".*")  # matchers that match every call
VARIABLE: Final = "env "  # prefix of a switch that is a variable in the settings
# Variables that settings can set for a tool and that could redirect our hook.
LEADING: Final = ("MOOT_", "PYTHON", "PATH", "HOME")
# Keys that a handler may have and still run and have its answer respected.
_HARMLESS: Final = frozenset({"type", "command", "timeout", "statusMessage", "name", "onFailure"})
_MATCHED: Final = frozenset({HookMoment.BEFORE, HookMoment.AFTER})


class Reach(StrEnum):
    """Whom a settings file serves."""

    LOCAL = "local"
    PROJECT = "project"
    USER = "user"


class SettingsFile(NamedTuple):
    """A file that may contain our hooks."""

    path: Path
    reach: Reach


class Place(NamedTuple):
    """The worktree that is guarded, its workspace, and the environment that the tool finds.

    Values that need file access are computed on demand: the main checkout of the repository, the id
    of the workspace's ledger, and the user's key folder.
    """

    root: Path
    workspace: Path
    env: Mapping[str, str]
    find_main_checkout: Callable[[], Path]
    find_ledger: Callable[[], str]
    find_keys: Callable[[], Path]


class InstalledFile(NamedTuple):
    """One file of a tool, and how to add and remove our part of it."""

    path: Path
    merge: Merge
    take_out: TakeOut
    reach: Reach = Reach.PROJECT


class Setup(NamedTuple):
    """One tool in one worktree: the file that contains our hooks, and its content."""

    place: Place
    file: SettingsFile
    document: json_settings.Document


class Flaw(NamedTuple):
    """A problem that keeps installed hooks from running, where it is, and its fix."""

    code: str
    message: str
    where: str
    hint: str


class Marks(NamedTuple):
    """What one file says about the guard: our entries, and switches that turn hooks off."""

    ours: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()


class ProbeCall(NamedTuple):
    """The command of a hook call, the input sent to it, and how to show it."""

    words: Sequence[str]
    sent: str
    shown: str


# Which files --------------------------------------------------------------------------------------


def settings_files(tool: CodingTool, place: Place) -> tuple[SettingsFile, ...]:
    """Return every file that the tool reads in this worktree, the nearest first."""
    local = tool.local_file
    files = [] if local is None else [SettingsFile(place.root / local, Reach.LOCAL)]
    files.append(SettingsFile(project_file(tool, place), Reach.PROJECT))
    if (user := find_user_file(tool, place.env)) is not None:
        files.append(SettingsFile(user, Reach.USER))
    return tuple(files)


def project_file(tool: CodingTool, place: Place) -> Path:
    """Return the file that can be committed."""
    return settings_root(tool, place) / tool.settings_file


def settings_root(tool: CodingTool, place: Place) -> Path:
    """Return the worktree whose settings the tool reads."""
    return place.find_main_checkout() if tool.uses_main_checkout else place.root


def find_user_file(tool: CodingTool, env: Mapping[str, str]) -> Path | None:
    variable, below_variable, below_home = tool.user_file
    if variable and env.get(variable):
        return Path(env[variable]) / below_variable
    home = env.get("HOME")
    return Path(home) / below_home if home else None


def read_document(path: Path) -> json_settings.Document:
    """Return a tool's parsed settings; empty if they cannot be read."""
    try:
        return json_settings.parse(path.read_text("utf-8"), str(path))
    except (OSError, ValueError, MootError):
        return {}


def may_hold_ours(tool: CodingTool, path: Path) -> bool:
    """Return whether settings contain entries of ours, or are unreadable and mention moot."""
    try:
        data = bytes_of(path) or b""
        if b"moot" not in data:
            return False
        document = json_settings.parse(data.decode(), str(path))
    except (ValueError, MootError):
        return True
    return tool.has_ours(document, path)


def bytes_of(path: Path) -> bytes | None:
    """Return the bytes of a file; None if there is no file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreFailed(
            "settings_unreadable",
            f"{path} cannot be read: {error.strerror or error}",
            hint="check what is in its place, and its permissions",
        ) from error


def put(path: Path, data: bytes | None) -> None:
    """Write a file atomically; None removes it. A replaced file keeps its
    mode."""
    try:
        if data is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        real = Path(os.path.realpath(path))
        fresh = real.with_name(f"{real.name}.moot-{os.getpid()}")
        fresh.write_bytes(data)
        if real.exists():
            fresh.chmod(real.stat().st_mode & 0o7777)
        fresh.replace(real)
    except OSError as error:
        raise StoreFailed(
            "settings_not_written",
            f"{path} cannot be written: {error.strerror or error}",
            hint="check its permissions",
        ) from error


# Commands in JSON ---------------------------------------------------------------------------------


def own_files(tool: CodingTool, chosen: SettingsFile, place: Place) -> list[InstalledFile]:
    return [_hooks(tool, chosen, own_command(tool, chosen, place))]


def shared_files(tool: CodingTool, place: Place) -> list[InstalledFile]:
    project = SettingsFile(project_file(tool, place), Reach.PROJECT)
    return [_hooks(tool, project, shared_command(tool))]


def files_with_ours(tool: CodingTool, place: Place) -> list[InstalledFile]:
    listed = (file for file in settings_files(tool, place) if may_hold_ours(tool, file.path))
    return [_hooks(tool, file, _no_command) for file in listed]


def is_shared(tool: CodingTool, place: Place) -> bool:
    project = SettingsFile(project_file(tool, place), Reach.PROJECT)
    return not missing_events(tool, project, [shared_command(tool)])


def is_outdated(tool: CodingTool, file: SettingsFile, place: Place) -> bool:
    document, after = read_document(file.path), tool.event_named(HookMoment.AFTER)
    own = accepted_forms(tool, place)[:2]
    found = [
        matcher
        for matcher, command in json_settings.matched_commands(document, after)
        if _is_form(command, after, own)
    ]
    if not found:
        return False
    if set(tool.later_events) & set(_events_without(tool, document, own)):
        return True
    wanted = set(tool.reads)
    return not any(one in MATCHES_ALL or wanted <= set(one.split("|")) for one in found)


def probe(
    tool: CodingTool, file: SettingsFile, call: Mapping[str, Any], _place: Place
) -> ProbeCall:
    commands = json_settings.commands(read_document(file.path), call["hook_event_name"])
    shown = next(one for one in commands if hook_command.is_ours(tool.name, one))
    return ProbeCall(["sh", "-c", shown], json.dumps(call), shown)


def missing_programs(tool: CodingTool, setup: Setup) -> set[str]:
    path = setup.place.env.get("PATH")
    commands = our_commands(tool, setup.document)
    missing = {hook_command.missing_file(command, path) for command in commands}
    return {file for file in missing if file is not None}


def own_command(tool: CodingTool, file: SettingsFile, place: Place) -> CommandOf:
    """Return the command of this user's entries at an event, in settings of this reach."""
    workspace = None if file.reach is Reach.USER else _workspace(place, str(place.find_keys()))
    return partial(hook_command.hook_command, tool.name, workspace=workspace)


def shared_command(tool: CodingTool) -> CommandOf:
    """Return the command of the shared entries."""
    return partial(hook_command.shared_hook_command, tool.name)


def accepted_forms(tool: CodingTool, place: Place) -> list[CommandOf]:
    """Return the commands with which an event counts as guarded: this user's own for one or all
    projects, the shared one, and the one of the first release."""
    return [
        partial(hook_command.hook_command, tool.name, workspace=_workspace(place)),
        partial(hook_command.hook_command, tool.name, workspace=None),
        shared_command(tool),
        partial(hook_command.first_hook_command, tool.name),
    ]


def _workspace(place: Place, keys: str = "") -> hook_command.Workspace:
    """Leave out the key folder only to compare commands."""
    return hook_command.Workspace(place.workspace, place.find_ledger(), keys)


def our_commands(tool: CodingTool, document: json_settings.Document) -> list[str]:
    """Return all our commands that these settings run."""
    events = table_in(document, "hooks")
    commands = (one for event in events for one in json_settings.commands(document, event))
    return [command for command in commands if hook_command.is_ours(tool.name, command)]


def missing_events(tool: CodingTool, file: SettingsFile, forms: Sequence[CommandOf]) -> list[str]:
    """Return events that run none of these commands, except those that older versions lack."""
    missing = _events_without(tool, read_document(file.path), forms)
    return [event for event in missing if event not in tool.later_events]


def _events_without(
    tool: CodingTool, document: json_settings.Document, forms: Sequence[CommandOf]
) -> list[str]:
    return [
        event
        for event in tool.hook_events
        if not any(_is_form(one, event, forms) for one in json_settings.commands(document, event))
    ]


def _is_form(command: str, event: str, forms: Sequence[CommandOf]) -> bool:
    plain = hook_command.without_key_folder
    return plain(command) in {plain(form(event)) for form in forms}


def make_entries(tool: CodingTool, command: CommandOf) -> dict[str, list[dict[str, Any]]]:
    """Return the entries to add, by event."""
    return {event: [_entry(tool, event, command(event))] for event in tool.hook_events}


def _entry(tool: CodingTool, event: str, command: str) -> dict[str, Any]:
    timeout = tool.shorter.get(event, tool.timeout)
    handler: dict[str, Any] = {"type": "command", "command": command, "timeout": timeout}
    if event in tool.shown_names:
        handler["statusMessage"] = tool.shown_names[event]
    matcher = _matcher(tool, event)
    return {**({} if matcher is None else {"matcher": matcher}), "hooks": [handler]}


def _matcher(tool: CodingTool, event: str) -> str | None:
    """Return the tool calls that an event matches; after a call, also those that only read."""
    if tool.events[event] not in _MATCHED:
        return None
    is_end = event == tool.event_named(HookMoment.AFTER)  # a failed call has shown nothing
    return "|".join((tool.matcher, *(tool.reads if is_end else ())))


def _hooks(tool: CodingTool, file: SettingsFile, command: CommandOf) -> InstalledFile:
    where = str(file.path)
    ours = partial(hook_command.is_ours, tool.name)

    def merge(before: str | None) -> str:
        document = json_settings.parse(before or "", where)
        added = make_entries(tool, command)
        if before and all(_contains_ours(document, event, one) for event, one in added.items()):
            return before
        clean = json_settings.without_hooks(document, ours)
        return json_settings.render(json_settings.with_hooks(clean, added, where), before or "")

    without = partial(json_settings.without_hooks, ours=ours)
    return InstalledFile(file.path, merge, partial(take_out, where, without), file.reach)


def _no_command(_event: str) -> str:
    raise AssertionError("this file is only taken out")


def _contains_ours(
    document: json_settings.Document, event: str, added: list[json_settings.Document]
) -> bool:
    known = [_plain(entry) for entry in json_settings.entries(document, event)]
    return all(_plain(entry) in known for entry in added)


def _plain(entry: json_settings.Document) -> str:
    """Return an entry as text without its key folder, which is temporary under `moot run`."""
    return hook_command.without_key_folder(json.dumps(entry, sort_keys=True))


def take_out(where: str, without: json_settings.Change, now: str) -> str | None:
    """Return a JSON file's text after `without`; unchanged if it contained nothing of ours."""
    document = json_settings.parse(now, where)
    left = without(document)
    if left == document:
        return now
    return json_settings.render(left, now) if left else None


def put_item(
    file: Path, key: str, item: str, reach: Reach, ours: Callable[[str], bool]
) -> InstalledFile:
    """Return a function that puts `item` into a list of a JSON file and removes older `ours`."""
    where = str(file)

    def merge(before: str | None) -> str:
        document = json_settings.parse(before or "", where)
        clean = json_settings.without_item(document, key, lambda one: one != item and ours(one))
        made = json_settings.with_item(clean, key, item, where)
        return before if before and made == document else json_settings.render(made, before or "")

    without = partial(json_settings.without_item, key=key, ours=ours)
    return InstalledFile(file, merge, partial(take_out, where, without), reach)


# What the files say about the guard ---------------------------------------------------------------


def read_marks(tool: CodingTool, path: Path, text: str) -> Marks:
    document = json_settings.parse(text, str(path))
    is_ours = partial(hook_command.is_ours, tool.name)
    ours = {
        as_text([event, entry])
        for event in table_in(document, "hooks")
        for entry in json_settings.entries(document, event)
        if any(map(is_ours, json_settings.commands_of(entry)))
    }
    return Marks(frozenset(ours), frozenset(tool.switches(document)))


def is_guard_whole(tool: CodingTool, place: Place) -> bool:
    """Accept what a user made stronger: a matcher with more calls, a longer timeout."""
    forms = accepted_forms(tool, place)
    documents = (read_document(file.path) for file in settings_files(tool, place))
    return any(_has_all(tool, document, forms) for document in documents)


def _has_all(
    tool: CodingTool, document: json_settings.Document, forms: Sequence[CommandOf]
) -> bool:
    """Return whether each event runs one of these commands for all our calls, with enough time."""
    plain = hook_command.without_key_folder
    for event in tool.hook_events:
        commands = {plain(form(event)) for form in forms}
        least = tool.shorter.get(event, tool.timeout)
        if not any(
            _is_strong(one, least) and plain(one["command"]) in commands
            for one in _handlers_for(_matcher(tool, event), json_settings.entries(document, event))
        ):
            return False
    return True


def _handlers_for(matcher: str | None, entries: Iterable[Any]) -> Iterator[json_settings.Document]:
    wanted = set((matcher or "").split("|"))
    for entry in entries:
        given = str(entry.get("matcher") or "") if isinstance(entry, dict) else ""
        if given in MATCHES_ALL or wanted <= set(given.split("|")):
            yield from json_settings.handlers_of(entry)


def _is_strong(handler: Mapping[str, Any], least: int) -> bool:
    time = handler.get("timeout", least)
    return not set(handler) - _HARMLESS and isinstance(time, int | float) and time >= least


def as_text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)

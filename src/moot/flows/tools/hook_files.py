"""Each file that holds something of ours: how it gets in, how it is taken out, whether it is whole.

A settings file holds entries of ours beside its owner's; a plugin is all ours; a tool's notes hold
a marked block. Ours is taken out before it is put in, so that an older form is replaced and never
doubled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from moot.core.errors import MootError, Refused
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools import hook_command, hook_entries, json_settings, manual, opencode_plugin
from moot.flows.tools.coding_tools import TOOLS, HookMoment
from moot.flows.tools.original_files import bytes_of
from moot.flows.tools.settings_files import Reach, SettingsFile, project_file, settings_files
from moot.workspace.trust import read_trust_file

Merge = Callable[[str | None], str]
Mend = Callable[[str], str | None]
MATCHES_ALL: Final = ("", "*", ".*")  # matchers that leave out nothing
# What an event runs, by the event.
CommandOf = Callable[[str], str]


class InstalledFile(NamedTuple):
    """One file of a tool: how ours is put in, and how it is taken out."""

    path: Path
    merge: Merge
    mend: Mend
    reach: Reach = Reach.PROJECT


def files_for(
    tool: str, chosen: SettingsFile, guarded: GuardedPaths, env: Mapping[str, str]
) -> list[InstalledFile]:
    """What is written for this user alone, the settings themselves last."""
    workspace = None if chosen.reach is Reach.USER else _workspace_of(guarded, env)
    command = partial(hook_command.hook_command, tool, workspace=workspace)
    if tool != "opencode":
        return [_hooks(tool, chosen, command)]
    plugin = opencode_plugin.place(guarded, chosen.reach, env)
    entry = opencode_plugin.entry(plugin, chosen.path)
    text = opencode_plugin.text(command)
    return [_plugin(plugin, text, chosen.reach), _plugin_list(chosen, entry)]


def shared_files(tool: str, guarded: GuardedPaths) -> list[InstalledFile]:
    """What is written to be committed."""
    project = SettingsFile(project_file(tool, guarded), Reach.PROJECT)
    command = partial(hook_command.shared_hook_command, tool)
    if tool != "opencode":
        return [_hooks(tool, project, command)]
    plugin = project.path.parent / opencode_plugin.SHARED
    entry = opencode_plugin.entry(plugin, project.path)
    return [
        _plugin(plugin, opencode_plugin.text(command), Reach.PROJECT),
        _plugin_list(project, entry),
    ]


def manual_file(tool: str, guarded: GuardedPaths) -> InstalledFile:
    return InstalledFile(
        guarded.worktree_root / manual.FILES[tool],
        lambda before: manual.with_manual(
            tool, before, beads=manual.has_beads(guarded.worktree_root)
        ),
        lambda now: manual.without_manual(tool, now),
    )


def files_with_ours(
    tool: str, guarded: GuardedPaths, env: Mapping[str, str]
) -> list[InstalledFile]:
    """Every file of the tool that may hold something of ours, plugins first."""
    known = settings_files(tool, guarded, env)
    listed = [file for file in known if may_hold_ours(tool, file.path)]
    nothing = _no_command
    if tool != "opencode":
        return [_hooks(tool, file, nothing) for file in listed]
    plugins = [
        (opencode_plugin.place(guarded, Reach.PROJECT, env), Reach.PROJECT),
        (opencode_plugin.place(guarded, Reach.USER, env), Reach.USER),
        (project_file(tool, guarded).parent / opencode_plugin.SHARED, Reach.PROJECT),
    ]
    made = [_plugin(path, "", reach) for path, reach in plugins if path.is_file()]
    return [*made, *(_plugin_list(file, "") for file in listed)]


def may_hold_ours(tool: str, path: Path) -> bool:
    """True if settings have something of ours, or cannot be read and speak of moot."""
    try:
        data = bytes_of(path) or b""
        if b"moot" not in data:
            return False
        document = json_settings.parse(data.decode(), str(path))
    except (ValueError, MootError):
        return True
    return bool(our_commands(tool, document) or opencode_plugin.named(document, path))


def our_commands(tool: str, document: json_settings.Document) -> list[str]:
    """Every command of ours that these settings run."""
    hooks = document.get("hooks")
    events = hooks if isinstance(hooks, dict) else {}
    commands = (one for event in events for one in json_settings.commands(document, event))
    return [command for command in commands if hook_command.is_ours(tool, command)]


def accepted_forms(tool: str, guarded: GuardedPaths) -> list[CommandOf]:
    """What an event may run and count as guarded, also what earlier versions wrote."""
    return [
        partial(hook_command.hook_command, tool, workspace=_workspace_of(guarded)),
        partial(hook_command.hook_command, tool, workspace=None),
        partial(hook_command.shared_hook_command, tool),
        partial(hook_command.first_hook_command, tool),
    ]


def is_complete(tool: str, file: SettingsFile, guarded: GuardedPaths) -> bool:
    """True if this file alone has the tool ask us, in whichever form."""
    if tool == "opencode":
        return any(is_same_plugin(*plugin) for plugin in plugin_texts(file, guarded))
    return not missing_events(tool, read_document(file.path), accepted_forms(tool, guarded))


def is_outdated(tool: str, file: SettingsFile, guarded: GuardedPaths) -> bool:
    """True if an earlier moot wrote it, for this user alone, and its guard is whole: it is only not
    called when a file was read, or when settings change. Lines that everyone has are not replaced
    for that."""
    if tool == "opencode":
        return False  # a plugin counts only as this moot writes it
    document, after = read_document(file.path), TOOLS[tool].event_named(HookMoment.AFTER)
    own = [
        partial(hook_command.hook_command, tool, workspace=workspace)
        for workspace in (_workspace_of(guarded), None)
    ]
    found = [
        matcher
        for matcher, command in json_settings.matched_commands(document, after)
        if _is_form(command, after, own)
    ]
    if not found:
        return False
    if set(hook_entries.SETTINGS[tool].later) & set(_events_without(tool, document, own)):
        return True
    wanted = set(TOOLS[tool].reads)
    return not any(one in MATCHES_ALL or wanted <= set(one.split("|")) for one in found)


def missing_events(
    tool: str, document: json_settings.Document, forms: Sequence[CommandOf]
) -> list[str]:
    """Events at which none of these commands runs, but for those that earlier lines lack."""
    later = hook_entries.SETTINGS[tool].later
    return [event for event in _events_without(tool, document, forms) if event not in later]


def _events_without(
    tool: str, document: json_settings.Document, forms: Sequence[CommandOf]
) -> list[str]:
    return [
        event
        for event in hook_entries.SETTINGS[tool].events
        if not any(_is_form(one, event, forms) for one in json_settings.commands(document, event))
    ]


def _is_form(command: str, event: str, forms: Sequence[CommandOf]) -> bool:
    plain = hook_command.without_key_folder
    return plain(command) in {plain(form(event)) for form in forms}


def is_shared(tool: str, guarded: GuardedPaths) -> bool:
    """True if the project's own file has all lines that everyone gets."""
    project = project_file(tool, guarded)
    document = read_document(project)
    command = partial(hook_command.shared_hook_command, tool)
    if tool == "opencode":
        plugin = project.parent / opencode_plugin.SHARED
        is_named = plugin in opencode_plugin.named(document, project)
        return is_named and is_same_plugin(plugin, opencode_plugin.text(command))
    return not missing_events(tool, document, [command])


def plugin_texts(file: SettingsFile, guarded: GuardedPaths) -> list[tuple[Path, str]]:
    """The plugins of ours that a settings file names, and what each must hold."""
    shared = opencode_plugin.text(partial(hook_command.shared_hook_command, "opencode"))
    workspace = None if file.reach is Reach.USER else _workspace_of(guarded)
    own = opencode_plugin.text(partial(hook_command.hook_command, "opencode", workspace=workspace))
    listed = opencode_plugin.named(read_document(file.path), file.path)
    return [(path, shared if path.name == opencode_plugin.SHARED else own) for path in listed]


def is_same_plugin(path: Path, text: str) -> bool:
    """True if the file has this text, whichever key folder it names."""
    plain, found = hook_command.without_key_folder, _read(path)
    return found is not None and plain(found) == plain(text)


def our_plugin_texts(guarded: GuardedPaths) -> tuple[str, ...]:
    """Every form of the plugin that this moot installs: for everyone, this user, this workspace."""
    commands = (
        partial(hook_command.shared_hook_command, "opencode"),
        partial(hook_command.hook_command, "opencode", workspace=None),
        partial(hook_command.hook_command, "opencode", workspace=_workspace_of(guarded)),
    )
    return tuple(opencode_plugin.text(command) for command in commands)


def read_document(path: Path) -> json_settings.Document:
    """What a tool's settings say; nothing if they cannot be read."""
    try:
        return json_settings.parse(path.read_text("utf-8"), str(path))
    except (OSError, ValueError, MootError):
        return {}


def planned(file: InstalledFile) -> bytes:
    before = bytes_of(file.path)
    return file.merge(None if before is None else _decoded(before, file.path)).encode()


def mended(file: InstalledFile) -> Callable[[bytes], bytes | None]:
    """How ours is taken out of its bytes; refused if they cannot be read."""

    def mend(now: bytes) -> bytes | None:
        left = file.mend(_decoded(now, file.path))
        return None if left is None else left.encode()

    return mend


def require_mendable(file: InstalledFile) -> None:
    before = bytes_of(file.path)
    if before is not None:
        mended(file)(before)


def _hooks(tool: str, file: SettingsFile, command: CommandOf) -> InstalledFile:
    where = str(file.path)
    ours = partial(hook_command.is_ours, tool)

    def merge(before: str | None) -> str:
        document = json_settings.parse(before or "", where)
        added = hook_entries.entries(hook_entries.SETTINGS[tool], command)
        if before and all(_holds(document, event, one) for event, one in added.items()):
            return before
        clean = json_settings.without_hooks(document, ours)
        return json_settings.render(json_settings.with_hooks(clean, added, where), before or "")

    def mend(now: str) -> str | None:
        document = json_settings.parse(now, where)
        return _left(json_settings.without_hooks(document, ours), document, now)

    return InstalledFile(file.path, merge, mend, file.reach)


def _holds(
    document: json_settings.Document, event: str, added: list[json_settings.Document]
) -> bool:
    hooks = document.get("hooks")
    there = hooks.get(event) if isinstance(hooks, dict) else None
    known = [_plain(entry) for entry in there] if isinstance(there, list) else []
    return all(_plain(entry) in known for entry in added)


def _plain(entry: json_settings.Document) -> str:
    """An entry as text, whichever key folder it names: below `moot run` that is a lent one."""
    return hook_command.without_key_folder(json.dumps(entry, sort_keys=True))


def _plugin(path: Path, text: str, reach: Reach) -> InstalledFile:
    return InstalledFile(path, lambda _before: text, lambda _now: None, reach)


def _plugin_list(file: SettingsFile, entry: str) -> InstalledFile:
    where, ours = str(file.path), opencode_plugin.is_ours
    commented = file.path.with_suffix(".jsonc")

    def merge(before: str | None) -> str:
        if before is None and commented.exists():
            raise Refused(
                "settings_unreadable",
                f"{commented} may hold comments, which merging would lose",
                hint=f'add "{entry}" to its "plugin" list yourself',
            )
        document = json_settings.parse(before or "", where)
        clean = json_settings.without_item(
            document, "plugin", lambda one: one != entry and ours(one)
        )
        made = json_settings.with_item(clean, "plugin", entry, where)
        return before if before and made == document else json_settings.render(made, before or "")

    def mend(now: str) -> str | None:
        document = json_settings.parse(now, where)
        return _left(json_settings.without_item(document, "plugin", ours), document, now)

    return InstalledFile(file.path, merge, mend, file.reach)


def _workspace_of(
    guarded: GuardedPaths, env: Mapping[str, str] | None = None
) -> hook_command.Workspace:
    """With the key folder of `env`; without one, only to compare lines."""
    try:
        origin = read_trust_file(guarded.workspace / "trust.json").origin
    except (OSError, MootError):
        origin = ""
    keys = ""
    if env is not None:
        from moot.workspace.workspace import key_folder

        keys = str(key_folder(env).path)
    return hook_command.Workspace(guarded.workspace, origin.rpartition("/")[2], keys)


def _no_command(_event: str) -> str:
    raise AssertionError("this file is only taken out")


def _left(left: json_settings.Document, document: json_settings.Document, now: str) -> str | None:
    """What did not hold ours keeps its every byte."""
    if left == document:
        return now
    return json_settings.render(left, now) if left else None


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError):
        return None


def _decoded(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused(
            "settings_unreadable", f"{path} is not UTF-8; it was not touched", hint="mend the file"
        ) from None

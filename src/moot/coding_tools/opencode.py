"""opencode: a plugin of ours that its settings name, and servers in the same settings.

opencode runs no commands at its events, so the plugin runs the command line that other tools have
in their settings. The plugin is in the workspace for this user's project, in the key folder for
settings of all projects, and next to the project's settings if it is shared."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moot.coding_tools.tool import (
    AMAZON_VARIABLES,
    BROKEN,
    FLAG,
    MODEL_VARIABLES,
    OFF,
    PROJECT,
    READ_INPUT,
    USER,
    CodingTool,
    HookMoment,
)
from moot.core.errors import Refused, Unavailable

if TYPE_CHECKING:
    from moot.coding_tools import settings, starts
    from moot.coding_tools.json_settings import Document

PLUGIN: Final = "opencode-plugin.js"
_SHARED: Final = ".moot-opencode.js"
_USERS: Final = "moot-opencode.js"
_FILES: Final = ("opencode.json", "opencode.jsonc")
_NODE_SECONDS: Final = 15
_EDIT_TRIAL: Final = """
import(process.argv[1]).then(async (plugin) => {
  const call = JSON.parse(process.argv[2])
  const hooks = await plugin.Moot({ directory: call.cwd })
  const input = { tool: call.tool_name, sessionID: call.session_id, callID: "test" }
  try {
    await hooks["tool.execute.before"](input, { args: call.tool_input })
  } catch (error) {
    console.log(JSON.stringify({ decision: "block", reason: error.message }))
  }
})
"""
_READING_TRIAL: Final = """
import(process.argv[1]).then(async (plugin) => {
  const call = JSON.parse(process.argv[2])
  const hooks = await plugin.Moot({ directory: call.cwd })
  const input = { tool: call.tool_name, sessionID: call.session_id, callID: "test" }
  const output = { output: "" }
  await hooks["tool.execute.after"]({ ...input, args: call.tool_input }, output)
  console.log(output.output)
})
"""


class Opencode(CodingTool):
    # We wrote the plugin, so its events have the common names; the tool names are opencode's.
    name = "opencode"
    edits: Mapping[str, str] = {"write": "filePath", "edit": "filePath", "multiedit": "filePath"}
    patches: Mapping[str, str] = {"apply_patch": "patchText", "patch": "patchText"}
    shells: Mapping[str, str] = {"bash": "command"}
    reads: Mapping[str, str] = {"read": "filePath"}
    tells_failure = True
    whole_file = frozenset({"write", "apply_patch", "patch", "bash"})

    settings_file = _FILES[0]
    user_file = ("XDG_CONFIG_HOME", "opencode/opencode.json", ".config/opencode/opencode.json")
    carriers = (*_FILES, PLUGIN, _SHARED, _USERS)

    server_file = _FILES[0]
    server_group = "mcp"
    call_name = "moot_{}"

    packages = ("opencode-ai",)
    marks = ("OPENCODE", "MOOT_SESSION")  # the last is our plugin's
    folder_options = ("--dir",)

    modes = ("run",)
    last_words = (READ_INPUT,)
    variables = ("OPENCODE_*", "GITHUB_TOKEN", *MODEL_VARIABLES, *AMAZON_VARIABLES)

    def make_edit(self, file: str) -> tuple[str, dict[str, str]]:
        return "write", {"filePath": file, "content": "probe"}

    # Installed hooks ------------------------------------------------------------------------------

    def own_files(
        self, chosen: settings.SettingsFile, place: settings.Place
    ) -> list[settings.InstalledFile]:
        from moot.coding_tools.settings import own_command

        plugin = _place_of_plugin(place, chosen.reach)
        return self._with_plugin(plugin, chosen, own_command(self, chosen, place))

    def shared_files(self, place: settings.Place) -> list[settings.InstalledFile]:
        from moot.coding_tools.settings import Reach, SettingsFile, project_file, shared_command

        project = SettingsFile(project_file(self, place), Reach.PROJECT)
        plugin = project.path.with_name(_SHARED)
        return self._with_plugin(plugin, project, shared_command(self))

    def _with_plugin(
        self, plugin: Path, file: settings.SettingsFile, command: settings.CommandOf
    ) -> list[settings.InstalledFile]:
        below = plugin.is_relative_to(file.path.parent)
        entry = f"./{plugin.relative_to(file.path.parent).as_posix()}" if below else str(plugin)
        return [_plugin_file(plugin, make_plugin(command), file.reach), _list_file(file, entry)]

    def files_with_ours(self, place: settings.Place) -> list[settings.InstalledFile]:
        """Return the files, plugins first."""
        from moot.coding_tools.settings import Reach, may_hold_ours, settings_files

        made = [
            _plugin_file(path, "", Reach.USER if path.name == _USERS else Reach.PROJECT)
            for path in self._list_plugins(place)
            if path.is_file()
        ]
        listed = (file for file in settings_files(self, place) if may_hold_ours(self, file.path))
        return [*made, *(_list_file(file, "") for file in listed)]

    def _list_plugins(self, place: settings.Place) -> list[Path]:
        """Return every file in which our plugin may be."""
        from moot.coding_tools.settings import Reach, project_file

        own = [_place_of_plugin(place, reach) for reach in (Reach.PROJECT, Reach.USER)]
        return [*own, project_file(self, place).with_name(_SHARED)]

    def has_ours(self, document: dict[str, Any], path: Path) -> bool:
        return bool(find_plugins(document, path))

    def is_complete(self, file: settings.SettingsFile, place: settings.Place) -> bool:
        return any(_is_same(path, text) for path, text in self._list_wanted(file, place))

    def _list_wanted(
        self, file: settings.SettingsFile, place: settings.Place
    ) -> list[tuple[Path, str]]:
        """Return our plugins that a settings file names, and the expected text of each."""
        from moot.coding_tools.settings import Reach, accepted_forms, read_document

        in_project, anywhere, shared, _first = accepted_forms(self, place)
        own = anywhere if file.reach is Reach.USER else in_project
        return [
            (path, make_plugin(shared if path.name == _SHARED else own))
            for path in find_plugins(read_document(file.path), file.path)
        ]

    def is_outdated(self, file: settings.SettingsFile, place: settings.Place) -> bool:  # noqa: ARG002 - of none
        return False  # a plugin is valid only exactly as this version writes it

    def is_shared(self, place: settings.Place) -> bool:
        from moot.coding_tools.settings import project_file, read_document, shared_command

        project = project_file(self, place)
        plugin = project.with_name(_SHARED)
        is_named = plugin in find_plugins(read_document(project), project)
        return is_named and _is_same(plugin, make_plugin(shared_command(self)))

    def names_file(self, file: Path, root: Path) -> bool:
        from moot.coding_tools.settings import read_document

        settings = root / self.settings_file
        return file in find_plugins(read_document(settings), settings)

    def missing_programs(self, setup: settings.Setup) -> set[str]:
        """The shared plugin starts the `moot` on PATH."""
        import shutil

        named = find_plugins(setup.document, setup.file.path)
        if not any(path.name == _SHARED for path in named):
            return set()
        return set() if shutil.which("moot", path=setup.place.env.get("PATH")) else {"moot"}

    def flaws(self, setup: settings.Setup) -> Iterator[settings.Flaw]:
        from moot.coding_tools.settings import Flaw

        for path, text in self._list_wanted(setup.file, setup.place):
            if not path.is_file():
                why = "the plugin is not there: opencode goes on without it"
            elif not _is_same(path, text):
                why = "the plugin is not the one this moot installs"
            elif problem := _why_not_loaded(path, setup.place.env):
                why = f"the plugin does not load: {problem}"
            else:
                continue
            yield Flaw(BROKEN, why, str(path), "`moot hook install opencode` writes it again")

    def probe(
        self, file: settings.SettingsFile, call: Mapping[str, Any], place: settings.Place
    ) -> settings.ProbeCall:
        import json
        import shutil

        from moot.coding_tools.settings import ProbeCall, read_document

        node = shutil.which("node", path=place.env.get("PATH"))
        if node is None:
            raise Unavailable(
                "no_node",
                "opencode's plugin can only be tried with node, which is not on PATH",
                hint="install node, or start opencode and look at `moot hook status`",
            )
        plugin = find_plugins(read_document(file.path), file.path)[0].as_uri()
        is_edit = call["hook_event_name"] == self.event_named(HookMoment.BEFORE)
        trial = _EDIT_TRIAL if is_edit else _READING_TRIAL
        words = [node, "--no-warnings", "-e", trial, plugin, json.dumps(call)]
        return ProbeCall(words, "", f"the plugin {plugin}")

    def guard_files(self, place: settings.Place) -> Iterator[Path]:
        known = list(super().guard_files(place))
        yield from known
        yield from (path.with_suffix(".jsonc") for path in known)
        yield from self._list_plugins(place)

    def read_marks(self, path: Path, text: str) -> settings.Marks:
        from moot.coding_tools import hook_command, json_settings
        from moot.coding_tools.settings import Marks

        if path.suffix == ".js":
            return Marks(frozenset({hook_command.without_key_folder(text)}))
        listed = json_settings.parse(text, str(path)).get("plugin")
        texts = (one for one in (listed if isinstance(listed, list) else ()))
        return Marks(frozenset(one for one in texts if isinstance(one, str) and is_ours(one)))

    def is_guard_whole(self, place: settings.Place) -> bool:
        from moot.coding_tools.settings import settings_files

        return any(self.is_complete(file, place) for file in settings_files(self, place))

    # Our server -----------------------------------------------------------------------------------

    def make_server_entry(self, command: Sequence[str], *, trust: bool = False) -> dict[str, Any]:  # noqa: ARG002 - it asks for none
        return {"type": "local", "command": list(command), "enabled": True}

    # A start --------------------------------------------------------------------------------------

    def find_folder(self, started: starts.StartedTool, here: Path) -> Path:
        """Return the folder in `opencode DIR`."""
        word = next(iter(started.arguments), "")
        named = here / word
        return named if word and not word.startswith("-") and named.is_dir() else here

    def read_layers(self, start: starts.ToolStart) -> Iterator[starts.Layer]:
        """Yield its home, the file or text that the environment names, and the project's, root
        first."""
        env, folder = start.env, start.folder
        for name in _FILES:
            yield from start.read_json(USER, _own_folder(env) / name)
        if env.get("OPENCODE_CONFIG"):
            yield from start.read_json(FLAG, folder / env["OPENCODE_CONFIG"])
        for inner in _project_folders(start):
            for name in _FILES:
                yield from start.read_json(PROJECT, inner / name)
        if env.get("OPENCODE_CONFIG_DIR"):
            for name in _FILES:
                yield from start.read_json(FLAG, folder / env["OPENCODE_CONFIG_DIR"] / name)
        if env.get("OPENCODE_CONFIG_CONTENT"):
            text = env["OPENCODE_CONFIG_CONTENT"]
            yield start.read_text(FLAG, str(folder / _FILES[0]), text)

    def start_flaws(self, case: starts.GuardCase) -> Iterator[tuple[str, Iterable[starts.Problem]]]:
        yield OFF, _find_flags(case)
        yield BROKEN, self._find_broken_plugin(case)

    def _find_broken_plugin(self, case: starts.GuardCase) -> Iterator[starts.Problem]:
        """Find a missing or broken plugin, which opencode skips silently."""
        from moot.coding_tools.settings import accepted_forms

        whole = [make_plugin(form) for form in accepted_forms(self, case.place)[:3]]
        loaded = [path for layer in case.start.layers for path in _list_named(layer)]
        loaded += _list_placed(case.start)
        ours = [
            path
            for path in loaded
            if is_ours(str(path)) or any(_is_same(path, text) for text in whole)
        ]
        if not ours:
            yield "opencode would load no plugin of ours", str(case.start.folder), case.fix()
        for path in dict.fromkeys(ours):
            if not path.is_file():
                yield "our plugin is not there: opencode goes on without it", str(path), case.fix()
            elif not any(_is_same(path, text) for text in whole):
                yield "the plugin is not the one that this moot installs", str(path), case.fix()
            elif problem := _why_not_loaded(path, case.start.env):
                yield f"our plugin does not load: {problem}", str(path), case.fix()

    # Usage, sessions ------------------------------------------------------------------------------

    def span_reports(self) -> tuple[starts.CallReport, ...]:
        from moot.coding_tools.starts import CallReport

        # The enclosing span repeats the numbers of these spans.
        return tuple(
            CallReport(name, ("gen_ai.usage.input_tokens",), ("gen_ai.usage.output_tokens",))
            for name in ("ai.streamText.doStream", "ai.generateText.doGenerate")
        )

    def usage_environment(self, address: starts.OtlpAddress) -> Mapping[str, str]:
        """Flush often: it exits without sending what is still buffered."""
        import json

        content = json.dumps({"experimental": {"openTelemetry": True}})
        told = {"OPENCODE_CONFIG_CONTENT": content, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        return {**address.as_variables(), **told}

    def find_own_telemetry(self, start: starts.ToolStart) -> Iterator[str]:
        """Report a variable that is already set: ours would replace its whole value."""
        if start.env.get("OPENCODE_CONFIG_CONTENT"):
            yield "OPENCODE_CONFIG_CONTENT"

    def resume_command(self, session: str) -> str:
        return f"opencode --session {session}"


# The plugin ---------------------------------------------------------------------------------------


def make_plugin(command: settings.CommandOf) -> str:
    """Return the text of the plugin; `command` returns the command line of an event."""
    import json

    source = Path(__file__).with_name(PLUGIN).read_text("utf-8")
    before, otherwise = command("PreToolUse"), command("PostToolUse")
    source = source.replace('const BEFORE = ""\n', f"const BEFORE = {json.dumps(before)}\n")
    return source.replace('const OTHERWISE = ""\n', f"const OTHERWISE = {json.dumps(otherwise)}\n")


def find_plugins(document: Document, settings: Path) -> list[Path]:
    """Return our plugins that a settings file lists."""

    known = document.get("plugin")
    listed = known if isinstance(known, list) else []
    ours = (one for one in listed if isinstance(one, str) and is_ours(one))
    return [Path(os.path.normpath(settings.parent / one)) for one in ours]


def is_ours(entry: str) -> bool:
    """Return True for every entry that any release wrote."""
    path = entry.replace("\\", "/")
    return path.endswith((f"/.moot/{PLUGIN}", f"/hooks/{_USERS}", f"/{_SHARED}"))


def _place_of_plugin(place: settings.Place, reach: settings.Reach) -> Path:
    if reach.value == USER:
        return place.find_keys() / "hooks" / _USERS
    return place.workspace / PLUGIN


def _plugin_file(path: Path, text: str, reach: settings.Reach) -> settings.InstalledFile:
    from moot.coding_tools.settings import InstalledFile

    return InstalledFile(path, lambda _before: text, lambda _now: None, reach)


def _list_file(file: settings.SettingsFile, entry: str) -> settings.InstalledFile:
    from moot.coding_tools.settings import put_item

    put = put_item(file.path, "plugin", entry, file.reach, is_ours)
    commented = file.path.with_suffix(".jsonc")

    def merge(before: str | None) -> str:
        if before is None and commented.exists():
            raise Refused(
                "settings_unreadable",
                f"{commented} may hold comments, which merging would lose",
                hint=f'add "{entry}" to its "plugin" list yourself',
            )
        return put.merge(before)

    return put._replace(merge=merge)


def _is_same(path: Path, text: str) -> bool:
    """Return whether the file has this text, whatever key folder it names."""
    from moot.coding_tools.hook_command import without_key_folder

    try:
        found = path.read_text("utf-8")
    except (OSError, ValueError):
        return False
    return without_key_folder(found) == without_key_folder(text)


def _why_not_loaded(path: Path, env: Mapping[str, str]) -> str:
    """Return node's error if it cannot load a plugin; empty if it can, or without node."""
    import shutil
    import subprocess

    node = shutil.which("node", path=env.get("PATH"))
    if node is None:
        return ""
    code = "import(process.argv[1]).then((m) => m.Moot({ directory: '.' }))"
    try:
        done = subprocess.run(
            [node, "--no-warnings", "-e", code, path.absolute().as_uri()],
            capture_output=True,
            text=True,
            timeout=_NODE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else (said[-1] if said else "node failed")


# A start ------------------------------------------------------------------------------------------


def _own_folder(env: Mapping[str, str]) -> Path:

    from moot.coding_tools.starts import home_folder

    return Path(env.get("XDG_CONFIG_HOME") or home_folder(env) / ".config") / "opencode"


def _find_flags(case: starts.GuardCase) -> Iterator[starts.Problem]:
    from moot.coding_tools.starts import is_switched_on

    if case.start.has_flag("--pure"):
        yield "--pure makes opencode load no plugins", "--pure", "leave out --pure"
    if is_switched_on(case.start.env.get("OPENCODE_PURE")):
        why = "OPENCODE_PURE makes opencode load no plugins"
        yield why, "OPENCODE_PURE", "`unset OPENCODE_PURE`"


def _project_folders(start: starts.ToolStart) -> Sequence[Path]:
    """Return the folders whose settings and plugins it loads, the worktree's root first."""
    from moot.coding_tools.starts import is_switched_on

    is_off = is_switched_on(start.env.get("OPENCODE_DISABLE_PROJECT_CONFIG"))
    return () if is_off else start.folders_from_root()


def _list_named(layer: starts.Layer) -> Iterator[Path]:
    """Return the plugin files that a layer names, relative to the layer's folder."""
    from urllib.parse import unquote

    listed = layer.document.get("plugin")
    for item in listed if isinstance(listed, list) else ():
        name = item[0] if isinstance(item, list) and item else item
        if isinstance(name, str):
            plain = unquote(name.removeprefix("file://")) if name.startswith("file://") else name
            yield Path(os.path.normpath(Path(layer.path).parent / plain))


def _list_placed(start: starts.ToolStart) -> list[Path]:
    """Return the files that it loads as plugins because of their folder."""
    homes = [_own_folder(start.env)]
    homes += [inner / ".opencode" for inner in _project_folders(start)]
    if start.env.get("OPENCODE_CONFIG_DIR"):
        homes.append(start.folder / start.env["OPENCODE_CONFIG_DIR"])
    patterns = ("plugin/*.js", "plugin/*.ts", "plugins/*.js", "plugins/*.ts")
    return [file for home in homes for pattern in patterns for file in sorted(home.glob(pattern))]


TOOL: Final = Opencode()

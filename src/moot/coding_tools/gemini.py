"""Gemini CLI: hooks and servers in its JSON settings, which it reads in trusted folders only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moot.coding_tools.tool import (
    GOOGLE_VARIABLES,
    MANAGED,
    OFF,
    PROJECT,
    READ_INPUT,
    USER,
    CodingTool,
    HookMoment,
    Rewriting,
    table_in,
)

if TYPE_CHECKING:
    from moot.coding_tools import server_entries, settings, starts

_TRUST_FOLDER: Final = "TRUST_FOLDER"
_TRUST_PARENT: Final = "TRUST_PARENT"
_UNTRUSTED: Final = "Gemini CLI does not trust this folder: it runs none of its hooks"


class Gemini(CodingTool):
    name = "gemini"
    events: Mapping[str, HookMoment] = {
        "BeforeTool": HookMoment.BEFORE,
        "AfterTool": HookMoment.AFTER,
        "SessionStart": HookMoment.START,
        "AfterAgent": HookMoment.STOP,
        "SessionEnd": HookMoment.END,
    }
    edits: Mapping[str, str] = {"write_file": "file_path", "replace": "file_path"}
    shells: Mapping[str, str] = {"run_shell_command": "command"}
    reads: Mapping[str, str] = {"read_file": "file_path"}
    go_on = "deny"
    shows_message = True
    # Since June 2026: `resolveDefensiveToolPath`, then `resolveToRealPath`; `replace` first asks
    # `correctPath`, which looks through at most 50 folders and needs exactly one match.
    # Whether it strips blanks at the ends is unknown: we reserve both readings.
    rewritings = (Rewriting.TRIMMED, Rewriting.HOME, Rewriting.AT_SIGN, Rewriting.DECODED)
    rewritings_of: Mapping[str, tuple[Rewriting, ...]] = {"replace": (Rewriting.LOOKED_UP,)}
    whole_file = frozenset({"write_file"})

    settings_file = ".gemini/settings.json"
    user_file = ("", "", ".gemini/settings.json")
    carriers = ("settings.json",)
    matcher = "write_file|replace|run_shell_command"
    timeout = 10_000
    hook_events = ("BeforeTool", "AfterTool", "SessionStart", "AfterAgent", "SessionEnd")
    needs_trust = True
    trusts_user_settings = True

    manual_file = "GEMINI.md"

    server_file = ".gemini/settings.json"
    asks = "before each tool; with `-p` it offers no tool at all unless the server is trusted"
    asks_for_server = True
    consent = '"trust": true'
    consent_place = "the entry of the server itself"
    call_name = "mcp_moot_{}"
    variables_key = "env"

    packages = ("@google/gemini-cli",)
    marks = ("GEMINI_CLI",)

    modes = ("-p",)
    last_words = (READ_INPUT,)
    added_words = ("-o", "json")
    not_if_given = ("-o", "--output-format")
    variables = GOOGLE_VARIABLES

    def make_edit(self, file: str) -> tuple[str, dict[str, str]]:
        return "write_file", {"file_path": file, "content": "probe"}

    # Installed hooks ------------------------------------------------------------------------------

    def flaws(self, setup: settings.Setup) -> Iterator[settings.Flaw]:
        from moot.coding_tools.settings import Flaw, Reach, read_document, settings_files

        root, env = setup.place.root, setup.place.env
        if setup.file.reach is not Reach.USER and not _is_trusted(root, env):
            hint = "trust the folder in Gemini CLI, or `moot hook install gemini --trust`"
            yield Flaw("hook_untrusted", _UNTRUSTED, str(root), hint)
        for file in settings_files(self, setup.place):
            if table_in(read_document(file.path), "hooksConfig").get("enabled") is False:
                yield Flaw(
                    "hook_switched_off",
                    "Gemini CLI's hooks are switched off: nothing is checked",
                    str(file.path),
                    "set hooksConfig.enabled to true there",
                )

    def switches(self, document: Mapping[str, Any]) -> Iterator[str]:
        from moot.coding_tools.hook_command import is_ours

        config = table_in(document, "hooksConfig")
        if config.get("enabled") is False:
            yield "hooksConfig.enabled"
        if table_in(document, "tools").get("enableHooks") is False:
            yield "tools.enableHooks"
        for name in _list_disabled(config):
            if is_ours(self.name, name):
                yield f"disabled {name}"

    def store_trust(self, place: settings.Place) -> str:
        from moot.coding_tools import json_settings
        from moot.coding_tools.settings import put

        path = _trusted_folders(place.env)
        before = path.read_text("utf-8") if path.exists() else ""
        known = json_settings.parse(before, str(path))
        known[str(place.root)] = _TRUST_FOLDER
        put(path, json_settings.render(known, before).encode())
        return f"Gemini CLI trusts {place.root} from now on"

    # Our server -----------------------------------------------------------------------------------

    def make_server_entry(self, command: Sequence[str], *, trust: bool = False) -> dict[str, Any]:
        """Name each variable: it drops those that look like secrets unless they are listed."""
        from moot.coding_tools.server_entries import VARIABLES

        entry = super().make_server_entry(command)
        entry["env"] = {name: f"${name}" for name in VARIABLES}
        return {**entry, "trust": True} if trust else entry

    def server_flaw(self, found: server_entries.FoundServer) -> server_entries.EntryFlaw | None:
        """Check its lists of allowed and of excluded servers."""
        from moot.coding_tools.server_entries import NO_TOOLS, SERVER, EntryFlaw

        lists = table_in(found.settings, "mcp")
        allowed, excluded = lists.get("allowed"), lists.get("excluded")
        if isinstance(excluded, list) and SERVER in excluded:
            where, fix = "mcp.excluded", "take it out of mcp.excluded there"
        elif isinstance(allowed, list) and SERVER not in allowed:
            where, fix = "mcp.allowed", "add it to mcp.allowed there"
        else:
            return None
        return EntryFlaw("mcp_switched_off", f"{where} of gemini leaves it out: {NO_TOOLS}", fix)

    # A start --------------------------------------------------------------------------------------

    def read_layers(self, start: starts.ToolStart) -> Iterator[starts.Layer]:

        system = start.env.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH")
        yield from start.read_json(MANAGED, Path(system or "/etc/gemini-cli/settings.json"))
        yield from start.read_json(USER, _own_folder(start.env) / "settings.json")
        yield from start.read_json(PROJECT, start.folder / ".gemini" / "settings.json")

    def start_flaws(self, case: starts.GuardCase) -> Iterator[tuple[str, Iterable[starts.Problem]]]:
        yield OFF, self._find_switches(case)
        yield from super().start_flaws(case)

    def _find_switches(self, case: starts.GuardCase) -> Iterator[starts.Problem]:
        from moot.coding_tools.hook_command import is_ours

        for layer in case.start.layers:
            config = table_in(layer.document, "hooksConfig")
            if config.get("enabled") is False:
                yield (
                    "Gemini CLI's hooks are switched off there: hooksConfig.enabled is false",
                    layer.path,
                    f'set "enabled" of "hooksConfig" to true in {layer.path}',
                )
            if table_in(layer.document, "tools").get("enableHooks") is False:
                yield (
                    "Gemini CLI's hooks are switched off there: tools.enableHooks is false",
                    layer.path,
                    f'remove "enableHooks" from {layer.path}',
                )
            for name in _list_disabled(config):
                if is_ours(self.name, name):
                    yield (
                        "our hook is on the list of disabled ones there",
                        layer.path,
                        "`gemini hooks enable-all`",
                    )

    def start_trust(self, case: starts.GuardCase) -> Iterator[starts.Problem]:
        """Project hooks run only in trusted folders; user hooks run everywhere."""
        if any(layer.scope != PROJECT for layer in case.with_ours):
            return
        if case.start.has_flag("--skip-trust"):
            yield (
                "--skip-trust makes Gemini CLI run no hooks of the project",
                "--skip-trust",
                f"leave out --skip-trust; {case.fix('--trust')} trusts the folder",
            )
        elif not _is_trusted_at_start(case.start):
            yield _UNTRUSTED, str(case.start.folder), case.fix("--trust")

    def list_conversations(self, env: Mapping[str, str]) -> Iterable[Path]:
        return _own_folder(env).glob("tmp/*/chats/*.jsonl")

    def read_conversation(self, file: Path, folder: str) -> Iterator[starts.ShownCall]:

        from moot.coding_tools.starts import read_json_lines, show_call

        try:
            root = file.parent.with_name(".project_root").read_text("utf-8").strip()
        except (OSError, ValueError):
            return
        if os.path.realpath(root) != folder:
            return
        session: Any = None
        for line in read_json_lines(file):
            session = line.get("sessionId", session)
            calls = line.get("toolCalls")
            for one in calls if isinstance(calls, list) else ():
                if isinstance(one, dict) and self.may_change(one.get("name")):
                    yield from show_call(session, line.get("timestamp"))

    # Usage, sessions, participants ----------------------------------------------------------------

    def log_reports(self) -> tuple[starts.CallReport, ...]:
        from moot.coding_tools.starts import CallReport

        return (
            CallReport(
                "gemini_cli.api_response",
                ("input_token_count", "tool_token_count"),
                ("output_token_count", "thoughts_token_count"),
            ),
        )

    def usage_environment(self, address: starts.OtlpAddress) -> Mapping[str, str]:
        return {
            **address.as_variables(),
            "GEMINI_TELEMETRY_ENABLED": "true",
            "GEMINI_TELEMETRY_TARGET": "local",
            "GEMINI_TELEMETRY_OTLP_ENDPOINT": address.endpoint,
            "GEMINI_TELEMETRY_OTLP_PROTOCOL": "http",
            "GEMINI_TELEMETRY_LOG_PROMPTS": "false",
        }

    def find_own_telemetry(self, start: starts.ToolStart) -> Iterator[str]:
        words = start.started.arguments
        if any(word.startswith(("--telemetry", "--no-telemetry")) for word in words):
            yield "--telemetry"
        for layer in start.layers:
            if "telemetry" in layer.document:
                yield layer.path

    def resume_command(self, session: str) -> str:
        return f"gemini --resume {session}"

    def read_output(self, raw: bytes) -> starts.ToolOutput:
        """Read `-o json`: one object with `response` and, by model, `stats`."""
        from moot.coding_tools.json_settings import read_object
        from moot.coding_tools.starts import ToolOutput

        said = read_object(raw[raw.find(b"{") :] if b"{" in raw else raw)
        if not isinstance(said.get("response"), str):
            error = table_in(said, "error").get("message")
            return ToolOutput(None, error=error if isinstance(error, str) else "")
        models = table_in(table_in(said, "stats"), "models")
        tokens = [table_in(one, "tokens") for one in models.values() if isinstance(one, dict)]
        read = sum(one for some in tokens if isinstance(one := some.get("prompt"), int))
        wrote = sum(one for some in tokens if isinstance(one := some.get("candidates"), int))
        return ToolOutput(said["response"], read, wrote, model=next(iter(models), None))


def _own_folder(env: Mapping[str, str]) -> Path:

    from moot.coding_tools.starts import home_folder

    return Path(env.get("GEMINI_CLI_HOME") or home_folder(env)) / ".gemini"


def _list_disabled(config: Mapping[str, Any]) -> list[str]:
    listed = config.get("disabled")
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []


def _is_trusted_at_start(start: starts.ToolStart) -> bool:
    for layer in start.layers:
        trust = table_in(table_in(layer.document, "security"), "folderTrust")
        if layer.scope != PROJECT and trust.get("enabled") is False:
            return True
    return _is_trusted(start.folder, start.env)


def _is_trusted(root: Path, env: Mapping[str, str]) -> bool:
    """Check its environment, then its list of folders, where the nearest entry counts."""

    from moot.coding_tools.settings import read_document

    if env.get("GEMINI_CLI_TRUST_WORKSPACE") == "true":
        return True
    known = read_document(_trusted_folders(env))
    near = {os.path.dirname(key): level for key, level in known.items() if level == _TRUST_PARENT}
    near |= {key: level for key, level in known.items() if level != _TRUST_PARENT}
    levels = (near[str(folder)] for folder in (root, *root.parents) if str(folder) in near)
    return next(levels, None) in (_TRUST_FOLDER, _TRUST_PARENT)


def _trusted_folders(env: Mapping[str, str]) -> Path:

    if env.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH"):
        return Path(env["GEMINI_CLI_TRUSTED_FOLDERS_PATH"])
    return _own_folder(env) / "trustedFolders.json"


TOOL: Final = Gemini()

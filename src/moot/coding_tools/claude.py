"""Claude Code: hooks in its JSON settings, a skill, and servers in a file of the project."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moot.coding_tools.tool import (
    AMAZON_VARIABLES,
    COMMON_EVENTS,
    FILE_EDITS,
    FLAG,
    GOOGLE_VARIABLES,
    LOCAL,
    MANAGED,
    OFF,
    PROJECT,
    USER,
    CodingTool,
    HookMoment,
    Rewriting,
    table_in,
)

if TYPE_CHECKING:
    from moot.coding_tools import server_entries, settings, starts

_LOCAL_FILE: Final = ".claude/settings.local.json"
# It starts the project's servers in the first list of its local settings, not those in the second.
_ENABLED: Final = "enabledMcpjsonServers"
_TURNED_DOWN: Final = "disabledMcpjsonServers"
_SOURCES: Final = "--setting-sources"


class Claude(CodingTool):
    name = "claude"
    events: Mapping[str, HookMoment] = {
        **COMMON_EVENTS,
        "Notification": HookMoment.ASKS_PERSON,
        "ConfigChange": HookMoment.CONFIG_CHANGE,
    }
    edits = FILE_EDITS
    shells: Mapping[str, str] = {"Bash": "command"}
    reads: Mapping[str, str] = {"Read": "file_path"}
    plain_start = True
    go_on = "block"
    tells_failure = True
    tells_before = True
    shows_message = True
    settings_sources = frozenset({"user_settings", "project_settings", "local_settings"})
    # It checks files that were read itself, and since 2.1.326 also writes files that were not read.
    whole_file = frozenset({"Write"})
    # Its source is not public. Hooks see absolute paths; to be safe, we reserve both readings.
    rewritings = (Rewriting.TRIMMED, Rewriting.HOME)

    settings_file = ".claude/settings.json"
    local_file = _LOCAL_FILE
    user_file = ("CLAUDE_CONFIG_DIR", "settings.json", ".claude/settings.json")
    carriers = ("settings.json", "settings.local.json")
    matcher = "Write|Edit|MultiEdit|NotebookEdit|Bash"
    hook_events = (
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "SessionStart",
        "Stop",
        "SessionEnd",
        "SubagentStop",
        "Notification",
        "ConfigChange",
    )
    later_events = ("ConfigChange",)

    manual_file = ".claude/skills/moot/SKILL.md"
    has_skills = True

    server_file = ".mcp.json"
    asks = "once whether this project's server may be used, then before each tool"
    asks_for_server = True
    consent = '"permissions": {"allow": ["mcp__moot"]}'
    consent_place = "your own settings (~/.claude/settings.json), not the project's"
    call_name = "mcp__moot__{}"

    packages = ("@anthropic-ai/claude-code",)
    path_marks = ("/claude-code/cli.",)
    marks = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT")
    session_variables = ("CLAUDE_CODE_SESSION_ID",)

    modes = ("-p", "--print")
    added_words = ("--output-format", "json")
    not_if_given = ("--output-format",)
    variables = ("ANTHROPIC_*", "CLAUDE_*", "IS_SANDBOX", *GOOGLE_VARIABLES, *AMAZON_VARIABLES)

    def make_edit(self, file: str) -> tuple[str, dict[str, str]]:
        return "Write", {"file_path": file, "content": "probe"}

    # Installed hooks ------------------------------------------------------------------------------

    def flaws(self, setup: settings.Setup) -> Iterator[settings.Flaw]:
        from moot.coding_tools.settings import Flaw, read_document

        env, project = setup.place.env, setup.place.root / ".claude"
        user = _own_folder(env)
        files = (project / "settings.json", project / "settings.local.json", user / "settings.json")
        for path in files:
            if read_document(path).get("disableAllHooks") is True:
                yield Flaw(
                    "hook_switched_off",
                    "Claude Code's hooks are switched off: nothing is checked",
                    str(path),
                    "remove disableAllHooks there",
                )

    def switches(self, document: Mapping[str, Any]) -> Iterator[str]:
        from moot.coding_tools.settings import LEADING, VARIABLE

        if document.get("disableAllHooks") is True:
            yield "disableAllHooks"
        for name, value in table_in(document, "env").items():
            if name.startswith(LEADING):
                yield f"{VARIABLE}{name}={value}"

    # Our server -----------------------------------------------------------------------------------

    def consent_files(self, place: settings.Place) -> list[settings.InstalledFile]:
        from moot.coding_tools.server_entries import SERVER
        from moot.coding_tools.settings import Reach, put_item

        file = place.root / _LOCAL_FILE
        return [put_item(file, _ENABLED, SERVER, Reach.LOCAL, lambda one: one == SERVER)]

    def server_flaw(self, found: server_entries.FoundServer) -> server_entries.EntryFlaw | None:
        from moot.coding_tools.server_entries import NO_TOOLS, SERVER, EntryFlaw
        from moot.coding_tools.settings import read_document

        named = read_document(found.root / _LOCAL_FILE).get(_TURNED_DOWN)
        if not isinstance(named, list) or SERVER not in named:
            return None
        message = f"{_TURNED_DOWN} names it in {_LOCAL_FILE}: {NO_TOOLS}"
        return EntryFlaw("mcp_switched_off", message, f"take it out of {_TURNED_DOWN} there")

    # A start --------------------------------------------------------------------------------------

    def read_layers(self, start: starts.ToolStart) -> Iterator[starts.Layer]:
        """Project settings come from the folder it starts in, not the repository's root."""
        given = start.values_of(_SOURCES)
        sources = set(given[-1].replace(" ", "").split(",")) if given else {USER, PROJECT, LOCAL}
        own = {
            USER: _own_folder(start.env) / "settings.json",
            PROJECT: start.folder / ".claude" / "settings.json",
            LOCAL: start.folder / ".claude" / "settings.local.json",
        }
        for path in _managed_files():
            yield from start.read_json(MANAGED, path)
        for scope, path in own.items():
            if scope in sources:
                yield from start.read_json(scope, path)
        for text in start.values_of("--settings"):
            if text.lstrip().startswith("{"):
                yield start.read_text(FLAG, "--settings", text)
            else:
                yield from start.read_json(FLAG, start.folder / text)

    def start_flaws(self, case: starts.GuardCase) -> Iterator[tuple[str, Iterable[starts.Problem]]]:
        yield OFF, _find_flags(case)
        yield OFF, _find_switches(case)
        yield OFF, _find_left_out_source(case)
        yield from super().start_flaws(case)

    def list_conversations(self, env: Mapping[str, str]) -> Iterable[Path]:
        return _own_folder(env).glob("projects/*/*.jsonl")

    def read_conversation(self, file: Path, folder: str) -> Iterator[starts.ShownCall]:

        from moot.coding_tools.starts import read_json_lines, show_call

        for line in read_json_lines(file):
            content = table_in(line, "message").get("content")
            is_here = os.path.realpath(str(line.get("cwd", ""))) == folder
            if not is_here or not isinstance(content, list):
                continue
            calls = (one for one in content if isinstance(one, dict))
            uses = [one for one in calls if one.get("type") == "tool_use"]
            if any(self.may_change(one.get("name")) for one in uses):
                yield from show_call(line.get("sessionId"), line.get("timestamp"))

    # Usage, sessions, participants ----------------------------------------------------------------

    def log_reports(self) -> tuple[starts.CallReport, ...]:
        from moot.coding_tools.starts import CallReport

        return (
            CallReport(
                "api_request",
                ("input_tokens", "cache_read_tokens", "cache_creation_tokens"),
                ("output_tokens",),
                dollars="cost_usd",
            ),
        )

    def usage_environment(self, address: starts.OtlpAddress) -> Mapping[str, str]:
        """Send only its logs to us. It hides these variables from programs that it starts."""
        return {
            "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
            "OTEL_LOGS_EXPORTER": "otlp",
            "OTEL_METRICS_EXPORTER": "none",
            "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": f"{address.endpoint}/v1/logs",
            "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/json",
            "OTEL_EXPORTER_OTLP_LOGS_HEADERS": address.header,
        }

    def is_own_telemetry(self, name: str) -> bool:
        """Without the first variable it exports nothing, whatever the others say."""
        named = ("CLAUDE_CODE_ENABLE_TELEMETRY", "OTEL_SDK_DISABLED")
        return name in named or name.startswith("BETA_")

    def find_own_telemetry(self, start: starts.ToolStart) -> Iterator[str]:
        from moot.coding_tools.starts import is_telemetry_variable

        for layer in start.layers:
            if any(map(is_telemetry_variable, table_in(layer.document, "env"))):
                yield layer.path

    def resume_command(self, session: str) -> str:
        return f"claude --resume {session}"

    def read_output(self, raw: bytes) -> starts.ToolOutput:
        """`--output-format json`: one object with `result`, `usage` and `total_cost_usd`."""
        from moot.coding_tools.json_settings import read_object
        from moot.coding_tools.starts import ToolOutput

        said = read_object(raw)
        if not isinstance(said.get("result"), str):
            return ToolOutput(None)
        usage = table_in(said, "usage")
        read = sum(
            one
            for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            if isinstance(one := usage.get(name), int)
        )
        model = next(iter(table_in(said, "modelUsage")), None)
        error = said["result"] if said.get("is_error") is True else ""
        wrote, dollars = usage.get("output_tokens"), said.get("total_cost_usd")
        return ToolOutput(said["result"], read, wrote, dollars, model, error)


def _own_folder(env: Mapping[str, str]) -> Path:

    from moot.coding_tools.starts import home_folder

    return Path(env.get("CLAUDE_CONFIG_DIR") or home_folder(env) / ".claude")


def _managed_files() -> list[Path]:

    places = {"darwin": "/Library/Application Support/ClaudeCode", "win32": r"C:\ProgramData"}
    folder = Path(places.get(sys.platform, "/etc/claude-code"))
    return [folder / "managed-settings.json", *sorted(folder.glob("managed-settings.d/*.json"))]


def _find_flags(case: starts.GuardCase) -> Iterator[starts.Problem]:
    from moot.coding_tools.starts import is_switched_on

    for flag in ("--bare", "--safe-mode"):
        if case.start.has_flag(flag):
            yield f"{flag} makes Claude Code run no hooks", flag, f"leave out {flag}"
    for name in ("CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"):
        if is_switched_on(case.start.env.get(name)):
            yield f"{name} makes Claude Code run no hooks", name, f"`unset {name}`"


def _find_switches(case: starts.GuardCase) -> Iterator[starts.Problem]:
    for layer in case.start.layers:
        if layer.document.get("disableAllHooks") is True:
            yield (
                "Claude Code's hooks are switched off there",
                layer.path,
                f'remove "disableAllHooks" from {layer.path}',
            )
        if layer.scope == MANAGED and layer.document.get("allowManagedHooksOnly") is True:
            yield (
                "only hooks of the machine's administrator run in Claude Code",
                layer.path,
                "ask the administrator of this machine to allow them",
            )


def _find_left_out_source(case: starts.GuardCase) -> Iterator[starts.Problem]:
    """Find `--setting-sources user`, which skips the files that contain our hook."""
    given = case.start.values_of(_SOURCES)
    if not given or case.with_ours:
        return
    arguments = _without_option(case.start.started.arguments, _SOURCES)
    found = case.started_as(arguments=arguments).with_ours
    if found:
        yield (
            f"{_SOURCES} {given[-1]} leaves out {found[0].path}, where the hooks are",
            _SOURCES,
            f"add {found[0].scope} to {_SOURCES}",
        )


def _without_option(words: tuple[str, ...], name: str) -> tuple[str, ...]:
    kept, skip = [], False
    for word in words:
        if not skip and word.partition("=")[0] != name:
            kept.append(word)
        skip = not skip and word == name
    return tuple(kept)


TOOL: Final = Claude()

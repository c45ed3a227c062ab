"""Codex: hooks in a JSON file of their own, servers in TOML. It runs only hooks that its user
trusts.

Whether to trust is the user's decision. We use Codex's own app server for it, so that we never
write Codex's files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.coding_tools.tool import (
    FILE_EDITS,
    OFF,
    PROJECT,
    USER,
    CodingTool,
    table_in,
)
from moot.core.errors import MootError, Refused, Unavailable

if TYPE_CHECKING:
    from moot.coding_tools import settings, starts

SECONDS: Final = 20.0  # for what its app server is asked
_FEATURES: Final = ("hooks", "codex_hooks")
_BUILT_FOR: Final = r"codex-(?:x86_64|aarch64)-[\w-]+\Z"
_SET_OFF: Final = r"features\.(?:codex_)?hooks\s*=\s*[\"']?false"
_TABLE_OFF: Final = r"features\s*=\s*\{.*\b(?:codex_)?hooks\s*=\s*false"
_PROJECT_OFF: Final = r"projects\..*trust_level\s*=\s*[\"']?untrusted"
_OUR_TABLE: Final = (
    r"(?ms)^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*\"?moot\"?[ \t]*\]"
    r"[^\n]*\n.*?(?=^[ \t]*\[|\Z)"
)
_BYPASS: Final = "--dangerously-bypass-hook-trust"
_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call")
_TRUSTED: Final = ("trusted", "managed")


class Codex(CodingTool):
    name = "codex"
    edits = FILE_EDITS
    patches: Mapping[str, str] = {"apply_patch": "command"}
    shells: Mapping[str, str] = {"Bash": "command"}
    plain_start = True
    go_on = "block"
    whole_file = frozenset({"apply_patch", "Bash"})
    tells_before = True
    shows_message = True
    login_shell = True

    settings_file = ".codex/hooks.json"
    user_file = ("CODEX_HOME", "hooks.json", ".codex/hooks.json")
    carriers = ("hooks.json", "config.toml")
    matcher = "apply_patch|Bash"
    hook_events = (
        *("PreToolUse", "PostToolUse", "SessionStart", "Stop", "SessionEnd", "SubagentStop"),
    )
    # Codex caps it at this value, and warns at every start if it is higher.
    shorter: Mapping[str, int] = {"SessionEnd": 3}
    shown_names: Mapping[str, str] = {
        "PreToolUse": "moot: may this be edited?",
        "PostToolUse": "moot: what was changed",
        "SessionStart": "moot: who else is here",
        "Stop": "moot: what waits",
        "SessionEnd": "moot: leaving",
        "SubagentStop": "moot: a sub-agent ends",
    }
    # Measured on Codex 0.166.0.
    uses_main_checkout = True
    hook_folder = ".codex"
    needs_trust = True
    home_variable = "CODEX_HOME"

    server_file = ".codex/config.toml"
    server_group = "mcp_servers"
    server_form = "TOML"
    asks = "nothing in a trusted project: the tools say that they destroy nothing"
    consent = "the project is trusted"
    consent_place = "what Codex asks when it starts here first"
    call_name = "mcp__moot.{}"
    variables_key = "env_vars"

    packages = ("@openai/codex",)
    marks = ("CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SANDBOX")
    session_variables = ("CODEX_SESSION_ID", "CODEX_THREAD_ID")
    folder_options = ("-C", "--cd")

    modes = ("exec",)
    last_words = ("-",)
    added_words = ("--skip-git-repo-check", "--json")
    not_if_given = ("--json",)
    variables = ("CODEX_*", "OPENAI_*", "AZURE_OPENAI_*")

    def make_edit(self, file: str) -> tuple[str, dict[str, str]]:
        patch = f"*** Begin Patch\n*** Add File: {file}\n+probe\n*** End Patch\n"
        return "apply_patch", {"command": patch}

    # Installed hooks ------------------------------------------------------------------------------

    def flaws(self, setup: settings.Setup) -> Iterator[settings.Flaw]:
        from moot.coding_tools.settings import Flaw

        file, why = str(setup.file.path), ""
        try:
            hooks = list_hooks(setup.place.root, setup.place.env)
        except MootError:
            state = table_in(table_in(_read_own_settings(setup.place.env), "hooks"), "state")
            if not any(str(key).startswith(f"{file}:") for key in state):
                why = "no trust is stored for them"
        else:
            skipped = [hook for hook in hooks if hook["trustStatus"] not in _TRUSTED]
            if skipped or not hooks:
                why = f"{len(skipped) or 'all'} of our hooks are skipped by Codex"
        if why:
            hint = "review them with /hooks in Codex, or `moot hook install codex --trust`"
            yield Flaw("hook_untrusted", why, file, hint)

    def store_trust(self, place: settings.Place) -> str:
        """Trust the project first: Codex sees no hooks of a project that it does not trust."""
        import json

        hooks = list_hooks(place.root, place.env)
        project = place.find_main_checkout()
        if not hooks and not _is_marked_untrusted((place.root, project), place.env):
            key = f"projects.{json.dumps(str(project))}.trust_level"
            _write_setting(key, "trusted", place.env)
            hooks = list_hooks(place.root, place.env)
        if not hooks:
            raise Unavailable(
                "codex_hooks_missing",
                "Codex does not see the hooks",
                hint="mark the project as trusted in Codex first, then run this again",
            )
        state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
        _write_setting("hooks.state", state, place.env)
        return f"Codex trusts {len(hooks)} hooks of this project from now on"

    def guard_files(self, place: settings.Place) -> Iterator[Path]:
        """Include its own settings, which hold its switches and the hooks that its user trusts."""
        known = list(super().guard_files(place))
        yield from known
        yield from dict.fromkeys(path.with_name("config.toml") for path in known)

    def read_marks(self, path: Path, text: str) -> settings.Marks:
        if path.suffix != ".toml":
            return super().read_marks(path, text)
        import tomllib

        from moot.coding_tools.settings import Marks, as_text

        document = tomllib.loads(text)
        state = table_in(table_in(document, "hooks"), "state")
        trusted = {f"trust {key}={as_text(value)}" for key, value in state.items()}
        features = table_in(document, "features")
        switches = {f"features.{name}" for name in _FEATURES if features.get(name) is False}
        for folder, project in table_in(document, "projects").items():
            if isinstance(project, dict) and project.get("trust_level") == "untrusted":
                switches.add(f"untrusted {folder}")
        return Marks(frozenset(trusted), frozenset(switches))

    # Our server -----------------------------------------------------------------------------------

    def add_server(self, text: str, command: Sequence[str], *, trust: bool, where: str) -> str:  # noqa: ARG002 - it keeps neither
        """Leave all other text unchanged."""
        from moot.coding_tools.server_entries import SERVER

        without = remove_table(text)
        if _find_table(without) is not None:
            raise Refused(
                "mcp_name_taken",
                f"{self.server_file} has another server called {SERVER}",
                hint="rename it there first",
            )
        gap = "" if not without or without.endswith("\n\n") else "\n"
        gap = f"\n{gap}" if without and not without.endswith("\n") else gap
        added = f"{without}{gap}{make_table(command)}"
        # TOML has many spellings for one value: refuse to edit what we do not recognise.
        before = self._read_others(text, "is no TOML")
        if before != self._read_others(added, "names its servers in a way"):
            raise self._refuse_settings("names its servers in a way that ours does not fit into")
        return added

    def remove_server(self, text: str, where: str) -> str | None:  # noqa: ARG002 - nothing is refused
        return remove_table(text) or None

    def read_server_settings(self, text: str) -> Any:
        import tomllib

        return tomllib.loads(text)

    def _read_others(self, text: str, why_not: str) -> dict[str, Any]:
        import tomllib

        from moot.coding_tools.server_entries import SERVER

        try:
            settings = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise self._refuse_settings(f"{why_not} ({error})") from None
        servers = settings.pop(self.server_group, {})
        others = {name: entry for name, entry in servers.items() if name != SERVER}
        return {**settings, **({self.server_group: others} if others else {})}

    def _refuse_settings(self, why: str) -> Exception:

        return Refused(
            "settings_unreadable",
            f"{self.server_file} {why}; it was not touched",
            hint="add the server by hand as docs/how-to/use-mcp.md shows",
        )

    # A start --------------------------------------------------------------------------------------

    def is_program(self, name: str) -> bool:
        """Accept names with a target triple too, as in Codex's release archives."""

        return name == self.name or re.match(_BUILT_FOR, name) is not None

    def read_layers(self, start: starts.ToolStart) -> Iterator[starts.Layer]:
        """Yield its home, and `.codex` from the root of the repository down to the folder.

        In a linked worktree it reads the main checkout's hooks, and only if the worktree also has
        a folder of that name; it reads other settings from the worktree.
        """
        home = _own_folder(start.env)
        yield from start.read_json(USER, home / "hooks.json")
        yield from start.read_toml(USER, home / "config.toml")
        root, main = start.find_roots(start.folder)
        for inner in start.folders_from_root():
            of_hooks = main / inner.relative_to(root)
            if (inner / self.hook_folder).is_dir():
                yield from start.read_json(PROJECT, of_hooks / ".codex" / "hooks.json")
            yield from start.read_toml(PROJECT, inner / ".codex" / "config.toml")

    def start_flaws(self, case: starts.GuardCase) -> Iterator[tuple[str, Iterable[starts.Problem]]]:
        yield OFF, _find_switches(case.start)
        yield OFF, _find_mark(case)
        yield from super().start_flaws(case)

    def start_trust(self, case: starts.GuardCase) -> Iterator[starts.Problem]:
        """Ask Codex which hooks it sees and trusts; if it does not answer, read its settings
        file."""

        skips_trust = case.start.has_flag(_BYPASS)
        started = case.start.started
        try:
            hooks = list_hooks(case.start.folder, started.env, started.command)
        except MootError:
            if not skips_trust:
                yield from _find_trust_on_file(case)
            return
        if not hooks:
            yield (
                "Codex does not see the hooks: it does not trust the project",
                str(case.start.folder),
                case.fix("--trust"),
            )
        skipped = [hook for hook in hooks if hook["trustStatus"] not in _TRUSTED]
        if skipped and not skips_trust:
            yield (
                f"Codex skips {len(skipped)} of our hooks without a word: they are not trusted",
                skipped[0]["key"].partition(":")[0],
                case.fix("--trust"),
            )

    def list_conversations(self, env: Mapping[str, str]) -> Iterable[Path]:
        return _own_folder(env).glob("sessions/*/*/*/*.jsonl")

    def read_conversation(self, file: Path, folder: str) -> Iterator[starts.ShownCall]:

        from moot.coding_tools.starts import read_json_lines, show_call

        session: Any = None
        for line in read_json_lines(file):
            payload = line.get("payload")
            if not isinstance(payload, dict):
                continue
            if line.get("type") == "session_meta":
                is_here = os.path.realpath(str(payload.get("cwd", ""))) == folder
                session = payload.get("session_id", payload.get("id")) if is_here else None
            elif payload.get("type") in _CALLS:  # its shell has many names
                yield from show_call(session, line.get("timestamp"))

    # Usage, sessions, participants ----------------------------------------------------------------

    def log_reports(self) -> tuple[starts.CallReport, ...]:
        from moot.coding_tools.starts import CallReport

        return (
            CallReport(
                # Its input count includes cached tokens, its output count includes reasoning.
                "codex.sse_event",
                ("input_token_count",),
                ("output_token_count",),
                only={"event.kind": "response.completed"},
            ),
        )

    def usage_environment(self, address: starts.OtlpAddress) -> Mapping[str, str]:
        return {"OTEL_EXPORTER_OTLP_LOGS_HEADERS": address.header}

    def usage_arguments(self, address: starts.OtlpAddress) -> tuple[str, ...]:
        exporter = f'{{otlp-http={{endpoint="{address.endpoint}/v1/logs",protocol="json"}}}}'
        return "-c", f"otel.exporter={exporter}", "-c", "otel.log_user_prompt=false"

    def is_own_telemetry(self, name: str) -> bool:
        """Its settings decide whether it exports; variables only add headers."""
        return name in ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "OTEL_SDK_DISABLED")

    def find_own_telemetry(self, start: starts.ToolStart) -> Iterator[str]:
        if any(text.lstrip().startswith("otel") for text in start.values_of("-c", "--config")):
            yield "-c otel"
        for layer in start.layers:
            profiles = table_in(layer.document, "profiles")
            for table in (layer.document, *(table_in(profiles, name) for name in profiles)):
                if table_in(table, "otel").get("exporter", "none") != "none":
                    yield layer.path

    def resume_command(self, session: str) -> str:
        return f"codex resume {session}"

    def read_output(self, raw: bytes) -> starts.ToolOutput:
        """Read `--json`: one event per line; the last agent message is the answer."""
        from moot.coding_tools.json_settings import read_object
        from moot.coding_tools.starts import ToolOutput

        text, error = None, ""
        usage: Mapping[str, Any] = {}
        for line in raw.splitlines():
            event = read_object(line) if line.startswith(b"{") else {}
            item = table_in(event, "item")
            if event.get("type") == "error" and isinstance(event.get("message"), str):
                error = event["message"]
            if item.get("type") == "agent_message" and isinstance(item.get("text"), str):
                text = item["text"]
            usage = table_in(event, "usage") or usage
        counts = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
        return ToolOutput(text, *counts, error=error)


def _own_folder(env: Mapping[str, str]) -> Path:

    from moot.coding_tools.starts import home_folder

    return Path(env.get("CODEX_HOME") or home_folder(env) / ".codex")


def _read_own_settings(env: Mapping[str, str]) -> Mapping[str, Any]:
    import tomllib

    try:
        return tomllib.loads((_own_folder(env) / "config.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return {}


# Its app server -----------------------------------------------------------------------------------


def list_hooks(
    root: Path, env: Mapping[str, str], command: Sequence[str] = ("codex",)
) -> list[dict[str, str]]:
    """Return our hooks as Codex sees them in a folder; Unavailable if it is not here or does not
    answer.

    `command` starts Codex, if it is not the one on PATH.
    """
    from moot.coding_tools.hook_command import is_ours

    answer = _ask_app_server(env, "hooks/list", {"cwds": [str(root)]}, command)
    return [
        {name: str(hook.get(name, "")) for name in ("key", "currentHash", "trustStatus")}
        for entry in answer.get("data", [])
        for hook in entry.get("hooks", [])
        if is_ours("codex", str(hook.get("command", "")))
    ]


def _write_setting(key: str, value: object, env: Mapping[str, str]) -> None:
    edit = {"keyPath": key, "value": value, "mergeStrategy": "upsert"}
    _ask_app_server(env, "config/batchWrite", {"edits": [edit]})


def _is_marked_untrusted(folders: Sequence[Path], env: Mapping[str, str]) -> bool:
    """True if the user refused to trust this project: Moot must not change that."""
    marked = table_in(_read_own_settings(env), "projects")
    levels = (table_in(marked, str(folder)).get("trust_level") for folder in folders)
    return "untrusted" in levels


def _ask_app_server(
    env: Mapping[str, str], method: str, params: Any, command: Sequence[str] = ("codex",)
) -> dict[str, Any]:
    """Ask Codex's app server, one JSON object per line."""
    import json
    import shutil

    from moot.core.version import VERSION
    from moot.system.programs import converse

    codex = shutil.which(command[0], path=env.get("PATH", os.defpath))
    if codex is None:
        raise Unavailable("codex_missing", "codex is not on PATH", hint="install Codex first")
    client = {"clientInfo": {"name": "moot", "version": VERSION}}
    lines: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": client},
        {"method": "initialized"},
        {"id": 1, "method": method, "params": params},
    ]
    words = [codex, *command[1:], "app-server"]
    try:
        reply = converse(words, lines, env=env, last=1, seconds=SECONDS).get(1, {})
    except (OSError, ValueError) as error:
        raise Unavailable("codex_failed", f"codex app-server: {error}") from None
    if "result" not in reply:
        why = json.dumps(reply.get("error", "no answer"))[:200]
        raise Unavailable(
            "codex_failed",
            f"codex did not do {method}: {why}",
            hint="review the hooks with /hooks in Codex instead",
        )
    result: dict[str, Any] = reply["result"]
    return result


# What keeps hooks from running in a start ---------------------------------------------------------


def _find_switches(start: starts.ToolStart) -> Iterator[starts.Problem]:
    from shlex import quote

    for name in start.values_of("--disable"):
        if name in _FEATURES:
            yield "hooks are switched off by --disable", "--disable", f"leave out --disable {name}"
    for text in start.values_of("-c", "--config"):
        if re.match(_SET_OFF, text) or re.match(_TABLE_OFF, text):
            yield "hooks are switched off by -c", "-c", f"leave out -c {quote(text)}"
    if set(start.values_of("--enable")) & set(_FEATURES):
        return
    profiles = start.values_of("-p", "--profile")
    for layer in start.layers:
        known = table_in(layer.document, "profiles")
        for table in (layer.document, *(table_in(known, name) for name in profiles)):
            features = table_in(table, "features")
            for name in _FEATURES:
                if features.get(name) is False:
                    yield (
                        f"Codex's hooks are switched off there: features.{name} = false",
                        layer.path,
                        f"remove `{name} = false` from {layer.path}",
                    )


def _find_mark(case: starts.GuardCase) -> Iterator[starts.Problem]:
    """Find a project marked untrusted: Codex runs none of its hooks, even with the skip-trust flag.

    Hooks in the user's own settings still run there.
    """
    from shlex import quote

    if any(layer.scope != PROJECT for layer in case.with_ours):
        return
    for text in case.start.values_of("-c", "--config"):
        if re.match(_PROJECT_OFF, text):
            yield "-c marks the project as untrusted", "-c", f"leave out -c {quote(text)}"
    for layer in case.start.layers:
        for folder in dict.fromkeys(map(str, case.start.find_roots(case.start.folder))):
            project = table_in(table_in(layer.document, "projects"), folder)
            if project.get("trust_level") == "untrusted":
                yield (
                    f"Codex's user has marked {folder} as untrusted: its hooks do not run",
                    layer.path,
                    f'set trust_level = "trusted" for it in {layer.path}',
                )


def _find_trust_on_file(case: starts.GuardCase) -> Iterator[starts.Problem]:
    own = str(_own_folder(case.start.env))
    known = [
        key
        for layer in case.start.layers
        if layer.path.endswith("config.toml") and layer.path.startswith(own)
        for key in table_in(table_in(layer.document, "hooks"), "state")
    ]
    for layer in case.with_ours:
        if not any(key.startswith(f"{layer.path}:pre_tool_use:") for key in known):
            yield "Codex has no trust in our hooks on file", layer.path, case.fix("--trust")


# Its settings in TOML -----------------------------------------------------------------------------


def make_table(command: Sequence[str]) -> str:
    """Return our server's table. Codex passes on HOME, PATH and the variables named in it."""
    from moot.coding_tools.server_entries import SERVER, VARIABLES

    program, *words = command
    return (
        f"[mcp_servers.{SERVER}]\n"
        f"command = {_as_toml(program)}\n"
        f"args = {_as_toml(words)}\n"
        f"env_vars = {_as_toml(VARIABLES)}\n"
    )


def _as_toml(value: str | Sequence[str]) -> str:
    """Encode a string or a list of strings, which JSON and TOML write alike."""
    return msgspec.json.encode(value).decode()


def remove_table(text: str) -> str:
    """Return the text without our server's table, if we wrote it."""
    found = _find_table(text)
    if found is None or "mcp" not in _words_of(text[slice(*found)]):
        return text
    before, after = text[: found[0]], text[found[1] :]
    return before.rstrip("\n") + "\n" * bool(before.strip()) + ("\n" + after if after else "")


def _find_table(text: str) -> tuple[int, int] | None:
    """Return where a server's table with our name begins and ends."""

    found = re.search(_OUR_TABLE, text)
    return None if found is None else found.span()


def _words_of(table: str) -> list[str]:
    import tomllib

    from moot.coding_tools.server_entries import SERVER

    try:
        entry = tomllib.loads(table)["mcp_servers"][SERVER]
        return [*entry.get("args", ())]
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError):
        return []


TOOL: Final = Codex()

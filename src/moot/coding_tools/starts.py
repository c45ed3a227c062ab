"""A coding tool that is about to start: the settings that it loads, and whether our hook will run.

Missing files are left out; a file that does not parse is an empty layer, because the tool ignores
it too. Nothing here writes.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import join, quote
from typing import Any, Final, NamedTuple

import msgspec

from moot.coding_tools import find_tool, hook_command, json_settings
from moot.coding_tools.settings import Place
from moot.coding_tools.tool import HookMoment
from moot.core.clock import Millis, parse_time
from moot.core.errors import MootError

TOKEN_HEADER: Final = "x-moot-token"
# The problem, where it is, and its fix.
Problem = tuple[str, str | None, str]
# The worktree around a folder, and the main checkout of its repository.
FindRoots = Callable[[Path], tuple[Path, Path]]
_COMMENTS: Final = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING: Final = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)
# Variables with which a user sets where telemetry goes, or turns it off.
_TELEMETRY_PREFIXES: Final = ("OTEL_EXPORTER_", "GEMINI_TELEMETRY_", "BETA_TRACING_")
_TELEMETRY_NAMES: Final = frozenset(
    {
        "CLAUDE_CODE_ENABLE_TELEMETRY",
        "OTEL_LOGS_EXPORTER",
        "OTEL_METRICS_EXPORTER",
        "OTEL_TRACES_EXPORTER",
        "OTEL_SDK_DISABLED",
    }
)


class StartedTool(msgspec.Struct, frozen=True):
    """A coding tool that a command line starts.

    `arguments` are the tool's own. `command` starts the tool without them. `env` and `folder` are
    its environment and folder. `is_other_user`: it runs as another user, with their settings.
    """

    tool: str
    arguments: tuple[str, ...]
    command: tuple[str, ...]
    env: Mapping[str, str]
    folder: str
    is_other_user: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """Return its arguments up to `--`: words after that are not options."""
        words = self.arguments
        return words[: words.index("--")] if "--" in words else words

    def has_flag(self, *names: str) -> bool:
        return any(word.partition("=")[0] in names for word in self.options)

    def values_of(self, *names: str) -> list[str]:
        """Return the values of an option, in order: `--x v`, `--x=v`, and `-xv` for a short one."""
        words, found = self.options, []
        for at, word in enumerate(words):
            name, equals, value = word.partition("=")
            if name in names:
                found.append(value if equals else next(iter(words[at + 1 : at + 2]), ""))
            else:
                short = [each for each in names if len(each) == 2 and word.startswith(each)]
                found += [word[2:].removeprefix("=") for _ in short]
        return found


class Layer(NamedTuple):
    """One settings file: its owner (`scope`), its path, and its content."""

    scope: str
    path: str
    document: Mapping[str, Any]


class ToolStart:
    """A tool's start as the tool interprets it: its working folder, and the layers of settings
    that it loads there."""

    def __init__(self, started: StartedTool, find_roots: FindRoots) -> None:
        tool, here = find_tool(started.tool), Path(started.folder)
        named = started.values_of(*tool.folder_options)[-1:]
        folder = here / named[0] if named else tool.find_folder(started, here)
        self.started = started
        self.env = started.env
        self.has_flag = started.has_flag
        self.values_of = started.values_of
        self.find_roots = find_roots
        self.folder = Path(os.path.normpath(folder))
        self.layers = tuple(tool.read_layers(self))

    def read_json(self, scope: str, path: Path) -> Iterator[Layer]:
        try:
            text = path.read_text("utf-8")
        except (OSError, ValueError):
            return
        yield self.read_text(scope, str(path), text)

    def read_toml(self, scope: str, path: Path) -> Iterator[Layer]:
        try:
            yield Layer(scope, str(path), tomllib.loads(path.read_text("utf-8")))
        except (OSError, ValueError):
            return

    def read_text(self, scope: str, path: str, text: str) -> Layer:
        """Read JSON, with or without comments; an empty layer if it does not parse."""
        for attempt in (text, _without_comments(text)):
            try:
                return Layer(scope, path, json_settings.parse(attempt, ""))
            except MootError:
                continue
        return Layer(scope, path, {})

    def folders_from_root(self) -> Sequence[Path]:
        """Return the folders from the worktree's root down to the tool's, both included."""
        root, folder = self.find_roots(self.folder)[0], self.folder
        if folder != root and root in folder.parents:
            inner = [folder, *folder.parents]
            return list(reversed(inner[: inner.index(root) + 1]))
        return [root] if folder == root else [root, folder]


class GuardCase(msgspec.Struct, frozen=True):
    """A tool that is about to start, and the guarded worktree whose hook it should run."""

    start: ToolStart
    place: Place

    @property
    def tool(self) -> str:
        return self.start.started.tool

    @property
    def with_ours(self) -> list[Layer]:
        """Return the layers that contain our hook before an edit."""
        return [layer for layer in self.start.layers if self._commands_in(layer)]

    def _commands_in(self, layer: Layer) -> list[str]:
        """Return our commands that a layer runs before an edit."""
        event = find_tool(self.tool).event_named(HookMoment.BEFORE)
        commands = json_settings.commands(dict(layer.document), event)
        return [command for command in commands if hook_command.is_ours(self.tool, command)]

    def fix(self, *options: str) -> str:
        """Return the command that installs our hooks for this start."""
        words = ["moot", "hook", "install", self.tool, *options]
        variable = find_tool(self.tool).home_variable
        home = self.start.env.get(variable) if variable else None
        setting = f"{variable}={quote(home)} " if home else ""
        place = f"cd {quote(str(self.start.folder))} && " if self.is_elsewhere else ""
        return f"`{place}{setting}{join(words)}`"

    @property
    def is_elsewhere(self) -> bool:
        """Return True if the tool would work outside the guarded worktree."""
        root = self.place.root
        return self.start.folder != root and root not in self.start.folder.parents

    def started_as(self, **changes: Any) -> GuardCase:
        """Return a copy of this case with these changes to the start."""
        started = msgspec.structs.replace(self.start.started, **changes)
        return GuardCase(ToolStart(started, self.start.find_roots), self.place)

    def find_missing_hook(self) -> Iterator[Problem]:
        """Yield a problem if none of the layers that it loads contains our hook."""
        if self.with_ours:
            return
        root, folder = self.place.root, self.start.folder
        if folder != root and self.started_as(folder=str(root)).with_ours:
            why = f"{self.tool} reads the settings of {folder}, and the hooks are in {root}"
            yield why, str(folder), f"`cd {quote(str(root))} && moot run -- {self.tool}`"
            return
        yield f"{self.tool} would load no hook of ours", str(folder), self.fix()

    def find_missing_moot(self) -> Iterator[Problem]:
        """Yield a missing moot: our command fails closed, so nothing could be edited without it."""
        path = self.start.env.get("PATH", os.defpath)
        for layer in self.with_ours:
            commands = self._commands_in(layer)
            if any(hook_command.missing_file(command, path) is not None for command in commands):
                why = (
                    "the moot that the hooks name is not there for the tool: it could edit nothing"
                )
                yield why, layer.path, f"put moot on PATH, or {self.fix()}"


class ShownCall(NamedTuple):
    """A call that may change files: its tool session, and its time."""

    session: str
    at: Millis


def show_call(session: object, at: object) -> Iterator[ShownCall]:
    """Yield the call if its session and its time can be read."""
    if isinstance(session, str) and isinstance(at, str):
        try:
            yield ShownCall(session, parse_time(at))
        except (ValueError, MootError):
            return


def read_json_lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON lines file; skips a line that is still being written."""
    try:
        with file.open("rb") as lines:
            for line in lines:
                try:
                    found = json.loads(line)
                except ValueError:
                    continue
                if isinstance(found, dict):
                    yield found
    except OSError:
        return


class CallReport(NamedTuple):
    """A report that names one call of a model: its name, and the attributes that hold the numbers.

    `only` are attributes that must have this value. Several attributes are summed.
    """

    name: str
    tokens_in: tuple[str, ...]
    tokens_out: tuple[str, ...]
    dollars: str = ""
    only: Mapping[str, str] = {}


class ToolOutput(NamedTuple):
    """The model's answer from a tool's output, and its cost as the tool reports it.

    `text` is None if the answer could not be located. The numbers are as the tool wrote them.
    `error` is why it failed, if the output says so.
    """

    text: str | None
    tokens_in: Any = 0
    tokens_out: Any = 0
    dollars: Any = None
    model: str | None = None
    error: str = ""


class OtlpAddress(NamedTuple):
    """The endpoint that a tool exports to, without the signal's path, and its token."""

    endpoint: str
    token: str

    @property
    def header(self) -> str:
        return f"{TOKEN_HEADER}={self.token}"

    def as_variables(self) -> dict[str, str]:
        """Return the variables that all exporters read; arguments would show the token to other
        users."""
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.endpoint,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
            "OTEL_EXPORTER_OTLP_HEADERS": self.header,
        }


def is_telemetry_variable(name: str) -> bool:
    """Return whether this variable sets where telemetry goes."""
    return name in _TELEMETRY_NAMES or name.startswith(_TELEMETRY_PREFIXES)


def home_folder(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or os.path.expanduser("~"))


def is_switched_on(value: str | None) -> bool:
    return (value or "").lower() in ("1", "true")


def _without_comments(text: str) -> str:
    plain = _COMMENTS.sub(lambda match: match[1] or " ", text)
    return _TRAILING.sub(lambda match: match[1] or "", plain)

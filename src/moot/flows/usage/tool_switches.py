"""How each coding tool is told to report what it uses to a run, and when it is left alone.

A tool whose user sends its telemetry somewhere already, by variables, settings or arguments, is
left as it is: nothing is ever taken from a collector. What such a tool uses stays unknown. Only
reports of calls are asked for, as JSON, and no texts where a tool can be told so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from moot.flows.launch.started_tools import StartedTool
from moot.flows.launch.tool_settings import ToolStart, read_tool_start
from moot.flows.usage.receiver import TOKEN_HEADER, OtlpAddress

# Variables by which a user says where telemetry goes, or that there is to be none.
_OWN_PREFIXES: Final = ("OTEL_EXPORTER_", "GEMINI_TELEMETRY_", "BETA_TRACING_")
_OWN_NAMES: Final = frozenset(
    {
        "CLAUDE_CODE_ENABLE_TELEMETRY",
        "OTEL_LOGS_EXPORTER",
        "OTEL_METRICS_EXPORTER",
        "OTEL_TRACES_EXPORTER",
        "OTEL_SDK_DISABLED",
    }
)


class UsageSwitches(NamedTuple):
    """What to start instead, and what to add to its environment, so that its tools report here.

    `left_alone` says of each tool that will not, why.
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    left_alone: Mapping[str, str]


class _Switch(NamedTuple):
    """How one tool is told: variables, and arguments that stand before its own.

    It is left alone if a variable `is_own`, or if its `own_settings` name a place.
    """

    env: Callable[[OtlpAddress], Mapping[str, str]]
    arguments: Callable[[OtlpAddress], tuple[str, ...]]
    is_own: Callable[[str], bool]
    own_settings: Callable[[ToolStart], Iterator[str]]


def switch_usage_on(
    words: Sequence[str], tools: Sequence[StartedTool], address: OtlpAddress
) -> UsageSwitches:
    """The words and variables with which these tools, which `words` start, report to `address`."""
    env: dict[str, str] = {}
    left_alone: dict[str, str] = {}
    for started in tools:
        switch = _SWITCHES[started.tool]
        why = _why_left_alone(started, switch)
        if why:
            left_alone[started.tool] = why
            continue
        changed = _put_before_arguments(words, started, switch.arguments(address))
        if changed is None:
            left_alone[started.tool] = "its arguments stand in a text for a shell"
            continue
        words = changed
        env |= switch.env(address)
    return UsageSwitches(tuple(words), env, left_alone)


def _why_left_alone(started: StartedTool, switch: _Switch) -> str:
    if started.is_other_user:
        return "it runs as another user"
    named = [name for name in started.env if switch.is_own(name) and started.env[name]]
    if named:
        return f"{min(named)} says where its telemetry goes"
    place = next(switch.own_settings(read_tool_start(started)), "")
    return f"{place} says where its telemetry goes" if place else ""


def is_own_setting(name: str) -> bool:
    """Does this variable say where telemetry goes?"""
    return name in _OWN_NAMES or name.startswith(_OWN_PREFIXES)


def _put_before_arguments(
    words: Sequence[str], started: StartedTool, more: tuple[str, ...]
) -> Sequence[str] | None:
    if not more:
        return words
    at = len(words) - len(started.arguments)
    is_behind = at > 0 and tuple(words[at:]) == started.arguments
    return (*words[:at], *more, *words[at:]) if is_behind else None


def _exporter(address: OtlpAddress) -> dict[str, str]:
    """By the variables that all exporters read; the token is in no argument that others can see."""
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": address.endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
        "OTEL_EXPORTER_OTLP_HEADERS": f"{TOKEN_HEADER}={address.token}",
    }


def _no_arguments(_address: OtlpAddress) -> tuple[str, ...]:
    return ()


def _claude_env(address: OtlpAddress) -> Mapping[str, str]:
    """Only its logs come here. It keeps all of these from the programs that it starts."""
    return {
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": f"{address.endpoint}/v1/logs",
        "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/json",
        "OTEL_EXPORTER_OTLP_LOGS_HEADERS": f"{TOKEN_HEADER}={address.token}",
    }


def _is_own_of_claude(name: str) -> bool:
    """Without the first it exports nothing, wherever the others lead."""
    return name in ("CLAUDE_CODE_ENABLE_TELEMETRY", "OTEL_SDK_DISABLED") or name.startswith("BETA_")


def _claude_own(start: ToolStart) -> Iterator[str]:
    for layer in start.layers:
        if any(map(is_own_setting, _table(layer.document, "env"))):
            yield layer.path


def _codex_env(address: OtlpAddress) -> Mapping[str, str]:
    return {"OTEL_EXPORTER_OTLP_LOGS_HEADERS": f"{TOKEN_HEADER}={address.token}"}


def _is_own_of_codex(name: str) -> bool:
    """It exports what its settings say, and takes from variables only what it sends along."""
    return name in ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "OTEL_SDK_DISABLED")


def _codex_arguments(address: OtlpAddress) -> tuple[str, ...]:
    exporter = f'{{otlp-http={{endpoint="{address.endpoint}/v1/logs",protocol="json"}}}}'
    return "-c", f"otel.exporter={exporter}", "-c", "otel.log_user_prompt=false"


def _codex_own(start: ToolStart) -> Iterator[str]:
    if any(text.lstrip().startswith("otel") for text in start.values_of("-c", "--config")):
        yield "-c otel"
    for layer in start.layers:
        profiles = _table(layer.document, "profiles")
        for table in (layer.document, *(_table(profiles, name) for name in profiles)):
            if _table(table, "otel").get("exporter", "none") != "none":
                yield layer.path


def _gemini_env(address: OtlpAddress) -> Mapping[str, str]:
    return {
        **_exporter(address),
        "GEMINI_TELEMETRY_ENABLED": "true",
        "GEMINI_TELEMETRY_TARGET": "local",
        "GEMINI_TELEMETRY_OTLP_ENDPOINT": address.endpoint,
        "GEMINI_TELEMETRY_OTLP_PROTOCOL": "http",
        "GEMINI_TELEMETRY_LOG_PROMPTS": "false",
    }


def _gemini_own(start: ToolStart) -> Iterator[str]:
    if any(word.startswith(("--telemetry", "--no-telemetry")) for word in start.started.arguments):
        yield "--telemetry"
    for layer in start.layers:
        if "telemetry" in layer.document:
            yield layer.path


def _opencode_env(address: OtlpAddress) -> Mapping[str, str]:
    """It ends without sending what waits, so nothing may wait for long."""
    content = json.dumps({"experimental": {"openTelemetry": True}})
    told = {"OPENCODE_CONFIG_CONTENT": content, "OTEL_BSP_SCHEDULE_DELAY": "100"}
    return {**_exporter(address), **told}


def _opencode_own(start: ToolStart) -> Iterator[str]:
    """What the variable holds already would be replaced as a whole."""
    if start.env.get("OPENCODE_CONFIG_CONTENT"):
        yield "OPENCODE_CONFIG_CONTENT"


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = document.get(name)
    return table if isinstance(table, dict) else {}


_SWITCHES: Final[Mapping[str, _Switch]] = {
    "claude": _Switch(_claude_env, _no_arguments, _is_own_of_claude, _claude_own),
    "codex": _Switch(_codex_env, _codex_arguments, _is_own_of_codex, _codex_own),
    "gemini": _Switch(_gemini_env, _no_arguments, is_own_setting, _gemini_own),
    "opencode": _Switch(_opencode_env, _no_arguments, is_own_setting, _opencode_own),
}

"""How each tool is told to report to a run, and when it is left as its user has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from moot.coding_tools.starts import TOKEN_HEADER, OtlpAddress, StartedTool
from moot.runner.run_usage import UsageSwitches, switch_usage_on

ADDRESS = OtlpAddress("http://127.0.0.1:4711", "secret-token")
TOOLS = ("claude", "codex", "gemini", "opencode")


def switch(
    tmp: Path,
    tool: str,
    *arguments: str,
    wrapper: tuple[str, ...] = (),
    env: Mapping[str, str] = {},
) -> UsageSwitches:
    home = {"HOME": str(tmp / "home"), **env}
    started = StartedTool(tool, arguments, (tool,), home, str(tmp))
    return switch_usage_on((*wrapper, tool, *arguments), [started], ADDRESS)


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_learns_where_and_with_which_token(tmp_path: Path, tool: str) -> None:
    switched = switch(tmp_path, tool, "do", "it")
    assert switched.left_alone == {}
    told = " ".join((*switched.words, *switched.env.values()))
    assert ADDRESS.endpoint in told
    assert f"{TOKEN_HEADER}={ADDRESS.token}" in switched.env.values()
    # Arguments can be read by every user of the machine, variables cannot.
    assert ADDRESS.token not in " ".join(switched.words)


def test_codex_is_told_before_its_own_arguments(tmp_path: Path) -> None:
    switched = switch(tmp_path, "codex", "exec", "do it", wrapper=("timeout", "9"))
    assert switched.words[:4] == ("timeout", "9", "codex", "-c")
    assert switched.words[-2:] == ("exec", "do it")
    exporter = (
        'otel.exporter={otlp-http={endpoint="http://127.0.0.1:4711/v1/logs",protocol="json"}}'
    )
    assert exporter in switched.words


def test_codex_inside_a_text_for_a_shell_is_left_alone(tmp_path: Path) -> None:
    started = StartedTool("codex", ("exec",), ("codex",), {"HOME": str(tmp_path)}, str(tmp_path))
    switched = switch_usage_on(("bash", "-c", "codex exec"), [started], ADDRESS)
    assert (switched.words, switched.env) == (("bash", "-c", "codex exec"), {})
    assert switched.left_alone == {"codex": "its arguments stand in a text for a shell"}


OTLP = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_METRICS_EXPORTER")
OWN_VARIABLES = {
    "claude": ("CLAUDE_CODE_ENABLE_TELEMETRY", "OTEL_SDK_DISABLED"),
    "codex": ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "OTEL_SDK_DISABLED"),
    "gemini": (*OTLP, "OTEL_SDK_DISABLED", "GEMINI_TELEMETRY_TARGET"),
    "opencode": (*OTLP, "OTEL_SDK_DISABLED"),
}


@pytest.mark.parametrize(
    ("tool", "name"), [(tool, name) for tool, many in OWN_VARIABLES.items() for name in many]
)
def test_a_variable_of_the_users_own_wins(tmp_path: Path, tool: str, name: str) -> None:
    switched = switch(tmp_path, tool, "do", env={name: "mine"})
    assert (switched.words, switched.env) == ((tool, "do"), {})
    assert switched.left_alone == {tool: f"{name} says where its telemetry goes"}


@pytest.mark.parametrize("tool", ["claude", "codex"])
@pytest.mark.parametrize("name", OTLP)
def test_a_collector_for_other_programs_stays_theirs(tmp_path: Path, tool: str, name: str) -> None:
    """These two export nothing there by themselves, and what they are told is for them alone."""
    switched = switch(tmp_path, tool, "do", env={name: "mine"})
    assert switched.left_alone == {}
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" not in switched.env
    assert "OTEL_EXPORTER_OTLP_HEADERS" not in switched.env


OWN_FILES = {
    "claude": (
        ("home/.claude/settings.json", json.dumps({"env": {"OTEL_METRICS_EXPORTER": "otlp"}})),
        (".claude/settings.json", json.dumps({"env": {"CLAUDE_CODE_ENABLE_TELEMETRY": "1"}})),
    ),
    "codex": (
        ("home/.codex/config.toml", '[otel]\nexporter = {otlp-grpc = {endpoint = "x"}}\n'),
        ("home/.codex/config.toml", '[profiles.a.otel]\nexporter = "statsig"\n'),
        (".codex/config.toml", '[otel.exporter.otlp-http]\nendpoint = "x"\nprotocol = "json"\n'),
    ),
    "gemini": (
        ("home/.gemini/settings.json", json.dumps({"telemetry": {"enabled": True}})),
        (".gemini/settings.json", json.dumps({"telemetry": {"target": "gcp"}})),
    ),
}


@pytest.mark.parametrize(
    ("tool", "file", "text"),
    [(tool, file, text) for tool, many in OWN_FILES.items() for file, text in many],
)
def test_settings_of_the_users_own_win(tmp_path: Path, tool: str, file: str, text: str) -> None:
    put(tmp_path / file, text)
    switched = switch(tmp_path, tool, "do")
    assert (switched.words, switched.env) == ((tool, "do"), {})
    assert switched.left_alone == {tool: f"{tmp_path / file} says where its telemetry goes"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("codex", ("-c", 'otel.exporter={otlp-http={endpoint="x"}}')),
        ("codex", ("exec", "--config=otel.environment=mine")),
        ("gemini", ("--telemetry", "-p", "x")),
        ("claude", ("--settings", '{"env":{"OTEL_LOGS_EXPORTER":"otlp"}}')),
    ],
)
def test_arguments_of_the_users_own_win(
    tmp_path: Path, tool: str, arguments: tuple[str, ...]
) -> None:
    switched = switch(tmp_path, tool, *arguments)
    assert (switched.words, switched.env) == ((tool, *arguments), {})
    assert set(switched.left_alone) == {tool}


def test_other_settings_of_opencode_in_a_variable_are_not_replaced(tmp_path: Path) -> None:
    switched = switch(tmp_path, "opencode", env={"OPENCODE_CONFIG_CONTENT": "{}"})
    assert switched.env == {}
    assert set(switched.left_alone) == {"opencode"}


def test_other_settings_of_codex_stay_and_it_reports(tmp_path: Path) -> None:
    put(tmp_path / "home/.codex/config.toml", '[otel]\nexporter = "none"\nenvironment = "dev"\n')
    assert switch(tmp_path, "codex", "exec").left_alone == {}


def test_another_users_tool_is_left_alone(tmp_path: Path) -> None:
    started = StartedTool("claude", (), ("claude",), {}, str(tmp_path), is_other_user=True)
    switched = switch_usage_on(("sudo", "claude"), [started], ADDRESS)
    assert (switched.env, switched.left_alone) == ({}, {"claude": "it runs as another user"})

"""The real tools, asked by `moot run --usage`, say what they used to a model of ours."""

from __future__ import annotations

from typing import Any

import pytest

from tests.project import CRANE
from tests.real_tools.scripted_model import Model
from tests.real_tools.tool_project import EACH, MOOT_RUN, Played, ToolProject, each_of
from tests.real_tools.tools import Tool
from tests.telemetry.collector import Collector

# Calls that each tool makes for one edit: some have a model choose a model, or make up a title.
CALLS = {"claude": 2, "codex": 2, "gemini": 3, "opencode": 3}
WITH_USAGE = (*MOOT_RUN[:-1], "--usage", "--work", "T-7", "--")


def play(project: ToolProject, *words: str, **settings: str) -> Played:
    model = Model(project.tool.write(str(project.file("free.txt"))))
    started = words or (*WITH_USAGE, *project.tool.command)
    return project.perform(model, started, settings=settings)


def used(project: ToolProject) -> list[Any]:
    return list(project.ok("status")["usage"])


@EACH
def test_tokens_of_a_tool_stand_in_the_record_and_in_status(
    project: ToolProject, tool: Tool
) -> None:
    played = play(project)
    assert played.exit_status == 0
    assert project.file("free.txt").read_text("utf-8") == "written\n"
    (row,) = used(project)
    calls = CALLS[tool.name]  # the model says one token in and one out of every call
    assert row["work"] == "T-7"
    assert {name: row["usage"][name] for name in ("calls", "tokens_in", "tokens_out")} == {
        "calls": calls,
        "tokens_in": calls,
        "tokens_out": calls,
    }
    assert row["usage"]["so_far"] is False
    has_price = tool.name == "claude"
    assert (row["usage"]["micros"] is not None) is has_price
    assert row["usage"]["unpriced"] == (0 if has_price else calls)
    assert f"{tool.name} used {row['usage']['line']}" in played.err
    project.ok("verify")


@EACH
def test_a_tool_that_reports_what_it_uses_is_guarded_all_the_same(
    project: ToolProject, tool: Tool
) -> None:
    project.reserve(CRANE, "held.txt")
    model = Model(*(tool.write(str(project.file(name))) for name in ("held.txt", "free.txt")))
    project.perform(model, (*WITH_USAGE, *tool.command))
    assert not project.file("held.txt").exists()
    assert project.file("free.txt").read_text("utf-8") == "written\n"
    assert project.owners() == {"held.txt": CRANE}


@EACH
def test_a_tool_that_is_not_asked_has_used_an_unknown_amount(
    project: ToolProject, tool: Tool
) -> None:
    played = play(project, *MOOT_RUN, *tool.command)
    assert played.exit_status == 0
    assert used(project) == []
    assert "used" not in played.err


@each_of("gemini", "opencode")
def test_a_collector_of_the_users_own_is_left_its_telemetry(
    project: ToolProject, tool: Tool
) -> None:
    elsewhere = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    played = play(project, **elsewhere)
    assert played.exit_status == 0
    assert used(project) == []
    line = f"what {tool.name} uses stays unknown: OTEL_EXPORTER_OTLP_ENDPOINT says where"
    assert line in played.err


@each_of("claude", "codex")
def test_beside_a_collector_for_others_the_tool_reports_to_its_run_alone(
    project: ToolProject, tool: Tool
) -> None:
    with Collector() as collector:
        played = play(project, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
        assert collector.requests == []
    assert played.exit_status == 0
    assert [row["usage"]["calls"] for row in used(project)] == [CALLS[tool.name]]


@each_of("codex")
@pytest.mark.parametrize("wrapper", [("env", "A=1"), ("timeout", "100")])
def test_behind_a_wrapper_codex_reports_too(
    project: ToolProject, tool: Tool, wrapper: tuple[str, ...]
) -> None:
    played = play(project, *WITH_USAGE, *wrapper, *tool.command)
    assert played.exit_status == 0
    assert [row["usage"]["calls"] for row in used(project)] == [CALLS[tool.name]]


@each_of("claude")
def test_hooks_of_a_real_tool_are_spans_below_its_run(project: ToolProject, tool: Tool) -> None:
    with Collector() as collector:
        played = play(project, *MOOT_RUN, *tool.command, **collector.variables)
    assert played.exit_status == 0
    run = collector.span("moot run")
    assert run.attributes["moot.tools"] == [tool.name]
    hooks = [span for span in collector.spans if span.name == f"moot hook {tool.name}"]
    assert {"PreToolUse", "PostToolUse"} <= {span.attributes["moot.hook.event"] for span in hooks}
    assert {span.trace for span in hooks} == {run.trace}

"""The real tools, asked by `moot run --usage`, say what they used to a model of ours."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.loopback import Model
from tests.agents.stage import EACH, MOOT_RUN, Played, Stage, each_of
from tests.agents.tools import Tool
from tests.hooks.yard import CRANE
from tests.telemetry.collector import Collector

# Calls that each tool makes for one edit: some have a model choose a model, or make up a title.
CALLS = {"claude": 2, "codex": 2, "gemini": 3, "opencode": 3}
WITH_USAGE = (*MOOT_RUN[:-1], "--usage", "--work", "T-7", "--")


def play(stage: Stage, *words: str, **settings: str) -> Played:
    model = Model(stage.tool.write(str(stage.file("free.txt"))))
    started = words or (*WITH_USAGE, *stage.tool.command)
    return stage.perform(model, started, settings=settings)


def used(stage: Stage) -> list[Any]:
    return list(stage.yard.ok("status")["usage"])


@EACH
def test_tokens_of_a_tool_stand_in_the_record_and_in_status(stage: Stage, tool: Tool) -> None:
    played = play(stage)
    assert played.exit_status == 0
    assert stage.file("free.txt").read_text("utf-8") == "written\n"
    (row,) = used(stage)
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
    stage.yard.ok("verify")


@EACH
def test_a_tool_that_reports_what_it_uses_is_guarded_all_the_same(stage: Stage, tool: Tool) -> None:
    stage.yard.reserve(CRANE, "held.txt")
    model = Model(*(tool.write(str(stage.file(name))) for name in ("held.txt", "free.txt")))
    stage.perform(model, (*WITH_USAGE, *tool.command))
    assert not stage.file("held.txt").exists()
    assert stage.file("free.txt").read_text("utf-8") == "written\n"
    assert stage.yard.owners() == {"held.txt": CRANE}


@EACH
def test_a_tool_that_is_not_asked_has_used_an_unknown_amount(stage: Stage, tool: Tool) -> None:
    played = play(stage, *MOOT_RUN, *tool.command)
    assert played.exit_status == 0
    assert used(stage) == []
    assert "used" not in played.err


@each_of("gemini", "opencode")
def test_a_collector_of_the_users_own_is_left_its_telemetry(stage: Stage, tool: Tool) -> None:
    elsewhere = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    played = play(stage, **elsewhere)
    assert played.exit_status == 0
    assert used(stage) == []
    line = f"what {tool.name} uses stays unknown: OTEL_EXPORTER_OTLP_ENDPOINT says where"
    assert line in played.err


@each_of("claude", "codex")
def test_beside_a_collector_for_others_the_tool_reports_to_its_run_alone(
    stage: Stage, tool: Tool
) -> None:
    with Collector() as collector:
        played = play(stage, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
        assert collector.requests == []
    assert played.exit_status == 0
    assert [row["usage"]["calls"] for row in used(stage)] == [CALLS[tool.name]]


@each_of("codex")
@pytest.mark.parametrize("wrapper", [("env", "A=1"), ("timeout", "100")])
def test_behind_a_wrapper_codex_reports_too(
    stage: Stage, tool: Tool, wrapper: tuple[str, ...]
) -> None:
    played = play(stage, *WITH_USAGE, *wrapper, *tool.command)
    assert played.exit_status == 0
    assert [row["usage"]["calls"] for row in used(stage)] == [CALLS[tool.name]]


@each_of("claude")
def test_hooks_of_a_real_tool_are_spans_below_its_run(stage: Stage, tool: Tool) -> None:
    with Collector() as collector:
        played = play(stage, *MOOT_RUN, *tool.command, **collector.variables)
    assert played.exit_status == 0
    run = collector.span("moot run")
    assert run.attributes["moot.tools"] == [tool.name]
    hooks = [span for span in collector.spans if span.name == f"moot hook {tool.name}"]
    assert {"PreToolUse", "PostToolUse"} <= {span.attributes["moot.hook.event"] for span in hooks}
    assert {span.trace for span in hooks} == {run.trace}

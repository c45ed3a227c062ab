"""With telemetry on: what commands, hooks, participants and runs look like to a collector."""

from __future__ import annotations

import base64
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.semconv._incubating.attributes import error_attributes, gen_ai_attributes
from opentelemetry.semconv.schemas import Schemas

from moot.usage.telemetry import conventions, exporting
from tests.hooks.tool_calls import call
from tests.project import MOOT, Project
from tests.telemetry.collector import Collector

SECONDS = 60.0


@pytest.fixture
def collector(project: Project) -> Iterator[Collector]:
    with Collector() as one:
        project.env.update(one.variables)
        yield one


def hex_of(identity: str) -> str:
    return base64.b64decode(identity).hex()


def test_a_command_is_a_span_with_its_measurements(project: Project, collector: Collector) -> None:
    assert project.spawn("--as", "amber-otter", "reserve", "src", "--work", "secret-work").code == 0
    span = collector.span("moot reserve")
    assert span.attributes == {
        "moot.command": "reserve",
        "moot.exit_code": 0,
        "moot.agent": "amber-otter",
    }
    assert (span.parent, span.failed, span.schema) == ("", False, conventions.SCHEMA_URL)
    assert ({"moot.event": "presence.scope_reserved"}, 1) in collector.points("moot.events")
    ((attributes, count),) = collector.points("moot.command.duration")
    assert (attributes["moot.command"], count) == ("reserve", 1)
    (name,) = {resource["service.name"] for resource in collector.resources}
    assert name == "moot"


def test_a_refusal_and_its_incursion_are_counted(project: Project, collector: Collector) -> None:
    project.ok("--as", "teal-crane", "reserve", "src", MOOT_OTEL="0")
    assert collector.requests == []
    assert project.spawn("--as", "amber-otter", "reserve", "src/a.py").code == 1
    span = collector.span("moot reserve")
    assert (span.failed, span.attributes["error.type"]) == (True, "reservation_conflict")
    assert collector.points("moot.refusals") == [({"error.type": "reservation_conflict"}, 1)]
    assert collector.points("moot.incursions") == [({}, 1)]


def test_open_duties_are_measured_where_they_are_read(
    project: Project, collector: Collector
) -> None:
    sent = ("blocked", "teal-crane", "--work", "T-1", "--subject", "x", "--blocker", "y")
    words = ("--as", "amber-otter", *sent, "--requested-action", "z")
    project.ok(*words, MOOT_OTEL="0")
    assert project.spawn("agenda").code == 0
    assert collector.points("moot.duties.open") == [({}, 1)]


def test_no_text_and_no_name_of_a_file_is_exported_unless_that_is_asked_for(
    project: Project, collector: Collector
) -> None:
    words = ("--as", "amber-otter", "reserve", "private/plan.py", "--work", "secret-work")
    project.spawn(*words)
    said = json.dumps(call("claude-write", project.root, "private/plan.py"))
    answer_hook(project, said)
    assert collector.spans
    exported = b"".join(collector.bodies)
    for text in (b"private", b"secret-work", str(project.root).encode()):
        assert text not in exported
    project.spawn(*words, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true")
    assert collector.spans[-1].attributes["process.command_args"] == ["moot", *words]


def answer_hook(project: Project, said: str, **settings: str) -> tuple[int, str]:
    done = subprocess.run(
        [*MOOT, "hook", "claude"],
        cwd=project.root,
        env={**project.env, "MOOT_AGENT": "amber-otter", **settings},
        input=said,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def without_numbers(answered: tuple[int, str]) -> tuple[int, str]:
    """How long ago somebody was seen changes from one moment to the next."""
    return answered[0], re.sub(r"[\d.]+", "N", answered[1])


def test_a_hook_answers_the_same_and_its_call_is_a_span(
    project: Project, collector: Collector
) -> None:
    project.ok("--as", "teal-crane", "reserve", "held.py", MOOT_OTEL="0")
    for file in ("held.py", "free.py"):
        said = json.dumps(call("claude-write", project.root, file))
        with_it, without = answer_hook(project, said), answer_hook(project, said, MOOT_OTEL="0")
        assert without_numbers(with_it) == without_numbers(without)
    held, free = collector.spans
    assert held.name == free.name == "moot hook claude"
    usual = {"moot.tool": "claude", "moot.hook.event": "PreToolUse", "moot.agent": "amber-otter"}
    assert held.attributes == {**usual, "moot.hook.held_back": True}
    assert free.attributes == {**usual, "moot.hook.held_back": False}
    assert [count for _, count in collector.points("moot.hook.duration")] == [1, 1]
    assert ({"error.type": "reservation_conflict"}, 1) in collector.points("moot.refusals")
    assert ({"moot.event": "presence.scope_reserved"}, 1) in collector.points("moot.events")


PROGRAM = (
    "import os, subprocess, sys; print(os.environ['TRACEPARENT'], os.environ['MOOT_OTEL'],"
    " os.environ['OTEL_RESOURCE_ATTRIBUTES']);"
    " subprocess.run([*sys.argv[1:], 'status'], stdout=subprocess.DEVNULL, timeout=60)"
)


def test_a_run_hands_its_trace_on_and_what_its_program_does_stands_below(
    project: Project, collector: Collector
) -> None:
    begun = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    words = ("run", "--name", "mint-hill", "--", sys.executable, "-c", PROGRAM, *MOOT)
    done = project.spawn(*words, TRACEPARENT=begun)
    assert done.code == 0, done.err
    run, status = collector.span("moot run"), collector.span("moot status")
    assert hex_of(run.trace) == hex_of(status.trace) == "0af7651916cd43dd8448eb211c80319c"
    assert hex_of(run.parent) == "b7ad6b7169203331"
    assert status.parent == run.id
    parent, on, attributes = done.out.split()
    assert parent == f"00-{hex_of(run.trace)}-{hex_of(run.id)}-01"
    assert (on, attributes) == ("1", "moot.agent=mint-hill")
    assert (run.attributes["moot.agent"], run.attributes["moot.tools"]) == ("mint-hill", [])


def test_a_hook_that_a_run_answers_is_a_span_below_the_run(
    project: Project, collector: Collector, tmp_path: Path
) -> None:
    said = tmp_path / "call.json"
    said.write_text(json.dumps(call("claude-write", project.root, "a.py")), encoding="utf-8")
    thin = Path(exporting.__file__).parents[2] / "surfaces" / "hooks" / "thin.py"
    program = f"exec {sys.executable} -I -S {thin} claude < {said}"
    done = project.spawn("run", "--name", "mint-hill", "--", "sh", "-c", program)
    assert done.code == 0, done.err
    run, hook = collector.span("moot run"), collector.span("moot hook claude")
    assert (hook.trace, hook.parent) == (run.trace, run.id)
    assert hook.attributes["moot.agent"] == "mint-hill"
    assert ({"moot.event": "presence.scope_reserved"}, 1) in collector.points("moot.events")


def test_a_participants_call_is_a_span_by_the_genai_conventions(
    project: Project, collector: Collector
) -> None:
    words = ("ask", "Which port?", "--with", "rules:approve", "--with", "rules:sceptic")
    project.spawn(*words)
    calls = [span for span in collector.spans if span.name.startswith("invoke_agent ")]
    assert calls
    (ask,) = [span for span in collector.spans if span.name == "moot ask"]
    for span in calls:
        assert span.parent == ask.id
        assert span.attributes["gen_ai.operation.name"] == "invoke_agent"
        assert span.name == f"invoke_agent {span.attributes['gen_ai.agent.name']}"
        assert "moot.call.ending" in span.attributes
        assert "gen_ai.usage.input_tokens" not in span.attributes  # nobody said
    assert b"Which port" not in b"".join(collector.bodies)
    assert len(collector.points("moot.call.duration")) > 0
    assert {value for _, value in collector.points("moot.cost")} <= {0.0}  # rules cost nothing


def test_names_are_those_of_the_pinned_version() -> None:
    assert Schemas.V1_44_0.value == conventions.SCHEMA_URL
    known = {value for key, value in vars(gen_ai_attributes).items() if key.startswith("GEN_AI_")}
    ours = {value for value in vars(exporting).values() if str(value).startswith("gen_ai.")}
    assert ours - known == {conventions.TOKEN_USAGE}  # a metric, not an attribute
    assert error_attributes.ERROR_TYPE == conventions.ERROR


def test_a_collector_that_is_away_stops_no_command_and_prints_nothing(project: Project) -> None:
    with Collector() as gone:
        away = gone.variables
    done = project.spawn("status", **away)
    usual = project.spawn("status")
    assert (done.code, done.err) == (0, "")
    assert re.sub(r"\d+", "N", done.out) == re.sub(r"\d+", "N", usual.out)


def test_a_collector_that_never_answers_stops_no_command_either(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = project.spawn("log", MOOT_OTEL="1", OTEL_EXPORTER_OTLP_ENDPOINT=place)
    assert (done.code, done.err) == (0, "")


def test_a_time_that_is_none_is_said_and_the_command_runs(project: Project) -> None:
    done = project.spawn("log", MOOT_OTEL="1", OTEL_EXPORTER_OTLP_TIMEOUT="soon")
    assert done.code == 0
    assert "telemetry is off: OpenTelemetry cannot use its variables" in done.err


@pytest.mark.parametrize("protocol", ["grpc", "http/json"])
def test_a_protocol_that_is_not_spoken_is_said_and_the_command_runs(
    project: Project, collector: Collector, protocol: str
) -> None:
    done = project.spawn("status", OTEL_EXPORTER_OTLP_PROTOCOL=protocol)
    assert done.code == 0
    assert f"telemetry is off: OTEL_EXPORTER_OTLP_PROTOCOL is {protocol}" in done.err
    assert collector.requests == []


@pytest.mark.parametrize(
    ("settings", "paths"),
    [
        ({"OTEL_SDK_DISABLED": "true"}, set()),
        ({"OTEL_TRACES_EXPORTER": "none"}, {"/v1/metrics"}),
        ({"OTEL_METRICS_EXPORTER": "none"}, {"/v1/traces"}),
        ({"OTEL_TRACES_SAMPLER": "always_off"}, {"/v1/metrics"}),
        ({}, {"/v1/traces", "/v1/metrics"}),
    ],
)
def test_the_standard_variables_count(
    project: Project, collector: Collector, settings: dict[str, str], paths: set[str]
) -> None:
    assert project.spawn("status", **settings).code == 0
    assert {path for path, _ in collector.requests} == paths


def test_a_users_own_file_turns_it_on_and_a_repositorys_does_not(
    project: Project, collector: Collector, tmp_path: Path
) -> None:
    del project.env["MOOT_OTEL"]
    own, text = tmp_path / "own.toml", '[telemetry]\nexport = "on"\n'
    own.write_text(text, encoding="utf-8")
    assert project.spawn("log").code == 0
    assert collector.requests == []
    assert project.spawn("log", MOOT_CONFIG=str(own)).code == 0
    assert [span.name for span in collector.spans] == ["moot log"]
    assert project.spawn("log", MOOT_CONFIG=str(own), MOOT_OTEL="0").code == 0
    assert len(collector.spans) == 1


def test_without_the_extra_a_command_says_so_and_runs(project: Project, tmp_path: Path) -> None:
    missing = tmp_path / "path" / "opentelemetry"
    missing.mkdir(parents=True)
    (missing / "__init__.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    env = {**project.env, "MOOT_OTEL": "1", "PYTHONPATH": str(missing.parent)}
    done = subprocess.run(
        [*MOOT, "status"],
        cwd=project.root,
        env=env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0
    assert "its libraries are not installed" in done.stderr


def test_what_is_exported_inside_a_run_never_goes_to_that_runs_own_listener() -> None:
    from moot.usage.telemetry.exporting import DEFAULT_ENDPOINT, _address

    inside = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4711",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-moot-token=abc",
    }
    assert _address(inside, "traces")["endpoint"] == f"{DEFAULT_ENDPOINT}/v1/traces"
    assert "endpoint" not in _address({}, "traces")

"""`moot run --usage` of a program that reports like Claude Code: while it works, and on record."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.api.page.sessions import sessions
from moot.api.session import Session
from moot.keys.folder import KeyFolder
from tests.hooks.fake_tools import put_program
from tests.project import MOOT, Project, make_project
from tests.telemetry.collector import Collector

SECONDS = 60.0
# Reports as often as lines come, says so, and ends with its input.
REPORTER = f"""#!{sys.executable}
import json, os, sys, urllib.request
def report(body, token):
    headers = {{"content-type": "application/json", "x-moot-token": token}}
    place = os.environ["OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"]
    request = urllib.request.Request(place, body.encode(), headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))
    try:
        return opener.open(request, timeout=30).status
    except urllib.error.HTTPError as error:
        return error.code
own = os.environ.get("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "").partition("=")[2]
if "--tell" in sys.argv:
    names = ("CLAUDE_CODE_ENABLE_TELEMETRY", "OTEL_RESOURCE_ATTRIBUTES", "TRACEPARENT")
    print(json.dumps({{name: os.environ.get(name) for name in names}}), flush=True)
for line in sys.stdin:
    token, _, body = line.partition(" ")
    print(report(body, own if token == "own" else token), flush=True)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    put_program(tmp_path / "bin", "claude", REPORTER)
    project.env["PATH"] = f"{tmp_path / 'bin'}:{project.env['PATH']}"
    return project


def body_of(**numbers: Any) -> str:
    from tests.usage import reports

    return json.dumps(reports.log(reports.claude_call(**numbers)))


class Running:
    """A `moot run` of the program, which reports when it is told to."""

    def __init__(self, project: Project, *words: str, **env: str) -> None:
        command = [*MOOT, "run", "--unguarded", *words, "--", "claude"]
        self.process = subprocess.Popen(
            command,
            cwd=project.root,
            env={**project.env, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def report(self, body: str, token: str = "own") -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{token} {body}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self) -> str:
        _, err = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0, err
        return err


def usage_of(project: Project) -> list[tuple[str, tuple[str, ...], str, bool]]:
    rows = project.ok("status")["usage"]
    return [
        (row["work"], tuple(row["agents"]), row["usage"]["line"], row["usage"]["so_far"])
        for row in rows
    ]


def recorded(project: Project) -> list[dict[str, Any]]:
    return list(project.ok("log", "presence", "--type", "presence.usage_noted")["events"])


def test_what_a_tool_uses_is_shown_while_it_works_and_recorded_when_it_ends(
    project: Project,
) -> None:
    run = Running(project, "--usage", "--name", "amber-otter", "--work", "T-7")
    assert run.report(body_of()) == 200
    line = "1 call, 130 tokens, $0.25"
    assert usage_of(project) == [("T-7", ("amber-otter",), f"{line} so far", True)]
    (agent,) = project.ok("status")["agents"]
    assert (agent["usage"]["micros"], agent["usage"]["so_far"]) == (250_000, True)
    assert recorded(project) == []
    assert run.report(body_of(dollars=0.5)) == 200
    assert "moot: claude used 2 calls, 260 tokens, $0.75\n" in run.end()
    assert usage_of(project) == [("T-7", ("amber-otter",), "2 calls, 260 tokens, $0.75", False)]
    noted = recorded(project)
    assert [row["data"] for row in noted] == [
        {
            "tools": ["claude"],
            "work": "T-7",
            "calls": 2,
            "tokens_in": 220,
            "tokens_out": 40,
            "micros": 750_000,
            "unpriced": 0,
        }
    ]
    assert noted[0]["actor"] == "amber-otter"
    project.ok("verify")


def test_runs_add_up_by_agent_and_by_work(project: Project) -> None:
    for name, work in (("amber-otter", "T-7"), ("teal-crane", "T-7"), ("mint-hill", "T-8")):
        run = Running(project, "--usage", "--name", name, "--work", work)
        assert run.report(body_of()) == 200
        run.end()
    assert [row[:3] for row in usage_of(project)] == [
        ("T-7", ("amber-otter", "teal-crane"), "2 calls, 260 tokens, $0.50"),
        ("T-8", ("mint-hill",), "1 call, 130 tokens, $0.25"),
    ]
    assert "2 calls, 260 tokens, $0.50" in project.run("status").out
    shown = project.ok("agent", "show", "teal-crane")
    assert shown["usage"]["line"] == "1 call, 130 tokens, $0.25"
    folder = project.root.parent / "pages"
    project.ok("report", "--all", "--output", str(folder))
    page = (folder / "index.html").read_text("utf-8")
    assert "2 calls, 260 tokens, $0.50" in page


def test_cards_of_the_page_say_it_too(project: Project) -> None:
    run = Running(project, "--usage", "--name", "amber-otter", "--work", "T-7")
    assert run.report(body_of()) == 200
    assert cards(project) == {"T-7": "1 call, 130 tokens, $0.25 so far"}
    run.end()


def test_a_collector_of_moots_own_gets_what_the_tool_used(project: Project) -> None:
    with Collector() as collector:
        run = Running(project, "--usage", "--name", "amber-otter", **collector.variables)
        assert run.report(body_of()) == 200
        run.end()
    span = collector.span("moot run")
    assert span.attributes["gen_ai.usage.input_tokens"] == 110
    assert span.attributes["moot.cost.usd"] == 0.25
    assert collector.points("moot.cost") == [({"gen_ai.agent.name": "amber-otter"}, 0.25)]
    kinds = {
        point["gen_ai.token.type"] for point, _ in collector.points("gen_ai.client.token.usage")
    }
    assert kinds == {"input", "output"}


def cards(project: Project) -> dict[str | None, str | None]:
    with Session(project.root, keys=KeyFolder(project.keys), env=project.env) as session:
        groups = sessions(session).feed
    return {
        card.work: card.usage.line if card.usage else None
        for group in groups
        for card in group.cards
    }


def test_where_nothing_can_listen_the_run_goes_on_and_says_so(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.usage.receiver.HOST", "192.0.2.1")  # nobody's address
    done = project.run("run", "--unguarded", "--usage", "--", "claude", "--tell")
    assert done.code == 0
    assert "what the tools use is not taken" in done.err
    assert usage_of(project) == []


def test_a_tool_that_says_nothing_has_used_an_unknown_amount(project: Project) -> None:
    Running(project, "--usage", "--name", "amber-otter").end()
    Running(project, "--name", "teal-crane").end()
    assert usage_of(project) == []
    assert [agent["usage"] for agent in project.ok("status", "--all")["agents"]] == [None, None]
    assert project.ok("agent", "show", "amber-otter")["usage"] is None
    assert "used unknown" in " ".join(project.run("agent", "show", "amber-otter").out.split())


def test_another_program_cannot_report_for_the_tool(project: Project) -> None:
    run = Running(project, "--usage", "--name", "amber-otter")
    assert run.report(body_of(), token="guessed") == 401
    assert run.report("{", token="own") == 400
    run.end()
    assert usage_of(project) == []


def test_a_price_that_nobody_knows_is_said(project: Project) -> None:
    from tests.usage import reports

    run = Running(project, "--usage")
    assert run.report(json.dumps(reports.log(reports.CODEX_CALL))) == 200
    run.end()
    ((_, _, line, _),) = usage_of(project)
    assert line == "1 call, 55 tokens, price unknown"
    assert project.ok("status")["usage"][0]["usage"]["micros"] is None


def test_the_users_own_settings_ask_for_it_and_the_flag_overrides(
    project: Project, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[telemetry]\ntools = "on"\n', encoding="utf-8")
    run = Running(project, MOOT_CONFIG=str(own))
    assert run.report(body_of()) == 200
    run.end()
    assert len(usage_of(project)) == 1
    done = project.spawn(
        "run", "--unguarded", "--no-usage", "--", "claude", "--tell", MOOT_CONFIG=str(own)
    )
    assert json.loads(done.out)["CLAUDE_CODE_ENABLE_TELEMETRY"] is None


def test_settings_that_cannot_be_read_ask_for_nothing_and_the_run_goes_on(
    project: Project, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[telemetry\n", encoding="utf-8")
    done = project.spawn("run", "--unguarded", "--", "claude", "--tell", MOOT_CONFIG=str(own))
    assert done.code == 0
    assert json.loads(done.out)["CLAUDE_CODE_ENABLE_TELEMETRY"] is None
    assert "what the tools use is not asked for" in done.err


def test_a_repository_cannot_ask_for_it(project: Project) -> None:
    (project.root / "moot.toml").write_text('[telemetry]\ntools = "on"\n', encoding="utf-8")
    done = project.spawn("run", "--unguarded", "--", "claude", "--tell")
    assert json.loads(done.out)["CLAUDE_CODE_ENABLE_TELEMETRY"] is None


def test_the_program_finds_its_agents_name_for_its_telemetry(project: Project) -> None:
    told = project.spawn("run", "--unguarded", "--name", "amber-otter", "--", "claude", "--tell")
    found = json.loads(told.out)
    assert found["OTEL_RESOURCE_ATTRIBUTES"] == "moot.agent=amber-otter"
    assert found["TRACEPARENT"] is None
    own = {"OTEL_RESOURCE_ATTRIBUTES": "team=blue,moot.agent=other"}
    told = project.spawn(
        "run", "--unguarded", "--name", "teal-crane", "--", "claude", "--tell", **own
    )
    assert json.loads(told.out)["OTEL_RESOURCE_ATTRIBUTES"] == "team=blue,moot.agent=teal-crane"

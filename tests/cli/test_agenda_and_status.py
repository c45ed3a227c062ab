"""What is due and who is here: `moot agenda`, `tick`, `status`, `agent heartbeat`, `bb`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from moot.core.clock import HOUR, system_clock
from moot.protocols.example.model import Ask, Finish
from tests.project import LIST, MOOT, Project

DUE = {"who", "what", "subject", "since", "by", "overdue", "id", "hint"}


def ask(project: Project, title: str, of: str = "teal-crane", due_in: int | None = None) -> None:
    due_at = None if due_in is None else system_clock() + due_in
    project.execute("amber-otter", Ask(title=title, of=of, due_at=due_at))


def subjects(items: list[dict[str, Any]]) -> list[str]:
    return [item["subject"] for item in items]


# agenda


def test_what_waits_is_shown_for_everyone_or_for_one(project: Project) -> None:
    ask(project, "for the crane")
    ask(project, "for the otter", of="amber-otter")
    everyone = project.ok("agenda")["due"]
    assert set(everyone[0]) == DUE
    assert (everyone[0]["id"], everyone[0]["overdue"]) == (LIST, False)
    assert subjects(everyone) == ["e1: for the crane", "e2: for the otter"]
    assert subjects(project.ok("agenda", "--agent", "teal-crane")["due"]) == ["e1: for the crane"]
    mine = project.ok("agenda", MOOT_AGENT="amber-otter")["due"]
    assert subjects(mine) == ["e2: for the otter"]


def test_what_is_pressing_comes_first(project: Project) -> None:
    ask(project, "whenever")
    ask(project, "soon", due_in=2 * HOUR)
    ask(project, "sooner", due_in=HOUR)
    ask(project, "late", due_in=1)
    items = project.ok("agenda")["due"]
    assert subjects(items) == ["e4: late", "e3: sooner", "e2: soon", "e1: whenever"]
    assert [item["overdue"] for item in items] == [True, False, False, False]
    assert "overdue" in project.run("agenda").out


def test_reading_applies_no_time_limit(project: Project) -> None:
    ask(project, "late", due_in=1)
    for words in (("agenda",), ("status",), ("agenda", "--agent", "teal-crane")):
        project.ok(*words)
    assert len(project.ok("ledger", "log", LIST)["events"]) == 1


def test_nothing_due_is_said(project: Project) -> None:
    assert project.run("agenda").out == "nothing is due\n"
    assert project.ok("agenda", "--wait", "0")["due"] == []


def test_wait_returns_at_once_if_something_is_due(project: Project) -> None:
    ask(project, "now")
    assert subjects(project.ok("agenda", "--wait", "3600")["due"]) == ["e1: now"]


@pytest.mark.parametrize("asked_before", [True, False])
def test_wait_returns_when_another_process_writes(project: Project, asked_before: bool) -> None:
    """Whether the errand is asked before or after the waiting begins, it ends the same way."""
    if asked_before:
        ask(project, "for you")
    waiter = subprocess.Popen(
        [*MOOT, "agenda", "--agent", "teal-crane", "--wait", "3600", "--json"],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    ask(project, "for somebody else", of="amber-otter")
    if not asked_before:
        ask(project, "for you")
    out, _ = waiter.communicate(timeout=120)
    assert "for you" in json.loads(out)["data"]["due"][0]["subject"]


def test_wait_gives_up_after_its_time(project: Project) -> None:
    ask(project, "not yours")
    assert project.ok("agenda", "--agent", "amber-otter", "--wait", "0.01")["due"] == []


def test_waiting_looks_again_when_a_limit_passes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else's limit may make something due for us; no writer tells us that."""
    ask(project, "theirs", due_in=HOUR)
    looked: list[int] = []
    with project.workspace() as space:
        from moot.api.presence import agenda

        view = agenda._read_agenda(space, "amber-otter")
        moments = iter([0, 2 * HOUR, 2 * HOUR, 2 * HOUR])
        now = system_clock()
        monkeypatch.setattr(space.engine, "clock", lambda: now + next(moments, 2 * HOUR))
        monkeypatch.setattr(time, "sleep", lambda _seconds: looked.append(1))
        agenda._wait_for_change(space.engine, view, float("inf"), agenda.never)
    assert looked == [1]


# tick


def test_tick_lets_limits_take_effect(project: Project) -> None:
    ask(project, "late", due_in=1)
    ask(project, "in time", due_in=HOUR)  # a writing command applies what is overdue before it
    assert project.ok("tick")["applied"] == []
    events = project.ok("ledger", "log", LIST)["events"]
    assert [event["type"].partition(".")[2] for event in events] == [
        "errand_asked",
        "errand_lapsed",
        "errand_asked",
    ]
    assert events[1]["actor"] == "system"


def test_tick_names_what_it_did(project: Project) -> None:
    ask(project, "late", due_in=1)
    (applied,) = project.ok("tick", LIST)["applied"]
    assert (applied["id"], applied["type"]) == (LIST, "example.errand_lapsed")
    assert project.run("tick").out == "nothing was due\n"


def test_without_the_root_key_it_stays_due(project: Project, tmp_path: Path) -> None:
    ask(project, "late", due_in=1)
    other = {"MOOT_KEYS": str(tmp_path / "none")}
    assert project.refused("tick", **other) == ("key_missing", 1)
    assert len(project.ok("agenda")["due"]) == 1


# status


def test_status_is_one_screen(project: Project) -> None:
    ask(project, "look")
    project.ok("agent", "retire", "teal-crane")
    data = project.ok("status", MOOT_AGENT="amber-otter")
    assert data["you"] == "amber-otter"
    assert [(one["agent"], one["status"]) for one in data["agents"]] == [("amber-otter", "active")]
    assert data["agents"][0]["last_seen_at"] is not None
    assert subjects(data["due"]) == ["e1: look"]
    record = data["record"]
    assert (record["events"], record["pinned"], record["rolled_back"]) == (5, True, False)
    assert record["checkpoint"]["number"] == 5
    lines = project.run("status").out.splitlines()
    assert lines[0].endswith(str(project.root / ".moot"))
    assert len(lines) < 24


def test_status_of_a_fresh_workspace(bare: Project) -> None:
    bare.ok("init")
    data = bare.ok("status")
    assert (data["agents"], data["due"]) == ([], [])
    assert "nobody is here" in bare.run("status").out


def agents_shown(project: Project, **settings: str) -> list[str]:
    lines = project.run("status", **settings).out.splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("NAME"))
    rows = lines[head + 1 : lines.index("", head)]
    return [row.split()[0] for row in rows if not row.startswith(tuple("123456789"))]


def test_status_leaves_out_who_is_not_here_and_has_nothing_to_do(project: Project) -> None:
    for number in range(3):
        project.ok("agent", "register", f"voice-{number}")
    assert "nobody is here" in project.run("status").out
    assert "5 others are not here: `moot agent list`\n" in project.run("status").out
    project.ok("join", "--register", "slate-wren")
    ask(project, "look", of="voice-1")
    assert agents_shown(project) == ["slate-wren", "voice-1"]
    assert agents_shown(project, MOOT_AGENT="teal-crane") == ["slate-wren", "teal-crane", "voice-1"]
    assert "4 others are not here" in project.run("status").out
    assert len(project.ok("status")["agents"]) == 6  # a program reads them all


def test_one_other_is_one(project: Project) -> None:
    project.ok("agent", "retire", "teal-crane")
    assert "1 other is not here: `moot agent list`\n" in project.run("status").out


def test_who_holds_something_is_shown_wherever_they_are(project: Project) -> None:
    project.ok("join", "--register", "slate-wren", "--scope", "src")
    project.ok("--as", "amber-otter", "reserve", "docs")
    assert agents_shown(project) == ["amber-otter", "slate-wren"]


def test_status_and_agent_show_call_an_agent_the_same(project: Project) -> None:
    project.ok("join", "--register", "slate-wren")
    project.ok("agent", "register", "coral-finch")
    project.ok("agent", "retire", "coral-finch")
    said = {one["agent"]: one["label"] for one in project.ok("status", "--all")["agents"]}
    assert said == {
        "amber-otter": "Not here",
        "coral-finch": "Retired",
        "slate-wren": "Active",
        "teal-crane": "Not here",
    }
    for name, label in said.items():
        assert project.ok("agent", "show", name)["label"] == label


def test_one_event_is_one(bare: Project) -> None:
    bare.ok("init")
    events = bare.ok("status")["record"]["events"]
    assert f" {events} event{'' if events == 1 else 's'} · " in bare.run("status").out


# signs of life


def test_a_heartbeat_is_seen(project: Project) -> None:
    _, crane_before = project.ok("status")["agents"]
    beat = project.ok("agent", "heartbeat", "--agent", "amber-otter")
    assert set(beat) == {"agent", "last_seen_at", "liveness"}
    otter, crane = project.ok("status")["agents"]
    assert otter["last_seen_at"] == beat["last_seen_at"]
    assert crane["last_seen_at"] == crane_before["last_seen_at"]


def test_an_event_is_a_sign_of_life_too(project: Project) -> None:
    ask(project, "alive")
    project.execute("teal-crane", Finish(id="e1"))
    assert all(one["last_seen_at"] for one in project.ok("status")["agents"])


def bb(project: Project, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name(program), *words],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_bb_is_another_name_for_the_same(project: Project) -> None:
    done = bb(project, "bb", "agent", "heartbeat", "--agent", "amber-otter", "--json")
    envelope = json.loads(done.stdout)
    assert (done.returncode, envelope["command"]) == (0, "agent.heartbeat")
    assert set(envelope["data"]) == {"agent", "last_seen_at", "liveness"}
    assert project.ok("status")["agents"][0]["last_seen_at"] == envelope["data"]["last_seen_at"]
    assert bb(project, "bb", "agent", "heartbeat", "--agent", "no-body").returncode == 1
    assert bb(project, "bb", "nothing").returncode == 2


def test_bb_init_is_another_name_for_join(project: Project) -> None:
    done = bb(project, "bb-init", "--register", "coral-finch", "--json")
    envelope = json.loads(done.stdout)
    assert (done.returncode, envelope["command"]) == (0, "join")
    assert envelope["data"]["agent"] == "coral-finch"
    assert len(project.ok("agent", "list")["agents"]) == 3
    assert bb(project, "bb-init", "--nonsense").returncode == 2


@pytest.mark.parametrize(
    "words", [("--agent", "amber-oter"), ("--agent", "amber-oter", "--wait", "600")]
)
def test_nobody_waits_for_a_name_that_does_not_exist(
    project: Project, words: tuple[str, ...]
) -> None:
    assert project.refused("agenda", *words) == ("agent_not_found", 1)


def test_those_who_have_ended_stand_in_it_only_on_request_with_their_time(project: Project) -> None:
    project.ok("agent", "retire", "teal-crane")
    (event,) = project.ok("ledger", "log", "registry", "--type", "registry.agent_retired")["events"]
    ended_at = event["at"]
    assert [one["ended_at"] for one in project.ok("status")["agents"]] == [None]
    assert "teal-crane" not in project.run("status").out
    both = {one["agent"]: one for one in project.ok("status", "--all")["agents"]}
    crane = both["teal-crane"]
    assert (crane["status"], crane["ended_at"], crane["liveness"]) == (
        "retired",
        ended_at,
        "active",
    )
    assert both["amber-otter"]["ended_at"] is None
    assert "teal-crane" in project.run("status", "--all").out
    listed = {one["agent"]: one for one in project.ok("agent", "list", "--all")["agents"]}
    assert listed["teal-crane"]["ended_at"] == ended_at
    assert project.ok("agent", "show", "teal-crane")["ended_at"] == ended_at
    assert project.ok("agent", "show", "amber-otter")["ended_at"] is None

"""`bb agent ...` and `bb-init`: the names that Operative's own program has for these commands."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_heartbeat import bb
from tests.project import Project, Result

OTTER, CRANE = "amber-otter", "teal-crane"


@pytest.fixture
def fresh(bare: Project) -> Project:
    """A git repository without a workspace."""
    subprocess.run(["git", "init", "-q", str(bare.root)], check=True, timeout=60, env=bare.env)
    return bare


@pytest.fixture
def project(fresh: Project) -> Project:
    """Two agents in a repository in which nobody ran `moot init`."""
    for name in (OTTER, CRANE):
        assert init(fresh, "--register", name).code == 0
    return fresh


def init(project: Project, *words: str, **settings: str) -> Result:
    return bb(project, *words, "--json", entry="init_main", **settings)


def agent(project: Project, *words: str, **settings: str) -> Any:
    """The data of `bb agent ...`, which must succeed."""
    done = bb(project, "agent", *words, "--json", **settings)
    assert done.code == 0, done
    return done.data


def refused(project: Project, *words: str, **settings: str) -> tuple[int, str, str]:
    done = bb(project, "agent", *words, "--json", **settings)
    return done.code, done.error["code"], done.error["hint"]


@pytest.mark.requirement("OPR-083")
@pytest.mark.parametrize("words", [("--register", OTTER), ("--non-interactive",)])
def test_a_fresh_repository_gets_its_workspace(fresh: Project, words: tuple[str, ...]) -> None:
    done = init(fresh, *words)
    assert done.code == 0, done
    assert [one["code"] for one in done.data["findings"]] == ["workspace_made"]
    name = done.data["agent"]
    assert done.data["recommendation"]["command"] == f"bb-init --register {name}"
    assert [one["agent"] for one in fresh.ok("agent", "list")["agents"]] == [name]
    again = init(fresh, "--register", CRANE)
    assert (again.code, again.data["findings"]) == (0, [])


@pytest.mark.requirement("OPR-085")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("--adopt", OTTER), "no_workspace", id="nobody to adopt"),
        pytest.param(("--register", "Bad Name"), "bad_name", id="no name"),
    ],
)
def test_what_is_refused_makes_no_workspace(
    fresh: Project, words: tuple[str, ...], code: str
) -> None:
    done = init(fresh, *words)
    assert (done.code, done.error["code"]) == (1, code)
    assert "moot" not in done.error["hint"]
    assert not (fresh.root / ".moot").exists()


@pytest.mark.requirement("OPR-085")
def test_outside_of_git_nothing_is_made(bare: Project, tmp_path: Path) -> None:
    elsewhere = Project(tmp_path / "plain", bare.keys)
    elsewhere.root.mkdir()
    done = init(elsewhere, "--register", OTTER)
    assert (done.code, done.error["code"]) == (1, "no_workspace")
    assert list(elsewhere.root.iterdir()) == []
    assert refused(elsewhere, "heartbeat", "--agent", OTTER)[:2] == (1, "no_workspace")


@pytest.mark.requirement("OPR-085")
def test_it_exits_with_0_1_or_2_and_names_the_command_as_typed(project: Project) -> None:
    taken = init(project, "--register", OTTER)
    assert (taken.code, taken.error["code"]) == (1, "name_taken")
    assert f"continue with `bb-init --adopt {OTTER}`" in taken.error["hint"]
    assert init(project, "--register", "x-y-z", "--adopt", OTTER).code == 2
    (project.root / "a.txt").write_text("1")
    agent(project, "reserve", "--agent", OTTER, "--scope", "a.txt", "--bead", "bb-1")
    owed = init(project, "--non-interactive")
    assert (owed.code, owed.error["code"]) == (1, "decision_required")
    assert f"`bb-init --adopt {OTTER}`" in owed.error["hint"]
    assert [one["hint"] for one in owed.error["findings"]][1:] == [f"bb-init --adopt {OTTER}"]
    (project.root / ".moot" / "ledger.db").write_bytes(b"no database")
    assert init(project, "--register", "coral-finch").code == 1


@pytest.mark.requirement("OPR-018")
def test_a_resume_names_the_scope_and_the_bead_that_were_carried_over(fresh: Project) -> None:
    init(fresh, "--register", OTTER, "--scope", "src/*", "--bead", "bb-1")
    (fresh.root / "src").mkdir()
    (fresh.root / "src" / "a.py").write_text("1")
    event = init(fresh, "--adopt", OTTER).data["event"]
    assert (event["bead_id"], event["scope"]) == ("bb-1", "src/*")
    assert event["payload"]["bead_ids"] == ["bb-1"]
    assert event["payload"]["scopes"] == ["src/*"]
    (held,) = fresh.ok("scope", "list")["reservations"]
    assert (held["scope"], held["work"]) == (event["scope"], event["bead_id"])


@pytest.mark.requirement("OPR-091")
def test_names_are_registered_listed_and_shown(project: Project) -> None:
    assert (
        agent(project, "register", "--name", "coral-finch", "--role", "ui")["agent"]
        == "coral-finch"
    )
    names = {one["agent"] for one in agent(project, "list")["agents"]}
    assert names == {OTTER, CRANE, "coral-finch"}
    assert agent(project, "show", "--agent", CRANE)["liveness"] == "active"
    code, problem, hint = refused(project, "show", "--agent", "tealcrane")
    assert (code, problem, hint) == (1, "agent_not_found", "`bb agent list` shows all")
    assert refused(project, "register", "--name", OTTER)[:2] == (1, "name_taken")
    assert refused(project, "register")[:2] == (2, "usage")


@pytest.mark.requirement("OPR-091")
def test_scopes_are_reserved_from_the_root_and_released(project: Project) -> None:
    below = Project(project.root / "src", project.keys, **project.env)
    below.root.mkdir()
    words = ("--agent", OTTER, "--scope", "src/lib/*")
    (lease,) = agent(below, "reserve", *words, "--bead", "bb-1", "--ttl", "30")["reserved"]
    assert lease["expires_at"]
    agent(below, "reserve", *words, "--bead", "bb-1")  # without an end again
    (held,) = project.ok("scope", "list")["reservations"]
    assert (held["scope"], held["owner"], held["work"]) == ("src/lib/*", OTTER, "bb-1")
    taking = ("reserve", "--agent", CRANE, "--scope", "src/lib/a.ts", "--bead", "bb-2")
    assert refused(project, *taking)[:2] == (1, "reservation_conflict")
    assert refused(project, *taking, "--takeover-stale")[:2] == (1, "reservation_conflict")
    assert [
        one["holds"] for one in agent(project, "status")["agents"] if one["agent"] == OTTER
    ] == [["src/lib/*"]]
    assert agent(project, "status", "--agent", OTTER)["holds"] == ["src/lib/*"]
    assert agent(below, "release", *words)["released"] == ["src/lib/*"]
    assert refused(project, "release", *words)[:2] == (1, "reservation_not_found")


def send(category: str, subject: str, *more: str) -> tuple[str, ...]:
    words = ("--from", OTTER, "--to", CRANE, "--bead", "bb-1", "--subject", subject)
    return ("send", *words, "--category", category, "--body", "half done", *more)


@pytest.mark.requirement("OPR-103")
def test_messages_are_sent_read_and_acknowledged(project: Project) -> None:
    passed = agent(project, *send("HANDOFF", "finish it"))["event"]
    assert (passed["event_type"], passed["bead_id"]) == ("HANDOFF", "bb-1")
    assert passed["payload"]["summary"] == "half done"
    asked = agent(project, *send("BLOCKED", "say which"))["event"]
    assert asked["payload"]["blocker"] == "half done"
    assert agent(project, *send("DECISION", "use A"))["thread"] == "bb-1"
    assert agent(project, *send("INFO", "done", "--thread", "COORD-x1"))["thread"] == "COORD-x1"
    assert refused(project, *send("NOTE", "x"))[:2] == (2, "usage")
    subjects = [one["subject"] for one in agent(project, "inbox", "--agent", CRANE)["messages"]]
    assert sorted(subjects) == [
        "BLOCKED: say which",
        f"HANDOFF: finish it to {CRANE}",
        "INFO: decision: use A",
        "INFO: done",
    ]
    shown = agent(project, "read", "--agent", CRANE, "--message", "bb-1:1")
    assert "half done" in shown["message"]["body"]
    assert agent(project, "read", "--agent", CRANE, "--message", asked["id"])["agent"] == CRANE
    ack = ("ack", "--agent", CRANE, "--message")
    given = agent(project, *ack, "bb-1:1")
    assert (given["agent"], given["subject"]) == (CRANE, f"HANDOFF: finish it to {CRANE}")
    assert agent(project, *ack, asked["id"])["agent"] == CRANE
    rows = project.ok("event", "list")["events"]
    assert [(one["id"], one["label"]) for one in rows if one["kind"] == "RECEIPT"] == [
        (asked["id"], "Seen"),
        (passed["id"], "Accepted"),
        (asked["id"], "Accepted"),
    ]
    assert refused(project, *ack, "bb-1:77")[:2] == (1, "message_not_found")
    assert refused(project, "ack", "--agent", OTTER, "--message", passed["id"])[0] == 1


def test_who_acts_is_whom_the_environment_names(project: Project) -> None:
    words = ("reserve", "--scope", "src", "--bead", "bb-1")
    assert agent(project, *words, MOOT_AGENT=OTTER)["agent"] == OTTER
    other = refused(project, *words, "--agent", CRANE, MOOT_AGENT=OTTER)
    assert other == (1, "not_you", "omit --agent or --from: MOOT_AGENT says who acts here")
    assert refused(project, *words)[1] == "actor_required"


def test_the_envelope_has_four_keys(project: Project) -> None:
    for words in (("list",), ("show", "--agent", "nobody-here"), ("nothing",)):
        done = bb(project, "agent", *words, "--json")
        assert list(json.loads(done.out)) == ["ok", "command", "data", "error"]

"""`bb agent heartbeat`: a signed sign of life, in one envelope, repeated at will."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.clock import parse_time
from tests.project import Project, Result

NOON = "2026-02-18T12:{}:00.000Z"


def bb(project: Project, *words: str, entry: str = "main", **settings: str) -> Result:
    """`bb`, or with `init_main` `bb-init`, in a process of its own and with stdin closed."""
    code = f"from moot.surfaces.cli.bb import {entry}; {entry}()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *words],
        cwd=project.root,
        env={**project.env, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def beat(project: Project, name: str = "amber-otter", **settings: str) -> Result:
    return bb(project, "agent", "heartbeat", "--agent", name, "--json", **settings)


@pytest.mark.requirement("OPR-023")
@pytest.mark.requirement("OPR-093")
def test_a_heartbeat_advances_the_time_last_seen_in_utc(project: Project) -> None:
    before = project.ok("agent", "show", "amber-otter")["last_seen_at"]
    said = beat(project).data["last_seen_at"]
    after = project.ok("agent", "show", "amber-otter")["last_seen_at"]
    assert said == after
    assert said.endswith("Z")
    assert parse_time(after) > parse_time(before)


def other_tables(file: Path) -> dict[str, list[tuple[object, ...]]]:
    """All that the ledger file holds, apart from the heartbeats."""
    with closing(sqlite3.connect(file)) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: sorted(db.execute(f"SELECT * FROM {name}"), key=repr)
            for (name,) in tables
            if name != "heartbeats"
        }


@pytest.mark.requirement("OPR-024")
def test_a_heartbeat_is_repeated_at_will_and_changes_only_its_own_row(bare: Project) -> None:
    project = bare
    project.env["MOOT_CLOCK"] = NOON.format("00")
    project.ok("init")
    project.ok("join", "--register", "amber-otter", "--scope", "src")
    project.ok("ledger", "checkpoint")
    before = other_tables(project.ledger)
    assert before["events"]
    for minute, said in (("01", "01"), ("02", "02"), ("02", "02"), ("01", "02"), ("03", "03")):
        done = beat(project, MOOT_CLOCK=NOON.format(minute))
        assert (done.code, done.data["last_seen_at"]) == (0, NOON.format(said))
        assert other_tables(project.ledger) == before
    with closing(sqlite3.connect(project.ledger)) as db:
        assert db.execute("SELECT agent FROM heartbeats").fetchall() == [("amber-otter",)]


@pytest.mark.requirement("OPR-025")
def test_the_envelope_has_four_keys_whatever_comes_of_it(project: Project) -> None:
    done, refused = beat(project), beat(project, "nobody-here")
    for result in (done, refused):
        assert list(json.loads(result.out)) == ["ok", "command", "data", "error"]
        assert result.err == ""
    assert (done.code, done.envelope["command"]) == (0, "agent.heartbeat")
    assert set(done.data) == {"agent", "last_seen_at", "liveness"}
    assert done.envelope["error"] is None
    assert (refused.code, refused.error["code"]) == (1, "agent_not_found")
    assert refused.error["hint"]


def test_without_json_it_is_a_sentence(project: Project) -> None:
    done = bb(project, "agent", "heartbeat", "--agent", "amber-otter")
    assert done.out.startswith("amber-otter was alive at ")
    warned = bb(
        project, "agent", "heartbeat", "--agent", "amber-otter", BB_AGENT_STALE_MINUTES="soon"
    )
    assert "BB_AGENT_STALE_MINUTES" in warned.out


def test_nobody_beats_for_another(project: Project, tmp_path: Path) -> None:
    assert beat(project, MOOT_AGENT="teal-crane").error["code"] == "not_you"
    elsewhere = beat(project, MOOT_KEYS=str(tmp_path / "other"))
    assert (elsewhere.code, elsewhere.error["code"]) == (1, "key_missing")
    project.ok("agent", "retire", "amber-otter")
    assert beat(project).error["code"] == "agent_retired"


def test_an_agent_with_a_key_folder_of_its_own_beats_reserves_and_joins(
    project: Project, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    project.ok("agent", "register", "jade-heron", "--keys", str(own))
    assert beat(project, "jade-heron").error["code"] == "key_missing"
    project.env["MOOT_KEYS"] = str(own)
    assert beat(project, "jade-heron").data["liveness"] == "active"
    assert project.ok("--as", "jade-heron", "join")["agent"] == "jade-heron"
    assert project.ok("--as", "jade-heron", "reserve", "src")["reserved"]
    assert project.refused("join", "--non-interactive") == ("key_missing", 1)
    assert project.ok("--as", "jade-heron", "release", "--all")["released"] == ["src"]

"""Presence as it is typed: reserve, refuse, take over, pass on, go on, compare."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typeable import commands_in
from tests.project import Project, git

NOON = "2026-02-18T12:00:00Z"


def later(minutes: float, seconds: float = 0) -> str:
    whole = round((minutes * 60 + seconds) * 1000)
    hours, rest = divmod(whole, 3_600_000)
    return f"2026-02-18T{12 + hours:02d}:{rest // 60_000:02d}:{rest % 60_000 / 1000:06.3f}Z"


@pytest.fixture
def project(bare: Project) -> Project:
    """A repository under the test clock, at noon, with two agents who have joined."""
    bare.init_git()
    bare.env["MOOT_CLOCK"] = NOON
    bare.init()
    bare.ok("join", "--register", "amber-otter")
    bare.ok("join", "--register", "teal-crane")
    return bare


def as_(name: str, *words: str) -> tuple[str, ...]:
    return ("--as", name, *words)


def held(project: Project, **settings: str) -> list[tuple[str, str]]:
    found = project.ok("scope", "list", **settings)["reservations"]
    return [(one["scope"], one["owner"]) for one in found]


def labels(project: Project) -> list[str]:
    return [row["label"] for row in project.ok("event", "list")["events"]]


@pytest.mark.requirement("OPR-102")
def test_a_scope_is_reserved_listed_and_given_back(project: Project) -> None:
    data = project.ok(*as_("amber-otter", "reserve", "src/auth", "--ttl", "60", "--work", "T-7"))
    (lease,) = data["reserved"]
    assert (lease["scope"], lease["work"]) == ("src/auth", "T-7")
    assert lease["expires_at"] == "2026-02-18T13:00:00.000Z"
    assert held(project) == [("src/auth", "amber-otter")]
    assert project.ok(*as_("amber-otter", "release", "src/auth"))["released"] == ["src/auth"]
    assert held(project) == []


def test_the_work_item_defaults_to_the_branch(project: Project) -> None:
    (lease,) = project.ok(*as_("amber-otter", "reserve", "a.txt"))["reserved"]
    assert lease["work"] == "main"


@pytest.mark.requirement("OPR-104")
def test_an_overlap_is_refused_with_the_holder_and_left_on_record(project: Project) -> None:
    project.ok(*as_("amber-otter", "reserve", "src/*"))
    done = project.json(*as_("teal-crane", "reserve", "src/auth/cache.py"))
    assert (done.code, done.error["code"]) == (1, "reservation_conflict")
    assert "amber-otter" in done.error["message"]
    assert done.error["hint"]
    assert held(project) == [("src/*", "amber-otter")]
    (row,) = project.ok("event", "list")["events"]
    assert (row["kind"], row["label"]) == ("INCURSION", "Refused")
    said = "src/auth/cache.py: amber-otter is at work there"
    assert said in project.run("event", "list").out
    project.ok(*as_("amber-otter", "event", "seen", row["id"]))
    assert project.run("event", "list").out.count(said) == 2
    assert (row["from_agent"], row["to_agent"]) == ("teal-crane", "amber-otter")


def test_anothers_text_is_shown_and_never_obeyed(project: Project) -> None:
    """A work item's name may hold what some terminals take for a command."""
    project.ok(*as_("amber-otter", "reserve", "src", "--work", "T\x9b31m\u202e"))
    done = project.run(*as_("teal-crane", "reserve", "src"))
    assert "T\\u009b31m\\u202e" in done.err
    assert "\x9b" not in done.err


@pytest.mark.requirement("OPR-087")
@pytest.mark.parametrize(
    ("minutes", "flag", "outcome"),
    [
        (14.9999, False, "reservation_conflict"),
        (14.9999, True, "reservation_conflict"),
        (15, False, "reservation_stale_found"),
        (15, True, "taken_over"),
        (29.9999, True, "taken_over"),
        (30, False, "reservation_stale_found"),
        (30, True, "expired"),
    ],
)
def test_the_dead_are_taken_over_and_never_the_living(
    project: Project, minutes: float, flag: bool, outcome: str
) -> None:
    project.ok(*as_("amber-otter", "reserve", "src/auth"))
    words = as_("teal-crane", "reserve", "src/auth", *(["--takeover-stale"] if flag else []))
    done = project.json(*words, MOOT_CLOCK=later(minutes))
    if outcome in ("taken_over", "expired"):
        (lost,) = done.data["taken_over"]
        assert (lost["owner"], lost["status"]) == ("amber-otter", outcome)
        assert held(project, MOOT_CLOCK=later(minutes)) == [("src/auth", "teal-crane")]
    else:
        assert done.error["code"] == outcome
        assert held(project, MOOT_CLOCK=later(minutes)) == [("src/auth", "amber-otter")]
    happened = outcome in ("taken_over", "expired")
    assert labels(project) == ["Overlapping work" if happened else "Refused"]


@pytest.mark.requirement("OPR-030")
@pytest.mark.parametrize(
    ("own", "minutes", "taken"),
    [
        ("5", 6, False),  # stale to the caller, and active by the workspace's fifteen minutes
        ("5", 14.9999, False),
        ("5", 15, True),
        ("60", 20, False),  # stale by the workspace's, and active to the caller
        ("60", 59.9999, False),
        ("60", 60, True),
    ],
)
def test_a_takeover_needs_an_owner_that_is_stale_by_the_workspaces_time_and_by_ones_own(
    project: Project, own: str, minutes: float, taken: bool
) -> None:
    project.ok(*as_("amber-otter", "reserve", "src/auth"))
    words = as_("teal-crane", "reserve", "src/auth", "--takeover-stale")
    settings = {"MOOT_CLOCK": later(minutes), "BB_AGENT_STALE_MINUTES": own}
    done = project.json(*words, **settings)
    error = done.envelope["error"]
    assert (error and error["code"]) == (None if taken else "reservation_conflict")
    owner = "teal-crane" if taken else "amber-otter"
    assert held(project, MOOT_CLOCK=later(minutes)) == [("src/auth", owner)]


@pytest.mark.parametrize("value", ["abc", "0", "-1", "1e9"])
def test_a_bad_stale_time_is_the_default_and_a_warning(project: Project, value: str) -> None:
    data = project.ok(*as_("amber-otter", "reserve", "."), BB_AGENT_STALE_MINUTES=value)
    (finding,) = data["findings"]
    assert (finding["code"], finding["severity"]) == ("bad_stale_minutes", "warning")


def test_a_bad_stale_time_is_said_once_by_every_command(project: Project) -> None:
    warning = "BB_AGENT_STALE_MINUTES='abc' is not a number of minutes; Moot uses 15 min"
    for words in (["status"], ["agent", "list"], as_("amber-otter", "reserve", ".")):
        done = project.run(*words, BB_AGENT_STALE_MINUTES="abc")
        assert (done.code, (done.out + done.err).count(warning)) == (0, 1), words
        assert warning not in project.run(*words, BB_AGENT_STALE_MINUTES="7.5").err
    project.ok("status", BB_AGENT_STALE_MINUTES="abc")


def test_an_epoch_that_is_no_number_is_not_called_an_adoption(project: Project) -> None:
    settings = {"MOOT_AGENT": "amber-otter", "MOOT_EPOCH": "abc"}
    done = project.json("reserve", ".", **settings)
    assert (done.error["code"], done.code) == ("bad_epoch", 1)
    assert "MOOT_EPOCH is not a number" in done.error["message"]
    (line,) = commands_in(done.error["hint"])
    assert held(project) == []
    printed = project.run(*line.split()[1:], MOOT_AGENT="amber-otter").out
    assert "export MOOT_AGENT=amber-otter MOOT_EPOCH=1" in printed.splitlines()


@pytest.mark.parametrize(
    ("scope", "code"),
    [
        ("", "scope_empty"),
        ("../x", "scope_outside"),
        ("/etc/passwd", "scope_outside"),
        ("src/**/x.ts", "unsupported_glob"),
        ("*.ts", "unsupported_glob"),
        ("a?b", "unsupported_glob"),
    ],
)
def test_what_is_no_scope_is_refused_and_nothing_changes(
    project: Project, scope: str, code: str
) -> None:
    assert project.refused(*as_("amber-otter", "reserve", "ok", scope)) == (code, 1)
    assert held(project) == []
    assert labels(project) == []


def test_somebody_elses_scope_cannot_be_released(project: Project) -> None:
    project.ok(*as_("amber-otter", "reserve", "src"))
    code, status = project.refused(*as_("teal-crane", "release", "src"))
    assert (code, status) == ("release_forbidden", 1)
    assert held(project) == [("src", "amber-otter")]


def test_who_retires_gives_back_what_it_held(project: Project) -> None:
    project.ok(*as_("amber-otter", "reserve", "src"))
    project.ok("agent", "retire", "amber-otter", "--reason", "done")
    assert held(project) == []
    assert project.ok(*as_("teal-crane", "reserve", "src"))["reserved"]


def test_a_link_is_named_and_not_followed(project: Project) -> None:
    (project.root / "real").mkdir()
    (project.root / "link").symlink_to("real")
    data = project.ok(*as_("amber-otter", "reserve", "link"))
    assert [finding["code"] for finding in data["findings"]] == ["symlink"]


def test_two_worktrees_collide_on_the_same_file(project: Project, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(project.root, "worktree", "add", "-q", str(other))
    project.ok(*as_("amber-otter", "reserve", "src/auth"))
    refused = project.refused(*as_("teal-crane", "reserve", "src/auth/x.py"), cwd=other)
    assert refused == ("reservation_conflict", 1)


@pytest.mark.requirement("OPR-044")
@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("src/*", "src/lib/parser.ts", "partial"),
        ("src/lib", "src/lib/parser.ts", "partial"),
        ("src/lib/parser.ts", "src/lib/parser.ts", "exact"),
        ("src/lib", "src/components", "disjoint"),
        ("src/lib", "src/library", "disjoint"),
    ],
)
def test_compare_needs_no_workspace(bare: Project, a: str, b: str, kind: str) -> None:
    for words in ((a, b), (b, a)):
        data = bare.ok("scope", "compare", *words)
        assert data["class"] == kind
        assert set(data) == {"class", "a", "b"}


@pytest.mark.requirement("OPR-103")
def test_a_handoff_moves_the_scope_only_when_it_is_accepted(project: Project) -> None:
    project.ok(*as_("amber-otter", "reserve", "src/auth"))
    said = ("--subject", "cache", "--summary", "half done", "--next-action", "test it")
    sent = project.ok(*as_("amber-otter", "handoff", "teal-crane", "--scope", "src/auth", *said))
    event = sent["event"]
    assert event["id"] == "proto_20260218_001"
    assert event["payload"]["requires_ack"] is True
    assert held(project) == [("src/auth", "amber-otter")]
    assert [one["what"] for one in project.ok("agenda", "--agent", "teal-crane")["due"]]
    assert project.refused(*as_("amber-otter", "event", "accept", event["id"])) == (
        "ack_forbidden",
        1,
    )
    project.ok(*as_("teal-crane", "event", "seen", event["id"]))
    moved = project.ok(*as_("teal-crane", "event", "accept", event["id"]))["moved"]
    assert moved == ["src/auth"]
    assert held(project) == [("src/auth", "teal-crane")]
    assert labels(project) == ["Passed to", "Accepted", "Seen"] or set(labels(project)) == {
        "Passed to",
        "Seen",
        "Accepted",
    }
    assert project.ok("agenda", "--agent", "teal-crane")["due"] == []


def test_the_full_form_of_a_handoff_sends_the_same_event_without_a_message(
    project: Project,
) -> None:
    said = ("--subject", "cache", "--summary", "half done", "--next-action", "test it")
    who = ("--from", "amber-otter", "--to", "teal-crane")
    sent = project.ok("event", "handoff", *who, "--scope", "src/auth", *said)
    event = sent["event"]
    assert (event["from_agent"], event["to_agent"]) == ("amber-otter", "teal-crane")
    assert event["payload"]["next_action"] == "test it"
    assert labels(project) == ["Passed to"]
    assert "message" not in sent
    assert project.ok("mail", "inbox", "--agent", "teal-crane")["messages"] == []


def test_blocked_asks_for_input_and_waits(project: Project) -> None:
    said = ("--subject", "schema", "--blocker", "none", "--requested-action", "write it")
    sent = project.ok(*as_("amber-otter", "blocked", "teal-crane", "--urgency", "high", *said))
    assert sent["event"]["payload"]["urgency"] == "high"
    assert sent["event"]["bead_id"] == "main"
    assert [row["label"] for row in project.ok("event", "list", "--bead", "main")["events"]] == [
        "Needs input"
    ]
    assert project.ok("event", "list", "--bead", "other")["events"] == []


def test_an_unknown_event_is_not_found(project: Project) -> None:
    refused = project.refused(*as_("amber-otter", "event", "accept", "proto_20260218_999"))
    assert refused == ("event_not_found", 1)


# Starting a session


@pytest.mark.requirement("OPR-081")
@pytest.mark.requirement("OPR-086")
def test_a_bare_start_registers_a_made_up_name_and_says_why(project: Project) -> None:
    data = project.ok("join", "--non-interactive")
    assert data["recommendation"]["reason"] == "no_adoptable_identity"
    assert data["agent"].count("-") == 1
    assert data["session_agent_id"] == data["logical_agent_id"] == data["agent"]


@pytest.mark.requirement("OPR-083")
@pytest.mark.requirement("OPR-014")
def test_a_name_is_registered_once(project: Project) -> None:
    before = project.ok("status")["record"]["events"]
    code, status = project.refused("join", "--register", "amber-otter")
    assert (code, status) == ("name_taken", 1)
    (line,) = commands_in(project.json("join", "--register", "amber-otter").error["hint"])
    assert line == "moot --as amber-otter join"
    assert project.ok("status")["record"]["events"] == before


@pytest.mark.requirement("OPR-011")
def test_nothing_unfinished_is_nothing_to_adopt(project: Project) -> None:
    before = project.ok("status")["record"]["events"]
    assert project.refused("join", "--adopt", "amber-otter") == ("adoption_rejected", 1)
    (project.root / "docs").mkdir()
    (project.root / "docs" / "x").write_text("dirty, and outside of the scope")
    words = ("join", "--adopt", "amber-otter", "--scope", "src/*")
    assert project.refused(*words) == ("adoption_rejected", 1)
    assert project.ok("status")["record"]["events"] == before
    assert labels(project) == []


def dirty_otter(project: Project) -> None:
    project.ok(*as_("amber-otter", "reserve", "src/*", "--work", "T-7"))
    (project.root / "src").mkdir()
    (project.root / "src" / "a.py").write_text("unfinished")


@pytest.mark.requirement("OPR-082")
@pytest.mark.requirement("OPR-017")
def test_uncommitted_work_can_be_gone_on_with(project: Project) -> None:
    dirty_otter(project)
    old = project.ok("agent", "show", "amber-otter")
    data = project.ok("join", "--adopt", "amber-otter")
    assert data["adopted"] is True
    assert data["prior_liveness"] == "active"
    payload = data["event"]["payload"]
    assert payload["resume_reason"] == "uncommitted_scope"
    assert payload["adopted_agent"] == "amber-otter"
    assert "src/a.py" in payload["evidence"]
    new = project.ok("agent", "show", "amber-otter")
    assert (old["epoch"], new["epoch"]) == (1, 2)
    assert old["kid"] != new["kid"]
    assert labels(project) == ["Picked up again"]
    assert project.run("verify").code == 0


@pytest.mark.requirement("OPR-085")
def test_a_choice_is_never_made_for_anyone(project: Project) -> None:
    dirty_otter(project)
    first, second = (project.json("join", "--non-interactive") for _ in range(2))
    assert first.code == 1
    assert first.error["code"] == "decision_required"
    assert first.out == second.out
    candidates = [f["where"] for f in first.error["findings"] if f["code"] == "candidate"]
    assert candidates == ["amber-otter"]
    assert "moot join --adopt amber-otter" in first.error["hint"]


def test_an_item_in_progress_can_be_gone_on_with(project: Project) -> None:
    (project.root / ".beads").mkdir()
    file = project.root / ".beads" / "issues.jsonl"
    line = {"id": "bb-9", "status": "in_progress", "assignee": "amber-otter"}
    file.write_text(json.dumps(line) + "\n")
    before = hashlib.sha256(file.read_bytes()).digest(), file.stat().st_mtime_ns
    data = project.ok("join", "--adopt", "amber-otter")
    assert data["event"]["payload"]["resume_reason"] == "in_progress_ownership"
    assert data["event"]["bead_id"] == "bb-9"
    assert (hashlib.sha256(file.read_bytes()).digest(), file.stat().st_mtime_ns) == before


def test_an_unknown_agent_cannot_be_adopted(project: Project) -> None:
    assert project.refused("join", "--adopt", "nobody-here") == ("agent_not_found", 1)


def test_register_and_adopt_exclude_each_other(project: Project) -> None:
    done = project.json("join", "--register", "a-new-one", "--adopt", "amber-otter")
    assert (done.code, done.error["code"]) == (2, "usage")


@pytest.mark.requirement("OPR-080")
def test_bb_and_bb_init_are_the_same_commands(project: Project) -> None:
    import sys

    def call(function: str, *words: str) -> Any:
        code = f"import sys; from moot.surfaces.cli.bb import {function}; {function}()"
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=project.root,
            env=project.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return done.returncode, json.loads(done.stdout)

    code, said = call("main", "agent", "heartbeat", "--agent", "amber-otter", "--json")
    assert code == 0
    assert list(said) == ["ok", "command", "data", "error"]
    assert said["data"]["last_seen_at"] == "2026-02-18T12:00:00.000Z"
    assert said["data"]["liveness"] == "active"
    code, said = call("main", "agent", "heartbeat", "--agent", "nobody-here", "--json")
    assert (code, said["error"]["code"]) == (1, "agent_not_found")
    code, said = call("init_main", "--non-interactive", "--json")
    assert (code, said["ok"]) == (0, True)
    code, said = call("init_main", "--register", "amber-otter", "--json")
    assert (code, said["error"]["code"]) == (1, "name_taken")


def test_show_explains_how_alive_an_agent_is(project: Project) -> None:
    data = project.ok("agent", "show", "amber-otter", MOOT_CLOCK=later(15))
    assert data["liveness"] == "stale"
    assert "15 min" in data["because"]
    assert data["last_seen_at"] == "2026-02-18T12:00:00.000Z"


def test_a_session_whose_name_was_adopted_no_longer_acts_under_it(project: Project) -> None:
    dirty_otter(project)
    earlier = {"MOOT_AGENT": "amber-otter", "MOOT_EPOCH": "1"}
    project.ok("agent", "heartbeat", **earlier)
    assert project.ok("join", "--adopt", "amber-otter")["epoch"] == 2
    before = project.ok("status")["record"]["events"]
    for words in (("agent", "heartbeat"), ("reserve", "docs"), ("release", "--all")):
        assert project.refused(*words, **earlier) == ("session_replaced", 1)
    assert project.ok("status")["record"]["events"] == before
    later_one = {"MOOT_AGENT": "amber-otter", "MOOT_EPOCH": "2"}
    project.ok("reserve", "docs", **later_one)


@pytest.mark.parametrize("joined", [True, False])
def test_status_and_the_list_of_scopes_name_the_same_work(project: Project, joined: bool) -> None:
    name = "amber-otter" if joined else "coral-finch"
    if not joined:
        project.ok("agent", "register", name)
    project.ok(*as_(name, "reserve", "src/a", "--work", "T-7"))
    project.ok(*as_(name, "reserve", "src/b", "--work", "T-8"))
    listed = {one["work"] for one in project.ok("scope", "list", "--agent", name)["reservations"]}
    assert listed == {"T-7", "T-8"}
    (line,) = (row for row in project.run("status").out.splitlines() if row.startswith(name))
    assert "T-7, T-8  src/a, src/b" in line
    (other,) = (
        row for row in project.run("status").out.splitlines() if row.startswith("teal-crane")
    )
    assert other.split() == ["teal-crane", "Active", "0", "s", "-", "main", "-"]


def test_status_says_how_each_work_item_stands(project: Project) -> None:
    project.ok(*as_("amber-otter", "reserve", "src", "--work", "T-7"))
    said = ("--subject", "schema", "--blocker", "none", "--requested-action", "write it")
    project.ok(*as_("amber-otter", "blocked", "teal-crane", "--work", "T-7", *said))
    found = {one["work"]: (one["state"], one["agents"]) for one in project.ok("status")["work"]}
    assert found["T-7"] == ("needs_input", ["amber-otter"])
    assert found["main"] == ("active", ["amber-otter", "teal-crane"])
    assert "Needs input" in project.run("status").out

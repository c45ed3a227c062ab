"""Checks work where nothing may be written: evidence on a read-only disk, another user's folder."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.api.operation import OPERATIONS, all_operations, only_reads
from moot.protocols.example.model import Ask
from moot.surfaces.hooks.entry import answer
from tests.cli.damage import edit, of
from tests.cli.unprivileged_moot import each_as_nobody, run_as_nobody
from tests.project import LIST, Project
from tests.unprivileged import (
    contents,
    forbid_writing,
    give_to_nobody,
    has_read_only_disks,
    on_a_read_only_disk,
    open_folder,
)

EVENTS = 5


@pytest.fixture
def project() -> Iterator[Project]:
    """A workspace with two histories and an artifact, closed, where any user may look."""
    with open_folder() as folder:
        (folder / "project").mkdir()
        yield founded(Project(folder / "project", folder / "keys"))


def founded(project: Project) -> Project:
    project.ok("init")
    project.ok("agent", "register", "amber-otter")
    project.ok("agent", "register", "teal-crane")
    project.execute("amber-otter", Ask(title="an errand", of="teal-crane"))
    project.ok("agent", "revoke", "amber-otter", "--reason", "lost")
    return project


def close(project: Project) -> None:
    """The workspace is somebody else's, the keys are one's own."""
    forbid_writing(project.root)
    give_to_nobody(project.keys)


def forbid_keys(project: Project) -> None:
    for path in [project.keys, *project.keys.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)


def verdict(project: Project, *words: str) -> str:
    done = run_as_nobody(project, "--json", "verify", *words)
    assert (done.code == 0) is (done.data["verdict"] == "valid")
    return str(done.data["verdict"])


def complaints(project: Project) -> list[str]:
    done = run_as_nobody(project, "--json", "ledger", "doctor")
    return [finding["code"] for finding in done.data["findings"]]


def refused(project: Project, *words: str) -> tuple[str, int]:
    done = run_as_nobody(project, "--json", *words)
    assert done.error["hint"]
    return done.error["code"], done.code


def leave_log(project: Project) -> None:
    """As a killed process does: the newest errand is in the log, and only there."""
    with project.workspace() as space:
        space.engine.execute(LIST, Ask(title="in the log", of="amber-otter"), "teal-crane")
        kept = contents(project.root.parent)
    for name, data in kept.items():
        (project.root.parent / name).write_bytes(data)
    assert (project.root / ".moot" / "ledger.db-wal").stat().st_size > 0


# Checks -------------------------------------------------------------------------------------------


@pytest.mark.requirement("LDG-096")
@pytest.mark.parametrize("keys", ["writable", "read-only"])
def test_a_read_only_workspace_is_verified_and_examined(project: Project, keys: str) -> None:
    close(project)
    if keys == "read-only":
        forbid_keys(project)
    before = contents(project.root)
    assert verdict(project) == "valid"
    assert verdict(project, LIST) == "valid"
    assert complaints(project) == ["ledger_read_only"]
    assert contents(project.root) == before


def test_a_workspace_and_keys_on_a_read_only_disk_are_verified_and_examined(
    project: Project,
) -> None:
    if not has_read_only_disks(project.root.parent):
        pytest.skip("no read-only disk can be mounted here; permissions are tested anyway")
    disk = on_a_read_only_disk(project.root.parent)
    before = contents(project.root.parent)
    done = run_as_nobody(project, "--json", "verify", within=disk)
    assert (done.code, done.data["verdict"]) == (0, "valid")
    done = run_as_nobody(project, "--json", "ledger", "doctor", within=disk)
    assert (done.code, [one["code"] for one in done.data["findings"]]) == (0, ["ledger_read_only"])
    assert contents(project.root.parent) == before


def test_what_was_changed_is_named_in_a_read_only_workspace_too(project: Project) -> None:
    edit(project.ledger, f"UPDATE events SET body = x'00' WHERE {of(LIST)}")
    close(project)
    assert verdict(project) == "tampered"
    assert "chain_broken" in complaints(project)


@pytest.mark.requirement("LDG-038")
def test_an_older_copy_is_noticed_by_a_memory_that_may_not_be_written(project: Project) -> None:
    old = project.ledger.read_bytes()
    project.execute("teal-crane", Ask(title="more", of="amber-otter"))
    project.ledger.write_bytes(old)
    close(project)
    forbid_keys(project)
    assert verdict(project) == "rolled-back"
    assert complaints(project) == ["rolled_back", "rolled_back", "ledger_read_only"]


def test_a_log_that_can_be_read_counts(project: Project) -> None:
    leave_log(project)
    close(project)
    done = run_as_nobody(project, "--json", "verify")
    assert (done.data["integrity"], done.data["events"]) == ("intact", EVENTS + 1)


@pytest.mark.requirement("LDG-078")
def test_a_log_that_cannot_be_read_is_said_and_no_verdict_given(project: Project) -> None:
    leave_log(project)
    (project.root / ".moot" / "ledger.db-shm").unlink()
    close(project)
    assert refused(project, "verify") == ("log_unreadable", 4)
    assert refused(project, "ledger", "doctor") == ("log_unreadable", 4)
    assert refused(project, "status") == ("log_unreadable", 4)


# The key folder -----------------------------------------------------------------------------------


def test_a_memory_whose_log_cannot_be_read_is_said_and_no_verdict_given(project: Project) -> None:
    with project.workspace() as space:
        space.seen_checkpoints.remember(space.trust.origin, 99, "newer", ())
        kept = contents(project.keys)
    for name, data in kept.items():
        (project.keys / name).write_bytes(data)
    (project.keys / "kept.db-shm").unlink()
    close(project)
    forbid_keys(project)
    assert refused(project, "verify") == ("log_unreadable", 4)
    assert refused(project, "ledger", "doctor") == ("log_unreadable", 4)


def test_a_memory_that_may_not_be_read_is_not_taken_for_none(project: Project) -> None:
    close(project)
    (project.keys / "kept.db").chmod(0)
    assert refused(project, "verify") == ("kept_unreadable", 4)
    assert refused(project, "status") == ("kept_unreadable", 4)
    assert refused(project, "ledger", "doctor") == ("kept_unreadable", 4)


def test_a_key_folder_that_may_not_be_entered_is_a_clear_error(project: Project) -> None:
    close(project)
    project.keys.chmod(0)
    assert refused(project, "verify") == ("keys_unreadable", 4)
    assert refused(project, "ledger", "doctor") == ("keys_unreadable", 4)


def test_a_pinned_trust_file_that_may_not_be_read_is_a_clear_error(project: Project) -> None:
    give_to_nobody(project.root)
    give_to_nobody(project.keys)
    project.pinned.chmod(0)
    for words in (("status",), ("verify",), ("trust", "show")):
        error = run_as_nobody(project, "--json", *words).error
        assert error["code"] == "no_trust"
        assert error["hint"] == f"check the permissions of {project.pinned}"
    done = run_as_nobody(project, "--json", "ledger", "doctor")
    (finding,) = done.data["findings"]
    assert (finding["code"], finding["where"]) == ("pinned_trust_unreadable", str(project.pinned))
    assert "permissions" in finding["hint"]


def test_a_ledgers_keys_that_may_not_be_entered_are_no_bug(project: Project) -> None:
    give_to_nobody(project.root)
    give_to_nobody(project.keys)
    project.pinned.parent.chmod(0)
    for words in (("status",), ("agent", "list"), ("verify",)):
        error = run_as_nobody(project, "--json", *words).error
        assert error["code"] in ("not_permitted", "keys_unreadable")
        assert "permissions" in error["hint"]


def test_where_the_memory_may_not_be_written_nothing_is_recorded(project: Project) -> None:
    give_to_nobody(project.root)
    give_to_nobody(project.keys)
    forbid_keys(project)
    before = project.ledger.read_bytes()
    assert refused(project, "agent", "register", "coral-finch") == ("kept_read_only", 4)
    assert run_as_nobody(project, "--json", "ledger", "log").data["total"] == 2
    assert verdict(project) == "valid"
    assert project.ledger.read_bytes() == before


def test_a_memory_that_was_made_and_never_used_is_empty(project: Project) -> None:
    for file in project.keys.glob("kept.db*"):
        file.unlink()
    (project.keys / "kept.db").touch()
    assert project.ok("verify")["verdict"] == "valid"


# Commands that only read --------------------------------------------------------------------------

READING: dict[str, tuple[str, ...]] = {
    "status": ("status",),
    "agenda": ("agenda",),
    "track": ("track",),
    "guard.check": ("guard", "check", "src/auth.py"),
    "machine.list": ("machine", "list"),
    "agent.list": ("agent", "list"),
    "agent.show": ("agent", "show", "teal-crane"),
    "undo.list": ("undo",),
    "undo.show": ("undo", "--show", "a.txt"),
    "scope.list": ("scope", "list"),
    "scope.compare": ("scope", "compare", "src", "src/auth.py"),
    "event.list": ("event", "list"),
    "inbox": ("inbox", "--agent", "coral-finch", "--peek"),
    "mail.inbox": ("mail", "inbox", "--agent", "teal-crane", "--all"),
    "mail.show": ("mail", "show", "plan:1"),
    "mail.search": ("mail", "search", "done"),
    "mail.thread": ("mail", "thread", "plan"),
    "mail.pending": ("mail", "pending"),
    "mail.template": ("mail", "template", "INFO"),
    "debate.check": ("debate", "check", "d.md"),
    "debate.status": ("debate", "status", "d.md"),
    "debate.summary": ("debate", "summary", "d.md"),
    "debate.report": ("debate", "report", "d.md"),
    "debate.consensus": ("debate", "consensus", "d.md"),
    "debate.compare": ("debate", "compare", "d.md", "d.md"),
    "debate.verify": ("debate", "verify", "d.md"),
    "parliament.check": ("parliament", "check", "p"),
    "parliament.template": ("parliament", "template", "vote"),
    "parliament.status": ("parliament", "status", "p"),
    "parliament.next": ("parliament", "next", "p"),
    "parliament.context": ("parliament", "context", "p"),
    "parliament.history": ("parliament", "history", "p"),
    "trace.status": ("trace", "status", "t1"),
    "trace.list": ("trace", "list"),
    "trace.observed": ("trace", "observed"),
    "trace.report": ("trace", "report", "t1"),
    "trace.export": ("trace", "export", "t1", "-o", "{out}/t1.moot"),
    "flow.list": ("flow", "list"),
    "story": ("story", "t1"),
    "report": ("report", "t1"),
    "report.all": ("report", "--all", "-o", "{out}"),
    "trust.show": ("trust", "show"),
    "trust.export": ("trust", "export", "--minimum", "-o", "{out}/trust.json"),
    "artifact.show": ("artifact", "show", "{artifact}"),
    "ledger.log": ("ledger", "log", LIST),
    "log": ("log", LIST),
    "prompt": ("prompt",),
    "plan": ("plan", "T-7"),
    "explain": ("explain", "reservation_conflict"),
    "ledger.export": ("ledger", "export", "-o", "{out}/record.moot"),
    "ledger.backup": ("ledger", "backup", "{out}/copy.db"),
}


def lived_in(project: Project) -> Project:
    """The same with versions of a file, mail, a debate, a parliament and a trace."""
    leave_versions(project)  # first: a hook leaves the checkpoint to the next command
    for name in ("coral-finch", "jade-heron"):
        project.ok("agent", "register", name)
    sent = ("--from", "teal-crane", "--to", "coral-finch", "--subject", "INFO: done")
    project.ok("mail", "send", *sent, "--thread", "plan")
    project.ok("debate", "new", "d.md", "--title", "Why?", "--agents", "teal-crane,coral-finch")
    issues = ("--problem", "Why?", "--issue", "speed", "--issue", "cost")
    seats = ("--rep", "Rep. Swift:speed", "--rep", "Rep. Thrift:cost")
    project.ok("parliament", "new", "p", *issues, *seats)
    parts = ("--planner", "teal-crane", "--executor", "coral-finch", "--critic", "jade-heron")
    project.ok("agent", "register", "amber-lynx")
    project.ok("trace", "new", "--task", "tea", *parts, "--auditor", "amber-lynx")
    return project


def leave_versions(project: Project) -> None:
    """Two edits of a file in a repository, as a hook tells of them."""
    subprocess.run(["git", "init", "--quiet"], cwd=project.root, check=True, timeout=60)
    file = project.root / "a.txt"
    call: dict[str, Any] = {"session_id": "s", "hook_event_name": "PostToolUse"}
    call |= {"tool_name": "Write", "tool_input": {"file_path": str(file)}}
    call["cwd"] = str(project.root)
    for text in ("first\n", "second\n"):
        file.write_text(text, encoding="utf-8")
        env = {**project.env, "MOOT_AGENT": "teal-crane"}
        assert answer("claude", json.dumps(call).encode(), env, str(project.root)).err == ""


def filled(project: Project, out: Path) -> list[list[str]]:
    """All of them, with the names of this project."""
    stored = min((project.root / ".moot" / "artifacts").glob("*/*"))
    named = {"out": str(out), "artifact": stored.parent.name + stored.name}
    return [[word.format(**named) for word in words] for words in READING.values()]


# They read, and are tried elsewhere: without a workspace, or where it is the very thing checked.
ELSEWHERE = {"ledger.verify", "verify", "ledger.doctor", "mail.lint", "trace.verify"}
ELSEWHERE |= {"doctor", "hook.status", "hook.test"}  # of a tool's settings, not of the record
ELSEWHERE |= {"hook.after_read"}  # a hook's answer, in tests/hooks/test_read_notices.py
ELSEWHERE |= {"sessions", "conversation", "mail.list", "decision.list", "decision.show", "search"}


def test_every_reading_command_has_its_line_here() -> None:
    assert all_operations()
    reading = {name for name in OPERATIONS if only_reads(name)}
    assert READING.keys() == reading - ELSEWHERE


def test_where_nothing_may_be_written_reading_answers_as_it_does_for_the_owner() -> None:
    with open_folder() as folder, open_folder() as out:
        (folder / "project").mkdir()
        project = Project(folder / "project", folder / "keys", MOOT_CLOCK="2026-02-18T16:00:00Z")
        lived_in(founded(project))
        asked = filled(project, out)
        owner = [project.json(*words) for words in asked]
        assert all(answer.envelope["ok"] for answer in owner)
        made = contents(out)
        for file in out.iterdir():
            file.unlink()
        close(project)
        before = contents(project.root)
        others = each_as_nobody(project, asked)
        assert dict(zip(READING, others, strict=True)) == dict(zip(READING, owner, strict=True))
        assert contents(out) == made
        assert contents(project.root) == before


def test_mail_that_cannot_be_marked_as_seen_is_shown_all_the_same(project: Project) -> None:
    project.ok("agent", "register", "coral-finch")
    sent = ("--from", "teal-crane", "--to", "coral-finch", "--subject", "INFO: done")
    project.ok("mail", "send", *sent)
    close(project)
    first, again = each_as_nobody(project, [("--as", "coral-finch", "inbox")] * 2)
    assert [one["subject"] for one in first.data["messages"]] == ["INFO: done"]
    assert again.data == first.data


def test_an_export_from_where_nothing_may_be_written_says_what_it_does_not_prove(
    project: Project,
) -> None:
    leave_log(project)
    close(project)
    with open_folder() as out:
        done = run_as_nobody(project, "ledger", "export", "-o", str(out / "record.moot"))
        assert (done.code, done.err) == (0, "")
        assert "its newest events are not proven complete" in done.out
        checked = run_as_nobody(project, "--json", "verify", str(out / "record.moot"))
        assert (checked.data["verdict"], checked.data["events"]) == ("unproven", EVENTS + 1)


def test_reading_on_a_read_only_disk_shows_the_newest_events(project: Project) -> None:
    if not has_read_only_disks(project.root.parent):
        pytest.skip("no read-only disk can be mounted here; permissions are tested anyway")
    leave_log(project)
    disk = on_a_read_only_disk(project.root.parent)
    done = run_as_nobody(project, "--json", "status", within=disk)
    assert (done.code, done.data["record"]["events"]) == (0, EVENTS + 1)
    (project.root / ".moot" / "ledger.db-shm").unlink()
    done = run_as_nobody(project, "--json", "status", within=disk)
    assert (done.code, done.error["code"]) == (4, "log_unreadable")


def test_an_older_copy_is_seen_for_one_where_nothing_may_be_written(project: Project) -> None:
    old = project.ledger.read_bytes()
    project.execute("teal-crane", Ask(title="more", of="amber-otter"))
    project.ledger.write_bytes(old)
    close(project)
    forbid_keys(project)
    assert run_as_nobody(project, "--json", "status").data["record"]["rolled_back"] is True


# Other commands -----------------------------------------------------------------------------------


@pytest.mark.requirement("LDG-078")
@pytest.mark.parametrize(
    "words",
    [
        ("agent", "register", "coral-finch"),
        ("--as", "teal-crane", "send", "amber-otter", "INFO: done"),
        ("reserve", "src", "--agent", "teal-crane"),
        ("ledger", "checkpoint"),
        ("ledger", "rebuild"),
        ("tick",),
    ],
)
def test_what_writes_is_refused_before_it_does_anything(
    project: Project, words: tuple[str, ...]
) -> None:
    close(project)
    before = contents(project.root.parent)
    assert refused(project, *words) == ("store_read_only", 4)
    assert contents(project.root.parent) == before


def test_a_folder_that_may_not_be_entered_is_a_clear_error(project: Project) -> None:
    close(project)
    (project.root / ".moot").chmod(0)
    assert refused(project, "verify") == ("no_trust", 4)
    assert refused(project, "ledger", "doctor") == ("store_unreachable", 4)


def test_a_copy_of_all_files_can_be_checked_where_the_folder_could_not(
    project: Project, tmp_path: Path
) -> None:
    """As the hint says."""
    leave_log(project)
    (project.root / ".moot" / "ledger.db-shm").unlink()
    shutil.copytree(project.root, tmp_path / "copy")
    copy = Project(tmp_path / "copy", project.keys)
    copy.ok("status")
    assert copy.json("verify").data["events"] == EVENTS + 1


# A file that may not be written, in a folder that may ---------------------------------------------


@pytest.mark.parametrize("reading", [("status",), ("verify",), ("ledger", "doctor")])
@pytest.mark.parametrize("file", ["ledger.db", "kept.db"])
def test_reading_leaves_nothing_beside_a_file_that_may_not_be_written(
    project: Project, reading: tuple[str, ...], file: str
) -> None:
    """What SQLite made there would be as little to be written: for ever, and by its owner too."""
    give_to_nobody(project.root)
    give_to_nobody(project.keys)
    (found,) = project.root.parent.rglob(file)
    found.chmod(0o444)
    assert run_as_nobody(project, *reading).code == 0
    assert [path.name for path in found.parent.glob(f"{file}*")] == [file]
    found.chmod(0o644)
    assert run_as_nobody(project, "agent", "register", "coral-finch").code == 0
    with project.workspace() as space, space.store.read() as view:
        kept = space.seen_checkpoints.newest(space.trust.origin)
        assert kept is not None
        assert kept.note == view.newest_note()


@pytest.mark.parametrize("file", ["ledger.db", "kept.db"])
def test_a_file_that_may_not_be_written_refuses_before_anything_is_done(
    project: Project, file: str
) -> None:
    give_to_nobody(project.root)
    give_to_nobody(project.keys)
    (found,) = project.root.parent.rglob(file)
    found.chmod(0o444)
    before = project.ledger.read_bytes()
    code, _ = refused(project, "agent", "register", "coral-finch")
    assert code == {"ledger.db": "store_read_only", "kept.db": "kept_read_only"}[file]
    assert [path.name for path in found.parent.glob(f"{file}*")] == [file]
    assert not list(project.keys.rglob("coral-finch.*"))
    assert project.ledger.read_bytes() == before

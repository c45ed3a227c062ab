"""`moot verify`: live, one part, or a file; every verdict with its line and its exit code."""

from __future__ import annotations

import hashlib
import io
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.protocols.example.model import Ask
from moot.surfaces.terminal.progress import progress
from moot.surfaces.terminal.verdict import receipt_summary
from tests.cli.damage import edit, of
from tests.cli.terminal import on_a_terminal
from tests.project import LIST, MOOT, Project

FACETS = {
    "verdict",
    "integrity",
    "authenticity",
    "completeness",
    "freshness",
    "key_status",
    "artifacts",
    "custody",
    "first_bad",
    "last_trusted",
    "checks",
    "findings",
}


@pytest.fixture
def busy(project: Project) -> Project:
    """Three events of keys, three of errands: in an export events 1 to 3, then 4 to 6."""
    errands = [Ask(title=f"errand {number}", of="teal-crane") for number in range(3)]
    project.execute("amber-otter", *errands)
    return project


def verdict(project: Project, *words: str, **settings: str) -> tuple[str, int, str]:
    """The verdict, the exit code, and the line for people."""
    done = project.json("verify", *words, **settings)
    line = project.run("verify", *words, **settings).out.splitlines()[0]
    return done.data["verdict"], done.code, line


def codes(project: Project, *words: str) -> list[str]:
    return [found["code"] for found in project.json("verify", *words).data["findings"]]


# What holds.


def test_a_sound_workspace_is_intact(busy: Project) -> None:
    assert verdict(busy) == ("valid", 0, "INTACT · 6 events · complete up to checkpoint 4")


def test_the_data_has_the_fields_others_rely_on(busy: Project) -> None:
    data = busy.ok("verify")
    assert set(data) >= FACETS
    assert (data["first_bad"], data["last_trusted"]) == (None, None)
    assert {"name", "ok", "detail"} == set(data["checks"][0])


def test_people_read_facets_and_custody(busy: Project) -> None:
    out = busy.run("verify").out
    assert "integrity     intact" in out
    assert "2 agents, 1 custodian: which one wrote is recorded" in out
    assert "stream" not in out.lower()
    assert "registry" not in out


def test_one_part_is_checked_with_the_keys_it_rests_on(busy: Project) -> None:
    busy.execute("amber-otter", Ask(title="x", of="teal-crane"), stream="example/other")
    data = busy.ok("verify", LIST)
    assert (data["verdict"], data["events"], data["streams"]) == ("valid", 6, 2)


def test_a_file_needs_no_workspace_but_trust(busy: Project, tmp_path: Path) -> None:
    busy.ok("ledger", "export", "-o", "record.moot")
    busy.ok("trust", "export", "-o", "trust.json")
    file, trust = busy.root / "record.moot", busy.root / "trust.json"
    stranger = Project(tmp_path, tmp_path / "no keys")
    assert verdict(stranger, str(file), "--trust", str(trust))[:2] == ("valid", 0)
    assert verdict(stranger, str(file)) == (
        "unknown-key",
        1,
        "UNKNOWN KEY · 6 events · no trust file was given",
    )
    assert not (tmp_path / "no keys").exists()


def test_the_trust_file_is_told_by_its_fingerprint_and_the_verdict_in_both_words(
    busy: Project, tmp_path: Path
) -> None:
    busy.ok("ledger", "export", "-o", "record.moot")
    digits = busy.ok("trust", "export", "-o", "trust.json")["fingerprint"]
    words = ("verify", "record.moot", "--trust", "trust.json")
    lines = busy.run(*words).out.splitlines()
    assert f"fingerprint   {digits}" in lines
    assert "verdict       valid" in lines
    assert busy.ok(*words)["fingerprint"] == digits
    stranger = Project(busy.root, tmp_path / "no keys")
    assert "fingerprint" not in stranger.run("verify", "record.moot").out


def test_of_a_receipt_one_line_says_what_was_checked(busy: Project, tmp_path: Path) -> None:
    busy.ok("ask", "Ship\x1b[2J it?", "--with", "fern-hare=rules:approve,moss-lynx=rules:reject")
    busy.ok("receipt", "q-1", "-o", "q.json")
    (line,) = (one for one in busy.run("verify", "q.json").out.splitlines() if "says" in one[:5])
    assert line.startswith('says          q-1 WAITING: "Ship')
    assert line.endswith(", 1 dissenting (a summary signed by the ledger's key)")
    assert line.isprintable()
    assert busy.ok("verify", "q.json")["says"]["decision"] == "q-1"
    stranger = Project(busy.root, tmp_path / "no keys")
    assert "says" not in stranger.run("verify", "q.json").out


APPROVED = {
    "decision": "q-1",
    "stage": "approved",
    "question": "Which queue?\n\u202e",
    "word": {"by": "operator"},
    "result": {"dissent": ["a", "b"]},
}


@pytest.mark.parametrize(
    ("changes", "start"),
    [
        ({}, 'q-1 APPROVED by operator: "Which queue?\\n\\x202e", 2 dissenting ('),
        ({"word": None}, "q-1 APPROVED: "),
        ({"word": {"by": 1}, "result": [], "question": None}, 'q-1 APPROVED: "", 0 dissenting ('),
        ({"decision": {}, "stage": 7, "word": "x"}, ': "Which'),
        ({"question": "x" * 300}, f'q-1 APPROVED by operator: "{"x" * 200}…", 2 dissenting ('),
    ],
)
def test_whatever_a_receipt_says_is_told_in_one_line(changes: dict[str, Any], start: str) -> None:
    line = receipt_summary({**APPROVED, **changes})
    assert line.startswith(start)
    assert line.isprintable()


def test_the_pinned_trust_is_used_for_a_file(busy: Project) -> None:
    busy.ok("ledger", "export", "-o", "record.moot")
    assert verdict(busy, "record.moot")[:2] == ("valid", 0)


def test_several_processes_say_the_same(busy: Project) -> None:
    busy.ok("ledger", "export", "-o", "record.moot")
    one = busy.spawn("verify", "record.moot", "--json")
    assert busy.spawn("verify", "record.moot", "--jobs", "2", "--json").out == one.out


@pytest.mark.requirement("LDG-096")
def test_checking_writes_nothing(busy: Project) -> None:
    def everything() -> dict[str, str]:
        files = [*busy.root.rglob("*"), *busy.keys.rglob("*")]
        return {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in files
            if path.is_file() and not path.name.endswith(("-shm", "-wal"))
        }

    busy.execute("amber-otter", Ask(title="one more", of="teal-crane"))
    before = everything()
    busy.run("verify")
    busy.run("verify", LIST)
    busy.run("ledger", "doctor")
    assert everything() == before


# What does not.


def test_a_changed_event_is_named(busy: Project) -> None:
    changed = "CAST(replace(CAST(body AS TEXT), 'errand 1', 'errand 9') AS BLOB)"
    edit(busy.ledger, f"UPDATE events SET body = {changed} WHERE seq = 1 AND {of(LIST)}")
    assert verdict(busy) == ("tampered", 1, "DAMAGED at event 5; trusted up to 4")


def test_an_unreadable_event_gets_a_verdict_not_an_error(busy: Project) -> None:
    edit(busy.ledger, f"UPDATE events SET body = x'00ff' WHERE seq = 1 AND {of(LIST)}")
    assert verdict(busy) == ("tampered", 1, "DAMAGED at event 5; trusted up to 4")


def test_a_deleted_event_is_named(busy: Project) -> None:
    edit(busy.ledger, f"DELETE FROM events WHERE seq = 1 AND {of(LIST)}")
    assert verdict(busy) == ("tampered", 1, "DAMAGED at event 5; trusted up to 4")


def test_a_tail_cut_off_is_noticed_by_the_checkpoint(busy: Project) -> None:
    edit(busy.ledger, f"DELETE FROM events WHERE seq = 2 AND {of(LIST)}")
    name, code, line = verdict(busy)
    assert (name, code) == ("truncated", 1)
    assert line.startswith("CUT SHORT · 5 events")
    assert "kept_missing" in codes(busy)


def test_a_damaged_checkpoint_is_named(busy: Project) -> None:
    edit(busy.ledger, "UPDATE notes SET note = replace(note, 'moot ', 'Moot ')")
    name, code, _ = verdict(busy)
    assert (name, code) == ("tampered", 1)


def test_a_lost_tree_of_heads_is_no_crash(busy: Project) -> None:
    edit(busy.ledger, "DELETE FROM nodes")
    assert verdict(busy)[:2] == ("unproven", 3)


def test_a_removed_history_is_rolled_back_even_if_asked_for_by_name(busy: Project) -> None:
    busy.execute("amber-otter", Ask(title="x", of="teal-crane"), stream="example/other")
    edit(
        busy.ledger,
        f"DELETE FROM events WHERE {of('example/other')}",
        "DELETE FROM streams WHERE name = 'example/other'",
    )
    assert "kept_missing" in codes(busy, "example/other")
    assert verdict(busy)[1] == 1


def test_events_after_the_checkpoint_are_unproven(busy: Project, tmp_path: Path) -> None:
    """An agent with a key folder of its own makes no checkpoint."""
    own = Project(busy.root, tmp_path / "own")
    busy.ok("agent", "register", "coral-finch", "--keys", str(own.keys))
    own.execute("coral-finch", Ask(title="mine", of="teal-crane"))
    name, code, line = verdict(busy)
    assert (name, code) == ("unproven", 3)
    assert line == "UNPROVEN · 8 events · 1 event follows the checkpoint (example/today)"
    busy.ok("ledger", "checkpoint")
    assert verdict(busy)[:2] == ("valid", 0)


def test_a_workspace_that_the_key_folder_never_met_is_unknown(
    busy: Project, tmp_path: Path
) -> None:
    assert verdict(busy, MOOT_KEYS=str(tmp_path / "none"))[:2] == ("unknown-key", 1)


def test_another_ledgers_trust_is_no_trust(busy: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = Project(tmp_path / "elsewhere", tmp_path / "other keys")
    other.ok("init")
    other.ok("trust", "export", "-o", "trust.json")
    words = ("--trust", str(other.root / "trust.json"))
    assert verdict(busy, *words)[:2] == ("unknown-key", 1)


def test_a_minimum_makes_an_old_export_rolled_back(busy: Project) -> None:
    busy.ok("ledger", "export", "-o", "old.moot")
    busy.ok("agent", "register", "coral-finch")
    busy.ok("trust", "export", "-o", "trust.json", "--minimum")
    name, code, line = verdict(busy, "old.moot", "--trust", "trust.json")
    assert (name, code) == ("rolled-back", 1)
    assert line.startswith("ROLLED BACK · 6 events")


def test_a_changed_artifact_is_damage(project: Project) -> None:
    project.ok("agent", "revoke", "amber-otter", "--reason", "lost")
    (file,) = (project.root / ".moot" / "artifacts").glob("??/*")
    file.write_bytes(file.read_bytes().replace(b"registry", b"registri"))
    assert verdict(project)[:2] == ("tampered", 1)


# What cannot be read.


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff\xfe", b"not a record", b"[" * 100_000])
@pytest.mark.parametrize("name", ["junk.moot", "junk"])
def test_a_wrong_file_is_not_called_damaged(project: Project, content: bytes, name: str) -> None:
    (project.root / name).write_bytes(content)
    assert project.refused("verify", name) == ("not_an_export", 4)


def test_a_device_without_bytes_is_no_export_and_a_pipe_cannot_be_read(busy: Project) -> None:
    assert busy.refused("verify", "/dev/null") == ("not_an_export", 4)
    busy.ok("ledger", "export", "-o", "record.moot")
    done = subprocess.run(
        [*MOOT, "--json", "verify", "/dev/stdin"],
        input=(busy.root / "record.moot").read_bytes(),
        cwd=busy.root,
        env=busy.env,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (4, "unreadable_file")


def test_a_trust_file_or_a_page_is_no_export_for_either_checker(
    busy: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    from moot.verify import standalone

    busy.ok("trust", "export", "-o", "trust.json")
    busy.ok("report", LIST, "-o", "page.md")
    for name in ("trust.json", "page.md"):
        assert busy.refused("verify", name) == ("not_an_export", 4)
        assert standalone.main([str(busy.root / name)]) == 4
        assert "neither an export nor a receipt" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content", [b'{"digest":"', b'{"format":"moot-receipt/1"', b"moot-bundle/"]
)
def test_a_record_with_a_broken_first_line_is_damaged_there(
    project: Project, content: bytes
) -> None:
    (project.root / "junk.moot").write_bytes(content)
    assert verdict(project, "junk.moot") == (
        "tampered",
        1,
        "DAMAGED at line 1; nothing is trusted",
    )


def test_a_header_never_chooses_a_path(project: Project) -> None:
    (project.keys / "trust.json").write_text("{}")
    header = {"digest": "0" * 64, "format": "moot-bundle/1", "lines": 0, "origin": "moot.ledger/.."}
    (project.root / "evil.moot").write_text(json.dumps(header) + "\n")
    assert verdict(project, "evil.moot")[:2] == ("tampered", 1)


def test_a_folder_or_a_missing_file_is_unreadable(project: Project) -> None:
    assert project.refused("verify", ".") == ("unreadable_file", 4)
    assert project.refused("verify", "gone.moot") == ("unreadable_file", 4)


def test_anyone_who_mistypes_a_file_where_no_workspace_is_hears_of_both(tmp_path: Path) -> None:
    auditor = Project(tmp_path, tmp_path / "no keys")
    done = auditor.json("verify", "reciept")
    error = done.envelope["error"]
    assert (done.code, error["code"]) == (4, "no_workspace")
    assert error["message"].startswith("no file is called reciept, and there is no workspace ")
    assert "moot init" not in error["hint"]
    assert "moot init" in auditor.json("verify").envelope["error"]["hint"]


def test_any_id_that_is_shown_can_be_checked(busy: Project) -> None:
    asked = ("ask", "Ship it?", "--with", "fern-hare=rules:approve,moss-lynx=rules:approve")
    busy.ok(*asked)
    busy.ok("--as", "amber-otter", "send", "teal-crane", "INFO: done", "--thread", "auth-cache")
    for named in ("q-1", "decision/q-1", "auth-cache", "Auth-Cache", "auth-cache:1", LIST):
        found = busy.ok("verify", named)
        assert found["verdict"] == "valid", named
        assert found["events"] < busy.ok("verify")["events"]
    assert busy.refused("verify", "q-2") == ("not_found", 1)


@pytest.mark.parametrize("name", ["decision.md", "decision.html"])
def test_what_is_only_for_reading_is_said_to_prove_nothing(project: Project, name: str) -> None:
    (project.root / name).write_text("# Approved")
    assert project.refused("verify", name) == ("not_an_export", 4)


@pytest.mark.parametrize("content", ["", "[]", '{"format": "moot-trust/2"}'])
def test_a_bad_trust_file_cannot_be_used(project: Project, content: str) -> None:
    (project.root / "trust.json").write_text(content)
    assert project.refused("verify", "--trust", "trust.json") == ("bad_trust", 4)
    assert project.refused("verify", "--trust", "none.json") == ("no_trust", 4)


def test_a_ledger_file_that_is_none_cannot_be_read(project: Project) -> None:
    project.ledger.write_bytes(b"this was a database once" * 100)
    assert project.refused("verify") == ("store_damaged", 4)


# Pages.


@pytest.mark.parametrize(("suffix", "start"), [("html", "<!doctype"), ("md", "# "), ("json", "{")])
def test_the_verdict_as_a_page(busy: Project, suffix: str, start: str) -> None:
    busy.ok("ledger", "export", "-o", "record.moot")
    busy.ok("verify", "record.moot", "-o", f"verdict.{suffix}")
    text = (busy.root / f"verdict.{suffix}").read_text()
    assert text.lower().startswith(start)
    assert "INTACT" in text
    digest = hashlib.sha256((busy.root / "record.moot").read_bytes()).hexdigest()
    assert digest in text
    assert "moot verify record.moot" in text


def test_a_live_verdict_has_no_file_to_prove_it(busy: Project) -> None:
    busy.ok("verify", "-o", "verdict.md")
    assert "No proof was written beside it" in (busy.root / "verdict.md").read_text()


def test_an_unknown_form_is_wrong_usage(busy: Project) -> None:
    assert busy.refused("verify", "-o", "verdict.pdf") == ("usage", 2)
    assert not (busy.root / "verdict.pdf").exists()


def test_a_page_is_written_for_a_bad_record_too(busy: Project) -> None:
    edit(busy.ledger, f"DELETE FROM events WHERE seq = 1 AND {of(LIST)}")
    assert busy.json("verify", "-o", "verdict.md").code == 1
    assert "DAMAGED" in (busy.root / "verdict.md").read_text()


# Trust is not taken from what is being checked.


def test_a_changed_trust_file_in_the_workspace_changes_no_verdict(
    busy: Project, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = Project(tmp_path / "other", tmp_path / "other keys")
    other.ok("init")
    file = busy.root / ".moot" / "trust.json"
    trust = json.loads(file.read_text())
    trust["checkpoint"] = json.loads(other.pinned.read_text())["checkpoint"]
    file.write_text(json.dumps(trust))
    assert verdict(busy)[:2] == ("valid", 0)
    assert busy.refused("status") == ("trust_changed", 1)
    assert busy.json("ledger", "doctor").data["findings"][0]["code"] == "trust_changed"


def test_an_unreadable_trust_file_in_the_workspace_cannot_run(busy: Project) -> None:
    (busy.root / ".moot" / "trust.json").write_text("{}")
    assert busy.refused("verify") == ("bad_trust", 4)


# Progress.


def test_long_work_shows_a_bar_to_a_person(busy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.surfaces.terminal.progress.QUIET_SECONDS", -1.0)
    busy.ok("ledger", "export", "-o", "record.moot")
    assert on_a_terminal(busy, "verify", "record.moot").startswith("\x1b[32mINTACT")
    with progress("checking") as tell:
        assert tell is None  # the tests' standard error is no terminal
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress("checking") as tell:
        assert tell is not None
        tell(3, 9)
    assert "checking" in terminal.getvalue()


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_headline_of_a_part_says_that_it_is_a_part(project: Project, tmp_path: Path) -> None:
    project.execute("amber-otter", Ask(title="t", of="teal-crane"))
    whole, part = str(tmp_path / "whole.moot"), str(tmp_path / "part.moot")
    project.ok("ledger", "export", "-o", whole)
    project.ok("ledger", "export", "-o", part, "registry")
    first = [project.run("verify", name).out.splitlines()[0] for name in (whole, part)]
    assert "of 2 histories" not in first[0]
    assert first[1].startswith("INTACT · 3 events · 1 of 2 histories, complete up to checkpoint")


# A checkpoint that was kept elsewhere.


@pytest.fixture
def kept(busy: Project) -> Project:
    """An old export, a note of today, and an export of today."""
    busy.ok("ledger", "export", "-o", "old.moot")
    busy.ok("trust", "export", "-o", "trust.json")
    busy.execute("amber-otter", Ask(title="one more", of="teal-crane"))
    busy.ok("ledger", "checkpoint", "-o", "note.txt")
    busy.ok("ledger", "export", "-o", "record.moot")
    return busy


@pytest.mark.requirement("LDG-101")
def test_a_record_that_lacks_what_a_kept_checkpoint_pinned_was_rolled_back(kept: Project) -> None:
    assert verdict(kept, "old.moot")[:2] == ("valid", 0)
    assert verdict(kept, "old.moot", "--checkpoint", "note.txt") == (
        "rolled-back",
        1,
        "ROLLED BACK · 6 events · what checkpoint 5 pinned is not all here",
    )
    assert "checkpoint_lacking" in codes(kept, "old.moot", "--checkpoint", "note.txt")


def test_a_record_that_goes_on_from_a_kept_checkpoint_is_intact(kept: Project) -> None:
    assert verdict(kept, "record.moot", "--checkpoint", "note.txt")[:2] == ("valid", 0)
    kept.execute("amber-otter", Ask(title="and more", of="teal-crane"))
    assert verdict(kept, "--checkpoint", "note.txt")[:2] == ("valid", 0)
    assert verdict(kept, LIST, "--checkpoint", "note.txt")[:2] == ("valid", 0)
    assert "minimum_unset" not in codes(kept, "--checkpoint", "note.txt")


def test_a_live_workspace_is_held_against_a_kept_checkpoint(busy: Project, tmp_path: Path) -> None:
    """By someone who has nothing but the note and the trust file."""
    old = busy.ledger.read_bytes()
    busy.ok("trust", "export", "-o", "trust.json")
    busy.execute("amber-otter", Ask(title="one more", of="teal-crane"))
    busy.ok("ledger", "checkpoint", "-o", "note.txt")
    busy.ledger.write_bytes(old)
    auditor = Project(busy.root, tmp_path / "no keys")
    with_trust = ("--trust", "trust.json")
    assert verdict(auditor, *with_trust)[:2] == ("valid", 0)
    assert verdict(auditor, *with_trust, "--checkpoint", "note.txt")[:2] == ("rolled-back", 1)


def test_a_kept_checkpoint_may_come_from_a_pipe(kept: Project) -> None:
    moot = shlex.join(MOOT)
    command = f"{moot} ledger checkpoint -o - | {moot} verify old.moot --json --checkpoint -"
    done = subprocess.run(
        ["sh", "-c", command], cwd=kept.root, env=kept.env, capture_output=True, check=False
    )
    assert (done.returncode, json.loads(done.stdout)["data"]["verdict"]) == (1, "rolled-back")


@pytest.mark.parametrize("made", ["garbage", "CRLF", "another ledger's", "missing", "a folder"])
def test_a_checkpoint_that_cannot_be_used_gives_no_verdict(
    kept: Project, tmp_path: Path, made: str
) -> None:
    note = kept.root / "note.txt"
    if made == "garbage":
        note.write_bytes(b"garbage")
    elif made == "CRLF":
        note.write_bytes(note.read_bytes().replace(b"\n", b"\r\n"))
    elif made == "another ledger's":
        (tmp_path / "other").mkdir()
        other = Project(tmp_path / "other", tmp_path / "other keys")
        other.ok("init")
        other.ok("ledger", "checkpoint", "-o", str(note))
    else:
        note.unlink()
    if made == "a folder":
        note.mkdir()
    code, status = kept.refused("verify", "record.moot", "--checkpoint", "note.txt")
    expected = {"missing": ("unreadable_file", 4), "a folder": ("usage", 2)}
    assert (code, status) == expected.get(made, ("bad_checkpoint", 4))


def test_a_kept_checkpoint_needs_a_trust_file(kept: Project, tmp_path: Path) -> None:
    stranger = Project(kept.root, tmp_path / "no keys")
    words = ("verify", "record.moot", "--checkpoint", "note.txt")
    assert stranger.refused(*words) == ("no_trust", 4)


@pytest.mark.requirement("LDG-095")
def test_the_standalone_checker_says_the_same_of_a_kept_checkpoint(kept: Project) -> None:
    from moot.verify import standalone

    root = kept.root
    for name in ("old.moot", "record.moot"):
        files = (root / name, root / "trust.json", root / "note.txt")
        found = standalone.verify(*map(str, files))
        answer = kept.json("verify", name, "--checkpoint", "note.txt").data
        assert found.verdict == answer["verdict"]
        lacking = [
            one["message"] for one in answer["findings"] if one["code"] == "checkpoint_lacking"
        ]
        assert [one.partition(": ")[2] for one in found.findings] == lacking

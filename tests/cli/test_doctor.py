"""`moot ledger doctor`: each trouble is named with a hint, and nothing is repaired."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from moot.api.bridges import steps, to_debate, to_parliament
from moot.api.decisions import debate_rounds as decisions
from moot.api.parliaments import session_files
from moot.core.clock import HOUR, system_clock
from moot.protocols.example.model import Ask
from moot.workspace.health_checks import RULES
from tests.cli.damage import edit, of
from tests.project import LIST, Project


@pytest.fixture
def busy(project: Project) -> Project:
    errands = [Ask(title=f"errand {number}", of="teal-crane") for number in range(3)]
    project.execute("amber-otter", *errands)
    return project


def complaints(project: Project) -> dict[str, str]:
    """Code -> severity; the exit code must follow from them, every finding must have a hint."""
    done = project.json("ledger", "doctor")
    findings = done.data["findings"]
    assert all(finding["hint"] for finding in findings)
    grave = any(finding["severity"] == "error" for finding in findings)
    assert done.data["healthy"] is not grave
    assert done.code == (1 if grave else 0)
    return {finding["code"]: finding["severity"] for finding in findings}


def test_a_healthy_workspace_has_nothing_to_tell(busy: Project) -> None:
    assert complaints(busy) == {}
    assert busy.run("ledger", "doctor").out.startswith("healthy")


def test_every_rule_has_its_own_id_and_code() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert len({rule.code for rule in RULES}) == len(RULES)


def test_it_repairs_nothing(busy: Project) -> None:
    edit(busy.ledger, "DELETE FROM index_rows")
    before = hashlib.sha256(busy.ledger.read_bytes()).hexdigest()
    assert complaints(busy) == {"derived_differs": "warning"}
    assert hashlib.sha256(busy.ledger.read_bytes()).hexdigest() == before
    busy.ok("ledger", "rebuild")
    assert complaints(busy) == {}


def test_a_file_that_is_no_database(busy: Project) -> None:
    busy.ledger.write_bytes(b"this was a database once" * 100)
    assert complaints(busy) == {"store_damaged": "error"}


def test_a_page_overwritten_by_the_disk(busy: Project) -> None:
    raw = bytearray(busy.ledger.read_bytes())
    raw[8192:12288] = b"\xaa" * 4096
    busy.ledger.write_bytes(raw)
    assert complaints(busy)["store_damaged"] == "error"


def test_a_ledger_file_that_is_gone(busy: Project) -> None:
    busy.ledger.unlink()
    assert complaints(busy)["store_damaged"] == "error"


def test_a_broken_chain_and_what_it_hides(busy: Project) -> None:
    edit(busy.ledger, f"DELETE FROM events WHERE seq = 1 AND {of(LIST)}")
    found = complaints(busy)
    assert found["chain_broken"] == "error"
    assert "derived_differs" not in found


def test_events_that_were_made_to_stand_nowhere(busy: Project) -> None:
    """As if the newest had never been filed: an older state, by the index."""
    edit(
        busy.ledger,
        f"DELETE FROM places WHERE seq = 2 AND {of(LIST)}",
        f"UPDATE streams SET seq = 1 WHERE name = '{LIST}'",
    )
    findings = busy.json("ledger", "doctor").data["findings"]
    assert "1 events are in no index" in str(findings)
    assert complaints(busy)["store_damaged"] == "error"


def test_what_a_running_process_has_not_filed_yet_is_seen_and_healthy(busy: Project) -> None:
    with busy.workspace() as space:
        space.engine.execute(LIST, Ask(title="not filed", of="teal-crane"), "amber-otter")
        with closing(sqlite3.connect(busy.ledger)) as db:
            assert db.execute("SELECT count(*) FROM unfiled").fetchone() == (1,)
        assert complaints(busy) == {"not_pinned": "info"}
        assert "intact" in busy.run("verify").out
        assert "not filed" in busy.run("ledger", "log", LIST).out


def test_every_broken_chain_is_named(busy: Project) -> None:
    busy.execute("amber-otter", Ask(title="x", of="teal-crane"), stream="example/other")
    for stream in (LIST, "example/other"):
        edit(busy.ledger, f"UPDATE events SET body = x'00' WHERE seq = 0 AND {of(stream)}")
    findings = busy.json("ledger", "doctor").data["findings"]
    broken = [finding["where"] for finding in findings if finding["code"] == "chain_broken"]
    assert broken == [LIST, "example/other"]


def test_an_older_copy_put_back(busy: Project) -> None:
    old = busy.ledger.read_bytes()
    busy.execute("amber-otter", Ask(title="more", of="teal-crane"))
    busy.ledger.write_bytes(old)
    assert complaints(busy) == {"rolled_back": "error"}


def test_strange_files_and_leftovers(busy: Project) -> None:
    (busy.root / ".moot" / "notes.txt").write_text("mine")
    (busy.root / ".moot.new-abcdef").mkdir()
    (busy.root / ".moot" / "artifacts" / ".half").write_text("half")
    assert complaints(busy) == {"unknown_file": "warning", "leftover": "warning"}


def test_what_moot_itself_keeps_there_is_not_strange(busy: Project) -> None:
    asked = ("ask", "Which queue?", "--option", "one", "--option", "two")
    busy.ok(*asked, "--with", "rules:approve,rules:listener")
    assert (busy.root / ".moot" / decisions.FOLDER).is_dir()
    for folder in (
        to_debate.FOLDER,
        to_parliament.FOLDER,
        steps.LOCK_FOLDER,
        session_files.NOTES_FOLDER,
    ):
        (busy.root / ".moot" / folder).mkdir(exist_ok=True)
    assert "unknown_file" not in complaints(busy)


def test_artifacts_missing_damaged_and_uncited(busy: Project) -> None:
    busy.ok("agent", "revoke", "teal-crane", "--reason", "lost")
    (file,) = (busy.root / ".moot" / "artifacts").glob("??/*")
    content = file.read_bytes()
    file.write_bytes(b"something else")
    assert complaints(busy) == {"artifact_damaged": "error"}
    file.unlink()
    assert complaints(busy) == {"artifact_missing": "warning"}
    file.write_bytes(content)
    with busy.workspace() as space:
        space.artifacts.put(b"nobody cites me", "text/plain")
    assert complaints(busy) == {"artifact_uncited": "info"}


def test_an_erasure_that_was_interrupted(busy: Project) -> None:
    with busy.workspace() as space:
        ref = space.artifacts.put(b"a secret", "text/plain")
    busy.ok("artifact", "erase", ref.sha256, "--reason", "secret")
    with busy.workspace() as space:
        space.artifacts.put(b"a secret", "text/plain")
    assert complaints(busy)["erasure_unfinished"] == "error"
    busy.ok("artifact", "erase", ref.sha256, "--reason", "secret")
    assert complaints(busy) == {}


def test_keys_that_others_may_read(busy: Project) -> None:
    (file,) = busy.keys.glob("*/amber-otter.*.key")
    file.chmod(0o640)
    assert complaints(busy) == {"key_exposed": "error"}
    file.chmod(0o600)
    busy.keys.chmod(0o777)
    assert complaints(busy) == {"key_folder_exposed": "error"}


def test_a_key_folder_that_others_may_look_into(busy: Project) -> None:
    """It may have been there before, and be shared on purpose: it is told, and left as it is."""
    busy.keys.chmod(0o755)
    assert complaints(busy) == {"key_folder_open": "warning"}
    assert busy.keys.stat().st_mode & 0o777 == 0o755


def test_a_key_file_that_is_damaged(busy: Project) -> None:
    (file,) = busy.keys.glob("*/amber-otter.*.key")
    file.write_text("{}")
    assert complaints(busy) == {"bad_key_file": "error"}


def test_trust_that_was_never_pinned_or_was_changed(busy: Project, tmp_path: Path) -> None:
    pinned = busy.pinned
    original = pinned.read_bytes()
    pinned.unlink()
    assert complaints(busy) == {"trust_not_pinned": "warning"}
    (tmp_path / "other").mkdir()
    other = Project(tmp_path / "other", tmp_path / "other keys")
    other.ok("init")
    pinned.write_bytes(other.pinned.read_bytes())
    assert complaints(busy) == {"trust_changed": "error"}
    pinned.write_text("{}")
    assert complaints(busy) == {"trust_changed": "error"}
    pinned.write_bytes(original)
    (busy.root / ".moot" / "trust.json").write_text("{}")
    assert complaints(busy)["trust_unreadable"] == "error"


def test_a_workspace_committed_to_git(busy: Project) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", *words], cwd=busy.root, env=busy.env, check=True, capture_output=True
        )

    git("init", "--quiet")
    assert complaints(busy) == {}
    git("add", "--force", ".moot/trust.json")
    assert complaints(busy) == {"committed": "error"}


def test_a_missing_gitignore(busy: Project) -> None:
    (busy.root / ".moot" / ".gitignore").unlink()
    assert complaints(busy) == {"gitignore_missing": "warning"}


def test_a_clock_that_lags_behind_the_record(busy: Project) -> None:
    with busy.workspace() as space:
        space.engine.clock = lambda: system_clock() + 2 * HOUR
        space.engine.execute(LIST, Ask(title="later", of="teal-crane"), "amber-otter")
    assert complaints(busy) == {"clock_off": "warning"}


def test_a_disk_that_is_nearly_full(busy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = SimpleNamespace(total=2**40, used=2**40 - 2**20, free=2**20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    assert complaints(busy) == {"disk_low": "warning"}


def test_events_under_no_checkpoint(busy: Project, tmp_path: Path) -> None:
    own = Project(busy.root, tmp_path / "own")
    busy.ok("agent", "register", "coral-finch", "--keys", str(own.keys))
    own.execute("coral-finch", Ask(title="mine", of="teal-crane"))
    assert complaints(busy) == {"not_pinned": "info"}


def test_a_newer_ledger_is_left_to_a_newer_moot(busy: Project) -> None:
    edit(busy.ledger, "PRAGMA user_version = 99")
    findings = busy.json("ledger", "doctor").data["findings"]
    assert ["format 99" in finding["message"] for finding in findings] == [True]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells who has it open")
def test_who_has_the_ledger_open(busy: Project) -> None:
    code = "import sys; file = open(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(busy.ledger)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "open\n"
    assert complaints(busy) == {"in_use": "info"}
    assert str(other.pid) in busy.run("ledger", "doctor").out
    other.communicate("")
    assert complaints(busy) == {}


def test_a_damaged_memory_of_checkpoints(busy: Project) -> None:
    kept = busy.keys / "kept.db"
    kept.write_bytes(b"this was a database once" * 100)
    assert complaints(busy) == {"kept_damaged": "error"}
    for words in (("status",), ("verify",), ("agent", "register", "coral-finch")):
        assert busy.refused(*words) == ("kept_damaged", 4)
    kept.unlink()
    busy.ok("agent", "register", "coral-finch")
    assert complaints(busy) == {}

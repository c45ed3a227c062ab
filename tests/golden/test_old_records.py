"""A record that an earlier version wrote is opened, checked, shown and continued by this one."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moot.core.machine import KeyClass
from moot.core.names import protocol_of
from moot.engine.machines import MODULES
from moot.protocols.example.model import Ask, Finish
from moot.verify import load_trust, standalone, verify_bundle
from tests.project import LIST, Project

HERE = Path(__file__).parent
VERSIONS = sorted(folder.name for folder in HERE.glob("v*") if folder.is_dir())
FIRST = "v0.1.0"
PARLIAMENT_FILES = ("bill.json", "ledger.json", "round-summaries.json", "session.json")
# Presence and observed work are shown by `status` and `trace observed`; keys by `agent show`.
PROTOCOLS_WITH_PAGES = {"debate", "decision", "parliament", "path", "trace"}
PROVABLE_FILES = ("exports/record.moot", "exports/trace.moot", "project/question.json")


class OldProject(Project):
    """A copy of what `version` left; `golden` is the folder it was copied from."""

    def __init__(self, version: str, folder: Path) -> None:
        super().__init__(folder / "project", folder / "keys")
        self.golden = HERE / version
        shutil.copytree(self.golden / "project", self.root)
        shutil.copytree(self.golden / "workspace", self.root / ".moot")
        shutil.copytree(self.golden / "keys", self.keys)
        for file in self.keys.rglob("*"):  # git keeps no modes, and exposed keys are not used
            file.chmod(0o700 if file.is_dir() else 0o600)

    def streams(self) -> list[str]:
        with self.workspace() as workspace, workspace.store.read() as view:
            return [name for name, _ in view.streams()]

    def count_events(self) -> int:
        with self.workspace() as workspace, workspace.store.read() as view:
            return view.count_streams_and_events()[1]

    def index_keys(self) -> set[tuple[str, str]]:
        with closing(sqlite3.connect(self.ledger)) as connection:
            return set(connection.execute("SELECT space, key FROM index_rows"))


@pytest.fixture(params=VERSIONS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> OldProject:
    return OldProject(request.param, tmp_path)


def test_the_first_version_is_kept() -> None:
    assert FIRST in VERSIONS


def test_it_is_intact_and_complete(old: OldProject) -> None:
    verdict = old.ok("verify")
    assert (verdict["verdict"], verdict["clock"]) == ("valid", "fixed")
    assert old.ok("ledger", "doctor")["healthy"] is True
    assert old.ok("debate", "verify", "payments.md")["verdict"] == "valid"
    assert old.ok("parliament", "check", "bill")["valid"] is True
    assert old.ok("trace", "verify", "t1")["verdict"] == "valid"


def test_every_machine_replays_to_a_state(old: OldProject) -> None:
    """From the signed snapshot or the cache, and the same again from the first event on."""
    streams = old.streams()
    with old.workspace() as workspace:
        for stream in streams:
            loaded = workspace.engine.load(stream)
            assert loaded.state != loaded.machine.initial, stream
            assert workspace.engine.load_from_start(stream).state == loaded.state, stream
    assert {protocol_of(stream) for stream in streams} <= set(MODULES)


def test_the_first_version_has_every_machine_of_its_time(tmp_path: Path) -> None:
    protocols = {protocol_of(stream) for stream in OldProject(FIRST, tmp_path).streams()}
    assert protocols == {
        *("registry", "example", "presence", "trace", "observed"),
        *("decision", "mail", "debate", "parliament", "path"),
    }


def test_every_page_can_be_drawn(old: OldProject) -> None:
    before = old.count_events()
    for stream in old.streams():
        if protocol_of(stream) in PROTOCOLS_WITH_PAGES:
            old.ok("report", stream, "-o", "page.html")
            assert (old.root / "page.html").read_bytes().startswith(b"<!DOCTYPE html>"), stream
            assert old.ok("report", stream)["report"]["title"], stream
    assert old.ok("story", "t1")["steps"]
    assert old.count_events() == before


def test_what_has_no_page_can_be_listed(old: OldProject) -> None:
    assert {"amber-otter", "teal-crane"} <= {one["agent"] for one in old.ok("status")["agents"]}
    assert old.ok("agent", "show", "operator")["class"] == "human"
    assert old.ok("trace", "observed")["sessions"]
    assert old.ok("event", "list")["events"]
    assert len(old.ok("mail", "thread", "RS-20260218-slow-logins")["messages"]) >= 3
    assert old.ok("mail", "search", "which", "cache")["messages"]
    for stream in old.streams():
        assert old.ok("ledger", "log", stream)["events"], stream


def test_mail_that_was_shown_before_is_not_new_again(old: OldProject) -> None:
    """How far an agent has read is on no record: it is kept beside them."""
    everything = old.ok("--as", "teal-crane", "inbox", "--all", "--peek")["messages"]
    new = {message["id"] for message in old.ok("--as", "teal-crane", "inbox")["messages"]}
    (question,) = [
        one["id"]
        for one in everything
        if (one["from"], one["subject"]) == ("amber-otter", "QUESTION: Which cache?")
    ]
    assert question not in new
    assert new


def test_its_indexes_can_be_made_again(old: OldProject) -> None:
    """A newer version may index more, but finds all that was found before."""
    events, rows = old.count_events(), old.index_keys()
    assert old.ok("ledger", "rebuild")["events"] == events
    assert rows <= old.index_keys()
    assert old.ok("ledger", "rebuild")["changed"] is False
    assert old.ok("verify")["verdict"] == "valid"


def test_it_can_be_continued(old: OldProject) -> None:
    before = old.count_events()
    old.ok("--as", "amber-otter", "reserve", "src/new")
    old.ok("--as", "teal-crane", "send", "amber-otter", "INFO: It goes on")
    old.ok("agent", "register", "new-comer")
    old.execute("new-comer", Ask(title="look around", of="amber-otter"))
    with old.workspace() as workspace:
        assert workspace.engine.registry().agents["new-comer"].kind is KeyClass.AGENT
    assert old.count_events() > before + 3
    assert old.ok("verify")["verdict"] == "valid"
    old.ok("ledger", "export", "-o", "longer.moot")
    assert verdicts(old, old.root / "longer.moot") == ("valid", "valid")


def test_a_command_repeated_under_its_old_key_is_known(old: OldProject) -> None:
    """The digest of a key is made of a command's class name and fields."""
    before = old.count_events()
    with old.workspace() as workspace:
        outcome = workspace.engine.execute(LIST, Finish(id="e1"), "teal-crane", key="first")
    assert (outcome.replayed, outcome.recorded[0].corr) == (True, "affair-1")
    assert old.count_events() == before


def verdicts(old: OldProject, file: Path) -> tuple[str, str]:
    """What the two checkers say, which share no code."""
    trust = old.golden / "exports" / "trust.json"
    ours = verify_bundle(file, load_trust(trust))
    return ours.verdict, standalone.verify(str(file), str(trust)).verdict


@pytest.mark.parametrize("name", PROVABLE_FILES)
def test_both_checkers_take_what_went_to_others(old: OldProject, name: str) -> None:
    assert verdicts(old, old.golden / name) == ("valid", "valid")


def test_an_exported_trace_keeps_its_own_rules(old: OldProject) -> None:
    file, trust = (str(old.golden / "exports" / name) for name in ("trace.moot", "trust.json"))
    assert old.ok("trace", "verify", file, "--trust", trust)["verdict"] == "valid"


def test_an_export_of_the_same_record_is_the_same_to_the_byte(old: OldProject) -> None:
    old.ok("ledger", "export", "-o", "record.moot")
    old.ok("trace", "export", "t1", "-o", "trace.moot")
    old.ok("trust", "export", "-o", "trust.json")
    for name in ("record.moot", "trace.moot", "trust.json"):
        kept = (old.golden / "exports" / name).read_bytes()
        assert (old.root / name).read_bytes() == kept, name


def test_the_same_decision_gives_a_receipt_that_says_the_same(old: OldProject) -> None:
    """Its record may be longer: the registry has grown since. A newer version may say more, and
    signs for that then; what was said before is said in the same words."""
    before = old.count_events()
    old.ok("receipt", "q-2", "-o", "again.json")
    files = (old.root / "again.json", old.golden / "project" / "question.json")
    again, kept = (json.loads(file.read_bytes()) for file in files)
    assert again["format"] == kept["format"]
    assert_still_says(again["says"], kept["says"], "says")
    assert verdicts(old, old.root / "again.json") == ("valid", "valid")
    assert old.count_events() == before + (again["says"] != kept["says"])


def assert_still_says(now: Any, before: Any, where: str) -> None:
    if isinstance(before, dict):
        for name, value in before.items():
            assert name in now, f"{where}.{name}"
            assert_still_says(now[name], value, f"{where}.{name}")
    elif isinstance(before, list):
        assert len(now) == len(before), where
        for place, (new, value) in enumerate(zip(now, before, strict=True)):
            assert_still_says(new, value, f"{where}[{place}]")
    else:
        assert now == before, where


def test_a_parliaments_files_are_written_again_to_the_byte(old: OldProject) -> None:
    session = json.loads((old.root / "bill" / "session.json").read_bytes())["parliament_id"]
    old.ok("parliament", "export", "again", "--id", session)
    for name in PARLIAMENT_FILES:
        kept = (old.golden / "project" / "bill" / name).read_bytes()
        assert (old.root / "again" / name).read_bytes() == kept, name

"""What `status`, `doctor` and the page say about a ledger that several machines share."""

from __future__ import annotations

import re

import pytest

from moot.core.version import VERSION
from moot.hosts import messages as wire
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.older_keeper import OLDER
from tests.project import Project
from tests.web.server import ServerThread, Visitor


def complaints(project: Project) -> set[str]:
    return {row["code"] for row in project.json("doctor").data["findings"]}


def test_the_keeper_shows_who_joined_with_which_version(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    del desktop
    with_address(kept)
    shared = kept.project.ok("status")["shared"]
    assert (shared["here"], shared["keeper_version"], shared["why_old"]) == (None, VERSION, None)
    rows = {row["name"]: row for row in shared["machines"]}
    assert rows.keys() == {"laptop", "desktop"}
    assert (rows["laptop"]["version"], rows["laptop"]["agents"]) == (VERSION, 1)
    assert rows["laptop"]["last_seen_at"] is not None
    assert "laptop" in kept.project.run("status").out
    assert laptop.ok("status")["shared"]["here"] == "laptop"


def with_address(kept: KeptLedger) -> None:
    """As `moot keep` leaves it."""
    from moot.api.hosts.machines import KeeperAddress, _write_address

    folder = kept.project.root / ".moot" / "keeper"
    _write_address(folder, KeeperAddress(f"127.0.0.1:{kept.port}", kept.keeping.fingerprint))


def test_what_is_shown_without_the_keeper_is_said_to_be_perhaps_old(
    kept: KeptLedger, laptop: Project
) -> None:
    fresh = laptop.ok("status")["shared"]
    assert (fresh["keeper"], fresh["why_old"]) == (f"127.0.0.1:{kept.port}", None)
    assert fresh["keeper_version"] == VERSION
    assert "keeper_silent" not in complaints(laptop)
    kept.close()
    old = laptop.ok("status")["shared"]
    assert "does not answer" in old["why_old"]
    assert "may be old" in laptop.run("status").out
    assert "keeper_silent" in complaints(laptop)
    assert "unknown_file" not in complaints(laptop)


@pytest.mark.parametrize("words", [["status"], ["machine", "list"], ["prompt"]])
def test_that_it_may_be_old_is_said_once(
    kept: KeptLedger, laptop: Project, words: list[str]
) -> None:
    """A prompt's line on standard error would stand above every prompt."""
    kept.close()
    told = laptop.run(*words)
    assert (told.code, told.err) == (0, "")
    assert len(re.findall("may be", told.out)) == 1


def test_an_error_that_names_the_keeper_says_it_once(kept: KeptLedger, laptop: Project) -> None:
    kept.close()
    told = laptop.run("agent", "register", "red-fox")
    assert (told.code, told.err.count("does not answer")) == (4, 1)
    assert "may be old" in laptop.run("report", "q-9").err


def test_the_page_is_told_as_well(kept: KeptLedger, laptop: Project) -> None:
    kept.close()
    server = ServerThread(laptop)
    try:
        peer = Visitor(server.address)
        peer.enter()
        shared = peer.get("/api/v1/status").data["shared"]
    finally:
        server.stop()
    assert (shared["here"], "does not answer" in shared["why_old"]) == ("laptop", True)


def test_a_machine_that_joined_shows_who_else_did(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    with_address(kept)
    desktop.ok("agent", "register", "coral-finch")
    desktop.ok("machine", "leave")
    kept.project.ok("machine", "revoke", "laptop")
    laptop.ok("init", "--join", kept.invite().text, "--name", "tower")
    listed = laptop.ok("machine", "list")
    assert (listed["keeper"], listed["here"]) == (f"127.0.0.1:{kept.port}", "tower")
    assert listed["why_old"] is None
    shown = [
        (row["name"], row["agents"], row["is_revoked"], row["has_left"], row["here"])
        for row in listed["machines"]
    ]
    assert shown == [
        ("laptop", 0, True, False, False),
        ("desktop", 0, True, True, False),
        ("tower", 1, False, False, True),
    ]
    assert all(row["version"] == VERSION and row["last_seen_at"] for row in listed["machines"])
    told = [{**row, "here": False} for row in listed["machines"]]
    assert told == kept.project.ok("machine", "list")["machines"]
    lines = laptop.run("machine", "list").out
    assert "removed" in lines
    assert "left" in lines
    assert "this one" in lines


def test_status_names_the_others(kept: KeptLedger, laptop: Project, desktop: Project) -> None:
    del kept, desktop
    shared = laptop.ok("status")["shared"]
    assert [row["name"] for row in shared["machines"]] == ["laptop", "desktop"]
    assert f"this machine is laptop · with desktop ({VERSION})" in laptop.run("status").out


def test_without_the_keeper_a_machine_shows_itself_and_says_so(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    del desktop
    kept.close()
    listed = laptop.ok("machine", "list")
    assert [(row["name"], row["here"], row["agents"]) for row in listed["machines"]] == [
        ("laptop", True, 1)
    ]
    assert "does not answer" in listed["why_old"]
    assert "there may be more" in laptop.run("machine", "list").out


def test_a_keeper_that_does_not_know_the_question_tells_nobody(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    del kept, desktop
    monkeypatch.setattr(wire, "_question_decoder", lambda: OLDER)
    listed = laptop.ok("machine", "list")
    assert [row["name"] for row in listed["machines"]] == ["laptop"]
    assert "older" in listed["why_old"]
    shared = laptop.ok("status")["shared"]
    assert shared["why_old"] is None, "the record is up to date"

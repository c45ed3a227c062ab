"""What `status`, `doctor` and the page say about a ledger that several machines share."""

from __future__ import annotations

from moot.core.version import VERSION
from tests.cli.project import Project
from tests.keeper.kept import KeptLedger
from tests.web.served import ServerThread, Visitor


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
    from moot.api.machines import KeeperAddress, _write_address

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


def test_the_page_is_told_as_well(kept: KeptLedger, laptop: Project) -> None:
    kept.close()
    server = ServerThread(laptop)
    try:
        visitor = Visitor(server.address)
        visitor.enter()
        shared = visitor.get("/api/v1/status").data["shared"]
    finally:
        server.stop()
    assert (shared["here"], "does not answer" in shared["why_old"]) == ("laptop", True)

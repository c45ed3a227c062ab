"""What works on a machine without its keeper, as docs/how-to/share-a-ledger.md promises."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_hostile_hosts import ASKED
from tests.project import Project


def test_a_receipt_that_was_signed_for_is_written_without_the_keeper(
    kept: KeptLedger, laptop: Project, desktop: Project, tmp_path: Path
) -> None:
    """On the machine where it was asked, and on any other."""
    laptop.ok(*ASKED)
    laptop.ok("receipt", "q-1", "-o", str(tmp_path / "before.json"))
    desktop.ok("receipt", "q-1", "-o", str(tmp_path / "elsewhere.json"))
    kept.close()
    for project, name in ((laptop, "laptop.json"), (desktop, "desktop.json")):
        project.ok("receipt", "q-1", "-o", str(tmp_path / name))
        assert (tmp_path / name).read_bytes() == (tmp_path / "before.json").read_bytes()
        assert project.ok("verify", str(tmp_path / name))["verdict"] == "valid"

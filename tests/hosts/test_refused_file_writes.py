"""A command that writes a file as well, refused on a machine that joined: nothing happens, and
that is said."""

from __future__ import annotations

import shutil

import pytest

from moot.core.errors import MootError
from moot.engine.job import Job, JobOutcome
from moot.protocols.example.model import Finish
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of
from tests.project import Project

PASSPHRASE = "correct horse battery staple"


def test_anyone_who_writes_a_file_with_the_commit_is_told_of_a_refusal_before(
    kept: KeptLedger, laptop: Project
) -> None:
    """As on a machine of one's own: what is told before the commit may stop it."""
    before = events_of(kept.project)
    told: list[list[JobOutcome | MootError]] = []

    def require_all(results: list[JobOutcome | MootError]) -> None:
        told.append(results)
        for result in results:
            if isinstance(result, MootError):
                raise result

    with laptop.workspace() as workspace:
        job = Job("example/today", Finish(id="e1"), OTTER)
        with pytest.raises(MootError) as refused:
            workspace.engine.execute_all([job], require_all)
    assert refused.value.code == "errand_not_open"
    assert len(told) == 1
    assert events_of(kept.project) == before


def test_a_debate_is_not_said_to_be_closed_by_somebody_whose_key_is_elsewhere(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    secret = kept.project.root.parent / "passphrase"
    secret.write_text(PASSPHRASE)
    secret.chmod(0o600)
    kept.project.ok("agent", "register", "operator", "--human", MOOT_PASSPHRASE_FILE=str(secret))
    laptop.ok("debate", "new", "tea.md", "--title", "Tea", "--agents", f"{OTTER},{CRANE}")
    shutil.copy(laptop.root / "tea.md", desktop.root)
    before = events_of(kept.project)
    words = ("debate", "close", "tea.md", "--reason", "enough")
    code, _ = desktop.refused(*words, MOOT_PASSPHRASE_FILE=str(secret))
    assert code == "key_missing"
    assert (desktop.root / "tea.md").read_bytes() == (laptop.root / "tea.md").read_bytes()
    assert events_of(kept.project) == before
    shutil.copy(laptop.root / "tea.md", kept.project.root)
    kept.project.ok(*words, MOOT_PASSPHRASE_FILE=str(secret))

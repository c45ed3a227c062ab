"""A parliament whose bill has passed and whose prime minister, a person, has not decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.project import Project
from tests.cli.sitting import Sitting, opened
from tests.web.deciding_terminal import make_project


class WaitingParliament(NamedTuple):
    """A bill has passed, and its prime minister has not decided."""

    project: Project
    sitting: Sitting
    id: str
    unattended: dict[str, str]

    @property
    def address(self) -> str:
        return f"/api/v1/parliaments/{self.id}"

    def decide(self, *words: str) -> Any:
        return self.sitting.moot("decide", *words, **self.unattended)


def pass_bill(sitting: Sitting) -> None:
    sitting.start()
    for asker, asked in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        sitting.exchange(asker, asked, 4)
    sitting.call_vote()
    assert sitting.votes("YES", "YES", "NO")["status"] == "pm_review"


def make_waiting(folder: Path) -> WaitingParliament:
    project, unattended = make_project(folder)
    sitting = opened(project)
    sitting.to_debate()
    pass_bill(sitting)
    name = sitting.moot("status")["parliament_id"]
    return WaitingParliament(project, sitting, name, unattended)

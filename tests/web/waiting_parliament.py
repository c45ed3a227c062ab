"""A parliament whose bill has passed and whose prime minister, a person, has not decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.parliament_session import ParliamentSession, opened
from tests.project import Project
from tests.web.deciding_terminal import make_deciding_project


class WaitingParliament(NamedTuple):
    """A bill has passed, and its prime minister has not decided."""

    project: Project
    parliament: ParliamentSession
    id: str
    unattended: dict[str, str]

    @property
    def address(self) -> str:
        return f"/api/v1/parliaments/{self.id}"

    def decide(self, *words: str) -> Any:
        return self.parliament.moot("decide", *words, **self.unattended)


def pass_bill(parliament: ParliamentSession) -> None:
    parliament.start()
    for asker, asked in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        parliament.exchange(asker, asked, 4)
    parliament.call_vote()
    assert parliament.votes("YES", "YES", "NO")["status"] == "pm_review"


def make_waiting(folder: Path) -> WaitingParliament:
    project, unattended = make_deciding_project(folder)
    parliament = opened(project)
    parliament.to_debate()
    pass_bill(parliament)
    name = parliament.moot("status")["parliament_id"]
    return WaitingParliament(project, parliament, name, unattended)

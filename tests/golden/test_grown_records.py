"""What the record learnt since the last release is kept too, and must be read for ever."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from moot.core.names import protocol_of
from moot.engine.machines import Machines
from moot.engine.replay import read_record
from moot.protocols.decision import events as decision
from moot.protocols.plan import machine as plan
from moot.protocols.presence import events as presence
from moot.protocols.presence.commands import BeginSubAgent
from moot.verify import load_trust, standalone, verify_bundle
from tests.project import Project

GROWN = Path(__file__).parent / "grown"
NAMES = sorted(folder.name for folder in GROWN.iterdir() if folder.is_dir())
FIRST = "plans-seals-sub-agents"


class GrownProject(Project):
    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(folder / "project", folder / "keys")
        self.golden = GROWN / name
        self.root.mkdir()
        shutil.copytree(self.golden / "workspace", self.root / ".moot")
        shutil.copytree(self.golden / "keys", self.keys)
        for file in self.keys.rglob("*"):  # git keeps no modes, and exposed keys are not used
            file.chmod(0o700 if file.is_dir() else 0o600)

    def all_events(self) -> list[Any]:
        with self.workspace() as workspace, workspace.store.read() as view:
            machine_of = Machines().machine_of
            return [
                read_record(machine_of(name), record).event
                for name, _ in view.streams()
                for record in view.records(name)
            ]


@pytest.fixture(params=NAMES)
def grown(request: pytest.FixtureRequest, tmp_path: Path) -> GrownProject:
    return GrownProject(request.param, tmp_path)


def test_it_is_intact_complete_and_healthy(grown: GrownProject) -> None:
    assert grown.ok("verify")["verdict"] == "valid"
    assert grown.ok("ledger", "doctor")["healthy"] is True


def test_every_stream_replays_to_the_same_state(grown: GrownProject) -> None:
    with grown.workspace() as workspace:
        with workspace.store.read() as view:
            streams = [name for name, _ in view.streams()]
        for stream in streams:
            loaded = workspace.engine.load(stream)
            assert workspace.engine.load_from_start(stream).state == loaded.state, stream
    assert {"plan", "decision", "presence"} <= {protocol_of(stream) for stream in streams}


def test_its_exports_are_valid_for_both_verifiers(grown: GrownProject) -> None:
    trust = grown.golden / "exports" / "trust.json"
    for name in ("record.moot", "question.json"):
        file = grown.golden / "exports" / name
        assert verify_bundle(file, load_trust(trust)).verdict == "valid"
        assert standalone.verify(str(file), str(trust)).verdict == "valid"


def test_it_can_be_continued(grown: GrownProject) -> None:
    before = len(grown.all_events())
    page = grown.root / "plan.md"
    page.write_text("1. rest\n")
    grown.ok("--as", "amber-otter", "plan", "T-7", "--amend", str(page), "--version", "2")
    with grown.workspace() as workspace:
        workspace.engine.execute("presence", BeginSubAgent(sub_agent="toolu_3"), "teal-crane")
    assert len(grown.all_events()) == before + 2
    assert grown.ok("verify")["verdict"] == "valid"


def test_the_first_has_what_the_release_before_it_could_not_write(tmp_path: Path) -> None:
    kinds = {type(event) for event in GrownProject(FIRST, tmp_path).all_events()}
    assert kinds >= {
        plan.PlanAmended,
        presence.SubAgentBegan,
        presence.SubAgentEnded,
        decision.AnswerSealed,
        decision.SealsClosed,
        decision.OutcomeJudged,
    }

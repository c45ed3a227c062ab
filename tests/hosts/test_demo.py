"""`moot demo --machines 3`: nothing of it is faked, and nothing of the user's is touched."""

from __future__ import annotations

from pathlib import Path

from moot.surfaces.demo.act_machines import MachinesAct
from moot.surfaces.demo.stage import DemoStage


def test_three_machines_share_a_ledger_whose_keeper_dies_and_then_lies(tmp_path: Path) -> None:
    stage = DemoStage(tmp_path / "stage")
    stage.prepare()
    act = MachinesAct(stage, 3)
    shown = [line.text for line in act.play() if line.point]
    assert act.results == {
        "count": 3,
        "refused": True,
        "acknowledged": 6,
        "lost": 0,
        "found_by": ["laptop", "desktop"],
    }
    assert sum("[another_history]" in text for text in shown) == 2
    machines = tmp_path / "stage" / "machines"
    assert sorted(path.name for path in machines.iterdir()) == ["build", "desktop", "laptop"]
    with_ledgers_key = {path.parts[-4] for path in machines.glob("*/keys/*/system.*")}
    assert with_ledgers_key == {"build"}, "the ledger's key is the keeper's alone"

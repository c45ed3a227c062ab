"""`moot demo --machines 3`: nothing of it is faked, and nothing of the user's is touched."""

from __future__ import annotations

from pathlib import Path

from tests.cli.project import Project


def test_three_machines_share_a_ledger_whose_keeper_dies_and_then_lies(tmp_path: Path) -> None:
    done = Project(tmp_path, tmp_path / "my keys").spawn(
        *("demo", "--json", "--machines", "3", "--out", "stage")
    )
    assert (done.code, done.err) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stage"]
    told = done.data["machines"]
    assert told == {
        "count": 3,
        "refused": True,
        "acknowledged": 6,
        "lost": 0,
        "found_by": ["laptop", "desktop"],
    }
    machines = tmp_path / "stage" / "machines"
    assert sorted(path.name for path in machines.iterdir()) == ["build", "desktop", "laptop"]
    with_ledgers_key = [path.parts[-4] for path in machines.glob("*/keys/*/system.*")]
    assert set(with_ledgers_key) <= {"build"}, "the ledger's key is the keeper's alone"

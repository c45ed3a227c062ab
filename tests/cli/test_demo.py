"""`moot demo`: nothing faked, nothing of the user's touched, everything kept to look at."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.cli.project import MOOT, Project


def test_it_shows_every_step_and_leaves_a_page(bare: Project) -> None:
    done = bare.spawn("demo", "--out", "stage", "--full", MOOT_AGENT="somebody", MOOT_HOME="/none")
    assert (done.code, done.err) == (0, "")
    out = done.out
    for said in (
        "$ moot agent register amber-otter",
        "refused [not_yours] only teal-crane may do this",
        "$ moot agenda",
        "example.errand_lapsed",
        "INTACT · 10 events · complete up to checkpoint 6",
        "DAMAGED at event 5; trusted up to 4",
        "DAMAGED at event 7; trusted up to 6",
        "ROLLED BACK · 10 events",
        "error [rolled_back]",
        "1 revoked",
    ):
        assert said in out, said
    assert out.count("verdict: tampered") == 2
    page = (bare.root / "stage" / "report.html").read_text()
    assert "<script" not in page
    assert "INTACT" in page
    assert "http" not in page.replace("http-equiv", "")
    assert sorted(path.name for path in bare.root.iterdir()) == ["stage"]
    assert not bare.keys.exists()


def test_what_it_leaves_can_be_looked_at(bare: Project, tmp_path: Path) -> None:
    """By default in a temporary folder, which is kept."""
    (tmp_path / "tmp").mkdir()
    data = bare.spawn("demo", "--json", TMPDIR=str(tmp_path / "tmp")).data
    assert [verdict["verdict"] for verdict in data["verdicts"]] == ["valid", "tampered", "tampered"]
    stage = Path(data["folder"])
    assert stage.parent == tmp_path / "tmp"
    assert Path(data["report"]).is_file()
    left = Project(stage / "repository", stage / "keys")
    assert left.ok("verify")["verdict"] == "valid"
    assert left.ok("verify", data["record"])["verdict"] == "valid"
    assert left.ok("ledger", "doctor")["healthy"]


def test_it_needs_no_git_no_home_and_no_settings(tmp_path: Path) -> None:
    """Also inside somebody's repository: without git nothing above the stage is touched."""
    (tmp_path / ".git").mkdir()
    done = subprocess.run(
        [*MOOT, "demo", "--out", str(tmp_path / "stage")],
        cwd=tmp_path,
        env={"PATH": str(tmp_path / "no programs"), "HOME": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "git is not installed" in done.stdout
    assert "INTACT" in done.stdout
    assert not (tmp_path / ".moot").exists()


def test_make_demo_calls_it() -> None:
    makefile = Path(__file__).parents[2] / "Makefile"
    assert "moot demo" in makefile.read_text()
    assert os.access(Path(sys.executable).with_name("moot"), os.X_OK)

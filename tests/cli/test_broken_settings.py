"""A settings file that is half written while a run goes on stops nobody, and is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_exited_programs import running
from tests.project import Project


@pytest.mark.parametrize("text", ['[protect]\nunmerged = "bl', "[notify", "[tests]\ncommand = 3\n"])
def test_a_settings_file_that_is_half_written_stops_no_run(
    project: Project, tmp_path: Path, text: str
) -> None:
    own = tmp_path / "own.toml"
    project.env["MOOT_CONFIG"] = str(own)
    with running(project, "--name", "coral-finch", "--reserve", "src"):
        own.write_text(text)
        (project.root / "moot.toml").write_text(text)
        project.ok("--as", "teal-crane", "reserve", "docs")
        assert project.refused("--as", "teal-crane", "reserve", "src") == (
            "reservation_conflict",
            1,
        )
    held = project.ok("scope", "list")["reservations"]
    assert [one["scope"] for one in held] == ["docs"]
    seen = project.run("doctor").out
    assert "DOC-45 moot.toml" in seen
    assert "cannot be" in seen

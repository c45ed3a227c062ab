"""`moot demo --page`: the demonstration moves in a page that was opened before it began."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from tests.cli.project import MOOT
from tests.web.served import Visitor

LONGEST = 120


def test_the_demonstration_plays_into_a_page(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*MOOT, "demo", "--page", "--fast", "--out", str(tmp_path / "stage")],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        visitor = Visitor(process.stdout.readline().split()[-1])
        visitor.enter()
        lines = iter(process.stdout.readline, "")
        assert any("Ctrl-C ends it" in line for line in lines)
        decisions = visitor.get("/api/v1/decisions").data["decisions"]
        assert any(line["kind"] == "decision" for line in decisions)
        assert visitor.get("/api/sessions").data["incursions"]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LONGEST)
    finally:
        process.kill()
        process.wait(timeout=LONGEST)
    assert process.returncode == 0

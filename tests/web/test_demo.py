"""`moot demo --page`: the demonstration moves in a page that was opened before it began.

Nobody is at a terminal, so nobody is asked anything.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.project import MOOT
from tests.web.server import Visitor

LONGEST = 120
SETTINGS = {"PYTHONUNBUFFERED": "1", "BROWSER": "false %s"}


@pytest.mark.thorough
def test_the_demonstration_plays_into_a_page(tmp_path: Path) -> None:
    error_file = tmp_path / "errors"
    errors = error_file.open("wb")
    process = subprocess.Popen(
        [*MOOT, "demo", "--page", "--short", "--fast", "--out", "stage"],
        cwd=tmp_path,
        env={**SETTINGS, "PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )
    errors.close()
    try:
        assert process.stdout is not None
        visitor = Visitor(process.stdout.readline().split()[-1])
        visitor.enter()
        said = ""
        while "Ctrl-C ends it" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        decisions = visitor.get("/api/v1/decisions").data["decisions"]
        assert any(line["kind"] == "decision" for line in decisions)
        assert visitor.get("/api/sessions").data["incursions"]
        process.send_signal(signal.SIGINT)
        said += process.communicate(timeout=LONGEST)[0]
    finally:
        process.kill()
        process.wait(timeout=LONGEST)
    assert process.returncode == 0
    assert error_file.read_bytes() == b""
    assert "$ " not in said
    assert f"the decision   {tmp_path / 'stage' / 'decision.html'}\n" in said
    turn, _, rest = said.partition("the page stays open; Ctrl-C ends it")
    assert turn.rstrip().endswith("run -- claude")
    assert rest.strip() == ""

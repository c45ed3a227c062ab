"""`moot demo`: the product at work, in a folder of its own, with nothing faked."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from moot.surfaces.cli.answer import Answer, paint
from moot.surfaces.cli.shell import Shell, command


@command(None, "demo", "demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where to play (default: a new temporary folder, which is kept).",
)
@click.option("--full", is_flag=True, help="Also an older copy put back, and a key revoked.")
def demo(shell: Shell, out: Path | None, full: bool) -> Answer:
    """See it work: agents, signed events, an export, and two checkers that catch every edit.

    Needs no network and touches nothing of yours: repository and keys are made for it and kept,
    so that you can look around afterwards. Takes a few seconds.

    Examples:
      moot demo
      moot demo --out /tmp/moot-demo --full
    """
    from moot.surfaces.cli.demo_stage import Stage
    from moot.surfaces.cli.demo_story import Story

    stage = Stage(out or Path(tempfile.mkdtemp(prefix="moot-demo-")))
    stage.prepare()
    story = Story(stage, full)
    data = {
        "folder": str(stage.out),
        "report": str(stage.out / "report.html"),
        "record": str(stage.out / "record.moot"),
        "verdicts": story.verdicts,
        "git": stage.git is not None,
    }
    if shell.json:  # the story first, then one answer; for a person it is told as it happens
        for _ in story.tell():
            pass
    return Answer(data, lambda: map(_styled, story.tell()))


def _styled(line: str) -> str:
    if line.startswith("# "):
        return paint(line, "dim")
    return paint(line, "bold") if line.startswith(("$ ", ">>> ")) else line

"""`moot demo`: the product at work, in a folder of its own, with nothing faked."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from moot.surfaces.terminal.answer import Answer, paint
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.surfaces.demo.stage import Line

_WIDTH: Final = 78
# Seconds to read a line, at a terminal only; all of them together take less than half a minute.
_PAUSES: Final = {"act": 0.8, "say": 0.5, "run": 0.1, "out": 0.05, "end": 0.0}
# What is told stands apart from what was run.
_APART: Final = ("act", "say", "end")
_VERDICTS: Final = {
    "INTACT": "green",
    "DAMAGED": "red",
    "CUT SHORT": "red",
    "error": "red",
    '"permissionDecision": "deny"': "red",
    "carried": "green",
    "dissent": "yellow",
    "changed": "yellow",
}


@command(None, "demo", "demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where to play (default: a new temporary folder, which is kept).",
)
@click.option("--full", is_flag=True, help="Also the whole path: BLOCKED to verified claims.")
@click.option("--short", is_flag=True, help="Tell only what came of it, not each command.")
@click.option("--fast", is_flag=True, help="Do not pause for reading at a terminal.")
def demo(shell: Shell, out: Path | None, full: bool, short: bool, fast: bool) -> Answer:
    """See it work, in three acts on a real repository.

    An agent is stopped before it writes over another's work; three voices decide and you have the
    last word; and whoever edits the record is caught. Needs no network and no model, and touches
    nothing of yours: repository and keys are made for it and kept, to look around afterwards.

    Examples:
      moot demo
      moot demo --short
      moot demo --out /tmp/moot-demo --full --fast
    """
    from moot.surfaces.demo import argued, path, proved
    from moot.surfaces.demo.stage import Stage
    from moot.surfaces.demo.told import Story

    stage = Stage(out or Path(tempfile.mkdtemp(prefix="moot-demo-")))
    stage.prepare()
    story = Story(stage, full, _ask_person if shell.interactive() else _nobody)
    data = {
        "folder": str(stage.out),
        "report": str(stage.out / argued.PAGE),
        "receipt": str(stage.out / proved.RECEIPT),
        "record": str(stage.out / proved.RECORD),
        "path": str(stage.out / path.RECORD) if full else None,
        "verdicts": story.verdicts,
        "git": stage.git is not None,
    }
    if shell.json:  # the story first, then one answer; for a person it is told as it happens
        for _ in story.tell():
            pass
    paced = sys.stdout.isatty() and not fast
    return Answer(data, lambda: _shown(points(story.tell()) if short else story.tell(), paced))


def _nobody(_decision: str) -> None:
    return None


def _ask_person(decision: str) -> tuple[str, str]:
    """You are the person here; the key's passphrase is in the demonstration's own folder."""
    from moot.surfaces.demo import voices

    word = click.prompt(
        f"you decide on {decision}: veto or approve",
        type=click.Choice(["veto", "approve"]),
        default="veto",
        err=True,
    )
    usual = voices.VETO if word == "veto" else "Agreed."
    return word, click.prompt("why", default=usual, err=True)


def points(lines: Iterator[Line]) -> Iterator[Line]:
    """The short form: the acts, what came of each, and how to go on."""
    return (line for line in lines if line.point or line.kind in ("act", "end"))


def _shown(lines: Iterator[Line], paced: bool) -> Iterator[str]:
    before = ""
    for line in lines:
        if line.kind in _APART and before not in _APART:
            yield ""
        before = line.kind
        yield _styled(line)
        if paced:
            sys.stdout.flush()
            time.sleep(_PAUSES[line.kind])


def _styled(line: Line) -> str:
    match line.kind:
        case "act":
            return paint(f"── {line.text} ".ljust(_WIDTH, "─"), "green")
        case "say":
            return paint(f"# {line.text}", "bold")
        case "run":
            return paint(f"$ {line.text}", "dim")
        case "end":
            return paint(line.text, "green")
        case _:
            return _coloured(line.text)


def _coloured(text: str) -> str:
    for word, colour in _VERDICTS.items():
        if text.startswith(word):
            return paint(word, colour) + text[len(word) :]
    return text

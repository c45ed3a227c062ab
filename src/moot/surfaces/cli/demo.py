"""`moot demo`: real commands on a real repository, in a temporary folder."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from moot.surfaces.terminal.answer import Answer, paint
from moot.surfaces.terminal.derive import options
from moot.surfaces.terminal.progress import StatusLine
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.surfaces.demo.stage import DemoStage, Line

_WIDTH: Final = 78
# Seconds to read a line, at a terminal only; all of them together take less than half a minute.
_PAUSES: Final = {"act": 0.8, "say": 0.5, "run": 0.1, "out": 0.05, "end": 0.0}
# Narration is separated from commands and output by an empty line.
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
@options("""
    --out DIR:new    Where to run (default: a new temporary folder, which is kept).
    --full           Also the whole path: BLOCKED to verified claims.
    --machines N:3..5  Also N machines that share a ledger; the keeper is killed, and rolled back.
    --commands       Show every command and what it printed.
    --short          Show only the results, which is the default.
    --page           Also in the browser, live; it ends with Ctrl-C.
    --fast           Do not pause for reading at a terminal.
""")
def demo(
    shell: Shell,
    out: Path | None = None,
    full: bool = False,
    machines: int | None = None,
    commands: bool = False,
    short: bool = False,
    page: bool = False,
    fast: bool = False,
) -> Answer:
    """See it work, in three acts on a real repository.

    Moot refuses an agent's edit over another's work; three voices argue and you decide; and a
    change to the record is detected. Needs no network and no model, and touches none of your files:
    it makes its own repository and keys, and keeps them for you to look at.

    Examples:
      moot demo
      moot demo --commands
      moot demo --page
      moot demo --machines 3
      moot demo --out /tmp/moot-demo --full --fast
    """
    from moot.surfaces.demo import act_decision, act_proof, act_whole_path
    from moot.surfaces.demo.acts import Demonstration
    from moot.surfaces.demo.stage import DemoStage

    if commands and short:
        raise click.UsageError("either --commands or --short")
    if page and shell.json:
        raise click.UsageError("--page is for people, --json for programs")
    stage = DemoStage(out or Path(tempfile.mkdtemp(prefix="moot-demo-")))
    stage.prepare()
    person, status = shell.interactive(), StatusLine()
    played = Demonstration(
        stage, full, partial(_ask_person, status) if person else _ask_nobody, machines
    )
    report = stage.out / act_decision.PAGE
    data = {
        "folder": str(stage.out),
        "report": str(report),
        "receipt": str(stage.out / act_proof.RECEIPT),
        "record": str(stage.out / act_proof.RECORD),
        "path": str(stage.out / act_whole_path.RECORD) if full else None,
        "verdicts": played.verdicts,
        "git": stage.git is not None,
        "machines": played.machines,
    }
    if shell.json:  # all of it first, then one answer; for a person it is shown as it happens
        for _ in played.play():
            pass
    paced = sys.stdout.isatty() and not fast

    def lines() -> Iterator[str]:
        acts = _shown(select(played.play(), commands, status), paced)
        if page:
            yield from _with_page(stage, shell, acts)
            return
        yield from acts
        if person:
            yield from _offer_to_open(report)

    return Answer(data, lines)


def _with_page(stage: DemoStage, shell: Shell, acts: Iterator[str]) -> Iterator[str]:
    """Print the page's address, play the acts, and serve the page until Ctrl-C."""
    from moot.surfaces.demo.stage import LivePage

    live = LivePage(stage, shell.env)
    yield f"open this and watch: {live.address}"
    if shell.interactive():
        click.pause("press a key when it is open ...", err=True)
    yield from acts
    yield ""
    yield "the page stays open; Ctrl-C ends it"
    sys.stdout.flush()
    live.wait()


def _ask_nobody(_decision: str) -> None:
    return None


def _ask_person(status: StatusLine, decision: str) -> tuple[str, str]:
    """Ask the user for a ruling; the key's passphrase is in the demonstration's folder."""
    from moot.surfaces.demo import scripted_voices

    status.clear()
    ruling = click.prompt(
        f"you decide on {decision}: veto or approve",
        type=click.Choice(["veto", "approve"]),
        default="veto",
        err=True,
    )
    usual = scripted_voices.VETO if ruling == "veto" else "Agreed."
    return ruling, click.prompt("why", default=usual, err=True)


def _offer_to_open(report: Path) -> Iterator[str]:
    """Offer to open the decision's page, if a browser is found."""
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if click.confirm("open the decision in your browser?", default=True, err=True):
        opened = browser.open(report.as_uri())
        yield "opened" if opened else f"no browser could be started; the page is {report}"


def select(lines: Iterator[Line], commands: bool, status: StatusLine) -> Iterator[Line]:
    """Return the lines to print, and show the running command in the status line.

    Without `commands` these are the acts, their results, and the next steps.
    """
    always = ("act", "end", "say", "run", "out") if commands else ("act", "end")
    try:
        for line in lines:
            if line.point or line.kind in always:
                status.clear()
                yield line
            elif line.kind in ("run", "wait"):
                status.show(line.text)
    finally:
        status.clear()


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

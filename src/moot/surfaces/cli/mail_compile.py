"""`moot mail compile`: a research thread's contributions as one artifact."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from moot.core.findings import Finding
from moot.surfaces.cli.answer import Answer, remarks, visible
from moot.surfaces.cli.shell import Shell, command


@command(None, "compile", "mail.compile")
@click.argument("thread", metavar="THREAD")
@click.option("--agent", metavar="NAME", help="Who acts (default: --as or MOOT_AGENT).")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the artifact to FILE instead of showing it.",
)
def compile_thread(shell: Shell, thread: str, agent: str | None, output: Path | None) -> Answer:
    """Merge what was contributed to THREAD into the next version, send it to everyone in the
    thread as COMPILED vN, and show the artifact; below it, what did not fit.

    Examples:
      moot mail compile RS-20260218-slow-logins
      moot mail compile RS-20260218-slow-logins -o artifact.md
    """
    from moot.flows.mail.research import compile_and_send
    from moot.surfaces.cli.here import findings_json

    space, name = shell.workspace, shell.actor(agent)
    done = compile_and_send(space, name, thread)
    made, message = done.compiled, done.posted.message
    data: dict[str, Any] = {
        "thread": thread,
        "id": message.event.id,
        "version": made.artifact.version,
        "subject": made.subject,
        "contributors": [one.agent for one in made.artifact.contributors],
        "statistics": made.artifact.counts(),
        "artifact": made.markdown,
        "file": None if output is None else str(output),
        "findings": findings_json(done.findings),
    }
    if output is None:
        return Answer(data, lambda: _lines([*made.markdown.splitlines(), ""], done.findings))
    _write(output, made.markdown)
    said = f"{message.event.id}: {made.subject}; the artifact is in {output}"
    return Answer(data, lambda: _lines([said], done.findings))


def _lines(said: Iterable[str], findings: Iterable[Finding]) -> Iterable[str]:
    yield from map(visible, said)
    yield from remarks(findings)


def _write(output: Path, text: str) -> None:
    from moot.store.files import replace_with
    from moot.surfaces.cli.page import unwritable

    try:
        replace_with(output, iter((text.encode(),)))
    except OSError as error:
        raise unwritable(output, error) from None

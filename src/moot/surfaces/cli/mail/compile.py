"""`moot mail compile`: a research thread's contributions as one artifact."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from moot.api.mail import research
from moot.surfaces.terminal.answer import Answer, remarks, visible
from moot.surfaces.terminal.output import STDOUT, output_option
from moot.surfaces.terminal.shell import Shell, command


@command(None, "compile", "mail.compile")
@click.argument("thread", metavar="THREAD")
@click.option("--agent", metavar="NAME", help="Who acts (default: --as or MOOT_AGENT).")
@output_option("Write the artifact to FILE instead of showing it.", printable=True)
def compile_thread(shell: Shell, thread: str, agent: str | None, output: Path | None) -> Answer:
    """Merge what was contributed to THREAD into the next version, send it to everyone in the
    thread as COMPILED vN, and show the artifact; below it, what did not fit.

    Examples:
      moot mail compile RS-20260218-slow-logins
      moot mail compile RS-20260218-slow-logins -o artifact.md
    """
    file = None if output == STDOUT else output
    compiled = research.compile_thread(shell.session, thread, agent=agent, file=file)
    return Answer(compiled, lambda: _lines(compiled))


def _lines(compiled: research.CompiledArtifact) -> Iterable[str]:
    if compiled.file is None:
        yield from map(visible, [*compiled.artifact.splitlines(), ""])
    else:
        told = f"{compiled.id}: {compiled.subject}; the artifact is in {compiled.file}"
        yield visible(told)
    yield from remarks(compiled.findings)

"""`moot mail compile`: a research thread's contributions as one artifact."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from moot.core.findings import Finding
from moot.store.named_files import write_file
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
    from moot.flows.mail.research import compile_and_send
    from moot.protocols.mail.threads import normalize_id
    from moot.surfaces.terminal.answer import findings_json

    space, name, thread = shell.workspace, shell.actor(agent), normalize_id(thread)
    done = compile_and_send(space, name, thread)
    made, message = done.compiled, done.posted.message
    data: dict[str, Any] = {
        "thread": thread,
        "id": message.event.id,
        "version": made.artifact.version,
        "subject": made.subject,
        "contributors": [one.agent for one in made.artifact.contributors],
        "statistics": made.artifact.count_items_alive(),
        "artifact": made.markdown,
        "file": None if output is None else str(output),
        "findings": findings_json(done.findings),
    }
    if output in (None, STDOUT):
        return Answer(data, lambda: _lines([*made.markdown.splitlines(), ""], done.findings))
    write_file(output, made.markdown.encode())
    said = f"{message.event.id}: {made.subject}; the artifact is in {output}"
    return Answer(data, lambda: _lines([said], done.findings))


def _lines(said: Iterable[str], findings: Iterable[Finding]) -> Iterable[str]:
    yield from map(visible, said)
    yield from remarks(findings)

"""`moot report`: the page of anything that has an id."""

from __future__ import annotations

from pathlib import Path

import click

from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.page import page_option, write_page
from moot.surfaces.terminal.shell import Shell, command


@command(None, "report", "report")
@click.argument("named", metavar="ID")
@page_option
def report(shell: Shell, named: str, output: Path | None) -> Answer:
    """Tell how it went: a decision, debate, parliament, trace or path, by its id.

    What came out, who disagreed in full, and how it came to that. Without -o it is printed as
    markdown. It is drawn from the record, so a file that was changed since does not change it.

    Examples:
      moot report q-7
      moot report parl-20260218-001 -o bill.html
      moot report t1 -o t1.md
    """
    import json

    from moot.flows.reports import report_of
    from moot.pages import to_json, to_markdown
    from moot.workspace.check import How

    made = report_of(shell.workspace, named, How(shell.folder))
    data = {"id": named, "kind": made.kind, "file": str(output) if output else None}
    if output is not None:
        write_page(output, made)
        return Answer(data, lambda: [f"{output}: {made.verdict.label}"])
    data["report"] = json.loads(to_json(made))
    return Answer(data, lambda: to_markdown(made).splitlines())

"""`moot report`: the page of anything that has an id."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from msgspec import UNSET

from moot.api import reports
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.page import page_option
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
    page = reports.report(shell.session, named, file=output)
    return Answer(page, lambda: _lines(page))


def _lines(page: reports.ReportPage) -> Iterable[str]:
    if page.report is UNSET:
        return [f"{page.file}: {page.verdict}"]
    from moot.pages import to_markdown

    return to_markdown(page.report).splitlines()

"""`-o FILE.html|.md|.json`: a report as a file, in the form its name asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from moot.store.named_files import write_file
from moot.surfaces.terminal.output import output_option

if TYPE_CHECKING:
    from moot.pages import Report

FORMS = (".html", ".md", ".json")


def require_form(file: Path) -> None:
    if file.suffix not in FORMS:
        raise click.BadParameter(f"the name must end with one of {', '.join(FORMS)}")


page_option = output_option(
    "Also write it as a page: FILE.html, FILE.md or FILE.json.", accept=require_form
)


def write_page(file: Path, report: Report) -> None:
    from moot.pages import to_html, to_json, to_markdown

    if file.suffix == ".json":
        write_file(file, to_json(report))
    else:
        write_file(file, (to_html if file.suffix == ".html" else to_markdown)(report).encode())

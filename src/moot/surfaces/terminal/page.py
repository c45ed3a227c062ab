"""`-o FILE.html|.md|.json`: a report as a file, in the form its name asks for."""

from __future__ import annotations

from pathlib import Path

import click

from moot.api.page_files import FORMS, write_page
from moot.surfaces.terminal.output import output_option

__all__ = ["page_option", "require_form", "write_page"]


def require_form(file: Path) -> None:
    if file.suffix not in FORMS:
        raise click.BadParameter(f"the name must end with one of {', '.join(FORMS)}")


page_option = output_option(
    "Also write it as a page: FILE.html, FILE.md or FILE.json.", accept=require_form
)

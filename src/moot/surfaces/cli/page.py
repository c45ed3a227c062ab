"""`-o FILE.html|.md|.json`: a report as a file, in the form its name asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import Unavailable

if TYPE_CHECKING:
    from moot.core.report import Report

FORMS = (".html", ".md", ".json")


def page_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """The option `-o`, refused before any work if the form is not one we write."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        callback=_known_form,
        help="Also write it as a page: FILE.html, FILE.md or FILE.json.",
    )(function)


def _known_form(_ctx: click.Context, _option: click.Parameter, file: Path | None) -> Path | None:
    if file is not None and file.suffix not in FORMS:
        raise click.BadParameter(f"the name must end with one of {', '.join(FORMS)}")
    return file


def write_page(file: Path, report: Report) -> None:
    from moot.core.report import to_html, to_json, to_markdown

    if file.suffix == ".json":
        write_file(file, to_json(report))
    else:
        write_file(file, (to_html if file.suffix == ".html" else to_markdown)(report).encode())


def write_file(file: Path, data: bytes) -> None:
    """Whole or not at all."""
    from moot.store.files import replace

    try:
        replace(file, data)
    except OSError as error:
        raise unwritable(file, error) from None


def unwritable(file: Path, error: OSError) -> Unavailable:
    return Unavailable(
        "unwritable_file", f"{file}: {error.strerror or error}", hint="check the folder"
    )

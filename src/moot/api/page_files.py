"""A report as a file, in the form that its name asks for: FILE.html, FILE.md or FILE.json."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.core.errors import Malformed

if TYPE_CHECKING:
    from moot.pages import Report

FORMS: Final = (".html", ".md", ".json")


def require_page_name(file: Path) -> None:
    """Malformed if the name says none of the forms that a page can have."""
    if file.suffix not in FORMS:
        raise Malformed(
            f"{file.name} names no form of a page",
            code="bad_page_name",
            hint=f"let the name end with one of {', '.join(FORMS)}",
        )


def write_page(file: Path, report: Report) -> None:
    """Write the report as HTML, markdown or JSON, whole or not at all."""
    from moot.pages import to_html, to_json, to_markdown
    from moot.store.named_files import write_file

    require_page_name(file)
    if file.suffix == ".json":
        write_file(file, to_json(report))
    else:
        write_file(file, (to_html if file.suffix == ".html" else to_markdown)(report).encode())

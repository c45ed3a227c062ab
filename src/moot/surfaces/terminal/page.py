"""`-o FILE`: a report as a file, in the format of its ending; `--open` shows it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from moot.api.page.files import FORMS
from moot.surfaces.terminal.answer import Answer, say_aside
from moot.surfaces.terminal.output import output_option

_HTML = ".html"
Command = Callable[..., Answer]


def require_form(file: Path) -> None:
    if file.suffix not in FORMS:
        raise click.BadParameter(f"the name must end in one of {', '.join(FORMS)}")


open_option = click.option("--open", "open_it", is_flag=True, help="Open it in a browser.")


def answer_and_open(
    answer: Callable[[Path | None], Answer], output: Path | None, open_it: bool
) -> Answer:
    """Return the answer and show its page; without `-o` the page goes to a new folder."""
    if not open_it:
        return answer(output)
    file = output or _new_file()
    if file.suffix != _HTML:
        raise click.UsageError("--open shows a page: name it FILE.html")
    given = answer(file)
    open_in_browser(file)
    return given


def openable(command: Command) -> Command:
    """Add `--open` to a command with `-o`."""

    @wraps(command)
    def opening(*arguments: Any, open_it: bool, output: Path | None, **options: Any) -> Answer:
        def answer(file: Path | None) -> Answer:
            return command(*arguments, output=file, **options)

        return answer_and_open(answer, output, open_it)

    return open_option(opening)


def page_option(command: Command) -> Command:
    """Add `-o` and `--open` to a command that can write its answer as a page."""
    output = output_option(
        "Also write it as a page: FILE.html, FILE.md or FILE.json.", accept=require_form
    )
    return output(openable(command))


def open_in_browser(file: Path) -> None:
    """Show the file; without a browser, say where it is."""
    import webbrowser

    if not webbrowser.open(file.resolve().as_uri()):
        say_aside(f"no browser could be started: open {file} yourself")


def _new_file() -> Path:
    import tempfile

    return Path(tempfile.mkdtemp(prefix="moot-page-")) / "page.html"

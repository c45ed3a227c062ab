"""`-o FILE`: where a command may write what it made, and what it says if it cannot.

`-` is standard output, for what is a text to be read there; an envelope has that for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

STDOUT = Path("-")


def output_option(
    help_text: str,
    *,
    required: bool = False,
    printable: bool = False,
    accept: Callable[[Path], None] = lambda _file: None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option `-o`, refused before any work if nothing could be written so."""

    def checked(ctx: click.Context, _option: click.Parameter, file: Path | None) -> Path | None:
        if file == STDOUT:
            _require_printable(ctx, printable)
        elif file is not None:
            accept(file)
        return file

    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        required=required,
        callback=checked,
        help=help_text,
    )


def _require_printable(ctx: click.Context, printable: bool) -> None:
    from moot.surfaces.terminal.shell import Shell

    if not printable:
        raise click.BadParameter("this cannot be printed (`-`): name a file")
    shell = ctx.find_object(Shell)
    if shell is not None and shell.json:
        raise click.BadParameter("with --json standard output is the envelope's: name a file")

"""`-o FILE`: where a command may write what it made, and what it says if it cannot.

`-` is standard output, for what is a text to be read there; an envelope has that for itself.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from moot.core.errors import Unavailable

STDOUT = Path("-")
_HINTS = {
    errno.ENOSPC: "free some space and try again",
    errno.EDQUOT: "free some space and try again",
    errno.EISDIR: "name a file in it",
}


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


def write_file(file: Path, data: bytes) -> None:
    """A file that somebody named, whole or not at all."""
    write_pieces(file, (data,))


def write_own(file: Path, data: bytes) -> None:
    """A file that has its name and place from us."""
    from moot.store.files import replace

    try:
        replace(file, data)
    except OSError as error:
        raise unwritable(file, error) from None


def write_pieces(file: Path, pieces: Iterable[bytes]) -> tuple[str, int]:
    """The same without holding them all; returns their SHA-256 and size."""
    from moot.store.files import replace_with

    try:
        return replace_with(file, pieces)
    except OSError as error:
        raise unwritable(file, error) from None


def unwritable(file: Path, error: OSError) -> Unavailable:
    hint = _HINTS.get(error.errno or 0, "check the folder and its permissions")
    return Unavailable("unwritable_file", f"{file}: {error.strerror or error}", hint=hint)

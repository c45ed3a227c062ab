"""`-o FILE` and every other path that a command writes to.

`-` is standard output, for texts only, and not with --json. Every file or folder that a command
writes for its caller is an `OutputPath`: Moot refuses it before any work if another agent holds it,
or if it belongs to git.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

STDOUT = Path("-")


class OutputPath(click.Path):
    """A file or folder that the command writes; `also` are suffixes of files written next to it."""

    def __init__(
        self, *, dir_okay: bool = True, file_okay: bool = True, also: tuple[str, ...] = ()
    ) -> None:
        super().__init__(path_type=Path, dir_okay=dir_okay, file_okay=file_okay)
        self.also = also


def find_outputs(
    parameters: Iterable[click.Parameter], values: Mapping[str, Any]
) -> Iterator[Path]:
    """Yield the paths that the command would write, by the types of its parameters."""
    for parameter in parameters:
        given = values.get(parameter.name or "")
        if isinstance(parameter.type, OutputPath) and given is not None and given != STDOUT:
            yield given
            yield from (given.with_suffix(ending) for ending in parameter.type.also)


def output_option(
    help_text: str,
    *,
    required: bool = False,
    printable: bool = False,
    also: tuple[str, ...] = (),
    accept: Callable[[Path], None] = lambda _file: None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make the option `-o`; an unusable FILE is refused before any work."""

    def checked(ctx: click.Context, _option: click.Parameter, file: Path | None) -> Path | None:
        if file == STDOUT:
            _require_printable(ctx, printable)
        elif file is not None:
            accept(file)
        return file

    return click.option(
        "-o",
        "--output",
        type=OutputPath(dir_okay=False, also=also),
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
        raise click.BadParameter("with --json the answer goes to standard output: name a file")

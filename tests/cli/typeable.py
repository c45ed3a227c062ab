"""Can a command that we name in a sentence be typed? Led through the command line's own tree."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click

from moot.surfaces.cli.main import cli

_IN_BACKTICKS = re.compile(r"`(?:[A-Z_]+=\S+ )?(moot [^`]+)`")
# A value that is filled in, and the word that stands for it while we try.
FILLED = "x9"


def commands_in(text: str) -> Iterator[str]:
    yield from _IN_BACKTICKS.findall(text)
    is_sentence = text.startswith("moot is ")
    if text.startswith("moot ") and not is_sentence and "\n" not in text and "`" not in text:
        yield text


def words_of(line: str) -> list[str]:
    """As a shell would split it; of `a|b` one, and without what is optional."""
    line = re.sub(r"\[[^\]]*\]", "", line).replace("'", "").replace('"', "")
    line = re.split(r"\s(?:&&|\(|then |keeps |and |or |first)|[;,:]\s|\s-- ", line)[0]
    words = [word for word in shlex.split(line)[1:] if word not in ("…", "--")]
    return [FILLED if word == "..." else word.split("|")[0] for word in words]


def require_typeable(words: list[str]) -> None:
    """Raises click's own usage error if there is no such command, or no such option of it."""
    command: click.Command = cli
    context = click.Context(cli, info_name="moot")
    while words:
        if isinstance(command, click.Group):
            parser = command.make_parser(context)
            parser.allow_interspersed_args = False
            _, rest, _ = parser.parse_args(args=list(words))
            if not rest:
                return
            below = command.get_command(context, rest[0])
            if below is None and rest[0].isupper() | (FILLED in rest[0]):
                return
            assert below is not None, f"no command {rest[0]!r} in {context.command_path}"
            context = click.Context(below, context, rest[0])
            command, words = below, rest[1:]
            continue
        command.make_parser(context).parse_args(args=list(words))
        return


def find_untypeable(text: str) -> Iterator[str]:
    """Each command in `text` that could not be typed, with the reason."""
    for line in commands_in(text):
        words = [word for word in words_of(line) if word != "--json"]
        try:
            require_typeable(words)
        except (click.UsageError, AssertionError, ValueError) as error:
            yield f"{line!r}: {error}"

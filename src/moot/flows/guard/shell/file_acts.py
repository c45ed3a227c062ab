"""What programs that write, move or remove files would do to them, by a table of programs.

Only what a program's arguments say is known. Reading is never an act.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from moot.flows.guard.shell.act import DestructiveAct, Reach
from moot.flows.guard.shell.options import Arguments, read_arguments
from moot.flows.guard.shell.script import Redirect, SimpleCommand
from moot.flows.guard.shell.values import Word

_WRITING: Final = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
_APPENDING: Final = frozenset({">>", "&>>", "<>"})
_DEVICES: Final = ("/dev/", "/proc/", "/sys/")
_FILES_IN_MEMORY: Final = "/dev/shm/"  # of people who work there
_REMOTE: Final = re.compile(r"[\w.@-]{2,}:")


def redirect_acts(command: SimpleCommand) -> Iterator[DestructiveAct]:
    """The files that its output goes to."""
    for redirect in filter(_is_file, command.redirects):
        yield DestructiveAct(
            "a redirect",
            Reach.WRITTEN,
            command.folder,
            (redirect.target,),
            keeps_content=redirect.operator in _APPENDING,
        )


def _is_file(redirect: Redirect) -> bool:
    text = redirect.target.text
    is_descriptor = redirect.operator == ">&" and (text.isdigit() or text == "-")
    return redirect.operator in _WRITING and not is_descriptor and not _is_device(redirect.target)


def _is_device(word: Word) -> bool:
    if word.text.startswith(_FILES_IN_MEMORY):
        return False
    return not word.text or word.text.startswith(_DEVICES)


def _named(arguments: Arguments) -> tuple[Word, ...]:
    return arguments.all_operands


def _behind_script(arguments: Arguments) -> tuple[Word, ...]:
    """`sed` and `perl`: the first operand is the script, unless an option gave it."""
    has_script = any(name in arguments.values for name in ("e", "E", "f", "--expression", "--file"))
    return arguments.all_operands if has_script else arguments.all_operands[1:]


def _behind_first(arguments: Arguments) -> tuple[Word, ...]:
    return arguments.all_operands[1:]


def _output(arguments: Arguments) -> tuple[Word, ...]:
    names = ("o", "--output", "--output-document", "O")
    return tuple(arguments.values[name] for name in names if name in arguments.values)


def _output_of_dd(arguments: Arguments) -> tuple[Word, ...]:
    texts = (word.text for word in arguments.all_operands)
    return tuple(Word(text.removeprefix("of=")) for text in texts if text.startswith("of="))


class _Program(NamedTuple):
    """`written` tells what it writes or removes, `with_value` which options take a value.

    `needs` are options without which it only reads, `edits` those with which what stands in a file
    is kept.
    """

    written: Callable[[Arguments], tuple[Word, ...]]
    with_value: str = ""
    needs: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()


_IN_PLACE: Final = _Program(
    _behind_script,
    "e f l --expression --file",
    needs=("i", "--in-place"),
    edits=("i", "--in-place"),
)
_PROGRAMS: Final[Mapping[str, _Program]] = {
    "rm": _Program(_named),
    "rmdir": _Program(_named),
    "unlink": _Program(_named),
    "shred": _Program(_named, "n s"),
    "truncate": _Program(_named, "s r --size --reference"),
    "tee": _Program(_named, edits=("a", "--append")),
    "sponge": _Program(_named),
    "trash": _Program(_named),
    "sed": _IN_PLACE,
    "gsed": _IN_PLACE,
    "perl": _Program(_behind_script, "e E", needs=("i",), edits=("i",)),
    "ruby": _Program(_behind_script, "e", needs=("i",), edits=("i",)),
    "sort": _Program(_output, "o k t S T --output --key", needs=("o", "--output")),
    "curl": _Program(_output, "o --output", needs=("o", "--output")),
    "wget": _Program(_output, "O --output-document", needs=("O", "--output-document")),
    "dd": _Program(_output_of_dd),
    "gofmt": _Program(_named, needs=("w",), edits=("w",)),
    "clang-format": _Program(_named, needs=("i",), edits=("i",)),
    "prettier": _Program(_named, "--config", needs=("w", "--write"), edits=("w", "--write")),
}


def program_acts(
    name: str, words: tuple[Word, ...], folder: str | None
) -> Iterator[DestructiveAct]:
    """What the program `name` would write or remove with these arguments."""
    if name in _COPYING:
        yield from _copy_acts(name, words, folder)
    program = _PROGRAMS.get(name)
    if program is None:
        return
    arguments = read_arguments(words, program.with_value)
    if arguments.has("--help", "--version"):
        return
    if program.needs and not arguments.has(*program.needs):
        return
    paths = tuple(word for word in program.written(arguments) if not _is_device(word))
    if paths:
        keeps_content = arguments.has(*program.edits)
        yield DestructiveAct(name, Reach.WRITTEN, folder, paths, keeps_content=keeps_content)


class _CopyingProgram(NamedTuple):
    """`takes_away`: what it copies is gone afterwards."""

    with_value: str = ""
    takes_away: bool = False
    dry: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


_COPYING: Final[Mapping[str, _CopyingProgram]] = {
    "cp": _CopyingProgram("t S --target-directory --suffix", dry=("n", "--no-clobber")),
    "mv": _CopyingProgram("t S --target-directory --suffix", takes_away=True),
    "install": _CopyingProgram("t m o g S --mode --owner --group", dry=("d", "--directory")),
    "ln": _CopyingProgram("t S --target-directory", needs=("f", "--force")),
    "rsync": _CopyingProgram("e f --rsh --exclude --include --filter", dry=("n", "--dry-run")),
}


def _copy_acts(name: str, words: tuple[Word, ...], folder: str | None) -> Iterator[DestructiveAct]:
    program = _COPYING[name]
    arguments = read_arguments(words, program.with_value)
    is_harmless = arguments.has("--help", "--version", *program.dry)
    if is_harmless or (program.needs and not arguments.has(*program.needs)):
        return
    if program.takes_away:
        yield from moved_acts(name, arguments, folder)
        return
    sources, target = _sources_and_target(arguments)
    if target is not None and not _REMOTE.match(target.text) and not _is_device(target):
        # `rsync a/ b` is what a holds, put into b, by whatever names
        copied = () if any(source.text.endswith("/") for source in sources) else sources
        yield DestructiveAct(name, Reach.WRITTEN, folder, (target,), copied=copied)


def moved_acts(name: str, arguments: Arguments, folder: str | None) -> Iterator[DestructiveAct]:
    """What is moved goes away from one place and over what is at the other."""
    sources, target = _sources_and_target(arguments)
    if target is not None and sources:
        yield DestructiveAct(name, Reach.WRITTEN, folder, sources)
        yield DestructiveAct(name, Reach.WRITTEN, folder, (target,), copied=sources)


def _sources_and_target(arguments: Arguments) -> tuple[tuple[Word, ...], Word | None]:
    operands = arguments.all_operands
    target = arguments.values.get("t") or arguments.values.get("--target-directory")
    if target is not None:
        return operands, target
    return (operands[:-1], operands[-1]) if len(operands) > 1 else (operands, None)

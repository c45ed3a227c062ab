"""Programs that write, move or remove files, by a table. Only their arguments are read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from moot.api.guard.shell.act import (
    Arguments,
    DestructiveAct,
    Input,
    InputKind,
    Reach,
    read_arguments,
)
from moot.api.guard.shell.script import Redirect, SimpleCommand
from moot.api.guard.shell.values import UNKNOWN, Word

_WRITING: Final = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
_APPENDING: Final = frozenset({">>", "&>>", "<>"})
_DEVICES: Final = ("/dev/", "/proc/", "/sys/")
_FILES_IN_MEMORY: Final = "/dev/shm/"  # a worktree may be there
_REMOTE: Final = re.compile(r"[\w.@-]{2,}:")


def redirect_acts(command: SimpleCommand) -> Iterator[DestructiveAct]:
    """Yield the files that a command's output is redirected to."""
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
    """Skip the first operand, which is the script of `sed` and `perl`, unless an option gave
    one."""
    has_script = any(name in arguments.values for name in ("e", "E", "f", "--expression", "--file"))
    return arguments.all_operands if has_script else arguments.all_operands[1:]


def _output(arguments: Arguments) -> tuple[Word, ...]:
    names = ("o", "--output", "--output-document", "O")
    return tuple(arguments.values[name] for name in names if name in arguments.values)


def _output_of_dd(arguments: Arguments) -> tuple[Word, ...]:
    texts = (word.text for word in arguments.all_operands)
    return tuple(Word(text.removeprefix("of=")) for text in texts if text.startswith("of="))


def _behind_out(arguments: Arguments) -> tuple[Word, ...]:
    """Return FILE of `openssl rand -out FILE`."""
    pairs = zip(arguments.words, arguments.words[1:], strict=False)
    return tuple(word for option, word in pairs if option.text == "-out")


def _second(arguments: Arguments) -> tuple[Word, ...]:
    return arguments.all_operands[1:2]


def _first(arguments: Arguments) -> tuple[Word, ...]:
    return arguments.all_operands[:1]


def _new_archive(arguments: Arguments) -> tuple[Word, ...]:
    """Return FILE of `tar cf FILE`, `tar -czf FILE`, `tar rf FILE`; `input_acts` handles
    unpacking."""
    call = read_tar_call(arguments.words)
    if call.letter not in ("c", "r", "u"):
        return ()
    removed = call.members if arguments.has("--remove-files") else ()
    return removed if call.archive is None else (call.archive, *removed)


def _zipped(arguments: Arguments) -> tuple[Word, ...]:
    """Return the archive; with `-m` also the files that it moves there."""
    return arguments.all_operands[: None if arguments.has("m", "--move") else 1]


def _formatted(*verbs: str) -> Callable[[Arguments], tuple[Word, ...]]:
    """Return the files after one of the verbs; without any, the whole folder."""

    def written(arguments: Arguments) -> tuple[Word, ...]:
        operands = arguments.all_operands
        if not operands or operands[0].text not in verbs:
            return ()
        return tuple(Word(".") if word.text == "./..." else word for word in operands[1:]) or (
            Word("."),
        )

    return written


def _by_ruff(arguments: Arguments) -> tuple[Word, ...]:
    """Return the files of `ruff format`, or of `ruff check` with an option that fixes."""
    fixes = arguments.has("--fix", "--fix-only", "--unsafe-fixes")
    return _formatted("format", *(("check",) if fixes else ()))(arguments)


class _Program(NamedTuple):
    """`written` returns what it writes or removes, `with_value` lists its options that take a
    value.

    Without one of the options `needs`, or with one of `dry`, it only reads. With one of `edits` a
    file's content is kept; with `keeps`, always. `called` are the name patterns of the files that
    it takes from a folder.
    """

    written: Callable[[Arguments], tuple[Word, ...]]
    with_value: str = ""
    needs: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
    dry: tuple[str, ...] = ()
    keeps: bool = False
    called: tuple[str, ...] = ()


def _formatter(
    *called: str,
    needs: tuple[str, ...] = (),
    written: Callable[[Arguments], tuple[Word, ...]] = _named,
    with_value: str = "",
) -> _Program:
    """Return the row of a program that rewrites source files; with the options in `dry` it only
    checks."""
    dry = ("--check", "--diff", "--check-only", "--list-different", "--dry-run", "--stdin-filename")
    return _Program(written, f"--config {with_value}", needs, (), dry, True, called)


_IN_PLACE: Final = _Program(
    _behind_script,
    "e f l --expression --file",
    needs=("i", "--in-place"),
    edits=("i", "--in-place"),
)
_OUTPUT: Final = _Program(_output, "o --output", needs=("o", "--output"))
_PACKING: Final = _Program(
    _named, "S --suffix", dry=("k", "--keep", "c", "--stdout", "l", "--list", "t", "--test")
)
_EDITOR: Final = _Program(_named, "c p S T u --cmd", keeps=True, dry=("R", "M"))
_PYTHON: Final = ("*.py", "*.pyi", "*.ipynb")
_PROGRAMS: Final[Mapping[str, _Program]] = {
    "rm": _Program(_named),
    "rmdir": _Program(_named),
    "unlink": _Program(_named),
    "shred": _Program(_named, "n s"),
    "truncate": _Program(_named, "s r --size --reference"),
    "tee": _Program(_named, edits=("a", "--append")),
    "sponge": _Program(_named),
    "trash": _Program(_named),
    "dos2unix": _Program(_named, keeps=True),
    "unix2dos": _Program(_named, keeps=True),
    "sed": _IN_PLACE,
    "gsed": _IN_PLACE,
    "perl": _Program(_behind_script, "e E", needs=("i",), edits=("i",)),
    "ruby": _Program(_behind_script, "e", needs=("i",), edits=("i",)),
    "yq": _Program(_behind_script, "e", needs=("i", "--inplace"), edits=("i", "--inplace")),
    "sort": _Program(_output, "o k t S T --output --key", needs=("o", "--output")),
    "uniq": _Program(_second, "f s w"),
    "curl": _OUTPUT,
    "wget": _Program(_output, "O --output-document", needs=("O", "--output-document")),
    "openssl": _Program(_behind_out),
    "pandoc": _OUTPUT,
    "iconv": _Program(_output, "o f t --output", needs=("o", "--output")),
    "gcc": _OUTPUT,
    "cc": _OUTPUT,
    "ld": _OUTPUT,
    "dd": _Program(_output_of_dd),
    "tar": _Program(_new_archive),
    "bsdtar": _Program(_new_archive),
    "zip": _Program(_zipped, "b t x i"),
    "gzip": _PACKING,
    "gunzip": _PACKING,
    "bzip2": _PACKING,
    "bunzip2": _PACKING,
    "xz": _PACKING,
    "unxz": _PACKING,
    "ed": _EDITOR,
    "ex": _EDITOR,
    "vi": _EDITOR,
    "vim": _EDITOR,
    "nvim": _EDITOR,
    "nano": _EDITOR,
    "emacs": _EDITOR,
    "gofmt": _formatter("*.go", needs=("w",)),
    "goimports": _formatter("*.go", needs=("w",)),
    "go": _formatter("*.go", written=_formatted("fmt")),
    "cargo": _formatter("*.rs", written=_formatted("fmt")),
    "rustfmt": _formatter("*.rs"),
    "clang-format": _formatter(needs=("i",)),
    "shfmt": _formatter(needs=("w", "--write"), with_value="i"),
    "prettier": _formatter(needs=("w", "--write")),
    "biome": _formatter(
        needs=("--write", "--fix", "--apply"), written=_formatted("format", "check", "lint")
    ),
    "eslint": _formatter(needs=("--fix",), with_value="c f --ext --format"),
    "stylelint": _formatter(needs=("--fix",)),
    "ruff": _formatter(*_PYTHON, written=_by_ruff, with_value="--select --ignore --extend-select"),
    "black": _formatter(*_PYTHON, with_value="l t --line-length"),
    "isort": _formatter(*_PYTHON, with_value="--profile l"),
    "autopep8": _formatter(*_PYTHON, needs=("i", "--in-place")),
    "yapf": _formatter(*_PYTHON, needs=("i", "--in-place"), with_value="--style"),
    "autoflake": _formatter(*_PYTHON, needs=("i", "--in-place")),
    "pyupgrade": _formatter(*_PYTHON),
    "terraform": _formatter("*.tf", written=_formatted("fmt")),
}
# Programs that neither write nor run their operands.
_READERS: Final = (
    "ls cat head tail grep egrep fgrep rg ag wc pwd echo printf test [ [[ stat file which type"
    " du df diff cmp cut tr jq nl id whoami basename dirname realpath readlink ps sleep less more"
    " bat man true false : cd pushd popd read export local declare readonly typeset unset return"
    " exit shift set source . comm paste column fold tac rev od xxd hexdump strings md5sum"
    " sha256sum cksum date moot bb gh pytest mypy pyright tsc jest vitest claude codex gemini"
    " opencode tree touch mkdir chmod chown kill wait jobs history help tput logger ssh docker"
    " podman kubectl docker-compose sqlite3 psql mysql redis-cli seq yes pip pip3 apt apt-get"
    " brew dpkg git"
)
READERS: Final = frozenset(_READERS.split())
# Programs whose input names the files that they write; without `python -m`.
UNPACKING: Final = frozenset(
    {"patch", "tar", "bsdtar", "unzip", "zipfile", "tarfile", "7z", "7za", "cpio", "jar", "pax"}
)
# Program names that are hardly ever any other word, so they count anywhere in a text.
_UNMISTAKABLE: Final = "rm mv cp tee dd unlink shred truncate rmdir rsync sed git patch"
UNMISTAKABLE: Final = frozenset(_UNMISTAKABLE.split())


def program_acts(
    name: str, words: tuple[Word, ...], folder: str | None
) -> Iterator[DestructiveAct]:
    """Yield what the program `name` would write or remove with these arguments."""
    if name in _COPYING:
        yield from _copy_acts(name, words, folder)
    program = _PROGRAMS.get(name)
    if program is None:
        return
    arguments = read_arguments(words, program.with_value)
    if arguments.has("--help", "--version", *program.dry):
        return
    if program.needs and not arguments.has(*program.needs):
        return
    paths = tuple(word for word in program.written(arguments) if not _is_device(word))
    if paths:
        keeps_content = program.keeps or arguments.has(*program.edits)
        yield DestructiveAct(
            name,
            Reach.WRITTEN,
            folder,
            paths,
            keeps_content=keeps_content,
            only_called=program.called,
        )


def is_known_program(name: str) -> bool:
    """True if a table says what this program writes."""
    return name in _PROGRAMS or name in _COPYING or name in UNPACKING


def unresolved(name: str, folder: str | None) -> DestructiveAct:
    """Return an act that may write any file: every held file that the text names counts."""
    return DestructiveAct(name, Reach.NAMED, folder, (Word(UNKNOWN),), is_understood=False)


class _TarCall(NamedTuple):
    """`letter` is the operation: `x` for unpacking. `archive` None: standard input."""

    letter: str
    archive: Word | None
    folder: Word | None
    strip: int
    members: tuple[Word, ...]
    is_shown: bool


_TAR_LETTERS: Final = {
    "--extract": "x",
    "--get": "x",
    "--create": "c",
    "--append": "r",
    "--update": "u",
}


def read_tar_call(words: tuple[Word, ...]) -> _TarCall:
    """Read the arguments of `tar`. The first word of `tar xvf FILE` contains options without a
    dash; their values follow it."""
    rest = list(words)
    values: dict[str, Word] = {}
    bundled = rest.pop(0).text if rest and not rest[0].text.startswith("-") else ""
    for letter in bundled:
        if letter in "fCTXb" and rest:
            values[letter] = rest.pop(0)
    arguments = read_arguments(
        rest, "f C T X b I --file --directory --strip-components --exclude --transform"
    )
    values.update(arguments.values)
    flags = arguments.flags.union(
        bundled, (_TAR_LETTERS.get(flag, flag) for flag in arguments.flags)
    )
    archive = values.get("f") or values.get("--file")
    strip = values.get("--strip-components")
    return _TarCall(
        letter=next((letter for letter in "xcru" if letter in flags), ""),
        archive=None if archive is None or archive.text == "-" else archive,
        folder=values.get("C") or values.get("--directory"),
        strip=int(strip.text) if strip is not None and strip.text.isdecimal() else 0,
        members=arguments.all_operands,
        is_shown="O" in flags or "--to-stdout" in flags,
    )


def input_acts(name: str, command: SimpleCommand) -> Iterator[DestructiveAct]:
    """Yield the acts of `patch`, `tar x` and `unzip`: their input names the files, not their
    arguments."""
    words = command.words[1:]
    if name == "patch":
        yield from _patch_acts(command)
    elif name in ("tar", "bsdtar"):
        call = read_tar_call(words)
        if call.letter == "x" and not call.is_shown:
            members = tuple(word.text for word in call.members)
            source = Input(InputKind.TAR, strip=call.strip, members=members)
            yield from acts_on_input(name, command, source, call.archive, call.folder)
    elif name == "unzip":
        arguments = read_arguments(words, "d P x")
        if arguments.all_operands and not arguments.has("l", "t", "p", "v", "z", "Z", "n"):
            packed, *chosen = arguments.all_operands
            source = Input(InputKind.ZIP, members=tuple(word.text for word in chosen))
            yield from acts_on_input(name, command, source, packed, arguments.values.get("d"))
    elif name in ("zipfile", "tarfile"):  # `python -m zipfile -e`
        arguments = read_arguments(words, "e --extract")
        archive = arguments.values.get("e") or arguments.values.get("--extract")
        if archive is not None:
            kind = InputKind.ZIP if name == "zipfile" else InputKind.TAR
            into = next(iter(arguments.all_operands), None)
            yield from acts_on_input(f"python -m {name}", command, Input(kind), archive, into)
    elif _reads_names(name, words):
        yield unresolved(name, command.folder)


def _reads_names(name: str, words: tuple[Word, ...]) -> bool:
    """True for other programs whose input names the files; that input is not read."""
    if name == "ed":
        return not read_arguments(words, "p").all_operands
    unpacks = any(word.text.lstrip("-")[:1] in ("x", "e", "i", "r") for word in words[:1])
    return unpacks and name in UNPACKING


def _patch_acts(command: SimpleCommand) -> Iterator[DestructiveAct]:
    arguments = read_arguments(
        command.words[1:],
        "p i d o r B D F g Y z V --strip --input --directory --output --reject-file",
    )
    if arguments.has("--dry-run", "--help", "--version"):
        return
    values, operands = arguments.values, arguments.all_operands
    output = values.get("o") or values.get("--output")
    folder = _below(command.folder, values.get("d") or values.get("--directory"))
    if output is not None or operands:
        written = (operands[0],) if output is None else (output,)
        yield DestructiveAct("patch", Reach.WRITTEN, folder, written, keeps_content=True)
        return
    strip = values.get("p") or values.get("--strip")
    source = Input(
        InputKind.PATCH, strip=int(strip.text) if strip and strip.text.isdecimal() else -1
    )
    given = values.get("i") or values.get("--input")
    into = values.get("d") or values.get("--directory")
    yield from acts_on_input("patch", command, source, given, into)


def acts_on_input(
    name: str, command: SimpleCommand, read_from: Input, given: Word | None, into: Word | None
) -> Iterator[DestructiveAct]:
    """Yield the act of a program that reads names from the file `given`, or from standard input.

    Standard input is followed through `< FILE`, a heredoc and `cat FILE |`; otherwise it is
    unknown.
    """
    text = ""
    if given is None or given.text == "-":
        given, text = read_standard_input(command)
    if (given is None and not text) or (given is not None and not given.is_known):
        yield unresolved(name, command.folder)
        return
    if given is not None and given.pattern is None and command.folder is not None:
        given = Word(os.path.join(command.folder, given.text))
    yield DestructiveAct(
        name,
        Reach.WRITTEN,
        _below(command.folder, into),
        keeps_content=True,
        read_from=read_from._replace(source=given or Word(""), text=text),
    )


def read_standard_input(command: SimpleCommand) -> tuple[Word | None, str]:
    """Return the file or the text that a command reads on standard input; neither if unknown."""
    for redirect in command.redirects:
        if redirect.operator == "<":
            return redirect.target, ""
        if redirect.operator in ("<<", "<<-", "<<<"):
            return None, redirect.body or redirect.target.text
    for source in command.fed_by[:1]:
        name = source.words[0].text if source.words else ""
        if name in ("echo", "printf"):
            return None, " ".join(word.text for word in source.words[1:])
        if name == "cat":
            files = read_arguments(source.words[1:]).all_operands
            if len(files) == 1:
                return files[0], ""
            return read_standard_input(source) if not files else (None, "")
    return None, ""


def _below(folder: str | None, word: Word | None) -> str | None:
    if word is None or folder is None:
        return folder
    return os.path.normpath(os.path.join(folder, word.text)) if word.is_known else None


class _CopyingProgram(NamedTuple):
    """`takes_away`: the source is removed afterwards."""

    with_value: str = ""
    takes_away: bool = False
    dry: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


_COPYING: Final[Mapping[str, _CopyingProgram]] = {
    "cp": _CopyingProgram("t S --target-directory --suffix", dry=("n", "--no-clobber")),
    "mv": _CopyingProgram("t S --target-directory --suffix", takes_away=True),
    "install": _CopyingProgram("t m o g S --mode --owner --group", dry=("d", "--directory")),
    "ln": _CopyingProgram("t S --target-directory", needs=("f", "--force")),
    "scp": _CopyingProgram("i P o F l S c"),
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
        # `rsync a/ b` puts the content of a into b, under unknown names
        copied = () if any(source.text.endswith("/") for source in sources) else sources
        yield DestructiveAct(name, Reach.WRITTEN, folder, (target,), copied=copied)


def moved_acts(name: str, arguments: Arguments, folder: str | None) -> Iterator[DestructiveAct]:
    """Yield two acts: the source is removed, and the target is overwritten."""
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

"""Which coding tools a command line starts: behind wrappers, package runners, shells and links.

`find_started_tools` is pure: the caller passes a function that looks up programs on the disk. Each
tool's module gives its program and package names. Scripts that start a tool are not read: `moot
run` also looks for tools among its child processes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from moot.coding_tools import all_tools
from moot.coding_tools.starts import StartedTool
from moot.core.shell_words import Part, PartKind, Steps, Token, TokenKind, TooComplex, split_words

# Shell keywords before a command.
_KEYWORDS: Final = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{"})


def split_commands(text: str, steps: Steps, nested: int = 0) -> Iterator[list[Token]]:
    """Return the words of each simple command; those inside `$(...)` come before their user.

    Does not follow functions and loops over data, nor a text that is too complex.
    """
    words: list[Token] = []
    try:
        tokens = split_words(text, steps)
    except TooComplex:
        return
    for token in (*tokens, Token(TokenKind.OPERATOR, ";")):
        for part in token.parts:
            if part.kind is PartKind.OUTPUT and nested < MOST_WRAPPERS:
                yield from split_commands(part.text, steps, nested + 1)
        if token.kind is TokenKind.OPERATOR and words:
            yield words
            words = []
        elif token.kind is TokenKind.WORD and (words or _plain_text(token) not in _KEYWORDS):
            words.append(token)


def _plain_text(token: Token) -> str:
    return "".join(part.text for part in token.parts)


def expand(
    words: Iterable[Token], arguments: tuple[str, ...], env: Mapping[str, str]
) -> Iterator[str]:
    """Return the words with plain variables expanded; `arguments` are `$0` and the following."""
    for word in words:
        parts = [part for part in word.parts if part.kind is not PartKind.TEXT or part.text]
        if len(parts) == 1 and parts[0][:2] in _ALL_ARGUMENTS:
            yield from arguments[1:]
        else:
            yield "".join(_variable_value(part, arguments, env) for part in parts)


_ALL_ARGUMENTS: Final = ((PartKind.VARIABLE, "@"), (PartKind.VARIABLE, "*"))


def _variable_value(part: Part, arguments: tuple[str, ...], env: Mapping[str, str]) -> str:
    if part.kind is PartKind.TEXT:
        return part.text
    if part.kind is PartKind.VARIABLE and part.text.isdecimal():
        return arguments[int(part.text)] if int(part.text) < len(arguments) else ""
    return env.get(part.text, "") if part.kind is PartKind.VARIABLE else ""


# Programs that start another one: where their own words end and the other program begins. Words
# that are not understood are returned unchanged.


class Start(msgspec.Struct, frozen=True):
    """A program that is about to start: its words, environment and folder.

    `launcher` are the words of the package runner that starts it (`npx -y PACKAGE`), empty if it is
    started directly. `is_other_user`: it reads another user's settings (`sudo`).
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    folder: str
    launcher: tuple[str, ...] = ()
    is_other_user: bool = False


class OwnWords(NamedTuple):
    """A wrapper's own words: options that take a value, and the number of operands after them."""

    valued: frozenset[str] = frozenset()
    operands: int = 0


Unwrap = Callable[[Start], tuple[Start, ...]]


def unwrap(start: Start) -> tuple[Start, ...]:
    """Return what this program starts: nothing if it is no wrapper, maybe several for a shell."""
    if not start.words:
        return ()
    known = UNWRAP.get(program_name(start.words[0]))
    return known(start) if known is not None else ()


def program_name(word: str) -> str:
    """Return `env` for `/usr/bin/env`; on Windows without the extension."""
    name = word.replace("\\", "/").rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return stem if dot and ending.lower() in ("exe", "cmd", "bat", "ps1") else name


def _words_after_wrapper(words: tuple[str, ...], own: OwnWords) -> tuple[str, ...]:
    """Return the words after a wrapper's own options and operands."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if words[at] == "--":
            at += 1
            break
        at += 2 if words[at] in own.valued else 1
    return words[at + own.operands :]


def _plain(own: OwnWords) -> Unwrap:
    def unwrap_plain(start: Start) -> tuple[Start, ...]:
        return (msgspec.structs.replace(start, words=_words_after_wrapper(start.words[1:], own)),)

    return unwrap_plain


def _options(words: tuple[str, ...], valued: frozenset[str]) -> Iterator[tuple[str, str, int]]:
    """Yield each option before the first plain word, its value (or ""), and the next index."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        option, equals, value = words[at].partition("=")
        at += 1
        if not equals and option in valued and at < len(words):
            value = words[at]
            at += 1
        elif not equals and option[:2] in valued and len(option) > 2 and option[1] != "-":
            option, value = option[:2], option[2:]
        yield option, value, at


_ENV_VALUED: Final = frozenset({"-u", "--unset", "-C", "--chdir", "-S", "--split-string"})


def _unwrap_env(start: Start) -> tuple[Start, ...]:
    """Unwrap `env [-i] [-u NAME] [-C DIR] [NAME=VALUE]... PROGRAM`."""
    words, env, folder, at = start.words[1:], dict(start.env), start.folder, 0
    for option, value, behind in _options(words, _ENV_VALUED):
        at = behind
        if option in ("-i", "--ignore-environment", "-"):
            env.clear()
        elif option in ("-u", "--unset"):
            env.pop(value, None)
        elif option in ("-C", "--chdir"):
            folder = os.path.join(folder, value)
        elif option in ("-S", "--split-string"):
            first = next(split_commands(value, Steps()), [])
            words, at = (*expand(first, (), env), *words[behind:]), 0
            break
    rest = words[at:]
    rest = rest[1:] if rest[:1] == ("--",) else rest
    rest = _take_assignments(rest, env)
    return (msgspec.structs.replace(start, words=rest, env=env, folder=folder),)


def _take_assignments(words: tuple[str, ...], env: dict[str, str]) -> tuple[str, ...]:
    """Put leading `NAME=VALUE` words into `env`; return the words after them."""
    at = 0
    while at < len(words) and is_assignment(words[at]):
        name, _, value = words[at].partition("=")
        env[name] = value
        at += 1
    return words[at:]


def is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.replace("_", "a").isalnum() and not name[0].isdigit()


_SUDO: Final = OwnWords(
    frozenset(
        [
            "-u",
            "--user",
            "-g",
            "--group",
            "-h",
            "--host",
            "-p",
            "--prompt",
            "-C",
            "-T",
            "-r",
            "-t",
            "-D",
            "--chdir",
            "-R",
        ]
    )
)


def _unwrap_sudo(start: Start) -> tuple[Start, ...]:
    env = dict(start.env)
    words = _take_assignments(_words_after_wrapper(start.words[1:], _SUDO), env)
    return (msgspec.structs.replace(start, words=words, env=env, is_other_user=True),)


_RUNNER: Final = OwnWords(
    frozenset(
        [
            "-p",
            "--package",
            "--from",
            "--with",
            "--python",
            "-w",
            "--workspace",
            "--cache",
            "--prefix",
            "--spec",
            "-c",
            "--call",
        ]
    )
)


def _package(*subcommands: str) -> Unwrap:
    """Unwrap a package runner; some need a subcommand (`pnpm dlx`, `uv tool run`)."""

    def unwrap_package(start: Start) -> tuple[Start, ...]:
        skipped = _length_of_subcommand(start.words[1:], subcommands)
        if skipped is None:
            return ()
        words = start.words[1 + skipped :]
        called = [value for option, value, _ in _options(words, _RUNNER.valued) if option in _CALL]
        if called:
            return _unwrap_text(start, called[0], ())
        rest = _words_after_wrapper(words, _RUNNER)
        at = len(start.words) - len(rest)
        launcher = (*start.launcher, *start.words[: at + 1])
        if rest[1:2] == ("--",):  # `npm exec PACKAGE -- ARGUMENTS`
            launcher, rest = (*launcher, "--"), (rest[0], *rest[2:])
        return (msgspec.structs.replace(start, words=rest, launcher=launcher),)

    return unwrap_package


_CALL: Final = ("-c", "--call")


def _length_of_subcommand(words: tuple[str, ...], subcommands: tuple[str, ...]) -> int | None:
    """Return how many words name the subcommand; None if it is another one."""
    if not subcommands:
        return 0
    for subcommand in subcommands:
        wanted = tuple(subcommand.split())
        if words[: len(wanted)] == wanted:
            return len(wanted)
    return None


def _unwrap_shell(start: Start) -> tuple[Start, ...]:
    """Unwrap `bash -c TEXT [NAME ARGUMENTS]`, also `-lc`; does not read script files."""
    words, at, has_text = start.words[1:], 0, False
    while at < len(words) and words[at].startswith(("-", "+")) and words[at] != "--":
        option = words[at]
        letters = "" if option.startswith("--") else option[1:]
        has_text = has_text or "c" in letters
        at += 2 if letters.endswith(("o", "O")) or option in _SHELL_VALUED else 1
    at += words[at : at + 1] == ("--",)
    return _unwrap_text(start, words[at], words[at + 1 :]) if has_text and at < len(words) else ()


_SHELL_VALUED: Final = frozenset({"--rcfile", "--init-file"})


def _unwrap_text(start: Start, text: str, arguments: tuple[str, ...]) -> tuple[Start, ...]:
    """Return every simple command of a shell's text, with the effects of earlier ones."""
    env, folder, found = dict(start.env), start.folder, []
    for command in split_commands(text, Steps()):
        words = tuple(expand(command, arguments, env))
        own = dict(env)
        words = _take_assignments(words, own)
        if not words:  # bare assignments apply to the following commands
            env = own
            continue
        match words[0]:
            case "cd" if len(words) > 1:
                folder = os.path.join(folder, words[-1])
            case "export" | "declare" | "typeset":
                _take_assignments(tuple(filter(is_assignment, words[1:])), env)
            case "unset":
                for name in words[1:]:
                    env.pop(name, None)
            case _:
                found.append(msgspec.structs.replace(start, words=words, env=own, folder=folder))
    return tuple(found)


def _unwrap_interpreter(start: Start) -> tuple[Start, ...]:
    """Unwrap `node [options] SCRIPT`, `deno run -A npm:PACKAGE`: the script is the program."""
    words = start.words[1:]
    if program_name(start.words[0]) in ("deno", "bun") and words[:1] == ("run",):
        words = words[1:]
    rest = _words_after_wrapper(words, _INTERPRETER)
    return (msgspec.structs.replace(start, words=rest),) if rest else ()


def _unwrap_bun(start: Start) -> tuple[Start, ...]:
    return _package("x")(start) or _unwrap_interpreter(start)


_INTERPRETER: Final = OwnWords(
    frozenset(
        ["-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions"]
    )
)


def _after_dashes(*subcommands: str) -> Unwrap:
    """Return what follows the first `--`: `mise exec node@22 -- PROGRAM`."""

    def unwrap_after_dashes(start: Start) -> tuple[Start, ...]:
        words = start.words[1:]
        if words[:1] not in {(name,) for name in subcommands} or "--" not in words:
            return ()
        rest = words[words.index("--") + 1 :]
        return (msgspec.structs.replace(start, words=rest),)

    return unwrap_after_dashes


def _valued(text: str, operands: int = 0) -> Unwrap:
    return _plain(OwnWords(frozenset(text.split()), operands))


UNWRAP: Final[Mapping[str, Unwrap]] = {
    "env": _unwrap_env,
    "sudo": _unwrap_sudo,
    "doas": _unwrap_sudo,
    "timeout": _valued("-k --kill-after -s --signal", 1),
    "gtimeout": _valued("-k --kill-after -s --signal", 1),
    "nice": _valued("-n --adjustment"),
    "ionice": _valued("-c --class -n --classdata"),
    "chrt": _valued("-T -P -D", 1),
    "taskset": _valued("", 1),
    "nohup": _valued(""),
    "setsid": _valued(""),
    "stdbuf": _valued("-i --input -o --output -e --error"),
    "time": _valued("-f --format -o --output"),
    "caffeinate": _valued("-t -w"),
    "unbuffer": _valued(""),
    "tini": _valued("-p -e"),
    "dumb-init": _valued("-r --rewrite"),
    "exec": _valued("-a"),
    "command": _valued(""),
    "npx": _package(),
    "pnpx": _package(),
    "bunx": _package(),
    "uvx": _package(),
    "npm": _package("exec", "x"),
    "pnpm": _package("dlx", "exec"),
    "yarn": _package("dlx", "exec"),
    "uv": _package("tool run", "run"),
    "pipx": _package("run"),
    "bun": _unwrap_bun,
    "node": _unwrap_interpreter,
    "nodejs": _unwrap_interpreter,
    "deno": _unwrap_interpreter,
    "mise": _after_dashes("exec", "x"),
    "op": _after_dashes("run"),
    "doppler": _after_dashes("run"),
    **dict.fromkeys(("sh", "bash", "zsh", "dash", "ksh", "fish", "busybox"), _unwrap_shell),
}


MOST_WRAPPERS: Final = 20
MOST_LINKS: Final = 40
# Returns the paths of a program's name in this environment and folder: the file, and each link on
# the way. Empty if there is no such program.
FindPaths = Callable[[str, Mapping[str, str], str], Sequence[str]]


def find_started_tools(
    words: Sequence[str], env: Mapping[str, str], folder: str, find_paths: FindPaths
) -> tuple[StartedTool, ...]:
    """Return the coding tools that these words start, in order; none for any other program."""
    waiting = [(Start(tuple(words), env, folder), 0)]
    found = []
    while waiting:
        start, depth = waiting.pop(0)
        if not start.words or depth > MOST_WRAPPERS:
            continue
        tool = _tool_named(start, find_paths)
        if tool is None:
            waiting[:0] = [(inner, depth + 1) for inner in unwrap(start)]
            continue
        found.append(
            StartedTool(
                tool=tool,
                arguments=start.words[1:],
                command=start.launcher or start.words[:1],
                env=start.env,
                folder=os.path.normpath(start.folder),
                is_other_user=start.is_other_user,
            )
        )
    return tuple(found)


def tool_of_paths(paths: Sequence[str]) -> str | None:
    """Return the coding tool of one of these paths: by its name, or by its package."""
    return next((tool for path in paths if (tool := _tool_of_path(path)) is not None), None)


def find_program_paths(word: str, env: Mapping[str, str], folder: str) -> tuple[str, ...]:
    """Implement `FindPaths` with this host's file system."""
    if "/" in word or os.sep in word:
        path = os.path.join(folder, os.path.expanduser(word))
        return tuple(_along_links(path)) if os.path.lexists(path) else ()
    program = shutil.which(word, path=env.get("PATH", os.defpath))
    return tuple(_along_links(os.path.join(folder, program))) if program else ()


def _along_links(path: str) -> Iterator[str]:
    for _ in range(MOST_LINKS):
        yield path
        try:
            path = os.path.join(os.path.dirname(path), os.readlink(path))
        except OSError:
            break
    yield os.path.realpath(path)


def _tool_named(start: Start, find_paths: FindPaths) -> str | None:
    word = start.words[0]
    if start.launcher or word.startswith("npm:"):
        return _tool_of_package(word) or _tool_of_path(word)
    return tool_of_paths((word,)) or tool_of_paths(find_paths(word, start.env, start.folder))


def _tool_of_package(spec: str) -> str | None:
    """Return the tool of a package such as `npm:@openai/codex@0.166.0`, which is Codex."""
    name = spec.removeprefix("npm:")
    at = name.find("@", 1)
    package = name if at < 0 else name[:at]
    return next((tool.name for tool in all_tools() if package in tool.packages), None)


def _tool_of_path(path: str) -> str | None:
    name, plain = program_name(path), path.replace("\\", "/")
    for tool in all_tools():
        if tool.is_program(name):
            return tool.name
    for tool in all_tools():
        marks = (*(f"/node_modules/{package}/" for package in tool.packages), *tool.path_marks)
        if any(mark in plain for mark in marks):
            return tool.name
    return None


# Interpreters: their first plain word is the script, which identifies the program.
_INTERPRETERS: Final = ("node", "nodejs", "bun", "deno", "python", "sh", "bash", "dash", "zsh")


def tool_of_process(words: tuple[str, ...]) -> str | None:
    """Return the coding tool that a process is; None for a program that only starts one."""
    if not words:
        return None
    candidates = [words[0]]
    if program_name(words[0]).rstrip("0123456789.") in _INTERPRETERS:
        candidates += [word for word in words[1:] if not word.startswith("-")][:1]
    return tool_of_paths(candidates)

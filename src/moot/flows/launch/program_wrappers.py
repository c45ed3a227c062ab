"""Programs that start another one: where their own words end and the other program begins.

Pure: words in, words out. Each row says which options of a wrapper take the next word as their
value and how many words of its own stand before the program; the few that change more (the
environment, the folder, the user) have a function. What is not understood is given back as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from moot.flows.launch.shell_text import expand, split_commands


class Start(msgspec.Struct, frozen=True):
    """A program that is about to start: its words, and the environment and folder it finds.

    `launcher` are the words that make a package runner start it (`npx -y PACKAGE`), empty if it is
    started by itself. `is_other_user`: it reads another user's settings (`sudo`).
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    folder: str
    launcher: tuple[str, ...] = ()
    is_other_user: bool = False


class OwnWords(NamedTuple):
    """A wrapper's own words: options that take a value, and how many plain words follow those."""

    valued: frozenset[str] = frozenset()
    operands: int = 0


Unwrap = Callable[[Start], tuple[Start, ...]]


def unwrap(start: Start) -> tuple[Start, ...]:
    """What this program starts: nothing if it is no wrapper, several from a shell's text."""
    if not start.words:
        return ()
    known = UNWRAP.get(program_name(start.words[0]))
    return known(start) if known is not None else ()


def program_name(word: str) -> str:
    """`/usr/bin/env` is `env`; on Windows the ending is no part of the name."""
    name = word.replace("\\", "/").rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return stem if dot and ending.lower() in ("exe", "cmd", "bat", "ps1") else name


def _behind(words: tuple[str, ...], own: OwnWords) -> tuple[str, ...]:
    """The words behind a wrapper's own options and operands."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if words[at] == "--":
            at += 1
            break
        at += 2 if words[at] in own.valued else 1
    return words[at + own.operands :]


def _plain(own: OwnWords) -> Unwrap:
    def unwrap_plain(start: Start) -> tuple[Start, ...]:
        return (msgspec.structs.replace(start, words=_behind(start.words[1:], own)),)

    return unwrap_plain


def _options(words: tuple[str, ...], valued: frozenset[str]) -> Iterator[tuple[str, str, int]]:
    """Each option before the first plain word, its value (or ""), and where the next word is."""
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
    """`env [-i] [-u NAME] [-C DIR] [NAME=VALUE]... PROGRAM`."""
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
            texts = [command.words for command in split_commands(value)]
            words, at = (*(texts[0] if texts else ()), *words[behind:]), 0
            break
    rest = words[at:]
    rest = rest[1:] if rest[:1] == ("--",) else rest
    rest = _take_assignments(rest, env)
    return (msgspec.structs.replace(start, words=rest, env=env, folder=folder),)


def _take_assignments(words: tuple[str, ...], env: dict[str, str]) -> tuple[str, ...]:
    """Put leading `NAME=VALUE` words into `env`; the words behind them."""
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
    words = _take_assignments(_behind(start.words[1:], _SUDO), env)
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
    """A package runner; some do so only by a subcommand (`pnpm dlx`, `uv tool run`)."""

    def unwrap_package(start: Start) -> tuple[Start, ...]:
        skipped = _length_of_subcommand(start.words[1:], subcommands)
        if skipped is None:
            return ()
        words = start.words[1 + skipped :]
        called = [value for option, value, _ in _options(words, _RUNNER.valued) if option in _CALL]
        if called:
            return _from_text(start, called[0], ())
        rest = _behind(words, _RUNNER)
        at = len(start.words) - len(rest)
        launcher = (*start.launcher, *start.words[: at + 1])
        if rest[1:2] == ("--",):  # `npm exec PACKAGE -- ARGUMENTS`
            launcher, rest = (*launcher, "--"), (rest[0], *rest[2:])
        return (msgspec.structs.replace(start, words=rest, launcher=launcher),)

    return unwrap_package


_CALL: Final = ("-c", "--call")


def _length_of_subcommand(words: tuple[str, ...], subcommands: tuple[str, ...]) -> int | None:
    """How many words name the subcommand; None if it is another one."""
    if not subcommands:
        return 0
    for subcommand in subcommands:
        wanted = tuple(subcommand.split())
        if words[: len(wanted)] == wanted:
            return len(wanted)
    return None


def _unwrap_shell(start: Start) -> tuple[Start, ...]:
    """`bash -c TEXT [NAME ARGUMENTS]`, also `-lc`; a script file is not read."""
    words, at, has_text = start.words[1:], 0, False
    while at < len(words) and words[at].startswith(("-", "+")) and words[at] != "--":
        option = words[at]
        letters = "" if option.startswith("--") else option[1:]
        has_text = has_text or "c" in letters
        at += 2 if letters.endswith(("o", "O")) or option in _SHELL_VALUED else 1
    at += words[at : at + 1] == ("--",)
    return _from_text(start, words[at], words[at + 1 :]) if has_text and at < len(words) else ()


_SHELL_VALUED: Final = frozenset({"--rcfile", "--init-file"})


def _from_text(start: Start, text: str, arguments: tuple[str, ...]) -> tuple[Start, ...]:
    """Every simple command of a shell's text, with what earlier ones change for it."""
    env, folder, found = dict(start.env), start.folder, []
    for command in split_commands(text):
        words = expand(command.words, arguments, env)
        own = dict(env)
        words = _take_assignments(words, own)
        if not words:  # assignments alone stay for what follows
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
    """`node [options] SCRIPT`, `deno run -A npm:PACKAGE`: the script is the program."""
    words = start.words[1:]
    if program_name(start.words[0]) in ("deno", "bun") and words[:1] == ("run",):
        words = words[1:]
    rest = _behind(words, _INTERPRETER)
    return (msgspec.structs.replace(start, words=rest),) if rest else ()


def _unwrap_bun(start: Start) -> tuple[Start, ...]:
    return _package("x")(start) or _unwrap_interpreter(start)


_INTERPRETER: Final = OwnWords(
    frozenset(
        ["-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions"]
    )
)


def _after_dashes(*subcommands: str) -> Unwrap:
    """`mise exec node@22 -- PROGRAM`: whatever stands behind the first `--`."""

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

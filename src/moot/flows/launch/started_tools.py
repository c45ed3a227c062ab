"""Which coding tools a command line starts: behind wrappers, package runners, shells and links.

`find_started_tools` takes what the caller knows of the disk as a function, so it is pure; what a
tool is called, as a program and as a package, is a table here. A script that starts a tool is not
read: `moot run` looks for tools among the processes below it as well.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from moot.flows.launch.program_wrappers import Start, program_name, unwrap
from moot.flows.tools import HOOK_TOOLS

MOST_WRAPPERS: Final = 20
MOST_LINKS: Final = 40
PACKAGES: Final[Mapping[str, str]] = {
    "@anthropic-ai/claude-code": "claude",
    "@openai/codex": "codex",
    "@google/gemini-cli": "gemini",
    "opencode-ai": "opencode",
}
# In a path to a program, these say whose it is.
_FOLDERS: Final[Mapping[str, str]] = {
    **{f"/node_modules/{package}/": tool for package, tool in PACKAGES.items()},
    "/claude-code/cli.": "claude",
}
# Codex's own archives hold a program named after the machine it is built for.
_BUILT_FOR: Final = re.compile(r"codex-(?:x86_64|aarch64)-[\w-]+\Z")

# The paths that a program's name leads to in this environment and folder: the file, and each link
# on the way. Empty if there is no such program.
FindPaths = Callable[[str, Mapping[str, str], str], Sequence[str]]


class StartedTool(msgspec.Struct, frozen=True):
    """A coding tool that a command line starts.

    `arguments` are the tool's own. `command` starts the tool without them. `env` and `folder` are
    what it finds. `is_other_user`: as another user of the system, with that user's settings.
    """

    tool: str
    arguments: tuple[str, ...]
    command: tuple[str, ...]
    env: Mapping[str, str]
    folder: str
    is_other_user: bool = False


def find_started_tools(
    words: Sequence[str], env: Mapping[str, str], folder: str, find_paths: FindPaths
) -> tuple[StartedTool, ...]:
    """The coding tools that these words start, in order; none for any other program."""
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
    """The coding tool that one of these paths is: by its name, or by the package it lies in."""
    return next((tool for path in paths if (tool := _tool_of_path(path)) is not None), None)


def find_program_paths(word: str, env: Mapping[str, str], folder: str) -> tuple[str, ...]:
    """`FindPaths` on this disk."""
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
    """`npm:@openai/codex@0.166.0` is Codex."""
    name = spec.removeprefix("npm:")
    at = name.find("@", 1)
    return PACKAGES.get(name if at < 0 else name[:at])


def _tool_of_path(path: str) -> str | None:
    name = program_name(path)
    if name in HOOK_TOOLS:
        return name
    if _BUILT_FOR.match(name):
        return "codex"
    plain = path.replace("\\", "/")
    return next((tool for mark, tool in _FOLDERS.items() if mark in plain), None)

"""Calls that a coding tool shows by itself: in the files in which it keeps its conversations.

A tool that asks no hook still writes down what it does. That is the only proof that it went on
unchecked: silence proves nothing, since a first start may take a minute. opencode keeps its
conversations in a database, which is not read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.core.clock import Millis, parse_time
from moot.core.errors import MootError
from moot.flows.launch.tool_settings import codex_home, gemini_home, home_folder
from moot.flows.tools.coding_tools import TOOLS

MOST_FILES: Final = 200
MOST_BYTES: Final = 32 << 20
_CODEX_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call")
_GEMINI_ROOT: Final = ".project_root"


class ShownCall(NamedTuple):
    """A call that may change files: by which of the tool's sessions, and when."""

    session: str
    at: Millis


def find_shown_calls(
    tool: str, env: Mapping[str, str], folder: str, since: Millis
) -> tuple[ShownCall, ...]:
    """The calls since then, of sessions that work in `folder`; none of a tool that shows none."""
    read = _READERS.get(tool)
    if read is None:
        return ()
    shown = []
    for file in _newest(_CONVERSATIONS[tool](env), since):
        calls = read(file, os.path.realpath(folder))
        shown += [call for call in calls if call.at >= since]
    return tuple(shown)


def _newest(files: Iterable[Path], since: Millis) -> list[Path]:
    """Those that were written since then; very long ones are left out."""
    found = []
    for file in files:
        try:
            stat = file.stat()
        except OSError:
            continue
        if stat.st_mtime * 1_000 >= since and stat.st_size <= MOST_BYTES:
            found.append((stat.st_mtime, file))
    return [file for _at, file in sorted(found)[-MOST_FILES:]]


def _claude(file: Path, folder: str) -> Iterator[ShownCall]:
    for line in _lines(file):
        message = line.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if os.path.realpath(str(line.get("cwd", ""))) != folder or not isinstance(content, list):
            continue
        uses = [one for one in content if isinstance(one, dict) and one.get("type") == "tool_use"]
        if any(_may_change("claude", one.get("name")) for one in uses):
            yield from _call(line.get("sessionId"), line.get("timestamp"))


def _codex(file: Path, folder: str) -> Iterator[ShownCall]:
    session: Any = None
    for line in _lines(file):
        payload = line.get("payload")
        if not isinstance(payload, dict):
            continue
        if line.get("type") == "session_meta":
            is_here = os.path.realpath(str(payload.get("cwd", ""))) == folder
            session = payload.get("session_id", payload.get("id")) if is_here else None
        elif payload.get("type") in _CODEX_CALLS:  # its shell has many names
            yield from _call(session, line.get("timestamp"))


def _gemini(file: Path, folder: str) -> Iterator[ShownCall]:
    try:
        root = file.parent.with_name(_GEMINI_ROOT).read_text("utf-8").strip()
    except (OSError, ValueError):
        return
    if os.path.realpath(root) != folder:
        return
    session: Any = None
    for line in _lines(file):
        session = line.get("sessionId", session)
        calls = line.get("toolCalls")
        for one in calls if isinstance(calls, list) else ():
            if isinstance(one, dict) and _may_change("gemini", one.get("name")):
                yield from _call(session, line.get("timestamp"))


def _may_change(tool: str, name: object) -> bool:
    known = TOOLS[tool]
    return name in known.edits or name in known.shells or name in known.patches


def _call(session: object, at: object) -> Iterator[ShownCall]:
    if isinstance(session, str) and isinstance(at, str):
        try:
            yield ShownCall(session, parse_time(at))
        except (ValueError, MootError):
            return


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; what is being written is left out."""
    try:
        with file.open("rb") as lines:
            for line in lines:
                try:
                    found = json.loads(line)
                except ValueError:
                    continue
                if isinstance(found, dict):
                    yield found
    except OSError:
        return


def _of_claude(env: Mapping[str, str]) -> Iterable[Path]:
    home = Path(env.get("CLAUDE_CONFIG_DIR") or home_folder(env) / ".claude")
    return home.glob("projects/*/*.jsonl")


_READERS: Final[Mapping[str, Callable[[Path, str], Iterator[ShownCall]]]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
}
_CONVERSATIONS: Final[Mapping[str, Callable[[Mapping[str, str]], Iterable[Path]]]] = {
    "claude": _of_claude,
    "codex": lambda env: codex_home(env).glob("sessions/*/*/*/*.jsonl"),
    "gemini": lambda env: gemini_home(env).glob("tmp/*/chats/*.jsonl"),
}

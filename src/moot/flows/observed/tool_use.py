"""What a hook saw of a tool call, put on record: never in the tool's way, never its secrets.

The input stands there as a hash; input and answer, without their secrets and cut to a length, as
a stored file. Whatever goes wrong here is left at that: nothing is held back by watching.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.core.errors import MootError
from moot.core.sha256 import sha256

if TYPE_CHECKING:
    from moot.core.record import ArtifactRef
    from moot.workspace.workspace import Workspace

MOST_FILES: Final = 200
LONGEST_PATH: Final = 1_000
LONGEST_NAME: Final = 200
MOST_BYTES_SEARCHED: Final = 1 << 20
MOST_BYTES_STORED: Final = 1 << 16
MEDIA_TYPE: Final = "application/vnd.moot.observed+json"
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


class ToolUse(msgspec.Struct, frozen=True):
    """One use of a tool: its name, what went in and came out, and whether it went well if known.

    `alias` is the number of the sub-agent that used it; empty: the session's main agent. `tests` is
    how tests ended that it ran, if it did; `model` what drives the tool, if it says so.
    """

    tool: str
    input: Any
    response: Any
    ok: bool | None
    alias: str = ""
    tests: str | None = None
    model: str = ""


@contextmanager
def never_in_the_way() -> Iterator[None]:
    """Trouble with watching is no trouble of whoever is watched."""
    with suppress(MootError, OSError, ValueError, RecursionError):
        yield


def record_use(
    workspace: Workspace, agent: str, session: str, use: ToolUse, files: Iterable[str]
) -> None:
    """One use of a tool, signed by the agent itself. `files` are relative to the worktree."""
    from moot.flows.observed.sessions import record_tool_use
    from moot.protocols.observed.commands import ObserveTool

    artifact, redacted = _store_without_secrets(
        workspace, {"input": use.input, "response": use.response, "tool": use.tool}
    )
    observation = ObserveTool(
        tool=(use.tool or "unnamed")[:LONGEST_NAME],
        input_hash=sha256(_canonical(use.input)).hexdigest(),
        artifact=artifact,
        files=tuple(_presentable(files))[:MOST_FILES],
        redacted=redacted,
        ok=use.ok,
        session=session,
        alias=use.alias or msgspec.UNSET,
        tests=use.tests or msgspec.UNSET,
        model=use.model[:LONGEST_NAME] or msgspec.UNSET,
    )
    record_tool_use(workspace, agent, session, observation)


def _canonical(value: Any) -> bytes:
    """One form for one value: keys in order, no blanks."""
    try:
        return _encode(value)
    except UnicodeEncodeError:  # half a character, which `json` writes and we spell out
        import json

        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace")


def _store_without_secrets(workspace: Workspace, value: Any) -> tuple[ArtifactRef, tuple[str, ...]]:
    """Each text without its secrets, then all of it, then cut: no half secret is left at the edge.

    The whole is looked at besides, for a name and its value may be two texts beside each other. A
    text beyond what is searched is cut first; what is cut off is not stored either.
    """
    from moot.core.secrets import SECRET_PATTERNS, redact_bytes, redact_strings

    texts, in_texts = redact_strings(SECRET_PATTERNS, _cut_texts(value))
    clean = redact_bytes(SECRET_PATTERNS, _canonical(texts)[:MOST_BYTES_SEARCHED])
    names = tuple(dict.fromkeys((*in_texts, *clean.found)))
    return workspace.artifacts.put(clean.data[:MOST_BYTES_STORED], MEDIA_TYPE), names


def _cut_texts(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MOST_BYTES_SEARCHED]
    if isinstance(value, dict):
        return {key: _cut_texts(child) for key, child in value.items()}
    return [_cut_texts(child) for child in value] if isinstance(value, list) else value


def _presentable(files: Iterable[str]) -> Iterator[str]:
    """Each name once, as text and without secrets; names that are too long are left out."""
    from moot.core.secrets import SECRET_PATTERNS, redact_text

    for path in dict.fromkeys(files):
        name = redact_text(SECRET_PATTERNS, os.fsencode(path).decode("utf-8", "backslashreplace"))
        if len(name) <= LONGEST_PATH:
            yield name

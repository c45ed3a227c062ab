"""What a hook saw of a tool call, put on record: never in the tool's way, never its secrets.

The input stands there as a hash; input and answer, without their secrets and cut to a length, as
a stored file. Whatever goes wrong here is left at that: nothing is held back by watching.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from moot.core.errors import MootError
from moot.flows.guard.guarded_paths import Spot, spots_of
from moot.surfaces.hooks.call import Call, Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from moot.core.record import ArtifactRef
    from moot.workspace.workspace import Workspace

MOST_FILES: Final = 200
LONGEST_PATH: Final = 1_000
LOOKED_AT: Final = 1 << 20
KEPT: Final = 1 << 16
MEDIA_TYPE: Final = "application/vnd.moot.observed+json"
NO_SESSION: Final = "run"


@contextmanager
def never_in_the_way() -> Iterator[None]:
    with suppress(MootError, OSError, ValueError, RecursionError, Unreadable):
        yield


def session_of(call: Call) -> str:
    return call.session_key or f"{call.tool.name}:{NO_SESSION}"


def observe(
    space: Workspace, call: Call, spot: Spot, agent: str, began: int | None, home: Path | None
) -> None:
    """One use of a tool, on record."""
    with never_in_the_way():
        from moot.flows.observed.sessions import record_tool_use
        from moot.protocols.observed.commands import ObserveTool

        said = _text({"input": call.input, "response": call.response, "tool": call.name})
        artifact, redacted = _keep(space, said)
        seen = ObserveTool(
            tool=(call.name or "unnamed")[:200],
            input_hash=hashlib.sha256(_text(call.input)).hexdigest(),
            artifact=artifact,
            files=tuple(_files(call, spot, began, home))[:MOST_FILES],
            redacted=redacted,
            ok=call.ok,
            session=session_of(call),
        )
        record_tool_use(space, agent, session_of(call), seen)


def _text(value: Any) -> bytes:
    """One form for one value: keys in order, no blanks."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace")


def _keep(space: Workspace, said: bytes) -> tuple[ArtifactRef, tuple[str, ...]]:
    """Without its secrets first, then cut: half a secret is not left at the edge."""
    from moot.core.secrets import SECRET_PATTERNS, redact_bytes

    clean = redact_bytes(SECRET_PATTERNS, said[:LOOKED_AT])
    return space.artifacts.put(clean.data[:KEPT], MEDIA_TYPE), clean.found


def _files(call: Call, spot: Spot, began: int | None, home: Path | None) -> Iterator[str]:
    """What an edit names; of a shell command, what git calls changed and is newer than it."""
    from moot.core.secrets import SECRET_PATTERNS, redact_text
    from moot.flows.guard import incursions
    from moot.surfaces.hooks.touched import shell_text, touched

    if shell_text(call) is None:
        same = (one for one in spots_of(touched(call), call.cwd, home) if one.root == spot.root)
        paths = [scope for one in same for scope in one.scopes]
    elif began is None:
        return
    else:
        found = incursions.changed(spot.root, [])
        paths = [path for path in found if incursions.newer(spot.root / path, began)]
    for path in dict.fromkeys(paths):
        name = redact_text(SECRET_PATTERNS, os.fsencode(path).decode("utf-8", "backslashreplace"))
        if len(name) <= LONGEST_PATH:
            yield name

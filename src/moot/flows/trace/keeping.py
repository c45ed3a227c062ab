"""What is kept of a run: its outputs and what it changed, without secrets, stored before cited."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.core import secrets
from moot.core.canonical import canonical
from moot.protocols.trace.commands import Stored
from moot.system.footprint import Change
from moot.system.running import Output, Ran

if TYPE_CHECKING:
    from moot.core.secrets import SecretPattern
    from moot.store.artifacts import Artifacts

TEXT: Final = "text/plain"
BYTES: Final = "application/octet-stream"
CHANGES: Final = "application/vnd.moot.changes+json"
# More names than these do not fit into one event; the artifact `changed` lists them all.
MOST_NAMED: Final = 200
NAMED_BYTES: Final = 12_000
# Read beyond the limit, so that no secret is cut in half before it is found.
EDGE: Final = 32_768


class Seen(NamedTuple):
    """What is known after a run, apart from how it ended."""

    duration_ms: int = 0
    changed: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    truncated: tuple[str, ...] = ()
    watched: str = ""


class Kept(NamedTuple):
    """Where it goes, what is blotted out of it, and how much of an output stays."""

    artifacts: Artifacts
    hidden: tuple[SecretPattern, ...]
    most_bytes: int


def keep(
    kept: Kept, ran: Ran, changes: list[Change], remarks: tuple[str, ...]
) -> tuple[tuple[Stored, ...], Seen]:
    outputs = (("stdout", ran.stdout), ("stderr", ran.stderr))
    paths = [one.path for one in changes]
    redacted = [*secrets.find_secrets(kept.hidden, paths)]
    changes = [one._replace(path=secrets.redact_text(kept.hidden, one.path)) for one in changes]
    stored = []
    for name, output in outputs:
        data, found = _clean(kept, output)
        redacted += found
        stored.append(Stored(name, kept.artifacts.put(data, _media_type(data))))
    stored.append(Stored("changed", kept.artifacts.put(_listed(changes, remarks), CHANGES)))
    seen = Seen(
        duration_ms=ran.nanos // 1_000_000,
        changed=_some(one.path for one in changes),
        undeclared=_some(one.path for one in changes if not one.declared),
        redacted=tuple(dict.fromkeys(redacted)),
        truncated=tuple(name for name, output in outputs if output.size > kept.most_bytes),
        watched="; ".join(remarks) or "declared files and git",
    )
    return tuple(stored), seen


def _clean(kept: Kept, output: Output) -> tuple[bytes, tuple[str, ...]]:
    """Blotted out first, then cut; what reading itself has cut may end in half a secret."""
    clean = secrets.redact_bytes(kept.hidden, output.kept)
    sure = len(clean.data) - EDGE if output.truncated else len(clean.data)
    return clean.data[: max(0, min(kept.most_bytes, sure))], clean.found


def _listed(changes: list[Change], remarks: tuple[str, ...]) -> bytes:
    told = [{"declared": one.declared, "how": one.how, "path": one.path} for one in changes]
    return canonical({"changes": told, "remarks": list(remarks)})


def _some(paths: Iterable[str]) -> tuple[str, ...]:
    """As many as fit into an event; the artifact has all."""
    found: list[str] = []
    room = NAMED_BYTES
    for path in paths:
        room -= len(path.encode("utf-8", "backslashreplace"))
        if room < 0 or len(found) == MOST_NAMED:
            return (*found, "...")
        found.append(path)
    return tuple(found)


def _media_type(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return BYTES
    return TEXT

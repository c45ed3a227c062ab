"""A command for the ledger and its outcome. A repeated command is recognised by its key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from moot.core.canonical import canonical
from moot.core.errors import Conflict, Malformed
from moot.core.findings import Finding
from moot.core.machine import Command, Event, Recorded, is_kind
from moot.core.names import CALLER_KEY
from moot.core.sha256 import sha256

E = TypeVar("E", bound=Event)
FindKeys = Callable[[str, str], list[tuple[str, int]]]


class Job(msgspec.Struct, frozen=True, gc=False):
    """Run `command` on `stream` as `actor`. With a `key`, a repeated job is recorded only once."""

    stream: str
    command: Command
    actor: str
    key: str | None = None
    role: str | None = None
    cause: str | None = None
    corr: str | None = None


class Link(msgspec.Struct, frozen=True):
    """What caused a record: the hash of its cause, and the path that both belong to."""

    cause: str | None = None
    corr: str | None = None


NO_LINK = Link()


class JobOutcome(msgspec.Struct, frozen=True, gc=False):
    """The appended events, the state after them, and findings.

    `replayed`: the same command ran before under this key; these are the events of that run.
    """

    stream: str
    recorded: tuple[Recorded[Event], ...]
    state: object
    findings: tuple[Finding, ...] = ()
    replayed: bool = False

    def newest(self, kind: type[E]) -> Recorded[E]:
        """Return the newest recorded event of this kind; KeyError without one."""
        for recorded in reversed(self.recorded):
            if is_kind(recorded, kind):
                return recorded
        raise KeyError(f"{self.stream}: no {kind.__name__} was recorded")


class Repeat(msgspec.Struct, frozen=True):
    """What the ledger already has under a job's key."""

    key: str
    done_at: tuple[int, ...] = ()  # positions of the events that the first run recorded
    refused_before: bool = False


# The ledger stores a key as ACTOR/KEY/DIGEST, with this mark if the job was refused: a repeated
# refusal is decided again but records its events only once.
REFUSED_MARK = "!"


def find_repeat(find: FindKeys, job: Job) -> Repeat:
    """Find earlier runs of a job by its key; Conflict if the key was used for another command."""
    # LDG-044
    if job.key is None or not CALLER_KEY.match(job.key):
        raise Malformed("a key has 1 to 96 characters of A-Z a-z 0-9 . _ : @ + ~ -", code="bad_key")
    prefix = f"{job.actor}/{job.key}/"
    wanted = prefix + _digest(job.command)
    found = find(job.stream, prefix)
    if any(key.rstrip(REFUSED_MARK) != wanted for key, _ in found):
        raise Conflict(
            "key_reused",
            f"the key {job.key} was used for another command",
            hint="use a new key for a new command",
        )
    done = tuple(seq for key, seq in found if key == wanted)
    return Repeat(wanted, done, refused_before=bool(found) and not done)


def _digest(command: Command) -> str:
    content = canonical(msgspec.to_builtins(command))
    name = type(command).__name__.encode()
    return sha256(name + b"\n" + content).hexdigest()[:16]

"""Patterns for names in the ledger: agents, streams, event types, idempotency keys."""

from __future__ import annotations

import re
from functools import lru_cache

from moot.core.errors import Malformed

GRAMMAR = "3 to 48 of a-z, 0-9 and single hyphens"
AGENT = re.compile(r"(?=.{3,48}\Z)[a-z0-9]+(-[a-z0-9]+)*\Z")
# There is one registry stream: no `registry/...` may carry events of the registry.
STREAM = re.compile(r"(?!registry/)[a-z]{1,32}(/[A-Za-z0-9._:@+~-]{1,200})?\Z")
EVENT_TYPE = re.compile(r"(?=.{1,96}\Z)[a-z]+\.[a-z][a-z0-9_]*\Z")
CALLER_KEY = re.compile(r"[A-Za-z0-9._:@+~-]{1,96}\Z")

REGISTRY = "registry"
SYSTEM = "system"
CHECKPOINT = "checkpoint"
OPERATOR = "operator"
# Roles of a protocol and names of the ledger's own keys: no agent may have one of these names.
RESERVED = frozenset({SYSTEM, CHECKPOINT, OPERATOR, "judge", "speaker", "prime-minister", "clerk"})


def require_agent_name(text: str) -> str:
    """Return `text` if it is a well-formed agent name, else raise Malformed."""
    if not AGENT.match(text):
        raise Malformed(
            f"{text!r} is not an agent name",
            code="bad_name",
            hint=f"{GRAMMAR}, such as amber-otter",
        )
    return text


def require_machine_name(text: str) -> str:
    """Return `text` if it is a valid name for a host, else raise Malformed. Agent names have the
    same pattern."""
    if not AGENT.match(text):
        raise Malformed(
            f"{text!r} is not a machine name",
            code="bad_name",
            hint=f"choose one with --name: {GRAMMAR}, such as laptop or build-2",
        )
    return text


@lru_cache(4096)  # called for every command
def require_stream_name(text: str) -> str:
    if not STREAM.match(text):
        raise Malformed(f"{text!r} is not a valid id", code="bad_id")
    return text


@lru_cache(4096)
def protocol_of(stream: str) -> str:
    """Return the protocol of a stream: `mail` of `mail/RS-1`."""
    return stream.partition("/")[0]

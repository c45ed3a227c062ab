"""Damaged bundles by name: what one checker says of them, the others must say too."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from tests.sampling import THOROUGH
from tests.verify.bundle_builder import (
    Bundle,
    Entry,
    Json,
    Ledger,
    Signer,
    canon,
    seal,
    small,
    story,
)


class Damaged(NamedTuple):
    """A bundle that should be looked at, and the trust file to look with."""

    data: bytes
    trust: Json | None


@cache
def damaged() -> dict[str, Damaged]:
    """All of them; the names say what was done, the part before the line number how."""
    found: dict[str, Damaged] = {}
    for label, ledger in (("small", small()), ("story", light_story())):
        bundle = ledger.bundle(forks=[fork_of(ledger, "errand/tea", 1)] if label == "story" else ())
        for name, data in _whole(ledger, bundle):
            if data != bundle.data():
                found[f"{label}: {name}"] = Damaged(data, ledger.trust())
        found[f"{label}: no trust"] = Damaged(bundle.data(), None)
        found[f"{label}: minimum"] = Damaged(bundle.data(), ledger.trust(minimum=2))
    return found


def fork_of(ledger: Ledger, stream: str, seq: int) -> Entry:
    """A second event for a position, by the author of the first."""
    entry = ledger.streams[stream][seq]
    return seal(canon({**entry.body, "data": {"other": True}}), entry.signer)


def light_story() -> Ledger:
    """The story without its largest artifact, which would only make the tests slow."""
    ledger = story()
    ledger.artifacts = {sha: data for sha, data in ledger.artifacts.items() if len(data) < 10_000}
    return ledger


def _whole(ledger: Ledger, bundle: Bundle) -> Iterator[tuple[str, bytes]]:
    yield "header promises more", bundle.data(lines=len(bundle.lines) + 1)
    yield "header promises less", bundle.data(lines=len(bundle.lines) - 1)
    yield "another digest", bundle.data(digest="0" * 64)
    yield "another origin", bundle.data(origin="moot.ledger/" + "0" * 32)
    yield "no newline at the end", bundle.data()[:-1]
    yield "empty", b""
    digest, lines = json.loads(bundle.data().split(b"\n")[0])["digest"], len(bundle.lines)
    for line in range(2, len(bundle.lines) + 2):
        for name, made in _at(ledger, bundle, line):
            if name != "drop" or not _optional(bundle.lines[line - 2]):
                yield f"{name} line {line}", made.data()
            yield f"{name} line {line}, old header", made.data(digest=digest, lines=lines)
    for line in range(2, len(bundle.lines) + 2, 3):
        yield f"old digest, drop line {line}", bundle.drop(line).data(digest=digest)


def in_quarters() -> list[Any]:
    """Every kind of damage with each quarter of the places where it is done."""
    quarters = sorted(
        {(kind, n // 2 % 4) for kind, rows in _by_kind().items() for n in range(len(rows))}
    )
    return [one if one[1] == 0 else pytest.param(*one, marks=THOROUGH) for one in quarters]


def quarter_of(kind: str, shard: int) -> Iterator[tuple[str, Damaged]]:
    return (row for n, row in enumerate(_by_kind()[kind]) if n // 2 % 4 == shard)


@cache
def _by_kind() -> dict[str, list[tuple[str, Damaged]]]:
    found: dict[str, list[tuple[str, Damaged]]] = {}
    for name, made in damaged().items():
        found.setdefault(name.partition(" line ")[0], []).append((name, made))
    return found


def _optional(raw: bytes) -> bool:
    """A fork, or an artifact without bytes: without that one line the bundle is honest again."""
    value = json.loads(raw)
    return "fork" in value or value.get("artifact", {}).get("size") == 0


def _at(ledger: Ledger, bundle: Bundle, line: int) -> Iterator[tuple[str, Bundle]]:
    last = len(bundle.lines) + 1
    yield "drop", bundle.drop(line)
    yield "duplicate", bundle.duplicate(line)
    yield "cut after", bundle.cut(line)
    yield "swap with next", bundle.swap(line, line + 1 if line < last else 2)
    yield "swap with last event", bundle.swap(line, bundle.find("event", -1))
    yield "insert first event at", bundle.insert(line, bundle.lines[1])
    yield "insert a stranger's event at", bundle.insert(line, _strange(ledger).envelope)
    yield "flip in", bundle.replace(line, _flipped(bundle.lines[line - 2]))
    yield "add a field to", bundle.change(line, extra=1)
    if "payload" in (value := json.loads(bundle.lines[line - 2])):
        body = json.loads(base64.b64decode(value["payload"]))
        thief = Signer("a thief")
        yield "sign by a thief", bundle.replace(line, seal(canon(body), thief).envelope)
        claimed = {**body, "actor": {**body["actor"], "kid": thief.kid}}
        yield "take over by a thief", bundle.replace(line, seal(canon(claimed), thief).envelope)


def _strange(ledger: Ledger) -> Entry:
    ada = ledger.current["ada"]
    return seal(canon(ledger.body("errand/tea", ada, {"strange": True})), ada)


def _flipped(raw: bytes) -> bytes:
    middle = len(raw) // 2
    return raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :]

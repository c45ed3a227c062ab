"""Blobs by their hash: storing durably and reading back with the hash checked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count

from bench.figure import Figure, ratio
from bench.ground import Ground
from bench.raw import write_synced
from bench.rounds import rate, take_turns
from moot.store.artifacts import FileArtifacts

MEGABYTE = 1_000_000


def measure(ground: Ground) -> Iterator[Figure]:
    folder = ground.folder / "artifacts"
    folder.mkdir()
    kept = FileArtifacts(folder / "ours")
    yield _put(ground, kept, "artifact of 16 MB, put", 16 * MEGABYTE, 1)
    yield _put(ground, kept, "artifacts of 16 kB, put", 16_000, 50)
    yield _get(ground, kept)


def _put(ground: Ground, kept: FileArtifacts, name: str, size: int, each: int) -> Figure:
    folder, numbers = ground.folder / "artifacts", count()
    data = os.urandom(size)

    def fresh() -> bytes:
        """Other bytes every time: the same ones again would cost nothing."""
        return next(numbers).to_bytes(8, "big") + data

    def ours(times: int) -> None:
        for _ in range(times):
            kept.put(fresh(), "application/octet-stream")

    def raw(times: int) -> None:
        for number in range(times):
            write_synced(folder / f"raw-{number}", fresh())

    rounds = take_turns(rate(ours, each), rate(raw, each), ground.pick(15, 5))
    scale = size / MEGABYTE
    return ratio(
        name,
        "MB/s",
        [scale * each for each in rounds.ours],
        [scale * each for each in rounds.raw],
        against="write and fsync",
    )


def _get(ground: Ground, kept: FileArtifacts) -> Figure:
    data = os.urandom(16 * MEGABYTE)
    sha256 = kept.put(data, "application/octet-stream").sha256
    plain = ground.folder / "artifacts" / "raw-get"
    plain.write_bytes(data)

    def ours(times: int) -> None:
        for _ in range(times):
            for _piece in kept.chunks(sha256):
                pass

    def raw(times: int) -> None:
        for _ in range(times):
            plain.read_bytes()

    rounds = take_turns(rate(ours, 2), rate(raw, 2), ground.pick(15, 5))
    return ratio(
        "artifact of 16 MB, get and check",
        "MB/s",
        [16 * each for each in rounds.ours],
        [16 * each for each in rounds.raw],
        against="read (page cache)",
    )

"""A bundle of the whole ledger. The raw limit hashes and writes the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure, ratio
from bench.ground import Ground, fill, opened
from bench.raw import write_synced
from bench.rounds import rate, take_turns
from moot.engine.export import bundle
from moot.workspace.workspace import Workspace


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("exporting")
    target = ground.folder / "exported.moot"
    with opened(place) as space:
        fill(space, [f"example/s{number}" for number in range(16)], ground.pick(20_000, 4_000))
        space.engine.checkpoint()
        export(space, target)
        data = target.read_bytes()
        beside = target.with_suffix(".raw")

        def raw(_: int) -> None:
            hashlib.sha256(data).digest()
            write_synced(beside, data)

        ours = rate(lambda _: export(space, target), 1)
        rounds = take_turns(ours, rate(raw, 1), ground.pick(9, 3))
    scale = len(data) / 1e6
    yield ratio(
        "export of a bundle",
        "MB/s",
        [scale * passes for passes in rounds.ours],
        [scale * passes for passes in rounds.raw],
        against="hash and write",
    )


def export(space: Workspace, target: Path) -> None:
    with space.store.read() as view, target.open("wb") as file:
        file.writelines(bundle(view, space.trust, space.artifacts))

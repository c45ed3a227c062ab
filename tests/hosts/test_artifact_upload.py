"""Artifacts on their way to the keeper, when several processes of a machine send them at once."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from moot.core.errors import Malformed
from moot.hosts import messages as wire
from moot.hosts.members import Member
from moot.hosts.sync_delta import MAX_UNFINISHED, ArtifactPieces
from moot.store.artifacts import FileArtifacts

LAPTOP = Member("laptop", 1, "0" * 32, "", 0)
TOGETHER = 4


@pytest.fixture
def pieces(tmp_path: Path) -> ArtifactPieces:
    (tmp_path / "keeper").mkdir()
    return ArtifactPieces(FileArtifacts(tmp_path / "artifacts"), tmp_path / "keeper")


def send(pieces: ArtifactPieces, data: bytes, sha256: str | None = None) -> None:
    """As `RemoteArtifacts.give` does."""
    sha256, offset = sha256 or hashlib.sha256(data).hexdigest(), 0
    while offset < len(data):
        piece = data[offset : offset + 400]
        offset = pieces.store_piece(LAPTOP, wire.UploadPiece(sha256, len(data), offset, piece)).at


def test_the_same_artifact_arrives_over_several_lines_at_once(
    pieces: ArtifactPieces, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(TOGETHER) as pool:
        for number in range(60):
            data = b"%d" % number + bytes(1_000)
            together = threading.Barrier(TOGETHER)

            def send_with_others(data: bytes = data, them: threading.Barrier = together) -> None:
                them.wait(10)
                send(pieces, data)

            for sending in [pool.submit(send_with_others) for _ in range(TOGETHER)]:
                sending.result(10)
            stored = FileArtifacts(tmp_path / "artifacts")
            assert b"".join(stored.chunks(hashlib.sha256(data).hexdigest())) == data


def test_what_is_not_what_was_named_is_not_kept_nor_left_lying(
    pieces: ArtifactPieces, tmp_path: Path
) -> None:
    with pytest.raises(Malformed) as refused:
        send(pieces, b"x" * 900, "0" * 64)
    assert refused.value.code == "bad_hash"
    assert list((tmp_path / "keeper").iterdir()) == []
    assert not FileArtifacts(tmp_path / "artifacts").has("0" * 64)


def test_of_many_that_never_end_the_oldest_goes(pieces: ArtifactPieces, tmp_path: Path) -> None:
    for number in range(MAX_UNFINISHED + 3):
        begun = wire.UploadPiece(f"{number:064}", 1_000, 0, b"x")
        assert pieces.store_piece(LAPTOP, begun).at == 1
    assert len(list((tmp_path / "keeper").iterdir())) == MAX_UNFINISHED


def test_what_a_killed_keeper_had_whole_is_swept(pieces: ArtifactPieces, tmp_path: Path) -> None:
    pieces.store_piece(LAPTOP, wire.UploadPiece("1" * 64, 2, 0, b"x"))
    left = tmp_path / "keeper" / f".1-{'0' * 64}-0a0b0c0d"
    left.write_bytes(b"x")
    ArtifactPieces(FileArtifacts(tmp_path / "artifacts"), tmp_path / "keeper")
    assert [file.name for file in (tmp_path / "keeper").iterdir()] == [f".1-{'1' * 64}"]

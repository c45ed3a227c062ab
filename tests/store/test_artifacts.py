"""Blobs by their hash: one contract for the folder and for memory, then the folder's own."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moot.core.errors import Malformed, NotFound, Refused, StoreFailed, Tampered
from moot.core.record import ArtifactRef
from moot.store import artifacts as module
from moot.store.artifacts import CHUNK, Artifacts, FileArtifacts, MemoryArtifacts

CONTENTS = [b"", b"\0", b"hello\n", bytes(range(256)) * 40, b"x" * CHUNK, b"y" * (CHUNK + 1)]
ABSENT = "0" * 64


@pytest.fixture(params=["folder", "memory"])
def artifacts(request: pytest.FixtureRequest, tmp_path: Path) -> Artifacts:
    return FileArtifacts(tmp_path / "artifacts") if request.param == "folder" else MemoryArtifacts()


@pytest.mark.parametrize("data", CONTENTS, ids=len)
def test_what_was_put_comes_back_byte_for_byte(artifacts: Artifacts, data: bytes) -> None:
    ref = artifacts.put(data, "text/plain")
    assert ref == ArtifactRef(hashlib.sha256(data).hexdigest(), len(data), "text/plain")
    assert artifacts.has(ref.sha256)
    assert artifacts.size(ref.sha256) == len(data)
    pieces = list(artifacts.chunks(ref.sha256))
    assert b"".join(pieces) == data
    assert [len(piece) for piece in pieces[:-1]] == [CHUNK] * (len(pieces) - 1)
    assert artifacts.put(data, "text/plain") == ref


def test_what_was_never_put_is_not_found(artifacts: Artifacts) -> None:
    assert not artifacts.has(ABSENT)
    assert artifacts.size(ABSENT) is None
    assert artifacts.erase(ABSENT) is False
    with pytest.raises(NotFound) as caught:
        list(artifacts.chunks(ABSENT))
    assert caught.value.code == "artifact_not_found"


def test_erasing_removes_the_bytes_and_only_those(artifacts: Artifacts) -> None:
    gone, kept = artifacts.put(b"secret", "text/plain"), artifacts.put(b"other", "text/plain")
    assert artifacts.erase(gone.sha256) is True
    assert artifacts.erase(gone.sha256) is False
    assert not artifacts.has(gone.sha256)
    assert b"".join(artifacts.chunks(kept.sha256)) == b"other"


@pytest.mark.parametrize(
    "name", ["", "..", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n", "é" * 64, "0" * 65]
)
def test_a_name_that_is_no_hash_is_malformed_and_reaches_no_file(
    artifacts: Artifacts, name: str, tmp_path: Path
) -> None:
    asked: list[Callable[[str], object]] = [
        artifacts.has,
        artifacts.size,
        artifacts.erase,
        lambda sha256: list(artifacts.chunks(sha256)),
    ]
    for ask in asked:
        with pytest.raises(Malformed) as caught:
            ask(name)
        assert caught.value.code == "bad_hash"
    assert list(tmp_path.iterdir()) == []


# The folder ---------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> FileArtifacts:
    return FileArtifacts(tmp_path / "artifacts")


def files(tmp_path: Path) -> dict[str, bytes]:
    top = tmp_path / "artifacts"
    found = (file for file in top.rglob("*") if file.is_file())
    return {file.relative_to(top).as_posix(): file.read_bytes() for file in found}


def test_a_blob_lies_under_its_hash_and_nothing_else_is_left(
    folder: FileArtifacts, tmp_path: Path
) -> None:
    refs = [folder.put(data, "text/plain") for data in (b"one", b"two", b"one")]
    names = sorted({f"{ref.sha256[:2]}/{ref.sha256[2:]}" for ref in refs})
    assert sorted(files(tmp_path)) == names
    assert list(folder.all_hashes()) == sorted({ref.sha256 for ref in refs})


def test_bytes_changed_on_disk_are_noticed(folder: FileArtifacts, tmp_path: Path) -> None:
    ref = folder.put(b"the true text", "text/plain")
    place = tmp_path / "artifacts" / ref.sha256[:2] / ref.sha256[2:]
    for damage in (b"the false text", b"", b"the true text "):
        place.write_bytes(damage)
        with pytest.raises(Tampered) as caught:
            list(folder.chunks(ref.sha256))
        assert caught.value.code == "artifact_damaged"
        assert place.read_bytes() == damage


def test_putting_the_true_bytes_again_fixes_a_damaged_blob(
    folder: FileArtifacts, tmp_path: Path
) -> None:
    ref = folder.put(b"the true text", "text/plain")
    (tmp_path / "artifacts" / ref.sha256[:2] / ref.sha256[2:]).write_bytes(b"torn")
    assert folder.put(b"the true text", "text/plain") == ref
    assert b"".join(folder.chunks(ref.sha256)) == b"the true text"


def test_one_that_is_too_large_is_refused_and_leaves_nothing(
    folder: FileArtifacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    folder.put(b"x" * 100, "text/plain")
    before = files(tmp_path)
    with pytest.raises(Refused) as caught:
        folder.put_stream(iter([b"x" * 60, b"y" * 41]), "text/plain")
    assert caught.value.code == "artifact_too_large"
    assert files(tmp_path) == before


def test_a_source_that_breaks_off_leaves_nothing(folder: FileArtifacts, tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"the beginning"
        raise ConnectionError

    with pytest.raises(StoreFailed):
        folder.put_stream(broken(), "text/plain")
    assert files(tmp_path) == {}


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_bytes(b"a file in its place")
    with pytest.raises(StoreFailed) as caught:
        FileArtifacts(tmp_path / "artifacts").put(b"x", "text/plain")
    assert caught.value.code == "artifact_not_stored"
    assert (tmp_path / "artifacts").read_bytes() == b"a file in its place"


@pytest.mark.requirement("LDG-077")
@pytest.mark.parametrize("already", [False, True])
def test_a_blob_and_its_name_are_durable_when_put_returns(
    folder: FileArtifacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, already: bool
) -> None:
    """Also one that is there already: its writer may have died before its last sync."""
    place = hashlib.sha256(b"data").hexdigest()
    if already:
        folder.put(b"data", "text/plain")
    done: list[int | str] = []
    sync, rename = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        done.append(os.fstat(descriptor).st_ino)
        sync(descriptor)

    def renamed(source: Path, target: Path) -> None:
        done.append("rename")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    folder.put(b"data", "text/plain")
    top = tmp_path / "artifacts"
    parent, blob = top / place[:2], top / place[:2] / place[2:]
    inodes = [path.stat().st_ino for path in (blob, parent, top)]
    assert done == [inodes[0], "rename", *inodes[1:]]
    assert list(files(tmp_path)) == [f"{place[:2]}/{place[2:]}"]

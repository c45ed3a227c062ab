"""Copies of bytes as git's own objects: git agrees on the id, and gives them back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.core.errors import StoreFailed
from moot.system import git_objects


def git(root: Path, *words: str, data: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", *words], cwd=root, input=data, capture_output=True, timeout=20, check=True
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    return tmp_path


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_git_knows_the_copy_by_the_same_id(repository: Path, data: bytes) -> None:
    name = git_objects.store_blob(repository / ".git", data)
    assert git(repository, "hash-object", "--stdin", data=data).decode().strip() == name
    assert git_objects.read_blob(repository, name) == data
    assert git_objects.store_blob(repository / ".git", data) == name
    assert git(repository, "fsck", "--no-dangling") == b""


def test_a_repository_of_longer_ids(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    name = git_objects.store_blob(tmp_path / ".git", b"held\r\n")
    assert len(name) == 64
    assert git_objects.read_blob(tmp_path, name) == b"held\r\n"


def test_a_copy_that_cannot_be_kept_is_said(repository: Path) -> None:
    name = git_objects.blob_id(b"held")
    (repository / ".git" / "objects" / name[:2]).write_bytes(b"in the way")
    with pytest.raises(StoreFailed) as refused:
        git_objects.store_blob(repository / ".git", b"held")
    assert refused.value.code == "copy_failed"
    assert git_objects.read_blob(repository, name) is None


def test_what_git_does_not_have_is_none(repository: Path) -> None:
    assert git_objects.read_blob(repository, "0" * 40) is None
    assert git_objects.read_blob(repository / "gone", "0" * 40) is None


def test_a_loose_object_is_read_without_git(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    name = git_objects.store_blob(tmp_path, b"some\0bytes")
    assert git_objects.read_loose_blob(tmp_path, name) == b"some\0bytes"
    large = git_objects.store_blob(tmp_path, b"x" * (2 << 20))
    assert git_objects.read_loose_blob(tmp_path, large) == b"x" * (2 << 20)
    assert git_objects.read_loose_blob(tmp_path, "0" * 40) is None
    other = tmp_path / "objects" / name[:2] / ("0" * 38)
    other.write_bytes((tmp_path / "objects" / name[:2] / name[2:]).read_bytes())
    assert git_objects.read_loose_blob(tmp_path, name[:2] + "0" * 38) is None, (
        "not what its name says"
    )


@pytest.mark.parametrize(
    ("mode", "kept"), [(0o600, 0o400), (0o700, 0o400), (0o640, 0o444), (0o644, 0o444)]
)
def test_a_copy_is_not_writable_nor_more_readable_than_its_file(
    tmp_path: Path, mode: int, kept: int
) -> None:
    (tmp_path / "objects").mkdir()
    name = git_objects.store_blob(tmp_path, b"a secret", mode)
    file = tmp_path / "objects" / name[:2] / name[2:]
    assert file.stat().st_mode & 0o777 == kept
    assert git_objects.read_loose_blob(tmp_path, name) == b"a secret"
    assert [each.name for each in file.parent.iterdir()] == [file.name]

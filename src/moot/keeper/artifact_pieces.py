"""Artifacts between machines and keeper: piece by piece, kept once the hash is the one named."""

from __future__ import annotations

import hashlib
import secrets
import threading
from pathlib import Path
from typing import Final

from moot.core.errors import Malformed, Refused
from moot.keeper import questions as ask
from moot.keeper.members import Member
from moot.store.artifacts import CHUNK, MAX_BYTES, FileArtifacts, require_hash

MOST_UNFINISHED: Final = 16  # artifacts of one machine that are on their way
_HASH: Final = "?" * 64  # in the names of their files


class ArtifactPieces:
    """The keeper's artifacts, and in `folder` those on their way."""

    def __init__(self, artifacts: FileArtifacts, folder: Path) -> None:
        self._artifacts = artifacts
        self._folder = folder
        self._turn = threading.Lock()  # several processes of a machine may send the same one
        for left in folder.glob(f".*-{_HASH}-*"):  # by a keeper that was killed
            left.unlink(missing_ok=True)

    def take(self, member: Member, question: ask.GiveArtifact) -> ask.Done:
        """Put a piece to its place; the whole is stored once its hash is the one that was named."""
        if self._artifacts.size(question.sha256) == question.size:
            return ask.Done(question.size)
        with self._turn:
            end, whole = self._append(self._unfinished_place(member, question), question)
        if whole is not None:
            self._store(whole, question.sha256)
        return ask.Done(end)

    def _append(self, place: Path, question: ask.GiveArtifact) -> tuple[int, Path | None]:
        """How many bytes there are now; and once that is all, where they lie: nobody else adds to
        them there."""
        with place.open("r+b" if place.exists() else "w+b") as file:
            file.seek(0, 2)
            if file.tell() != question.offset:
                return file.tell(), None  # go on from here
            file.write(question.piece)
            end = file.tell()
        if end < question.size:
            return end, None
        whole = place.with_name(f"{place.name}-{secrets.token_hex(4)}")
        return end, place.rename(whole)

    def _store(self, whole: Path, sha256: str) -> None:
        try:
            with whole.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                    raise Malformed("the bytes are not those of this artifact", code="bad_hash")
                file.seek(0)
                self._artifacts.put_stream(iter(lambda: file.read(CHUNK), b""), "")
        finally:
            whole.unlink(missing_ok=True)

    def _unfinished_place(self, member: Member, question: ask.GiveArtifact) -> Path:
        """Where the pieces go; Refused for more than a record may cite, or than fits here."""
        if not len(question.piece) <= question.size <= MAX_BYTES:
            raise Refused("artifact_too_large", f"an artifact has at most {MAX_BYTES} bytes")
        place = self._folder / f".{member.number}-{require_hash(question.sha256)}"
        unfinished = list(self._folder.glob(f".{member.number}-{_HASH}"))
        if place not in unfinished and len(unfinished) >= MOST_UNFINISHED:
            oldest = min(unfinished, key=lambda file: file.stat().st_mtime_ns)
            oldest.unlink(missing_ok=True)  # whoever is still sending it begins again
        return place

    def give(self, question: ask.WantArtifact, is_erased: bool) -> ask.Piece:
        """A piece of one; what was erased is gone here too, in case we died before we did so."""
        if is_erased:
            self._artifacts.erase(question.sha256)
        size, piece = self._artifacts.piece(question.sha256, question.offset)
        return ask.Piece(size, piece)

    def erase(self, sha256: str) -> None:
        self._artifacts.erase(sha256)

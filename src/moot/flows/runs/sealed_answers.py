"""First answers that are sealed as they come, and opened when a checkpoint covers all seals.

Until then the words lie in a file that only this user can read, so that a run that was killed can
go on: an answer whose file is gone cannot be opened, and counts as absent (DEC-038).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from immutables import Map
from msgspec.structs import replace

from moot.core.errors import Conflict, MootError, Refused
from moot.core.machine import Context, KeyClass, VerifiedActor
from moot.core.names import SYSTEM
from moot.core.note import read_note
from moot.core.record import ArtifactRef
from moot.engine.checkpoints import inclusion_path_of
from moot.engine.job import Job
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE
from moot.protocols.decision.model import State
from moot.protocols.decision.seal import NONCE_BYTES, commit_to_answer
from moot.store.files import put_own_file
from moot.store.named_files import unwritable_file
from moot.workspace.workspace import Workspace

FOLDER: Final = "sealed"
PROMPT_TYPE: Final = "text/plain"
NOT_OPENED: Final = "The sealed answer was not opened."
_TRIES: Final = 5
_decode_opening = msgspec.json.Decoder(ask.GiveAnswer).decode


class SealedAnswers:
    """The sealed first answers to one question."""

    def __init__(self, workspace: Workspace, decision: str) -> None:
        self._workspace = workspace
        self._engine = workspace.engine
        self._stream = stream_of(decision)
        self._folder = workspace.path / FOLDER / decision

    @property
    def _state(self) -> State:
        return self._engine.state(MACHINE, self._stream)

    # Sealing --------------------------------------------------------------------------------------

    def keep_prompts(self, prompts: Mapping[str, str]) -> dict[str, ArtifactRef]:
        """What each is asked, stored for whoever wants to see that it held nobody's answer."""
        texts = [prompt.encode("utf-8", "replace") for prompt in prompts.values()]
        stored = self._workspace.artifacts.put_all(texts, PROMPT_TYPE)
        return dict(zip(prompts, stored, strict=True))

    def seal(self, author: str, answer: ask.GiveAnswer, prompt: ArtifactRef) -> None:
        """Put the commitment on record, and its opening aside; Refused if it could not be given."""
        self._require_acceptable(author, answer)
        opening = replace(
            answer, answer=answer.answer.strip(), nonce=secrets.token_hex(NONCE_BYTES)
        )
        commitment = commit_to_answer(
            self._stream, author, opening.nonce, opening.answer, opening.why, opening.motives
        )
        self._put_aside(author, msgspec.json.encode(opening))
        command = ask.SealAnswer(commitment=commitment, prompt=prompt)
        self._engine.execute(self._stream, command, author)

    def _require_acceptable(self, author: str, answer: ask.GiveAnswer) -> None:
        """What could not be opened later must be refused now, while it can be asked for again."""
        unsealed = replace(self._state, is_sealed=False, seals=Map())
        actor = VerifiedActor(author, 1, "", KeyClass.AGENT)
        context = Context(self._engine.clock(), actor, self._stream, self._workspace.trust.origin)
        rehearsed = MACHINE.decide(unsealed, answer, context)
        if rehearsed.refused:
            raise Refused.of(rehearsed.findings)

    def _put_aside(self, author: str, data: bytes) -> None:
        file = self._file_of(author)
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            put_own_file(file, data, 0o600)
        except OSError as error:
            raise unwritable_file(file, error) from None

    def _file_of(self, author: str) -> Path:
        return self._folder / f"{author}.json"

    # Opening --------------------------------------------------------------------------------------

    def open_all(self) -> None:
        """Close the seals under a checkpoint, then open them; what cannot be opened is absent."""
        state = self._state
        if not state.is_sealed or state.unsealed:
            return
        if state.unanswered and state.seals_checkpoint is None:
            self._close()
        self._open_each(state.unanswered)
        with suppress(OSError):
            for author in state.seals:
                self._file_of(author).unlink(missing_ok=True)
            self._folder.rmdir()

    def _open_each(self, authors: Sequence[str]) -> None:
        """All in one commit, so that nobody sees some of them before the rest."""
        openings = {author: self._read_opening(author) for author in authors}
        jobs = [
            Job(self._stream, opening, author)
            for author, opening in openings.items()
            if opening is not None
        ]
        results = dict(
            zip((job.actor for job in jobs), self._engine.execute_all(jobs), strict=True)
        )
        for author in authors:
            result = results.get(author)
            if isinstance(result, MootError) and not isinstance(result, Refused):
                raise result
            if result is None or isinstance(result, Refused):
                passed = ask.PassAnswer(agent=author, why=NOT_OPENED, failure=NOT_OPENED)
                self._engine.execute(self._stream, passed, SYSTEM)

    def _read_opening(self, author: str) -> ask.GiveAnswer | None:
        try:
            return _decode_opening(self._file_of(author).read_bytes())
        except (OSError, msgspec.MsgspecError):
            return None

    def _close(self) -> None:
        """The checkpoint counts if it covers the event right before its own: nobody wrote
        between."""
        for _ in range(_TRIES):
            covered, command = self._cover_seals()
            done = self._engine.execute(self._stream, command, SYSTEM)
            if done.recorded[0].seq == covered + 1:
                return
        raise _busy()

    def _cover_seals(self) -> tuple[int, ask.CloseSeals]:
        """Make a checkpoint; the newest event of the decision and the way from it to the root."""
        for _ in range(_TRIES):
            self._engine.checkpoint()
            with self._workspace.store.read() as view:
                note, head = view.newest_note(), view.head(self._stream)
                pinned = view.pinned_head(self._stream)
                if note is None or head is None or pinned is None or pinned.seq != head.seq:
                    continue
                checkpoint = read_note(note, self._workspace.trust.checkpoint)
                path = inclusion_path_of(view, head.number, checkpoint.streams)
                way = tuple(node.hex() for node in path)
                closing = ask.CloseSeals(
                    note=note, number=checkpoint.number, index=head.number, path=way
                )
                return head.seq, closing
        raise _busy()


def _busy() -> MootError:
    return Conflict("busy", "the decision is being written to", hint="try again when it rests")

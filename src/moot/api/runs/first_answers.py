"""Collect first answers: each participant answers alone, all at the same time."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec
from immutables import Map
from msgspec.structs import replace

from moot.agents.brief import AuthorTrust, Brief, QuotedText, as_prompt_without_time, schema_of
from moot.agents.outcome import CallFailure
from moot.agents.runnable import PassOverResult
from moot.api.rehearsal import require_allowed
from moot.api.runs.turns import DecisionRunRecord, RecordedRun, read_reply
from moot.core.checkpoint_note import read_note
from moot.core.errors import Conflict, Malformed, MootError, Refused
from moot.core.machine import Due, KeyClass, VerifiedActor
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.engine.checkpoints import inclusion_path_of
from moot.engine.job import Job
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import CloseSeals, GiveAnswer, PassAnswer, SealAnswer
from moot.protocols.decision.first_answers import NONCE_BYTES, commit_to_answer, normalize_answer
from moot.protocols.decision.machine import MACHINE
from moot.protocols.decision.model import MAX_ANSWER, ChamberKind, Stage, State
from moot.store.files import put_own_file, unwritable_file
from moot.workspace.workspace import Workspace

# Each first answer is sealed when it comes, and opened when a checkpoint covers all seals. Until
# then its text is in a file that only this user can read, so that a killed run can continue. An
# answer whose file is missing cannot be opened and counts as absent (DEC-038).

SEALED_FOLDER: Final = "sealed"
PROMPT_TYPE: Final = "text/plain"
NOT_OPENED: Final = "The sealed answer was not opened."
_MAX_TRIES: Final = 5
_decode_opening = msgspec.json.Decoder(GiveAnswer).decode


class SealedAnswers:
    """The sealed first answers to one question."""

    def __init__(self, workspace: Workspace, decision: str) -> None:
        self._workspace = workspace
        self._engine = workspace.engine
        self._stream = stream_of(decision)
        self._folder = workspace.path / SEALED_FOLDER / decision

    @property
    def _state(self) -> State:
        return self._engine.state(MACHINE, self._stream)

    def keep_prompts(self, prompts: Mapping[str, str]) -> dict[str, ArtifactRef]:
        """Store each prompt, so that a reader can check that it contains no other's answer."""
        texts = [prompt.encode("utf-8", "replace") for prompt in prompts.values()]
        stored = self._workspace.artifacts.put_all(texts, PROMPT_TYPE)
        return dict(zip(prompts, stored, strict=True))

    def seal(self, author: str, answer: GiveAnswer, prompt: ArtifactRef) -> None:
        """Record the commitment and save its opening; Refused if the answer is not allowed."""
        self._require_acceptable(author, answer)
        opening = replace(
            answer, answer=answer.answer.strip(), nonce=secrets.token_hex(NONCE_BYTES)
        )
        commitment = commit_to_answer(
            self._stream, author, opening.nonce, opening.answer, opening.why, opening.motives
        )
        file = self._file_of(author)
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            put_own_file(file, msgspec.json.encode(opening), 0o600)
        except OSError as error:
            raise unwritable_file(file, error) from None
        command = SealAnswer(commitment=commitment, prompt=prompt)
        self._engine.execute(self._stream, command, author)

    def _require_acceptable(self, author: str, answer: GiveAnswer) -> None:
        """Refuse an answer that could not be opened later, while it can be asked for again."""
        unsealed = replace(self._state, is_sealed=False, seals=Map())
        actor = VerifiedActor(author, 1, "", KeyClass.AGENT)
        require_allowed(self._workspace, MACHINE, self._stream, answer, actor, state=unsealed)

    def _file_of(self, author: str) -> Path:
        return self._folder / f"{author}.json"

    def open_all(self) -> None:
        """Close the seals under a checkpoint, then open them; unopened answers count as absent."""
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
        """Open all in one commit, so that no reader sees some answers before the others."""
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
                passed = PassAnswer(agent=author, why=NOT_OPENED, failure=NOT_OPENED)
                self._engine.execute(self._stream, passed, SYSTEM)

    def _read_opening(self, author: str) -> GiveAnswer | None:
        try:
            return _decode_opening(self._file_of(author).read_bytes())
        except (OSError, msgspec.MsgspecError):
            return None

    def _close(self) -> None:
        """Record the checkpoint; it counts only if no event came between it and the seals."""
        for _ in range(_MAX_TRIES):
            covered, command = self._cover_seals()
            done = self._engine.execute(self._stream, command, SYSTEM)
            if done.recorded[0].seq == covered + 1:
                return
        raise _decision_changes()

    def _cover_seals(self) -> tuple[int, CloseSeals]:
        """Make a checkpoint; return the decision's newest event and its proof under the root."""
        for _ in range(_MAX_TRIES):
            self._engine.checkpoint()
            with self._workspace.store.read() as view:
                note, head = view.newest_note(), view.head(self._stream)
                pinned = view.pinned_head(self._stream)
                if note is None or head is None or pinned is None or pinned.seq != head.seq:
                    continue
                checkpoint = read_note(note, self._workspace.trust.checkpoint)
                path = inclusion_path_of(view, head.number, checkpoint.streams)
                hashes = tuple(node.hex() for node in path)
                closing = CloseSeals(
                    note=note, number=checkpoint.number, index=head.number, path=hashes
                )
                return head.seq, closing
        raise _decision_changes()


def _decision_changes() -> MootError:
    return Conflict("busy", "other programs write to the decision", hint="try again later")


WHAT = "first_answer"


class FirstAnswerReply(msgspec.Struct, forbid_unknown_fields=True):
    """`answer`: your answer in one short sentence. `why`: your reasons, in a few sentences."""

    answer: str
    why: str = ""


class SeatReply(FirstAnswerReply, forbid_unknown_fields=True):
    """`motives`: one to three things that matter most to you here, each in a word or two."""

    motives: list[str] = []


_SHAPES = dict.fromkeys(ChamberKind, FirstAnswerReply) | {ChamberKind.PARLIAMENT: SeatReply}
_SCHEMAS = {chamber: schema_of(shape) for chamber, shape in _SHAPES.items()}
_TASK = (
    "Give your own answer to the question quoted below, before you hear the others. Put the "
    "answer itself in one short sentence, without reasons. Give your reasons separately."
)
_CHOOSE = " Your answer must be one of the options, in exactly the same words."
_MOTIVES = (
    " It will be argued in a parliament: name as motives the one to three things that matter most "
    "to you here. You will stand for them."
)


class RunnableAnswers(RecordedRun):
    """The first answers to one question, as the runner asks for and records them."""

    def __init__(self, workspace: Workspace, decision: str, context: str = "") -> None:
        super().__init__(DecisionRunRecord(workspace.engine, decision))
        self._engine = workspace.engine
        self._stream = stream_of(decision)
        self._context = context
        self._sealed = SealedAnswers(workspace, decision)
        self._prompts: dict[str, ArtifactRef] = {}

    @property
    def _state(self) -> State:
        return self._engine.state(MACHINE, self._stream)

    def advance(self) -> None:
        """Open all answers when every participant has sealed one."""
        if self._state.stage is Stage.ANSWERING:
            self._sealed.open_all()

    def dues(self) -> Sequence[Due]:
        state = self._state
        if state.stage is not Stage.ANSWERING:
            return ()
        names = state.unsealed if state.is_sealed else state.unanswered
        return [Due(who=name, what=WHAT, subject="first answer") for name in names]

    def brief(self, due: Due) -> Brief:
        state = self._state
        # The question is quoted too: it is material, not an instruction.
        quotes = [
            QuotedText(author="the question", trust=AuthorTrust.MATERIAL, text=state.question)
        ]
        if self._context:
            quotes.append(
                QuotedText(author="context", trust=AuthorTrust.MATERIAL, text=self._context)
            )
        view: dict[str, Any] = {"participants": len(state.seats)}
        view |= {"options": list(state.options)} if state.options else {}
        motives = _MOTIVES if state.chamber is ChamberKind.PARLIAMENT else ""
        return Brief(
            agent=due.who,
            role="one of several who are asked the same question",
            what=WHAT,
            task="".join((_TASK, _CHOOSE if state.options else "", motives)),
            schema=_schema(state),
            view=view,
            quotes=tuple(quotes),
        )

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        reply = read_reply(reply_fields, _SHAPES[self._state.chamber])
        motives = tuple(" ".join(one.split()) for one in getattr(reply, "motives", ()))
        answer = reply.answer.strip()[: MAX_ANSWER + 1]
        _require_option(answer, self._state.options)
        command = GiveAnswer(answer=answer, why=reply.why, motives=motives)
        if self._state.is_sealed:
            self._sealed.seal(due.who, command, self._prompt_of(due))
        else:
            self._engine.execute(self._stream, command, due.who, key="first-answer")

    def _prompt_of(self, due: Due) -> ArtifactRef:
        """Return this participant's stored prompt; the first answer stores all prompts."""
        if due.who not in self._prompts:
            prompts = {
                other.who: as_prompt_without_time(self.brief(other)) for other in self.dues()
            }
            self._prompts |= self._sealed.keep_prompts(prompts)
        return self._prompts[due.who]

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        why = f"{failure.ending.value}: {failure.detail}"[:1_000]  # AGT-072
        command = PassAnswer(agent=due.who, why=why, failure=failure.as_failed_answer.sentence)
        self._engine.execute(self._stream, command, SYSTEM)
        return PassOverResult.DONE

    def standing(self) -> dict[str, Any]:
        state = self._state
        return {"state": state.stage.value, "answers": len(state.answers)}


def _schema(state: State) -> dict[str, Any]:
    """Return the schema of a first answer; with options, it is one of them."""
    schema = _SCHEMAS[state.chamber]
    if not state.options:
        return schema
    answer = {**schema["properties"]["answer"], "enum": list(state.options)}
    return {**schema, "properties": {**schema["properties"], "answer": answer}}


def _require_option(answer: str, options: tuple[str, ...]) -> None:
    """Raise Malformed if there are options and the answer is none of them (G-19)."""
    if options and normalize_answer(answer) not in map(normalize_answer, options):
        raise Malformed(
            f"{answer[:100]!r} is not one of the options",
            code="unknown_option",
            where="answer",
            hint=f"use one of: {'; '.join(options)}",
        )

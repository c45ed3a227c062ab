"""First answers: each says what it would answer alone, all at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from moot.agents.brief import Brief, as_prompt_without_time, schema_of
from moot.agents.budget import Spent
from moot.agents.outcome import CallFailure, CallOutcome, RunEnd
from moot.agents.quoting import AuthorTrust, QuotedText
from moot.agents.repeats import Utterance
from moot.agents.runnable import PassOverResult
from moot.core.errors import Malformed
from moot.core.machine import Due
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.flows.runs.run_record import DecisionRunRecord
from moot.flows.runs.sealed_answers import SealedAnswers
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.model import MAX_ANSWER, ChamberKind, Stage, State
from moot.protocols.decision.motion import normalize_answer
from moot.workspace.workspace import Workspace

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
_CHOOSE = " Your answer is one of the options, in exactly its words: nothing else counts."
_MOTIVES = (
    " It will be argued in a parliament: name as motives the one to three things that matter most "
    "to you here. You will stand for them."
)


class RunnableAnswers:
    """What is due, how it is asked for and recorded, of the first answers to one question."""

    def __init__(self, workspace: Workspace, decision: str, context: str = "") -> None:
        self._engine = workspace.engine
        self._stream = stream_of(decision)
        self._context = context
        self._record = DecisionRunRecord(workspace.engine, decision)
        self._sealed = SealedAnswers(workspace, decision)
        self._prompts: dict[str, ArtifactRef] = {}

    @property
    def _state(self) -> State:
        return self._record.state

    def advance(self) -> None:
        """When everybody has sealed an answer, all are opened."""
        if self._state.stage is Stage.ANSWERING:
            self._sealed.open_all()

    def dues(self) -> Sequence[Due]:
        state = self._state
        if state.stage is not Stage.ANSWERING:
            return ()
        names = state.unsealed if state.is_sealed else state.unanswered
        return [Due(who=name, what=WHAT, subject="first answer") for name in names]

    def may_be_asked_together(self, due: Due) -> bool:
        del due
        return True

    def brief(self, due: Due) -> Brief:
        state = self._state
        # The question is the task's matter, not its author's order: it is quoted, too.
        quotes = [
            QuotedText(author="the question", trust=AuthorTrust.MATERIAL, text=state.question)
        ]
        if self._context:
            quotes.append(
                QuotedText(author="context", trust=AuthorTrust.MATERIAL, text=self._context)
            )
        view: dict[str, Any] = {"participants": len(state.seats)}
        view |= {"options": list(state.options)} if state.options else {}
        return Brief(
            agent=due.who,
            role="one of several who are asked the same question",
            what=WHAT,
            task="".join((_TASK, _CHOOSE if state.options else "", _motives_task(state))),
            schema=_schema(state),
            view=view,
            quotes=tuple(quotes),
        )

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        try:
            reply = msgspec.convert(reply_fields, _SHAPES[self._state.chamber])
        except msgspec.ValidationError as error:
            raise Malformed(str(error), code="bad_reply", hint="follow the schema") from None
        motives = tuple(" ".join(one.split()) for one in getattr(reply, "motives", ()))
        answer = reply.answer.strip()[: MAX_ANSWER + 1]
        _require_option(answer, self._state.options)
        command = ask.GiveAnswer(answer=answer, why=reply.why, motives=motives)
        if self._state.is_sealed:
            self._sealed.seal(due.who, command, self._prompt_of(due))
        else:
            self._engine.execute(self._stream, command, due.who, key="first-answer")

    def _prompt_of(self, due: Due) -> ArtifactRef:
        """What this one was asked first; everybody's is stored when the first answer comes."""
        if due.who not in self._prompts:
            asked = {each.who: as_prompt_without_time(self.brief(each)) for each in self.dues()}
            self._prompts |= self._sealed.keep_prompts(asked)
        return self._prompts[due.who]

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        why = f"{failure.ending.value}: {failure.detail}"[:1_000]  # AGT-072
        command = ask.PassAnswer(agent=due.who, why=why, failure=failure.as_told.sentence)
        self._engine.execute(self._stream, command, SYSTEM)
        return PassOverResult.DONE

    def history(self) -> Sequence[Utterance]:
        return ()

    def standing(self) -> dict[str, Any]:
        state = self._state
        return {"state": state.stage.value, "answers": len(state.answers)}

    def spent(self) -> Spent:
        return self._record.spent()

    def record_outcome(self, outcome: CallOutcome) -> None:
        self._record.record_outcome(outcome)

    def record_end(self, ended: RunEnd) -> None:
        self._record.record_end(ended)


def _motives_task(state: State) -> str:
    return _MOTIVES if state.chamber is ChamberKind.PARLIAMENT else ""


def _schema(state: State) -> dict[str, Any]:
    """The shape of a first answer; where there are options, it is one of them."""
    schema = _SCHEMAS[state.chamber]
    if not state.options:
        return schema
    answer = {**schema["properties"]["answer"], "enum": list(state.options)}
    return {**schema, "properties": {**schema["properties"], "answer": answer}}


def _require_option(answer: str, options: tuple[str, ...]) -> None:
    """Malformed if there are options and this is none of them (G-19)."""
    if options and normalize_answer(answer) not in map(normalize_answer, options):
        raise Malformed(
            f"{answer[:100]!r} is none of the options",
            code="unknown_option",
            where="answer",
            hint=f"one of: {'; '.join(options)}",
        )

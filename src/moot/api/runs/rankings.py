"""Let each participant rank the first answers, without names, and vote on each of them.

The vote on the answer that becomes the motion is the participant's entry in the first round, so no
participant is asked twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec

from moot.agents.brief import AuthorTrust, Brief, QuotedText, schema_of
from moot.agents.outcome import CallFailure
from moot.agents.runnable import PassOverResult
from moot.api.runs.turns import DecisionRunRecord, RecordedRun, read_reply
from moot.core.errors import Malformed
from moot.core.machine import Due
from moot.core.names import SYSTEM
from moot.core.numbers import shortest_decimal
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import PassRanking, RankAnswers
from moot.protocols.decision.first_answers import (
    AnswerOption,
    find_own_option,
    list_options,
    list_unranked,
    normalize_answer,
    order_for,
)
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import MAX_TEXT, AnswerVote, Stage, State
from moot.protocols.decision.rankings import require_ballot
from moot.workspace.workspace import Workspace

WHAT: Final = "ranking"
# How many characters of an answer's reasons are shown to those who rank it.
MAX_REASONS: Final = 2_000


class RankedAnswer(msgspec.Struct, forbid_unknown_fields=True):
    """One answer by its number, or in its own words, and your vote if it became the motion."""

    answer: int | str
    stance: Literal["approve", "reject", "neutral", "defer"]
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)]


class RankingReply(msgspec.Struct, forbid_unknown_fields=True):
    """`ranking`: every answer once, best first."""

    ranking: list[RankedAnswer]
    summary: Annotated[
        str, msgspec.Meta(min_length=1, max_length=1_000, description="One or two lines.")
    ]
    body: Annotated[
        str, msgspec.Meta(max_length=MAX_TEXT, description="Your argument, in markdown.")
    ] = ""


_SCHEMA: Final = schema_of(RankingReply)
_TASK: Final = (
    "Everybody has answered the question quoted below, and the answers differ. They are quoted "
    "under numbers, without names; one of them is your own. Rank all of them, best first, each "
    "number once. For each say also how you would vote if it were put to the vote: approve, "
    "reject, neutral, or defer if you cannot judge, and how sure you are, from 0 to 1. Give the "
    "point in one or two lines, and your argument in the body. In the body, headings begin at "
    "level 3, HTML comments are not allowed, and every code block must be closed. A person may "
    "type the ranking as one line, such as: 2 approve 0.8, 1 reject 0.6"
)


class RunnableRankings(RecordedRun):
    """The rankings of one question's answers, as the runner asks for and records them."""

    def __init__(self, workspace: Workspace, decision: str, context: str = "") -> None:
        super().__init__(DecisionRunRecord(workspace.engine, decision))
        self._engine = workspace.engine
        self._stream = stream_of(decision)
        self._context = context

    @property
    def _state(self) -> State:
        return self._engine.state(DECISION, self._stream)

    def dues(self) -> Sequence[Due]:
        state = self._state
        if state.stage is not Stage.ANSWERING:
            return ()
        return [Due(who=name, what=WHAT, subject="ranking") for name in list_unranked(state)]

    def brief(self, due: Due) -> Brief:
        state = self._state
        options = list_options(state)
        order = order_for(self._order_seed, due.who, options)
        own = find_own_option(options, due.who)
        quotes = [_quote("the question", state.question)]
        if self._context:
            quotes.append(_quote("context", self._context))
        quotes += [
            _quote(f"answer {place}", _answer_with_reasons(state, options[number].by[0]))
            for place, number in enumerate(order, 1)
        ]
        view: dict[str, Any] = {"answers": len(options)}
        view |= {} if own is None else {"own_answer": order.index(own) + 1}
        return Brief(
            agent=due.who,
            role="one of several who were asked the same question",
            what=WHAT,
            task=_TASK,
            schema=_SCHEMA,
            view=view,
            quotes=tuple(quotes),
        )

    @property
    def _order_seed(self) -> str:
        return f"{self._stream}\n{self._state.question}"

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        reply = read_reply(_with_typed_ranking(reply_fields), RankingReply)
        options = list_options(self._state)
        order = order_for(self._order_seed, due.who, options)  # as it was shown
        numbers = [_number_of(ranked.answer, order, options) for ranked in reply.ranking]
        ballot = require_ballot(numbers, len(options))
        votes = {
            number: AnswerVote(ranked.stance, shortest_decimal(ranked.confidence))
            for number, ranked in zip(ballot, reply.ranking, strict=True)
        }
        command = RankAnswers(
            ranking=ballot,
            votes=tuple(votes[number] for number in range(len(options))),
            summary=reply.summary,
            body=reply.body,
        )
        self._engine.execute(self._stream, command, due.who, key="ranking")

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """Record that a ranking is missing; its participant then votes in the session."""
        why = f"{failure.ending.value}: {failure.detail}"[:1_000]
        command = PassRanking(agent=due.who, why=why, failure=failure.as_failed_answer.sentence)
        self._engine.execute(self._stream, command, SYSTEM)
        return PassOverResult.DONE

    def standing(self) -> dict[str, Any]:
        state = self._state
        return {"state": state.stage.value, "rankings": len(state.rankings)}


def list_cast_votes(state: State) -> Mapping[str, dict[str, Any]]:
    """Return the vote on the motion of each participant who ranked, as its first entry."""
    texts = [option.text for option in list_options(state)]
    if state.motion is None or state.motion.text not in texts:
        return {}
    number = texts.index(state.motion.text)
    return {
        name: {
            "stance": ranked.votes[number].stance,
            "confidence": float(ranked.votes[number].sure),
            "summary": ranked.summary,
            "body": ranked.body,
        }
        for name, ranked in state.rankings.items()
        if ranked.ranking
    }


def _number_of(answer: int | str, order: tuple[int, ...], options: tuple[AnswerOption, ...]) -> int:
    """Return the answer's index by its shown number or by its text; -1 if there is none."""
    if isinstance(answer, int):
        return order[answer - 1] if 1 <= answer <= len(order) else -1
    texts = [normalize_answer(option.text) for option in options]
    wanted = normalize_answer(answer)
    return texts.index(wanted) if wanted in texts else -1


def _with_typed_ranking(reply_fields: dict[str, Any]) -> dict[str, Any]:
    """Read a ranking that a person typed, `2 approve 0.8, 1 reject 0.6`; programs send objects."""
    typed = reply_fields.get("ranking")
    if not isinstance(typed, str):
        return reply_fields
    ranked = []
    for part in typed.split(","):
        words = part.split()
        try:
            answer, stance, confidence = int(words[0]), words[1], float(words[2])
        except (ValueError, IndexError):
            raise Malformed(
                f"{part.strip()[:100]!r} is not a number, a stance and a confidence",
                code="bad_ranking",
                hint="write it like: 2 approve 0.8, 1 reject 0.6",
            ) from None
        ranked.append({"answer": answer, "stance": stance, "confidence": confidence})
    return {**reply_fields, "ranking": ranked}


def _quote(author: str, text: str) -> QuotedText:
    return QuotedText(author=author, trust=AuthorTrust.MATERIAL, text=text)


def _answer_with_reasons(state: State, agent: str) -> str:
    first = state.answers[agent]
    why = first.why.strip()
    why = why if len(why) <= MAX_REASONS else f"{why[: MAX_REASONS - 1]}…"
    return f"{first.answer}\n\n{why}".strip()

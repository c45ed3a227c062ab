"""The checks behind the rules: each yields a message and a place for every breach."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from moot.core.machine import C, Case, Command, Context, KeyClass
from moot.core.names import AGENT, SYSTEM
from moot.protocols.decision import commands as ask
from moot.protocols.decision.first_answers import (
    HEX_32_BYTES,
    commit_to_answer,
    list_options,
    list_unranked,
)
from moot.protocols.decision.forecasts import Outcome
from moot.protocols.decision.model import (
    MAX_MOTIVE_LENGTH,
    MAX_MOTIVES,
    MAX_SEATS,
    STANCES,
    ChamberKind,
    Stage,
    State,
)
from moot.protocols.decision.rankings import ChoiceRule, find_winner

# A confidence: a decimal from 0 to 1, as text.
_SURE: Final = re.compile(r"0(\.\d{1,30})?|1(\.0{1,30})?")

Breaches = Iterator[tuple[str, str | None]]


# A command of a decision under check: `DecisionCase[ask.GiveAnswer]`; with `Command`, any of them.
DecisionCase = Case[State, C]


def out_of_stage(*stages: Stage) -> Callable[[DecisionCase[Command]], Breaches]:
    def check(case: DecisionCase[Command]) -> Breaches:
        if case.state.stage not in stages:
            yield f"this decision is {case.state.stage.value}", None

    return check


def already_decided(case: DecisionCase[Command]) -> Breaches:
    word = case.state.word
    if word is not None:
        yield f"{word.by} has said {word.word.value}", None


def not_begun(case: DecisionCase[Command]) -> Breaches:
    if case.state.stage is Stage.NEW:
        yield "", None


def bad_seats(case: DecisionCase[ask.AskQuestion]) -> Breaches:
    counts = Counter(seat.agent for seat in case.command.seats)
    least = 1 if case.command.chamber is ChamberKind.MAIL else 2
    if not least <= len(counts) <= MAX_SEATS:
        yield f"{len(counts)} take part; {least} to {MAX_SEATS} can", "seats"
    for name, count in counts.items():
        if count > 1:
            yield f"{name} has more than one seat", "seats"
        if not AGENT.match(name):
            yield f"{name!r} is not an agent name", "seats"


def bad_rounds(case: DecisionCase[ask.AskQuestion]) -> Breaches:
    if not 1 <= case.command.rounds <= 100:
        yield f"{case.command.rounds} rounds", "rounds"


def bad_motives(case: DecisionCase[ask.AskQuestion | ask.GiveAnswer]) -> Breaches:
    """Refuse motives that are too many or too long: each names one aim of a parliament seat."""
    command = case.command
    givers = (command,) if isinstance(command, ask.GiveAnswer) else command.seats
    for motives in (giver.motives for giver in givers):
        if len(motives) > MAX_MOTIVES:
            yield f"{len(motives)} motives; at most {MAX_MOTIVES}", "motives"
        for text in motives:
            if not text.strip() or len(text) > MAX_MOTIVE_LENGTH or not text.isprintable():
                yield f"a motive is one line of at most {MAX_MOTIVE_LENGTH} characters", "motives"


def not_a_participant(case: DecisionCase[ask.GiveAnswer | ask.SealAnswer]) -> Breaches:
    name = case.context.actor.id
    if case.state.find_seat(name) is None:
        yield f"{name} takes no part in this", None


def unknown_agent(case: DecisionCase[ask.PassAnswer | ask.NoteCall]) -> Breaches:
    name = case.command.agent
    if case.state.find_seat(name) is None:
        yield f"{name} takes no part in this", "agent"


def answered_before(
    case: DecisionCase[ask.GiveAnswer | ask.PassAnswer | ask.SealAnswer],
) -> Breaches:
    """Refuse a second first answer; a sealed answer counts as given.

    After the seals are closed, `PassAnswer` may still record that a sealed answer was never opened.
    """
    command, state = case.command, case.state
    name = command.agent if isinstance(command, ask.PassAnswer) else case.context.actor.id
    is_given = name in state.answers
    if not is_given and not isinstance(command, ask.GiveAnswer):
        is_given = name in state.seals and state.seals_checkpoint is None
    if is_given:
        yield f"{name} has answered", None


def bad_seal(case: DecisionCase[ask.SealAnswer]) -> Breaches:
    if not case.state.is_sealed:
        yield "the answers to this question are not sealed", None
    elif case.state.seals_checkpoint is not None:
        yield "all seals are closed", None
    elif not HEX_32_BYTES.fullmatch(case.command.commitment):
        yield "a commitment is 32 bytes in hex", "commitment"


def seals_missing(case: DecisionCase[ask.CloseSeals]) -> Breaches:
    if not case.state.is_sealed:
        yield "the answers to this question are not sealed", None
    elif case.state.unsealed:
        yield f"{', '.join(case.state.unsealed)} has not sealed an answer", None


def opened_too_early(case: DecisionCase[ask.GiveAnswer]) -> Breaches:
    state, name = case.state, case.context.actor.id
    if state.is_sealed and state.seals_checkpoint is None:
        yield "the seals are not closed yet", None
    elif state.is_sealed and name not in state.seals:
        yield f"{name} has sealed no answer", None


def false_opening(case: DecisionCase[ask.GiveAnswer]) -> Breaches:
    if is_false_opening(case.state, case.command, case.context):
        yield f"{case.context.actor.id} sealed another answer", "answer"


def is_false_opening(state: State, command: ask.GiveAnswer, context: Context) -> bool:
    """Return whether the command opens a sealed answer with a different text."""
    seal = state.seals.get(context.actor.id)
    is_due = seal is not None and state.seals_checkpoint is not None
    if seal is None or not is_due or context.actor.id in state.answers:
        return False
    return commitment_offered(command, context) != seal.commitment


def commitment_offered(command: ask.GiveAnswer, context: Context) -> str:
    """Return the commitment of the offered text; empty if the nonce is not 32 bytes in hex."""
    if not HEX_32_BYTES.fullmatch(command.nonce):
        return ""
    return commit_to_answer(
        context.stream,
        context.actor.id,
        command.nonce,
        command.answer.strip(),
        command.why,
        command.motives,
    )


def bad_quorum(case: DecisionCase[ask.AskQuestion]) -> Breaches:
    quorum, seats = case.command.quorum, len(case.command.seats)
    if quorum and case.command.chamber is not ChamberKind.DEBATE:
        yield "a parliament has its own rule for a quorum", "quorum"
    if not 0 <= quorum <= seats:
        yield f"a quorum of {quorum} where {seats} take part", "quorum"


def unknown_rule(case: DecisionCase[ask.AskQuestion]) -> Breaches:
    command = case.command
    if command.choose and command.choose not in set(ChoiceRule):
        yield f"{command.choose!r} is not a rule to choose by", "choose"
    if command.choose and command.chamber is not ChamberKind.DEBATE:
        yield "only the answers of a debate are ranked", "choose"


def not_to_rank(case: DecisionCase[ask.RankAnswers | ask.PassRanking]) -> Breaches:
    """DEC-036: refuse a ranking before all answers are in, or of fewer than two answers.

    Only an agent that gave an answer ranks, and only once.
    """
    command = case.command
    name = command.agent if isinstance(command, ask.PassRanking) else case.context.actor.id
    if name not in list_unranked(case.state):
        yield f"{name} has nothing to rank here", None


def bad_ranking(case: DecisionCase[ask.RankAnswers]) -> Breaches:
    count = len(list_options(case.state))
    if sorted(case.command.ranking) != list(range(count)):
        yield f"a ranking lists each of the {count} answers once", "ranking"
    if len(case.command.votes) != count:
        yield f"{len(case.command.votes)} votes on {count} answers", "votes"
    for vote in case.command.votes:
        if vote.stance not in STANCES or not _SURE.fullmatch(vote.sure):
            yield f"{vote.stance!r}, {vote.sure!r} is not a vote", "votes"


def not_the_choice(case: DecisionCase[ask.SetMotion]) -> Breaches:
    """DEC-037: refuse a motion that the rule did not choose; in a tie any answer may be picked."""
    state, command = case.state, case.command
    if not command.chosen:
        if state.choose and len(list_options(state)) > 1:
            yield f"the motion is chosen by {state.choose}", "chosen"
        return
    winner = find_winner(state)
    allowed = (winner,) if winner is not None else list_options(state)
    if list_unranked(state):
        yield f"{', '.join(list_unranked(state))} has yet to rank the answers", None
    elif command.text not in {option.text for option in allowed}:
        yield "this is not what was chosen", "text"


def answers_missing(case: DecisionCase[ask.SetMotion]) -> Breaches:
    if case.state.unanswered:
        yield f"{', '.join(case.state.unanswered)} has not answered", None


def neither_moot_nor_asker(case: DecisionCase[Command]) -> Breaches:
    """DEC-017: only Moot itself, or the agent that asked, records what happens in the session."""
    actor = case.context.actor
    if actor.kind is not KeyClass.SYSTEM and actor.id not in (case.state.asked_by, SYSTEM):
        yield f"{actor.id} did not ask this question", None


def session_out_of_place(case: DecisionCase[ask.OpenSession]) -> Breaches:
    """Refuse a session too early or too many: a debated motion gets one session for each round."""
    state = case.state
    again = state.stage is Stage.ARGUING and state.chamber is ChamberKind.DEBATE
    if state.stage not in (Stage.ANSWERING, Stage.MOVED) and not (again and state.motion):
        yield f"this decision is {state.stage.value}", None
    elif again and len(state.sessions) >= state.rounds:
        yield f"all of its {state.rounds} rounds are argued", None
    elif any(session.id == case.command.session for session in state.sessions):
        yield f"{case.command.session} is already open", "session"


def result_out_of_place(case: DecisionCase[ask.RecordResult]) -> Breaches:
    """Refuse a second result, except after a parliament's: it can vote again after a veto."""
    state = case.state
    may_come_again = state.stage is Stage.WAITING and state.chamber is ChamberKind.PARLIAMENT
    if state.stage is not Stage.ARGUING and not may_come_again:
        yield f"this decision is {state.stage.value}", None


def not_moot_itself(case: DecisionCase[ask.MakeReceipt]) -> Breaches:
    """Refuse any other signer: readers of a receipt trust only the ledger's own key."""
    if case.context.actor.kind is not KeyClass.SYSTEM:
        yield f"{case.context.actor.id} does not sign receipts", None


def not_in_parliament(case: DecisionCase[ask.SendBack]) -> Breaches:
    if case.state.chamber is not ChamberKind.PARLIAMENT:
        yield f"this is argued in a {case.state.chamber.value}", None


def not_a_person(case: DecisionCase[ask.PersonsCommand]) -> Breaches:
    if case.context.actor.kind is not KeyClass.HUMAN:
        yield f"{case.context.actor.id} is not a person", None


def no_result_yet(case: DecisionCase[ask.PersonsCommand]) -> Breaches:
    if case.state.stage not in (Stage.WAITING, Stage.NEW) and case.state.word is None:
        yield "", None


def nothing_to_judge(case: DecisionCase[ask.JudgeOutcome]) -> Breaches:
    """Refuse an outcome if no answer was voted on or decided: nothing could prove right."""
    state = case.state
    if state.motion is None and state.word is None and state.verdict is None:
        yield f"this decision is {state.stage.value}", None


def unknown_outcome(case: DecisionCase[ask.JudgeOutcome]) -> Breaches:
    if case.command.outcome not in set(Outcome):
        yield f"{case.command.outcome!r} is not an outcome", "outcome"


def negative_cost(case: DecisionCase[ask.NoteCall]) -> Breaches:
    if min(msgspec.structs.astuple(case.command.cost)) < 0:
        yield "a cost is negative", "cost"


def has_successor(case: DecisionCase[ask.NameSuccessor]) -> Breaches:
    if case.state.superseded_by is not None:
        yield f"{case.state.superseded_by} supersedes it", None

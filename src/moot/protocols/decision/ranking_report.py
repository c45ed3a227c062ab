"""What the rankings came to, by all three rules, and how much each one's own answer mattered."""

from __future__ import annotations

import msgspec

from moot.core.quoted import Quoted
from moot.protocols.decision.answer_options import (
    AnswerOption,
    find_own_option,
    list_options,
    list_unranked,
)
from moot.protocols.decision.model import Stage, State
from moot.protocols.decision.rankings import (
    Ballot,
    Choice,
    ChoiceRule,
    choose,
    effect_of_own_answers,
)


class RankedOption(msgspec.Struct, frozen=True):
    """An answer under its number, which counts from 1, and who gave it."""

    number: int
    text: Quoted
    by: tuple[str, ...]


class CastRanking(msgspec.Struct, frozen=True):
    """One participant's ranking by numbers, best first; or the sentence why there is none."""

    agent: str
    ranking: tuple[int, ...]
    failure: str = ""


class RuleChoice(msgspec.Struct, frozen=True):
    """What one rule chose: `winner`, or several `first` ones that a person has to choose from.

    `points` has a number for each answer. `own_put_last` are the first ones if everybody had put
    its own answer last; `own_mattered` says that these are others.
    """

    rule: ChoiceRule
    winner: int | None
    first: tuple[int, ...]
    points: tuple[int, ...]
    is_cycle: bool
    own_put_last: tuple[int, ...]
    own_mattered: bool
    sentence: str


class RankingReport(msgspec.Struct, frozen=True):
    """The answers, every ranking, and what each rule makes of them.

    `chosen_by` is the rule that was asked for, empty for the most frequent answer. `differ` says
    that the three rules do not all choose the same.
    """

    options: tuple[RankedOption, ...]
    rankings: tuple[CastRanking, ...]
    choices: tuple[RuleChoice, ...]
    chosen_by: str
    differ: bool


def report_rankings(state: State) -> RankingReport | None:
    """None if there were not several answers to rank, or nobody was asked to yet."""
    options = list_options(state)
    if len(options) < 2 or not state.rankings:
        return None
    choices = tuple(_choice(rule, state, options) for rule in ChoiceRule)
    return RankingReport(
        options=tuple(
            RankedOption(number, Quoted(option.text), option.by)
            for number, option in enumerate(options, 1)
        ),
        rankings=tuple(
            CastRanking(cast.agent, _from_one(cast.ranking), cast.failure)
            for seat in state.seats
            if (cast := state.rankings.get(seat.agent)) is not None
        ),
        choices=choices,
        chosen_by=state.choose,
        differ=len({choice.first for choice in choices}) > 1,
    )


def needs_pick(state: State) -> bool:
    """Has everybody ranked the answers, and does the rule leave the choice to a person?"""
    waits = state.stage is Stage.ANSWERING and bool(state.choose and list_options(state))
    all_in = not state.unanswered and not list_unranked(state)
    return waits and all_in and find_winner(state) is None


def find_winner(state: State) -> AnswerOption | None:
    """The answer that the rule asked for chooses; None if it leaves that to a person."""
    options = list_options(state)
    if len(options) == 1:
        return options[0]
    if not state.choose or list_unranked(state):
        return None
    choice = choose(ChoiceRule(state.choose), list(_ballots(state).values()), len(options))
    return None if choice.winner is None else options[choice.winner]


def _choice(rule: ChoiceRule, state: State, options: tuple[AnswerOption, ...]) -> RuleChoice:
    own = {
        seat.agent: number
        for seat in state.seats
        if (number := find_own_option(options, seat.agent)) is not None
    }
    effect = effect_of_own_answers(rule, _ballots(state), own, len(options))
    cast: Choice = effect.as_cast
    return RuleChoice(
        rule=rule,
        winner=None if cast.winner is None else cast.winner + 1,
        first=_from_one(cast.first),
        points=cast.points,
        is_cycle=cast.is_cycle,
        own_put_last=_from_one(effect.own_put_last.first),
        own_mattered=effect.mattered,
        sentence=_describe_choice(cast),
    )


def _describe_choice(choice: Choice) -> str:
    """Such as `answer 2`, `a tie of answers 1 and 3`, or `a cycle of answers 1, 2 and 3`."""
    if choice.winner is not None:
        return f"answer {choice.winner + 1}"
    if not choice.first:
        return "nothing: nobody ranked them"
    *most, last = map(str, _from_one(choice.first))
    kind = "a cycle" if choice.is_cycle else "a tie"
    return f"{kind} of answers {', '.join(most)} and {last}"


def _ballots(state: State) -> dict[str, Ballot]:
    return {name: cast.ranking for name, cast in state.rankings.items() if cast.ranking}


def _from_one(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """People count from 1."""
    return tuple(number + 1 for number in numbers)

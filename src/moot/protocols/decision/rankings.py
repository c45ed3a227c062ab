"""Which of several answers is put to the vote: three ways to count ballots, by exact arithmetic.

A ballot lists every answer once, best first, by its number. Ties are never broken here, neither by
order nor by chance: Moot reports them to the asker, who picks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from moot.core.errors import Malformed
from moot.core.text import Quoted
from moot.protocols.decision.first_answers import (
    AnswerOption,
    find_own_option,
    list_options,
    list_unranked,
)
from moot.protocols.decision.model import Stage, State

Ballot = tuple[int, ...]


class ChoiceRule(StrEnum):
    """How the motion is chosen from the first answers."""

    PLURALITY = "plurality"
    BORDA = "borda"
    CONDORCET = "condorcet"


class Choice(NamedTuple):
    """What a rule chose: one answer, or several that it cannot tell apart.

    `points` is what each answer got: first places, Borda points, or duels won. `is_cycle`: every
    answer in `first` loses a duel against another of them.
    """

    first: tuple[int, ...]
    points: tuple[int, ...]
    is_cycle: bool = False

    @property
    def winner(self) -> int | None:
        return self.first[0] if len(self.first) == 1 else None


class OwnAnswerEffect(NamedTuple):
    """The choice from the ballots as cast, and with each agent's own answer moved to the end."""

    as_cast: Choice
    own_put_last: Choice

    @property
    def mattered(self) -> bool:
        return self.as_cast.first != self.own_put_last.first


def require_ballot(ballot: Sequence[int], answers: int) -> Ballot:
    """Return the ballot, or raise Malformed unless it lists each answer exactly once."""
    if sorted(ballot) != list(range(answers)):
        raise Malformed(
            f"a ranking lists each of the {answers} answers once",
            code="bad_ranking",
            hint=f"give all numbers from 1 to {answers}, best first",
        )
    return tuple(ballot)


def choose(rule: ChoiceRule, ballots: Sequence[Ballot], answers: int) -> Choice:
    """Count the ballots by one rule; without ballots nothing is chosen."""
    if not ballots or not answers:
        return Choice((), (0,) * answers)
    return _RULES[rule](ballots, answers)


def effect_of_own_answers(
    rule: ChoiceRule, ballots: Mapping[str, Ballot], own: Mapping[str, int], answers: int
) -> OwnAnswerEffect:
    """Count as cast, and again with each own answer last, to see if own votes decided it."""
    own_last = []
    for name, ballot in ballots.items():
        mine = own.get(name)
        last = (each for each in ballot if each == mine)
        own_last.append((*(each for each in ballot if each != mine), *last))
    return OwnAnswerEffect(
        choose(rule, list(ballots.values()), answers), choose(rule, own_last, answers)
    )


def count_duels(ballots: Sequence[Ballot], answers: int) -> list[list[int]]:
    """Count for each pair how many ballots prefer answer a to answer b: `duels[a][b]`."""
    duels = [[0] * answers for _ in range(answers)]
    for ballot in ballots:
        for place, better in enumerate(ballot):
            for worse in ballot[place + 1 :]:
                duels[better][worse] += 1
    return duels


def _plurality(ballots: Sequence[Ballot], answers: int) -> Choice:
    points = [0] * answers
    for ballot in ballots:
        points[ballot[0]] += 1
    return _choose_most_points(points)


def _borda(ballots: Sequence[Ballot], answers: int) -> Choice:
    """Give 0 points for the last place, and one more for each place above it."""
    points = [0] * answers
    for ballot in ballots:
        for place, answer in enumerate(ballot):
            points[answer] += answers - 1 - place
    return _choose_most_points(points)


def _condorcet(ballots: Sequence[Ballot], answers: int) -> Choice:
    """Choose the answer that wins every duel, else the smallest group that beats all others."""
    duels = count_duels(ballots, answers)
    wins = tuple(
        sum(duels[a][b] > duels[b][a] for b in range(answers) if b != a) for a in range(answers)
    )
    group = _unbeaten_group(duels, wins, answers)
    is_cycle = all(any(duels[b][a] > duels[a][b] for b in group if b != a) for a in group)
    return Choice(group, wins, is_cycle)


def _unbeaten_group(duels: list[list[int]], wins: tuple[int, ...], answers: int) -> tuple[int, ...]:
    """Return the Smith set: start with the most wins, add every answer they do not beat."""
    group = {answer for answer in range(answers) if wins[answer] == max(wins)}
    while more := {
        other
        for other in range(answers)
        if other not in group and any(duels[one][other] <= duels[other][one] for one in group)
    }:
        group |= more
    return tuple(sorted(group))


def _choose_most_points(points: Sequence[int]) -> Choice:
    most = max(points)
    return Choice(tuple(at for at, each in enumerate(points) if each == most), tuple(points))


_RULES: Final[Mapping[ChoiceRule, Callable[[Sequence[Ballot], int], Choice]]] = {
    ChoiceRule.PLURALITY: _plurality,
    ChoiceRule.BORDA: _borda,
    ChoiceRule.CONDORCET: _condorcet,
}


# The result of the rankings by all three rules, and whether votes for own answers decided it.


class RankedOption(msgspec.Struct, frozen=True):
    """An answer, its number (from 1), and the agents that gave it."""

    number: int
    text: Quoted
    by: tuple[str, ...]


class CastRanking(msgspec.Struct, frozen=True):
    """One participant's ranking by numbers, best first; `failure` says why there is none."""

    agent: str
    ranking: tuple[int, ...]
    failure: str = ""


class RuleChoice(msgspec.Struct, frozen=True):
    """What one rule chose: the `winner`, or in a tie several `first` answers for a person to pick.

    `points` has one number for each answer. `own_put_last` is `first` as it would be if each agent
    had ranked its own answer last; `own_mattered`: the two differ.
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

    `chosen_by` is the rule that was asked for, empty for the most frequent answer. `differ`:
    the three rules do not all choose the same.
    """

    options: tuple[RankedOption, ...]
    rankings: tuple[CastRanking, ...]
    choices: tuple[RuleChoice, ...]
    chosen_by: str
    differ: bool


def report_rankings(state: State) -> RankingReport | None:
    """Report all rankings; None with fewer than two answers, or before the first ranking."""
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
    """Return whether all rankings are in and end in a tie, so that a person must pick."""
    is_choosing = state.stage is Stage.ANSWERING and bool(state.choose and list_options(state))
    all_in = not state.unanswered and not list_unranked(state)
    return is_choosing and all_in and find_winner(state) is None


def find_winner(state: State) -> AnswerOption | None:
    """Return the answer that the session's rule chooses; None in a tie, or before all ranked."""
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
    """Return words such as `answer 2`, `a tie of answers 1 and 3`, or `a cycle of answers ...`."""
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
    """Convert numbers that count from 0 into those that people see, from 1."""
    return tuple(number + 1 for number in numbers)


# The weakness of each rule, with the smallest example. A majority by heads, as `moot ask` counts,
# has none of these; rules that use confidence do.

_MORE_APPROVAL: Final = (
    "more approval can stop a motion: one approves at 0.8 and one defers, and it carries; the "
    "other turns to approve at 0.2, and it fails"
)
RULE_LIMITS: Final[Mapping[str, str]] = {
    "weighted": _MORE_APPROVAL,
    "unanimous": _MORE_APPROVAL,
    "plurality": (
        "it can choose an answer that loses against each of the others: three rank A B C, two "
        "B C A, two C B A, and A is chosen"
    ),
    "borda": (
        "it can pass over an answer that wins against each of the others: three rank A B C, two "
        "B C A, and B is chosen"
    ),
    "condorcet": "it can choose nothing: one ranks A B C, one B C A, one C A B: each loses once",
}

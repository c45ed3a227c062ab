"""Which of several answers is put to the vote: three ways to count ballots, by exact arithmetic.

A ballot lists every answer once, best first, by its number. Ties are never broken here, by order or
by chance: whoever asks is told of them and chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from moot.core.errors import Malformed

Ballot = tuple[int, ...]


class ChoiceRule(StrEnum):
    """How the motion is chosen from the first answers."""

    PLURALITY = "plurality"
    BORDA = "borda"
    CONDORCET = "condorcet"


class Choice(NamedTuple):
    """What a rule chose: one answer, or several that it cannot tell apart.

    `points` is what each answer got: first places, Borda's points, or duels won. `is_cycle`: every
    answer among the first loses a duel against another of them.
    """

    first: tuple[int, ...]
    points: tuple[int, ...]
    is_cycle: bool = False

    @property
    def winner(self) -> int | None:
        return self.first[0] if len(self.first) == 1 else None


class OwnAnswerEffect(NamedTuple):
    """What ranking one's own answer did: the choice as cast, and with every own answer put last."""

    as_cast: Choice
    own_put_last: Choice

    @property
    def mattered(self) -> bool:
        return self.as_cast.first != self.own_put_last.first


def require_ballot(ballot: Sequence[int], answers: int) -> Ballot:
    """Malformed if an answer is missing, stands twice, or does not exist."""
    if sorted(ballot) != list(range(answers)):
        raise Malformed(
            f"a ranking lists each of the {answers} answers once",
            code="bad_ranking",
            hint=f"give all numbers from 1 to {answers}, best first",
        )
    return tuple(ballot)


def choose(rule: ChoiceRule, ballots: Sequence[Ballot], answers: int) -> Choice:
    """Count by one rule; nothing is chosen if nobody ranked anything."""
    if not ballots or not answers:
        return Choice((), (0,) * answers)
    return _RULES[rule](ballots, answers)


def choose_by_all(ballots: Sequence[Ballot], answers: int) -> dict[ChoiceRule, Choice]:
    return {rule: choose(rule, ballots, answers) for rule in ChoiceRule}


def effect_of_own_answers(
    rule: ChoiceRule, ballots: Mapping[str, Ballot], own: Mapping[str, int], answers: int
) -> OwnAnswerEffect:
    """How much it mattered that participants ranked their own answer, by counting without."""
    humble = [
        (*(each for each in ballot if each != own.get(name)), *_own_part(ballot, own.get(name)))
        for name, ballot in ballots.items()
    ]
    return OwnAnswerEffect(
        choose(rule, list(ballots.values()), answers), choose(rule, humble, answers)
    )


def _own_part(ballot: Ballot, own: int | None) -> Ballot:
    return tuple(each for each in ballot if each == own)


def count_duels(ballots: Sequence[Ballot], answers: int) -> list[list[int]]:
    """How many prefer the first answer of a pair to the second: `duels[a][b]`."""
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
    return _most(points)


def _borda(ballots: Sequence[Ballot], answers: int) -> Choice:
    """The last place counts nothing, each place before it one more."""
    points = [0] * answers
    for ballot in ballots:
        for place, answer in enumerate(ballot):
            points[answer] += answers - 1 - place
    return _most(points)


def _condorcet(ballots: Sequence[Ballot], answers: int) -> Choice:
    """Whoever wins every duel; else the smallest group that wins every duel against the rest."""
    duels = count_duels(ballots, answers)
    wins = tuple(
        sum(duels[a][b] > duels[b][a] for b in range(answers) if b != a) for a in range(answers)
    )
    group = _unbeaten_group(duels, wins, answers)
    is_cycle = all(any(duels[b][a] > duels[a][b] for b in group if b != a) for a in group)
    return Choice(group, wins, is_cycle)


def _unbeaten_group(duels: list[list[int]], wins: tuple[int, ...], answers: int) -> tuple[int, ...]:
    """The Smith set: begun with those who win most, grown by everyone they do not beat."""
    group = {answer for answer in range(answers) if wins[answer] == max(wins)}
    while more := {
        other
        for other in range(answers)
        if other not in group and any(duels[one][other] <= duels[other][one] for one in group)
    }:
        group |= more
    return tuple(sorted(group))


def _most(points: Sequence[int]) -> Choice:
    most = max(points)
    return Choice(tuple(at for at, each in enumerate(points) if each == most), tuple(points))


_RULES: Final[Mapping[ChoiceRule, Callable[[Sequence[Ballot], int], Choice]]] = {
    ChoiceRule.PLURALITY: _plurality,
    ChoiceRule.BORDA: _borda,
    ChoiceRule.CONDORCET: _condorcet,
}

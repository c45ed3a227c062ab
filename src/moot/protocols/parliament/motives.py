"""Motives: who stands for what, how well the bill serves it, and who should be asked next.

A vote waits until every motive of every seat scores at least 3; one without a score counts as
below (C-13). Scores change only when their seat answers or votes, so the way to raise one is to
ask its seat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from moot.protocols.parliament import round_clock
from moot.protocols.parliament.model import Seat, State

SERVED_FROM: Final = 3
_WORDS: Final = re.compile(r"\w+")


class UnderservedMotive(msgspec.Struct, frozen=True):
    """A motive below 3; None: not scored yet."""

    seat: str
    motive: str
    score: int | None


class SuggestedExchange(msgspec.Struct, frozen=True):
    """A question worth asking: by whom, to whom, about which motive."""

    asker: str
    asked: str
    motive: str


def is_about(issue: str, motive: str) -> bool:
    """C-20: the same words, or all words of the one are among those of the other."""
    ours, theirs = _words_in(issue), _words_in(motive)
    if not ours or not theirs:
        return issue.strip().casefold() == motive.strip().casefold()
    return ours <= theirs or theirs <= ours


def _words_in(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text.casefold()))


def count_covered_issues(issues: Iterable[str], motives: Iterable[str]) -> int:
    """Return how many of the issues some motive speaks for."""
    motives_known = tuple(motives)
    return sum(any(is_about(issue, motive) for motive in motives_known) for issue in issues)


def find_unassigned_issues(issues: Iterable[str], motives: Iterable[str]) -> list[tuple[int, str]]:
    """Return issues that no motive covers, with their places."""
    motives_known = tuple(motives)
    return [
        (place, issue)
        for place, issue in enumerate(issues)
        if not any(is_about(issue, motive) for motive in motives_known)
    ]


def with_scores(seat: Seat, scores: dict[str, int]) -> Seat:
    """PAR-034 and C-15: the latest score of each motive; one that is not named keeps its last."""
    latest = tuple(scores.get(motive, before) for motive, before in seat.scores_by_motive())
    return msgspec.structs.replace(seat, scores=latest)


def list_underserved(state: State) -> list[UnderservedMotive]:
    """Return every motive below 3: those without a score first, then the lowest."""
    low = [
        UnderservedMotive(seat.id, motive, score)
        for seat in state.seats_in_order()
        for motive, score in seat.scores_by_motive()
        if score is None or score < SERVED_FROM
    ]
    return sorted(low, key=lambda motive: motive.score or 0)


def all_served(state: State) -> bool:
    """PAR-035: every motive has at least 3, so a vote may be called without force."""
    return not any(
        score is None or score < SERVED_FROM
        for seat in state.seats_in_order()
        for score in seat.scores
    )


def may_vote(state: State) -> bool:
    """PAR-035: every motive is served, or the clock or the last round forces the vote (C-14)."""
    return round_clock.forces_a_vote(state) or all_served(state)


def suggest_exchanges(state: State) -> Iterator[SuggestedExchange]:
    """Yield who should be asked next, the worst served motive first; one suggestion a seat."""
    waiting = {question.asked for question in state.round.questions.values()}
    for low in list_underserved(state):
        seat = state.seats[low.seat]
        if low.seat in waiting or seat.is_quiet or seat.expelled:
            continue
        asker = _best_asker(state, low.seat)
        if asker is not None:
            waiting.add(low.seat)
            yield SuggestedExchange(asker, low.seat, low.motive)


def _best_asker(state: State, asked: str) -> str | None:
    """Return the drafter, who can change the bill; else the seat that was silent longest."""
    able = [
        (seat.id != state.drafter, seat.spoke_in, place, seat.id)
        for place, seat in enumerate(state.seats_in_order())
        if seat.id != asked and not seat.is_quiet and not seat.expelled
    ]
    return min(able)[-1] if able else None


# Who drafts the bill (PAR-089, C-20): the seat that the prime minister's guidance names, else the
# one whose motives cover most issues; of several the first in the list.


class DrafterChoice(NamedTuple):
    seat: str
    why: str


def choose_drafter(state: State) -> DrafterChoice | None:
    """Return the choice that follows from guidance and issues; None if no seat can draft."""
    able = [seat for seat in state.seats_in_order() if not seat.expelled]
    if not able:
        return None
    named = _seat_named_in(state.guidance, able)
    if named is not None:
        return DrafterChoice(named.id, "named by the prime minister")
    issues = state.constituent_issues
    best = max(
        able, key=lambda seat: count_covered_issues(issues, seat.motives)
    )  # the first of equals
    count = count_covered_issues(issues, best.motives)
    return DrafterChoice(best.id, f"speaks for {count} of {len(issues)} issues")


def _seat_named_in(guidance: str, able: list[Seat]) -> Seat | None:
    """Return the one seat that the guidance names, by id or by name; two names decide nothing."""
    named_seats = [
        seat
        for seat in able
        if _is_named_in(seat.id, guidance) or _is_named_in(seat.name, guidance)
    ]
    return named_seats[0] if len(named_seats) == 1 else None


def _is_named_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None

"""The ballot: who is missing, what the result is, and what follows from it.

A bill passes with more than half of all seats; a tie fails, and an absent seat is not a yes
(C-11, C-12). The tally depends on the ballots alone: anyone can count them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from moot.protocols.parliament import round_clock
from moot.protocols.parliament.messages.contents import (
    AmendmentAction,
    AmendmentStatus,
    Ballot,
    BillDraft,
    BillSection,
    NextAction,
    Objection,
    Position,
    Sections,
    Tally,
    VoteTally,
)
from moot.protocols.parliament.messages.limits import is_majority
from moot.protocols.parliament.model import (
    Amendment,
    AmendmentEndorsement,
    Bill,
    CastVote,
    OpenBallot,
    State,
    VoteRow,
)


def seats_without_vote(state: State) -> tuple[str, ...]:
    """Seats that have not voted on the open ballot."""
    poll = state.poll
    return () if poll is None else tuple(seat for seat in state.order if seat not in poll.votes)


def is_ready_to_count(state: State) -> bool:
    """True if everyone voted, or the ballot was closed without the missing votes."""
    return state.poll is not None and (state.poll.closed or not seats_without_vote(state))


def count_votes(state: State, poll: OpenBallot) -> VoteTally:
    """PAR-071: the announcement, from the ballots alone."""
    yes = tuple(seat for seat in state.order if _has_voted(poll, seat, Ballot.YES))
    no = tuple(seat for seat in state.order if _has_voted(poll, seat, Ballot.NO))
    passed = is_majority(len(yes), len(state.order))
    return VoteTally(
        bill_version=poll.bill_version,
        yes_votes=yes,
        no_votes=no,
        tally=Tally(yes=len(yes), no=len(no), total=len(state.order)),
        passed=passed,
        key_objections=tuple(Objection(seat, poll.votes[seat].concern) for seat in no),
        next_action=choose_next_action(state, passed),
    )


def _has_voted(poll: OpenBallot, seat: str, vote: Ballot) -> bool:
    cast: CastVote | None = poll.votes.get(seat)
    return cast is not None and cast.vote is vote


def choose_next_action(state: State, passed: bool) -> NextAction:
    """PAR-072: what passed goes to the prime minister; a last defeat ends the session (C-17)."""
    if passed:
        return NextAction.ADVANCE_TO_PM
    return (
        NextAction.END_WITHOUT_PASSAGE
        if round_clock.is_last_round(state)
        else NextAction.CONTINUE_DEBATE
    )


def make_history_row(content: VoteTally, poll: OpenBallot) -> VoteRow:
    """C-32: what `vote_history` keeps of a tally."""
    count = content.tally
    return VoteRow(
        poll.round,
        content.bill_version,
        count.yes,
        count.no,
        count.total,
        content.passed,
        poll.forced,
    )


def has_voted_this_round(state: State) -> bool:
    """True if this round had its ballot: after a defeat or a veto the next round comes first."""
    return bool(state.vote_history) and state.vote_history[-1].round == state.round.number


# Amendments: positions, the threshold, rejection, and how one becomes part of the bill.
#
# An amendment is carried by the proposer and one other seat, or by the drafter's endorsement. More
# against than for reject it once the discussion is over, and that is checked first (C-23). Being
# carried only permits: the bill changes with its next version (C-24).

UNCLEAR_AFTER: Final = 2  # PAR-117: so many exchanges about it
# A seat may have so many pending, and propose so many in a round. A round's summary names all that
# were settled and must fit into one event.
MAX_PER_SEAT: Final = 6
_ID_IN_TEXT: Final = re.compile(r"\bamend-[0-9]{3,9}\b")

replace = msgspec.structs.replace


def find_amendment_ids(*texts: str) -> tuple[str, ...]:
    """Return the amendments that a text names."""
    ids = (name for text in texts for name in _ID_IN_TEXT.findall(text))
    return tuple(dict.fromkeys(ids))


def next_amendment_id(state: State) -> str:
    """Return a free id: one more than the highest."""
    highest = max((int(name.removeprefix("amend-")) for name in state.amendments), default=0)
    return f"amend-{highest + 1:03d}"


def count_positions(amendment: Amendment, position: Position) -> int:
    return sum(row.position is position for row in amendment.endorsements)


def register_position(amendment: Amendment, row: AmendmentEndorsement) -> Amendment:
    """PAR-039: a seat's latest position takes the place of its earlier one."""
    others = tuple(
        endorsement
        for endorsement in amendment.endorsements
        if endorsement.agent_id != row.agent_id
    )
    return replace(amendment, endorsements=(*others, row))


def count_exchange(amendment: Amendment) -> Amendment:
    """C-43: one more exchange was about it."""
    return replace(amendment, status=AmendmentStatus.DEBATING, exchanges=amendment.exchanges + 1)


def is_opposed(amendment: Amendment) -> bool:
    """PAR-118: more against than for, of the positions that were registered."""
    return count_positions(amendment, Position.OPPOSE) > count_positions(
        amendment, Position.ENDORSE
    )


def is_carried(amendment: Amendment, drafter: str | None) -> bool:
    """PAR-114, PAR-115 and PAR-116: the drafter, or anyone but the proposer, endorses it.

    After a formal vote the majority of positions decides (C-25).
    """
    if is_opposed(amendment):
        return False
    endorsers = {row.agent_id for row in amendment.endorsements if row.position is Position.ENDORSE}
    if amendment.formal:
        return len(endorsers) > count_positions(amendment, Position.OPPOSE)
    return drafter in endorsers or bool(endorsers - {amendment.proposed_by})


def list_opposed(state: State) -> Iterator[Amendment]:
    """Pending amendments that fall when the discussion ends."""
    return (amendment for amendment in state.pending_amendments() if is_opposed(amendment))


def section_text(sections: Sections, name: BillSection) -> str | None:
    """Return the plain text of a section; the scope is a set of lists and has none."""
    text = getattr(sections, name)
    return text if isinstance(text, str) else None


def apply_amendment(bill: Bill, amendment: Amendment) -> BillDraft | None:
    """C-26: the next version, changed exactly as proposed; None if only the drafter can word it."""
    text = section_text(bill.sections, amendment.target_section)
    if text is None:
        return None
    changed = _apply_to_text(text, amendment)
    if changed is None or changed == text:
        return None
    sections = replace(bill.sections, **{str(amendment.target_section): changed})
    return BillDraft(bill.version + 1, bill.title, bill.summary, sections)


def _apply_to_text(text: str, amendment: Amendment) -> str | None:
    new = amendment.proposed_text.strip()
    if not new:
        return None
    match amendment.action:
        case AmendmentAction.ADD:
            return f"{text.rstrip()}\n\n{new}" if text.strip() else new
        case AmendmentAction.REPLACE:
            return new
        case AmendmentAction.REMOVE:
            exact = amendment.proposed_text if amendment.proposed_text in text else new
            return text.replace(exact, "", 1).strip() if exact in text else None
        case AmendmentAction.MODIFY:
            return None


def check_draft(bill: Bill, amendment: Amendment, draft: BillDraft) -> Iterator[tuple[str, str]]:
    """Yield what a drafter's version of an amendment gets wrong: why, and in which section."""
    target = amendment.target_section
    for name in BillSection:
        same = getattr(bill.sections, name) == getattr(draft.sections, name)
        if name is target and same:
            yield f"{name} is unchanged", f"draft.sections.{name}"
        elif name is not target and not same:
            yield (
                f"{amendment.amendment_id} concerns {target}, not {name}",
                f"draft.sections.{name}",
            )
    text, new = section_text(draft.sections, target), amendment.proposed_text.strip()
    if text is not None and new and not _follows_action(text, new, amendment.action):
        yield f"{target} does not {amendment.action} the text", f"draft.sections.{target}"


def _follows_action(text: str, new: str, action: AmendmentAction) -> bool:
    return {
        AmendmentAction.ADD: new in text,
        AmendmentAction.REPLACE: text.strip() == new,
        AmendmentAction.REMOVE: new not in text,
        AmendmentAction.MODIFY: True,
    }[action]

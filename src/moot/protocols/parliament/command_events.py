"""The events that each accepted command records, and those that a malformed reply leaves behind.

The rules have already accepted the command: nothing here refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from moot.core.clock import Millis
from moot.core.findings import Finding, select_errors
from moot.core.machine import C, Command, Draft, Event, fill_from
from moot.core.record import ArtifactRef
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import discipline, motives, round_clock, votes
from moot.protocols.parliament import discipline as concessions
from moot.protocols.parliament import events as did
from moot.protocols.parliament import motives as choice
from moot.protocols.parliament import votes as amendments
from moot.protocols.parliament.case import (
    AnyMessageCase,
    DecisionCase,
    MessageCase,
    ParliamentCase,
    RulingCase,
)
from moot.protocols.parliament.evolution import apply_event, normalize_topic
from moot.protocols.parliament.message_checks import count_budget_sentences
from moot.protocols.parliament.messages import contents, limits
from moot.protocols.parliament.messages.contents import (
    SPEAKER,
    AmendmentStatus,
    Kind,
    MotionType,
    NextAction,
    PrimeMinisterChoice,
    RulingAction,
    RulingType,
    SessionStatus,
    VoteTally,
)
from moot.protocols.parliament.messages.message import Response, make_message, to_document
from moot.protocols.parliament.model import STREAM_NAME, Amendment, Seat, State, message_order
from moot.protocols.parliament.round_clock import draw_temperatures
from moot.protocols.parliament.summaries import summarize_round, with_facts


class Minutes:
    """The events of one decision, in order, and the state they lead to.

    Each event is applied at once: otherwise two messages of one decision would get the same
    number, and a summary would not see how its round ended.
    """

    def __init__(self, state: State, now: Millis) -> None:
        self.state = state
        self.drafts: list[Draft] = []
        self._now = now

    def add_event(self, event: Event, *artifacts: ArtifactRef) -> None:
        self.drafts.append(Draft(event, artifacts))
        self.state = apply_event(self.state, event)

    def log_message(
        self, response: Response, cut_to: int | None = None, artifacts: tuple[ArtifactRef, ...] = ()
    ) -> str:
        """PAR-001 and PAR-082: every response becomes a message of the ledger; returns its id."""
        state = self.state
        message = make_message(response, state.next_message_id, state.round.number, self._now)
        self.add_event(did.MessageLogged(message=to_document(message), cut_to=cut_to), *artifacts)
        return message.id

    def give_ruling(
        self, kind: RulingType, action: RulingAction, target: str | None, text: str
    ) -> None:
        """Log a ruling now; only for commands that the speaker itself gives."""
        content = contents.SpeakerRuling(kind, text, target, action)
        self.log_message(Response(type=Kind.SPEAKER_RULING, sender=SPEAKER, content=content))

    def owe_ruling(
        self, kind: RulingType, action: RulingAction, target: str | None, text: str
    ) -> None:
        """Note a ruling that someone else's act calls for; the speaker gives it later.

        A seat's decision is signed with the seat's key, so the speaker's message cannot be in it.
        """
        self.add_event(did.RulingOwed(ruling_type=kind, action=action, target=target, ruling=text))


def record_ruling(case: RulingCase, minutes: Minutes) -> None:
    """Log a ruling of the speaker, and do what it rules."""
    _RULINGS.get(case.content.action, _log_ruling)(case, minutes)


def _log_ruling(case: RulingCase, minutes: Minutes) -> None:
    """PAR-060, PAR-063, PAR-064 and PAR-065: these rulings say something and change no status."""
    minutes.log_message(case.response)


def _start_round(case: RulingCase, minutes: Minutes) -> None:
    state, number = case.state, case.state.round.number + 1
    temperatures = draw_temperatures(
        f"{state.parliament_id}\n{case.command.seed}", number, len(state.order)
    )
    minutes.add_event(did.RoundStarted(round=number, temperatures=temperatures))
    minutes.log_message(case.response)


def _end_round(case: RulingCase, minutes: Minutes) -> None:
    """PAR-067: a round that ends is summed up."""
    minutes.log_message(case.response)
    _close_round(minutes)
    _sum_up(minutes)


def _close_round(minutes: Minutes) -> None:
    """What was not answered or was put off stays open (C-34, C-42); what most oppose falls."""
    for amendment in amendments.list_opposed(minutes.state):
        minutes.add_event(_settled_event(amendment, AmendmentStatus.REJECTED))
    this = minutes.state.round
    waiting = sorted(this.questions.values(), key=message_order)
    tabled = [
        motion for motion in this.motions.values() if motion.type is MotionType.TABLE_DISCUSSION
    ]
    issues = [
        f"{question.topic} ({question.id} to {question.asked} is unanswered)"
        for question in waiting
    ]
    issues += [
        f"{motion.reason} ({motion.id}, put off)" for motion in sorted(tabled, key=message_order)
    ]
    minutes.add_event(did.RoundEnded(round=this.number, open_issues=tuple(issues)))


def _sum_up(minutes: Minutes) -> None:
    """PAR-119. Where someone replaced the clerk's summary, its words stay; only facts change."""
    state = minutes.state
    summary, replacement = summarize_round(state, state.round.open_issues), state.round.told
    if replacement is not None:
        summary = with_facts(replacement, summary)
    minutes.add_event(did.RoundSummarized(summary=summary, told=replacement is not None))


def _call_vote(case: RulingCase, minutes: Minutes) -> None:
    """PAR-062: an order may end the debate and call a vote."""
    forced = not motives.all_served(case.state)
    minutes.log_message(case.response)
    if minutes.state.round.running:
        _close_round(minutes)
    bill = minutes.state.bill
    version = bill.version if bill is not None else 0
    minutes.add_event(did.VoteCalled(bill_version=version, forced=forced))
    for seat in discipline.list_expelled_without_vote(minutes.state):
        _log_default_vote(minutes, seat)


_RULINGS: Final[dict[RulingAction, Callable[[RulingCase, Minutes], None]]] = {
    RulingAction.ROUND_START: _start_round,
    RulingAction.ROUND_END: _end_round,
    RulingAction.CALL_VOTE: _call_vote,
}


def _log_default_vote(minutes: Minutes, seat: Seat) -> None:
    content = discipline.make_default_vote(seat)
    minutes.log_message(Response(type=Kind.VOTE, sender=seat.id, content=content))


def record_default_vote(case: ParliamentCase[ask.CastDefaultVote], minutes: Minutes) -> None:
    _log_default_vote(minutes, case.state.seats[case.command.seat])


def record_closed_ballot(case: ParliamentCase[ask.CloseBallot], minutes: Minutes) -> None:
    """Closing a closed ballot again records nothing."""
    poll = case.state.poll
    if poll is not None and not poll.closed:
        minutes.add_event(did.BallotClosed(missing=votes.seats_without_vote(case.state)))


def record_count(case: ParliamentCase[ask.CountVotes], minutes: Minutes) -> None:
    """The clerk counts the ballots and announces the result as the speaker's tally."""
    poll = case.state.poll
    assert poll is not None
    content = votes.count_votes(case.state, poll)
    minutes.log_message(Response(type=Kind.VOTE_TALLY, sender=SPEAKER, content=content))
    _follow(minutes, content.next_action)


def record_tally(case: MessageCase[ask.Submit, VoteTally], minutes: Minutes) -> None:
    """Someone else brought the tally; the rules have counted it again."""
    minutes.log_message(case.response)
    _follow(minutes, case.content.next_action)


# PAR-072: a bill that passed advances to the prime minister.
_FOLLOWS: Final[dict[NextAction, Callable[[], Event]]] = {
    NextAction.ADVANCE_TO_PM: did.BillPassed,
    NextAction.CONTINUE_DEBATE: did.BillDefeated,
    NextAction.END_WITHOUT_PASSAGE: did.PassageFailed,
}


def _follow(minutes: Minutes, action: NextAction) -> None:
    minutes.add_event(_FOLLOWS[action]())
    _sum_up(minutes)


def _settled_event(amendment: Amendment, status: AmendmentStatus) -> Event:
    return did.AmendmentSettled(amendment_id=amendment.amendment_id, status=status)


def settle_amendment(minutes: Minutes, amendment: Amendment, status: AmendmentStatus) -> None:
    """Settle an amendment; after the round's end its summary is written again, to hold it too."""
    minutes.add_event(_settled_event(amendment, status))
    this = minutes.state.round
    if this.number and not this.running:
        _sum_up(minutes)


# So many exchanges on one topic without anyone moving: the debate goes in circles.
CIRCLE_AFTER_EXCHANGES: Final = 4
# A path into a reply can be as long as the reply; the event keeps so many characters of it.
_MAX_WHERE: Final = 200
_ORDER: Final = RulingType.ORDER

Exchange = TypeVar("Exchange", bound=contents.Question | contents.Answer)

replace = msgspec.structs.replace


def record_command(case: ParliamentCase[Any]) -> tuple[Draft, ...]:
    """Return what this command records."""
    minutes = Minutes(case.state, case.context.now)
    if isinstance(case, MessageCase):
        _MESSAGES.get(case.response.type, _log)(case, minutes)
    else:
        _COMMANDS[type(case.command)](case, minutes)
    return tuple(minutes.drafts)


def record_malformed_reply(
    case: ParliamentCase[Command],
    seat: Seat,
    findings: tuple[Finding, ...],
    raw: ArtifactRef | None,
) -> tuple[Draft, ...]:
    """A reply that cannot be used is counted; after the second in a row its seat is expelled."""
    minutes, first = Minutes(case.state, case.context.now), select_errors(findings)[0]
    count = seat.malformed + 1
    event = did.ReplyMalformed(
        seat=seat.id, code=first.code, where=(first.where or "")[:_MAX_WHERE], count=count
    )
    minutes.add_event(event, *((raw,) if raw is not None else ()))
    if count >= discipline.MALFORMED_LIMIT:
        minutes.add_event(did.SeatExpelled(seat=seat.id))
        text = f"{seat.name} sent {count} malformed replies in a row and is expelled."
        minutes.owe_ruling(_ORDER, RulingAction.REDIRECT, seat.id, text)
    return tuple(minutes.drafts)


# Setup, statements, drafting.


def _convene(case: ParliamentCase[ask.Convene], minutes: Minutes) -> None:
    command = case.command
    name = STREAM_NAME.match(case.context.stream)
    parliament_id = name[1] if name is not None else ""
    temperatures = draw_temperatures(f"{parliament_id}\n{command.seed}", 0, len(command.seats))
    seats = tuple(
        did.Seated(
            f"rep_{number}",
            plan.name,
            plan.motives,
            plan.agent,
            plan.bound,
            temperature,
            plan.epoch,
        )
        for number, (plan, temperature) in enumerate(
            zip(command.seats, temperatures, strict=True), 1
        )
    )
    minutes.add_event(
        fill_from(did.ParliamentConvened, command, parliament_id=parliament_id, seats=seats)
    )


def _import(case: ParliamentCase[ask.Import], minutes: Minutes) -> None:
    """Turn files into events; the first one cites the files, so that both can be compared."""
    from moot.protocols.parliament.session_files import FilesAsEvents  # heavy, and rare

    imported = FilesAsEvents(case.command)
    minutes.drafts = [Draft(event) for event in imported.events]
    minutes.drafts[0] = Draft(imported.events[0], case.command.files)
    minutes.state = imported.state


def _bind_seat(case: ParliamentCase[ask.BindSeat], minutes: Minutes) -> None:
    """Bind the seat; nothing if the agent has it already."""
    command = case.command
    seat = case.state.seats[command.seat]
    if (seat.agent, seat.epoch) != (command.agent, command.epoch):
        event = did.SeatBound(seat=command.seat, agent=command.agent, epoch=command.epoch)
        minutes.add_event(event)


def _choose_drafter(case: ParliamentCase[ask.ChooseDrafter], minutes: Minutes) -> None:
    best = choice.choose_drafter(case.state)
    seat, why = best if best is not None else ("", "")
    if case.command.seat is not None:
        seat, why = case.command.seat, "named by the clerk"
    first = case.state.status is SessionStatus.EVALUATING_STATEMENTS
    event = did.DrafterChosen if first else did.DrafterReplaced
    minutes.add_event(event(seat=seat, why=why))


def _log(case: AnyMessageCase, minutes: Minutes) -> None:
    """PAR-051: most messages, a motion too, are only logged; their effects are in
    `evolution.py`."""
    minutes.log_message(case.response)


def _log_draft(case: MessageCase[ask.Submit, contents.BillDraft], minutes: Minutes) -> None:
    minutes.log_message(case.response)
    if case.state.status is SessionStatus.DRAFTING:
        minutes.add_event(did.DebateOpened())


# Questions and answers.


def _log_exchange(case: MessageCase[ask.Submit, Exchange], minutes: Minutes) -> None:
    """Log a question or an answer, cut if it is too long, and its motion separately (C-29)."""
    response, raw, budget = case.response, case.command.raw, round_clock.sentence_budget(case.state)
    motion, bare = response.motion, replace(response, motion=None)
    cut = raw is not None and count_budget_sentences(case.content) > budget
    if cut:
        bare = replace(bare, content=_cut(case.content, budget))
    message = minutes.log_message(
        bare, budget if cut else None, (raw,) if cut and raw is not None else ()
    )
    if motion is not None:  # PAR-026 and PAR-040
        minutes.log_message(
            Response(type=Kind.MOTION, sender=response.sender, content=motion, in_reply_to=message)
        )
    if cut:
        text = f"{message} was cut to {budget} sentences; what was sent is kept beside the record."
        minutes.owe_ruling(_ORDER, RulingAction.REDIRECT, response.sender, text)


def _cut(
    content: contents.Question | contents.Answer, budget: int
) -> contents.Question | contents.Answer:
    """PAR-107 and C-08: the first sentences; of an answer its concessions come last."""
    if isinstance(content, contents.Question):
        return replace(content, question=limits.cut(content.question, budget))
    answer = limits.cut(content.answer, budget)
    left = max(0, budget - limits.count(answer))
    return replace(content, answer=answer, concessions=limits.cut(content.concessions, left))


def _log_answer(case: MessageCase[ask.Submit, contents.Answer], minutes: Minutes) -> None:
    """Log it; the speaker owes a ruling on an early concession or a debate in circles."""
    this, stance = case.state.round, case.content.stance
    question = this.questions[case.response.in_reply_to or ""]
    _log_exchange(case, minutes)
    if concessions.is_too_early(stance, this.number):
        seat = case.state.seats[case.response.sender]
        text = concessions.redirect_text(seat.name, stance, this.number)
        minutes.owe_ruling(_ORDER, RulingAction.REDIRECT, seat.id, text)
    if minutes.state.round.topics.get(normalize_topic(question.topic)) == CIRCLE_AFTER_EXCHANGES:
        exchanges = f"{CIRCLE_AFTER_EXCHANGES} exchanges on {question.topic!r}"
        text = f"{exchanges} and nobody moved: we go in circles."
        warning = RulingAction.DEADLOCK_WARNING
        minutes.owe_ruling(RulingType.OBSERVATION, warning, None, text)


def _give_owed_ruling(_case: ParliamentCase[ask.GiveOwedRuling], minutes: Minutes) -> None:
    owed = minutes.state.owed[0]
    minutes.give_ruling(owed.ruling_type, owed.action, owed.target, owed.ruling)
    minutes.add_event(did.RulingGiven())


# Amendments.


def _named_amendment(case: ParliamentCase[C]) -> Amendment:
    """Return the amendment, which the rules have found."""
    assert case.amendment is not None
    return case.amendment


def _incorporate(case: ParliamentCase[ask.Incorporate], minutes: Minutes) -> None:
    amendment, bill = _named_amendment(case), case.state.bill
    assert bill is not None
    content = case.draft or votes.apply_amendment(bill, amendment)
    assert content is not None
    sender = case.state.drafter or ""
    minutes.log_message(Response(type=Kind.BILL_DRAFT, sender=sender, content=content))
    settle_amendment(minutes, amendment, AmendmentStatus.INCORPORATED)


def _withdraw(case: ParliamentCase[ask.Withdraw], minutes: Minutes) -> None:
    settle_amendment(minutes, _named_amendment(case), AmendmentStatus.WITHDRAWN)


def _conclude_amendment(case: ParliamentCase[ask.ConcludeAmendment], minutes: Minutes) -> None:
    """PAR-118: a tie leaves it as it is."""
    amendment = _named_amendment(case)
    if votes.is_opposed(amendment):
        settle_amendment(minutes, amendment, AmendmentStatus.REJECTED)


def _call_amendment_vote(case: ParliamentCase[ask.CallAmendmentVote], minutes: Minutes) -> None:
    """C-25: the speaker announces it; positions come with the answers."""
    amendment = _named_amendment(case)
    decided = {row.agent_id for row in amendment.endorsements}
    able = [seat for seat in case.state.seats_in_order() if not seat.is_quiet and not seat.expelled]
    first = next((seat.id for seat in able if seat.id not in decided), amendment.proposed_by)
    text = f"Formal vote on {amendment.amendment_id}: every seat takes a position, {first} first."
    minutes.give_ruling(_ORDER, RulingAction.REDIRECT, first, text)
    minutes.add_event(did.AmendmentVoteCalled(amendment_id=amendment.amendment_id))


# The prime minister, and the end.


def _log_decision(case: DecisionCase, minutes: Minutes) -> None:
    """PAR-077 and PAR-078: a veto sends the bill back, an approval leads to the final document."""
    minutes.log_message(case.response)
    match case.content.decision:
        case PrimeMinisterChoice.APPROVE:
            minutes.add_event(did.BillApproved())
        case PrimeMinisterChoice.AMEND_AND_APPROVE:
            assert case.draft is not None
            minutes.add_event(did.BillAmended(draft=case.draft))
        case PrimeMinisterChoice.VETO:
            minutes.add_event(_veto_event(case))


def _veto_event(case: DecisionCase) -> Event:
    """C-18: back to the debate while a round is left, or was granted."""
    granted = case.command.extend_rounds if isinstance(case.command, ask.Decide) else 0
    rounds = case.state.max_rounds + granted
    if case.state.round.number < rounds:
        return did.BillReturned(max_rounds=rounds)
    return did.BillRejected()


def _summarize(case: ParliamentCase[ask.Summarize], minutes: Minutes) -> None:
    minutes.add_event(did.RoundSummarized(summary=case.command.summary, told=True))


def _complete(case: ParliamentCase[ask.Complete], minutes: Minutes) -> None:
    document = case.command.document
    minutes.add_event(did.SessionCompleted(), *((document,) if document is not None else ()))


def _only(event: Callable[[], Event]) -> Callable[[ParliamentCase[Any], Minutes], None]:
    """For a command that records this one event, which has no fields."""
    return lambda _case, minutes: minutes.add_event(event())


_MESSAGES: Final[dict[Kind, Callable[[MessageCase[Any, Any], Minutes], None]]] = {
    Kind.BILL_DRAFT: _log_draft,
    Kind.QUESTION: _log_exchange,
    Kind.ANSWER: _log_answer,
    Kind.SPEAKER_RULING: record_ruling,
    Kind.VOTE_TALLY: record_tally,
    Kind.PM_DECISION: _log_decision,
}
_COMMANDS: Final[dict[type[Command], Callable[[ParliamentCase[Any], Minutes], None]]] = {
    ask.Convene: _convene,
    ask.Import: _import,
    ask.BindSeat: _bind_seat,
    ask.Begin: _only(did.StatementsOpened),
    ask.CloseStatements: _only(did.StatementsClosed),
    ask.ChooseDrafter: _choose_drafter,
    ask.EndUndrafted: _only(did.PassageFailed),
    ask.GiveOwedRuling: _give_owed_ruling,
    ask.Incorporate: _incorporate,
    ask.Withdraw: _withdraw,
    ask.ConcludeAmendment: _conclude_amendment,
    ask.CallAmendmentVote: _call_amendment_vote,
    ask.CloseBallot: record_closed_ballot,
    ask.CastDefaultVote: record_default_vote,
    ask.CountVotes: record_count,
    ask.Summarize: _summarize,
    ask.Complete: _complete,
}

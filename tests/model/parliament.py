"""A parliament of three seats with its speaker and a prime minister, from its first bell on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from moot.core.machine import Recorded
from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.machine import MACHINE, TRANSITIONS
from moot.protocols.parliament.messages.contents import SessionStatus
from tests.model.small_world import Act, Scene, SmallWorld, Step, Taken
from tests.parliament import scene as papers
from tests.parliament.scene import AGENTS, MOTIVES, PERSON, STREAM

SEATS = 3
NUMBERS = range(1, SEATS + 1)
DECISIONS = ("approve", "veto", "amend_and_approve", "opening_guidance")
SETTLING = (ask.Incorporate, ask.Withdraw, ask.ConcludeAmendment, ask.CallAmendmentVote)


def _submit(number: int, document: Any) -> Act:
    return Act(AGENTS[number - 1], ask.Submit(document=document))


def _rule(document: Any) -> Act:
    return Act(SYSTEM, ask.Submit(document=document))


def _scores(number: int, value: int) -> dict[str, int]:
    return dict.fromkeys(MOTIVES[number - 1], value)


def _answer(question: str, number: int) -> Any:
    return papers.answer(number, (number - 2) % SEATS + 1, question, _scores(number, 4))


class Parliament(SmallWorld):
    """`memory` are the votes of the open ballot: seat and word."""

    machine = MACHINE
    stream = STREAM

    def find_openings(self) -> dict[str, Scene]:
        empty = Scene(MACHINE.initial, memory=frozenset())
        convened = self.play(empty, Act(SYSTEM, papers.convene(SEATS, max_rounds=2, seed="a")))
        opened = self.play(convened, Act(SYSTEM, ask.Begin()))
        for number in NUMBERS:
            opened = self.play(opened, _submit(number, papers.statement(number)))
        drafting = self.play(opened, Act(SYSTEM, ask.ChooseDrafter(seat="rep_1")))
        debating = self.play(drafting, _submit(1, papers.bill()), _rule(papers.ROUND_START))
        heard = debating
        for asker, asked in ((1, 2), (2, 3), (3, 1)):
            id_ = f"msg-{heard.state.next_message_id:03d}"
            reply = papers.answer(asked, asker, id_, _scores(asked, 4))
            heard = self.play(
                heard, _submit(asker, papers.question(asker, asked)), _submit(asked, reply)
            )
        voting = self.play(heard, _rule(papers.CALL_VOTE))
        return {
            "convened": convened,
            "all have opened": opened,
            "debating": debating,
            "all were heard": heard,
            "voting": voting,
        }

    def list_steps(self, scene: Scene) -> Iterable[Step]:
        status = scene.state.status
        yield Act(SYSTEM, ask.Begin())
        for number in NUMBERS:
            yield from self._words_of(scene, number)
        for ruling in (papers.ROUND_START, papers.ROUND_END, papers.CALL_VOTE):
            yield _rule(ruling)
        for command in (ask.ChooseDrafter(seat="rep_2"), ask.CloseBallot(), ask.CountVotes()):
            yield Act(SYSTEM, command)
        yield Act(SYSTEM, ask.CloseStatements())
        yield Act(SYSTEM, ask.Complete())
        yield Act(AGENTS[0], ask.CountVotes())
        if status is SessionStatus.PM_REVIEW:
            for word in DECISIONS:
                bill = papers.draft(scene.state.bill.version + 1)
                draft = bill if word == "amend_and_approve" else None
                decide = ask.Decide(decision=word, reason="so", guidance="more", draft=draft)
                yield Act(PERSON, decide)
                yield Act(AGENTS[0], decide)

    def _words_of(self, scene: Scene, number: int) -> Iterable[Step]:
        state, next_seat = scene.state, number % SEATS + 1
        match state.status:
            case SessionStatus.DEBATE:
                yield _submit(number, papers.question(number, next_seat))
                for question in state.round.questions:
                    yield _submit(number, _answer(question, number))
                if len(state.amendments) < 2:
                    yield _submit(number, papers.amendment(number, _next_amendment(state)))
                yield _submit(number, papers.motion(number))
                for kind in SETTLING:
                    yield Act(SYSTEM, kind(amendment_id="amend-001"))
                yield Act(AGENTS[number - 1], ask.Withdraw(amendment_id="amend-001"))
            case SessionStatus.VOTING:
                for word in ("YES", "NO"):
                    yield _submit(number, papers.vote(number, word, _scores(number, 4)))
            case _:
                yield _submit(number, papers.statement(number))
                yield _submit(number, papers.bill(number, _next_version(state)))
        if state.seats[f"rep_{number}"].malformed < 2 and number == 1:
            yield _submit(number, {"type": "QUESTION"})

    def is_final(self, scene: Scene) -> bool:
        return scene.state.status is SessionStatus.COMPLETE

    def remember(self, memory: Any, recorded: Recorded[Any]) -> Any:
        event = recorded.event
        if not isinstance(event, did.MessageLogged):
            return memory
        if event.message["type"] == "VOTE":
            return memory | {(event.message["from"], event.message["content"]["vote"])}
        return frozenset() if event.message["type"] == "VOTE_TALLY" else memory

    def find_flaws_of_step(self, before: Scene, _step: Step, taken: Taken) -> Iterator[str]:
        old, new = before.state.status, taken.scene.state.status
        if old is not None and new not in _later(old):
            yield f"{old} went to {new}, which no row of the table allows"
        for tally in (_tally_in(one) for one in taken.recorded):
            if tally is not None:
                seats = {seat for seat, _ in before.memory}
                counted = {*tally["yes_votes"], *tally["no_votes"]}
                if not seats <= counted:
                    yield f"votes of {sorted(seats - counted)} were not counted"

    def find_flaws(self, scene: Scene) -> Iterator[str]:
        state = scene.state
        if (state.poll is not None) is not (state.status is SessionStatus.VOTING):
            yield "a ballot is open, and nobody votes, or the other way round"
        voters = [seat for seat, _ in scene.memory]
        if len(set(voters)) != len(voters):
            yield "somebody has voted twice"
        over = state.status in (None, SessionStatus.COMPLETE)
        if not over and not self.machine.agenda(state, scene.now):
            yield f"nobody is asked to go on in {state.status}"
        pending = [one.amendment_id for one in state.amendments_in_order() if one.pending]
        if list(state.pending) != pending:
            yield "an amendment waits, and is not listed"


def _tally_in(recorded: Recorded[Any]) -> Any:
    event = recorded.event
    if isinstance(event, did.MessageLogged) and event.message["type"] == "VOTE_TALLY":
        return event.message["content"]
    return None


def _next_amendment(state: Any) -> str:
    return f"amend-{len(state.amendments) + 1:03d}"


def _next_version(state: Any) -> int:
    return 1 if state.bill is None else int(state.bill.version) + 1


def _later(status: SessionStatus) -> set[SessionStatus]:
    """A command may log several messages, so it may go several rows on."""
    found, more = {status}, [status]
    while more:
        after = set(TRANSITIONS[more.pop()].values()) - found
        found |= after
        more += after
    return found

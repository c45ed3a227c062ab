"""What holds in every history: numbers, votes, the clock, and a machine that never gets stuck."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from moot.core.clock import parse_time
from moot.core.machine import Context, KeyClass, Recorded, VerifiedActor
from moot.core.names import SYSTEM
from moot.core.paged_map import decode_state, encode_state
from moot.core.record import Actor
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament import motives, round_clock
from moot.protocols.parliament.machine import MACHINE, TRANSITIONS
from moot.protocols.parliament.messages import limits
from moot.protocols.parliament.messages.contents import Ballot, Kind, SessionStatus
from moot.protocols.parliament.messages.message import message_findings
from moot.protocols.parliament.model import State
from moot.protocols.parliament.views import view_session
from tests.sampling import examples

from . import scene
from .samples import CONTENTS, SENDERS
from .scene import AGENTS, PERSON, STREAM

NOON = parse_time("2026-02-18T12:00:00.000Z")
SEATS = 3
_seat = st.integers(1, SEATS)
_anyone = st.integers(0, SEATS + 1)
_score = st.integers(1, 5)
_amendment = st.sampled_from(["amend-001", "amend-002", "amend-003"])
_action = st.sampled_from(["add", "modify", "remove", "replace"])
_ruling = st.sampled_from(
    [
        ("order", "redirect"),
        ("order", "quiet"),
        ("order", "call_vote"),
        ("observation", "deadlock_warning"),
        ("observation", "progress_note"),
        ("procedure", "next_speaker"),
        ("procedure", "round_start"),
        ("procedure", "round_end"),
    ]
)
_word = st.sampled_from(["approve", "veto", "amend_and_approve", "opening_guidance"])
KINDS = {SYSTEM: KeyClass.SYSTEM, PERSON: KeyClass.HUMAN}


class Session(RuleBasedStateMachine):
    """Random acts on the pure machine, by the right people and the wrong ones."""

    def __init__(self) -> None:
        super().__init__()
        self.state: State = MACHINE.initial
        self.seq = 0
        self.messages: list[dict[str, Any]] = []
        self.statuses: list[SessionStatus | None] = [None]

    @initialize(rounds=st.integers(1, 4), seed=st.text(max_size=4), steps=st.integers(0, 12))
    def convene(self, rounds: int, seed: str, steps: int) -> None:
        assert self.act(SYSTEM, scene.convene(SEATS, max_rounds=rounds, seed=seed))
        for _ in range(steps):
            self.go_on("YES", "veto")

    def act(self, who: str, command: Any) -> bool:
        """Decide and record, what follows by itself first; True if it was accepted."""
        for _ in range(20):
            due = list(MACHINE.timeouts(self.state, NOON))
            if not due:
                break
            assert self.one(SYSTEM, due[0]), f"{due[0]} was due and refused"
        return self.one(who, command)

    def one(self, who: str, command: Any) -> bool:
        kind = KINDS.get(who, KeyClass.AGENT)
        context = Context(NOON, VerifiedActor(who, 1, "k", kind), STREAM, "o", {})
        decision = MACHINE.decide(self.state, command, context)
        before, count = self.state, len(self.messages)
        for draft in decision.drafts:
            self.record(who, draft.event)
        if decision.refused:
            assert decision.findings
            assert all(finding.rule and finding.hint for finding in decision.findings)
            assert len(self.messages) == count
            if not decision.drafts:
                assert self.state == before
        return not decision.refused

    def record(self, who: str, event: Any) -> None:
        recorded: Recorded[Any] = Recorded(event, STREAM, self.seq, NOON, Actor(who, 1, "k"), b"")
        self.seq += 1
        list(MACHINE.index(recorded))
        self.state = MACHINE.evolve(self.state, recorded)
        if isinstance(event, did.MessageLogged):
            self.messages.append(event.message)
        if self.state.status is not self.statuses[-1]:
            self.statuses.append(self.state.status)

    def agent(self, number: int) -> str:
        return [SYSTEM, *AGENTS[:SEATS], PERSON][number]

    def submit(self, document: Any, who: str, **more: Any) -> bool:
        return self.act(who, ask.Submit(document=document, **more))

    def scores(self, number: int, value: int) -> dict[str, int]:
        return dict.fromkeys(scene.MOTIVES[number - 1], value)

    @rule(who=_anyone)
    def begin(self, who: int) -> None:
        self.act(self.agent(who), ask.Begin())

    @rule(number=_seat, who=_anyone)
    def open(self, number: int, who: int) -> None:
        self.submit(scene.statement(number), self.agent(who))

    @rule()
    def open_all(self) -> None:
        self.act(SYSTEM, ask.Begin())
        for number in range(1, SEATS + 1):
            self.submit(scene.statement(number), self.agent(number))
        self.act(SYSTEM, ask.ChooseDrafter())
        drafter = int((self.state.drafter or "rep_1")[4:])
        if self.state.bill is None:
            self.submit(scene.bill(drafter), self.agent(drafter))

    @rule(ballot=st.sampled_from(["YES", "NO"]), word=_word)
    def go_on(self, ballot: str, word: str) -> None:
        """One natural step, whatever the phase."""
        state = self.state
        match state.status:
            case SessionStatus.DEBATE if not state.round.running and not round_clock.is_last_round(
                state
            ):
                self.submit(scene.ROUND_START, SYSTEM)
            case SessionStatus.DEBATE if motives.may_vote(state):
                self.submit(scene.CALL_VOTE, SYSTEM)
            case SessionStatus.DEBATE:
                for number in range(1, SEATS + 1):
                    self.exchange(number % SEATS + 1, number, 4, "maintain", None, False)
            case SessionStatus.VOTING:
                self.vote_all((ballot,) * SEATS)
            case SessionStatus.PM_REVIEW:
                self.decide(word, PERSON, 0)
            case SessionStatus.SYNTHESIS:
                self.complete()
            case _:
                self.open_all()

    @rule(seat=st.sampled_from(["rep_1", "rep_2", "rep_9", None]))
    def choose(self, seat: str | None) -> None:
        self.act(SYSTEM, ask.ChooseDrafter(seat=seat))

    @rule(number=_seat, version=st.integers(1, 4), text=st.sampled_from(["A.", "B."]))
    def draft(self, number: int, version: int, text: str) -> None:
        self.submit(scene.bill(number, version, solution=text), self.agent(number))

    @rule(pair=_ruling, seat=_seat, who=st.sampled_from([SYSTEM, SYSTEM, PERSON, AGENTS[0]]))
    def rule_on(self, pair: tuple[str, str], seat: int, who: str) -> None:
        self.submit(scene.ruling(*pair, scene.rep(seat)), who)

    @rule()
    def next_round(self) -> None:
        self.submit(scene.ROUND_END, SYSTEM)
        self.submit(scene.ROUND_START, SYSTEM)

    @rule(
        asker=_seat,
        asked=_seat,
        value=_score,
        stance=st.sampled_from(["maintain", "challenge", "soften", "concede"]),
        position=st.none()
        | st.tuples(_amendment, st.sampled_from(["endorse", "oppose", "abstain"])),
        cut=st.booleans(),
    )
    def exchange(
        self, asker: int, asked: int, value: int, stance: str, position: Any, cut: bool
    ) -> None:
        number = f"msg-{self.state.next_message_id:03d}"
        if asker == asked:
            asked = asker % SEATS + 1
        if self.submit(scene.question(asker, asked), self.agent(asker)):
            number = self.messages[-1]["id"]
        text = "One. Two. Three. Four. Five. Six. Seven." if cut else "One."
        document = scene.answer(
            asked,
            asker,
            number,
            self.scores(asked, value),
            stance,
            position=position,
            answer=text,
        )
        self.submit(document, self.agent(asked))

    @rule(number=_seat, name=_amendment, action=_action)
    def amend(self, number: int, name: str, action: str) -> None:
        document = scene.amendment(number, name, action=action, proposed_text="A.")
        self.submit(document, self.agent(number))

    @rule(name=_amendment, who=_anyone, kind=st.integers(0, 3))
    def settle(self, name: str, who: int, kind: int) -> None:
        command = (ask.Incorporate, ask.Withdraw, ask.ConcludeAmendment, ask.CallAmendmentVote)[
            kind
        ]
        self.act(self.agent(who), command(amendment_id=name))

    @rule(number=_seat, name=_amendment, word=st.sampled_from(["endorse", "oppose"]))
    def carry(self, number: int, name: str, word: str) -> None:
        """An amendment, a position on it, and an attempt to work it in."""
        self.submit(scene.amendment(number, name), self.agent(number))
        asked = number % SEATS + 1
        self.exchange(number, asked, 4, "maintain", (name, word), False)
        self.act(SYSTEM, ask.Incorporate(amendment_id=name))

    @rule(number=_seat)
    def disgrace(self, number: int) -> None:
        self.babble(number)
        self.babble(number)

    @rule(number=_seat, kind=st.sampled_from(["call_vote", "table_discussion"]))
    def move(self, number: int, kind: str) -> None:
        self.submit(scene.motion(number, kind), self.agent(number))

    @rule(number=_seat)
    def babble(self, number: int) -> None:
        self.submit({"type": "QUESTION"}, self.agent(number))

    @rule(number=_seat, word=st.sampled_from(["YES", "NO"]), value=_score)
    def vote(self, number: int, word: str, value: int) -> None:
        self.submit(scene.vote(number, word, self.scores(number, value)), self.agent(number))

    @rule(words=st.tuples(*[st.sampled_from(["YES", "NO"])] * SEATS))
    def vote_all(self, words: tuple[str, ...]) -> None:
        for number, word in enumerate(words, start=1):
            self.submit(scene.vote(number, word, self.scores(number, 4)), self.agent(number))
        self.act(SYSTEM, ask.CountVotes())

    @rule(who=_anyone)
    def close(self, who: int) -> None:
        self.act(self.agent(who), ask.CloseBallot())

    @rule()
    def count(self) -> None:
        self.act(SYSTEM, ask.CountVotes())

    @rule(word=_word, who=st.sampled_from([PERSON, PERSON, AGENTS[0]]), more=st.integers(0, 1))
    def decide(self, word: str, who: str, more: int) -> None:
        draft = None
        if word == "amend_and_approve" and self.state.bill is not None:
            draft = scene.draft(self.state.bill.version + 1)
        self.act(
            who,
            ask.Decide(
                decision=word, reason="so", guidance="more", draft=draft, extend_rounds=more
            ),
        )

    @rule()
    def complete(self) -> None:
        self.act(SYSTEM, ask.Complete())

    @invariant()
    def messages_are_numbered_without_gaps_and_sound(self) -> None:
        assert self.state.next_message_id == len(self.messages) + 1
        if self.messages:
            last = self.messages[-1]
            assert last["id"] == f"msg-{len(self.messages):03d}"
            assert message_findings(last) == ()

    @invariant()
    def the_status_follows_the_table(self) -> None:
        for before, after in pairwise(self.statuses):
            if before is not None:
                assert after in TRANSITIONS[before].values()

    @invariant()
    def the_clock_holds(self) -> None:
        this = self.state.round
        assert this.exchanges <= this.asked <= max(round_clock.exchange_cap(self.state), 1)
        assert this.number <= self.state.max_rounds
        assert len(this.questions) <= this.asked

    @invariant()
    def a_ballot_is_open_exactly_while_voting(self) -> None:
        assert (self.state.poll is not None) is (self.state.status is SessionStatus.VOTING)
        if self.state.poll is not None and self.state.bill is not None:
            assert self.state.poll.bill_version == self.state.bill.version

    @invariant()
    def every_tally_can_be_counted_again(self) -> None:
        cast: dict[str, str] = {}
        history = iter(self.state.vote_history)
        for message in self.messages:
            if message["type"] == Kind.VOTE:
                assert message["from"] not in cast
                cast[message["from"]] = message["content"]["vote"]
            elif message["type"] == Kind.VOTE_TALLY:
                content, row = message["content"], next(history)
                yes = [seat for seat in self.state.order if cast.get(seat) == Ballot.YES]
                no = [seat for seat in self.state.order if cast.get(seat) == Ballot.NO]
                assert (list(content["yes_votes"]), list(content["no_votes"])) == (yes, no)
                assert content["passed"] is row.passed is limits.is_majority(len(yes), SEATS)
                cast = {}
        assert next(history, None) is None

    @invariant()
    def versions_go_up_one_by_one(self) -> None:
        drafted = [m["content"]["bill_version"] for m in self.messages if m["type"] == "BILL_DRAFT"]
        assert drafted == list(range(1, len(drafted) + 1))
        if self.state.bill is not None:
            assert self.state.bill.version - len(drafted) in (0, 1)

    @invariant()
    def pending_amendments_are_listed(self) -> None:
        pending = [one.amendment_id for one in self.state.amendments_in_order() if one.pending]
        assert list(self.state.pending) == pending

    @invariant()
    def heat_is_mixed_and_scores_are_whole(self) -> None:
        heat = [seat.temperature for seat in self.state.seats_in_order()]
        assert len(set(heat)) == len(heat)
        for seat in self.state.seats_in_order():
            assert all(score is None or 1 <= score <= 5 for score in seat.scores)
            assert seat.malformed < 2 or seat.expelled

    @invariant()
    def someone_is_always_asked_to_go_on(self) -> None:
        if self.state.status not in (None, SessionStatus.COMPLETE):
            assert MACHINE.agenda(self.state, NOON)

    def teardown(self) -> None:
        again = decode_state(State, encode_state(self.state))
        assert again == self.state
        assert view_session(self.state).status == self.state.status


TestSession = Session.TestCase
TestSession.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
_docs = st.builds(
    lambda kind, sender, more, gone: {
        key: value
        for key, value in {
            "type": kind,
            "from": SENDERS.get(kind, sender),
            "content": {k: v for k, v in {**CONTENTS.get(kind, {}), **more}.items() if k != gone},
        }.items()
        if key != gone
    },
    st.sampled_from([*CONTENTS, "X"]),
    st.sampled_from(["rep_1", "rep_2", "speaker"]),
    st.dictionaries(st.sampled_from([k for c in CONTENTS.values() for k in c]), _json, max_size=2),
    st.sampled_from(["", "type", "from", "content", "topic", "vote"]),
)


def _in_debate() -> State:
    return scene.ParliamentScenario(3).debating().state


@pytest.fixture(scope="module")
def debate() -> State:
    return _in_debate()


@given(document=_json | _docs, who=st.sampled_from([SYSTEM, PERSON, AGENTS[0]]))
@settings(max_examples=examples(200), deadline=None)
def test_no_message_makes_the_machine_raise(debate: State, document: Any, who: str) -> None:
    acting = VerifiedActor(who, 1, "k", KINDS.get(who, KeyClass.AGENT))
    context = Context(NOON, acting, STREAM, "o", {})
    for state in (MACHINE.initial, debate):
        decision = MACHINE.decide(state, ask.Submit(document=document), context)
        for draft in decision.drafts:
            recorded: Recorded[Any] = Recorded(
                draft.event, STREAM, 0, NOON, Actor(who, 1, "k"), b""
            )
            state = MACHINE.evolve(state, recorded)  # noqa: PLW2901


@given(message=st.dictionaries(st.sampled_from(["type", "from", "id", "content"]), _json))
@settings(max_examples=examples(100), deadline=None)
def test_a_state_follows_whatever_stands_in_the_ledger(
    debate: State, message: dict[str, Any]
) -> None:
    event = did.MessageLogged(message=message)
    recorded: Recorded[Any] = Recorded(event, STREAM, 0, NOON, Actor("x", 1, "k"), b"")
    list(MACHINE.index(recorded))
    after = MACHINE.evolve(debate, recorded)
    assert after.next_message_id == debate.next_message_id + 1

"""Ask a question: first answers, a motion, a debate, a result that waits for a person's word.

Every step is read off the decision's own record, so that it can be interrupted anywhere and gone
on with: what is recorded is not done again. A veto begins another decision with the person's
reason in its context; nothing of the old one is changed.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.json import decode

from moot.agents.outcome import Ended, Stop
from moot.agents.participant import Participant
from moot.agents.runner import Runner
from moot.agents.seats import Room
from moot.agents.spec import Spec, read_spec
from moot.agents.watch import Watch
from moot.core.errors import NotFound, Refused
from moot.core.machine import Acting, Context, KeyClass
from moot.core.markdown import escape_comments
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.debate.model import Escalation, Mode, Rules, TurnOrder
from moot.debate.writer import new_session
from moot.decision import commands as ask
from moot.decision import stream_of
from moot.decision.machine import MACHINE, QUESTIONS
from moot.decision.model import Chamber, Seat, Stage, State
from moot.decision.motion import choose
from moot.decision.views import in_order
from moot.engine.job import Outcome, as_refused
from moot.flows import session
from moot.flows.books import DecisionBooks
from moot.flows.debating import USUAL, Hall, Limits, run_in
from moot.flows.desks.answers import AnswersDesk
from moot.flows.seating import ELSEWHERE, named, seated, seats_of
from moot.workspace.workspace import Workspace

TEXT: Final = "text/markdown"
FOLDER: Final = "decisions"
THRESHOLDS: Final = {Mode.MAJORITY: "0.501", Mode.WEIGHTED: "0.7", Mode.UNANIMOUS: "0.7"}
MOST_TITLE: Final = 150


class Question(NamedTuple):
    """What is asked, of whom, and how it is settled."""

    text: str
    specs: tuple[Spec, ...]
    context: str = ""
    options: tuple[str, ...] = ()
    rule: Mode = Mode.MAJORITY
    rounds: int = 2


class Asked(NamedTuple):
    """How far it came."""

    decision: str
    state: State
    file: Path | None
    ended: Ended | None


# Beginning ----------------------------------------------------------------------------------------


def begin(space: Workspace, question: Question, room: Room) -> tuple[str, dict[str, Spec]]:
    """Seat everybody and put the question on record, under the next free id.

    A name is never given twice, so whatever is wrong must be found before one is.
    """
    rehearsal = {
        spec.name or f"some-body-{place}": spec for place, spec in enumerate(question.specs)
    }
    seats = tuple(Seat(name, ELSEWHERE, "") for name in rehearsal)
    acting = Acting(SYSTEM, 1, "", KeyClass.SYSTEM)
    context = Context(space.engine.clock(), acting, stream_of("q-0"), space.trust.origin)
    rehearsed = MACHINE.decide(State(), _question(question, seats, None), context)
    if rehearsed.refused:
        raise as_refused(rehearsed)
    seated(rehearsal, room)
    specs = named(space, question.specs)
    about = stored(space, question.context) if question.context.strip() else None
    seats = seats_of(space, tuple(specs), specs, seated(specs, room))
    return _under_next_id(space, _question(question, seats, about)), specs


def _question(
    question: Question, seats: tuple[Seat, ...], about: ArtifactRef | None
) -> ask.AskQuestion:
    return ask.AskQuestion(
        question=question.text,
        seats=seats,
        chamber=Chamber.DEBATE,
        rule=question.rule.value,
        rounds=question.rounds,
        options=question.options,
        context=about,
    )


def _under_next_id(space: Workspace, command: ask.AskQuestion) -> str:
    """`q-1`, `q-2`, ...; another process may take one between the look and the act."""
    number = 1 + sum(_is_number(key) for key in _questions(space))
    while True:
        decision = f"q-{number}"
        try:
            space.engine.execute(stream_of(decision), command, SYSTEM)
        except Refused as refused:
            if refused.code != "id_taken":
                raise
            number += 1
        else:
            return decision


def _questions(space: Workspace) -> list[str]:
    with space.store.read() as view:
        return [row.key for row in view.rows(QUESTIONS, limit=100_000)]


def _is_number(stream: str) -> bool:
    return stream.startswith(stream_of("q-"))


def stored(space: Workspace, text: str) -> ArtifactRef:
    return space.artifacts.put(text.encode(), TEXT)


def text_of(space: Workspace, sha256: str | None) -> str:
    return "" if sha256 is None else b"".join(space.artifacts.chunks(sha256)).decode()


def state_of(space: Workspace, decision: str) -> State:
    """The decision as recorded; NotFound if nothing was asked under this id."""
    state: State = space.engine.state(stream_of(decision))
    if state.stage is Stage.NEW:
        raise NotFound(
            "decision_not_found",
            f"no decision is called {decision}",
            hint="`moot agenda` shows what waits; `moot ask` begins one",
        )
    return state


# Going on -----------------------------------------------------------------------------------------


def recorded_specs(state: State) -> dict[str, Spec]:
    """The participants as they were named; Refused if the record does not hold all of a spec."""
    specs = {seat.agent: read_spec(seat.spec) for seat in state.seats if seat.spec}
    cut = [seat.agent for seat in state.seats if "…" in seat.spec]
    if cut:
        raise Refused(
            "spec_incomplete",
            f"the record does not hold the whole command of {', '.join(cut)}",
            hint="name the participants again: --with NAME=SPEC,...",
        )
    return specs


def go_on(
    space: Workspace,
    decision: str,
    specs: Mapping[str, Spec],
    room: Room,
    limits: Limits = USUAL,
    watch: Watch | None = None,
) -> Asked:
    """Everything that is still missing before a person is asked."""
    sitting = seated(specs, room)
    state = state_of(space, decision)
    ended: Ended | None = None
    if state.stage is Stage.ANSWERING:
        ended = _first_answers(space, decision, sitting, limits, watch)
        if ended.stop is not Stop.SETTLED:
            return Asked(decision, state_of(space, decision), None, ended)
        _move(space, decision)
    if state_of(space, decision).stage is Stage.MOVED:
        _sit(space, decision, limits)
    file = file_of(space, decision)
    if state_of(space, decision).stage is Stage.ARGUING:
        books = DecisionBooks(space.engine, decision)
        hall = Hall(file, sitting, space.engine.clock, space, books)
        ended = run_in(hall, decision, limits, watch).ended
    return Asked(decision, state_of(space, decision), file, ended)


def _first_answers(
    space: Workspace,
    decision: str,
    sitting: Mapping[str, Participant],
    limits: Limits,
    watch: Watch | None,
) -> Ended:
    state = state_of(space, decision)
    desk = AnswersDesk(space.engine, decision, text_of(space, state.context))
    return Runner(
        desk,
        sitting,
        space.engine.clock,
        budget=limits.budget,
        turn_seconds=limits.turn_seconds,
        watch=watch,
    ).run()


def _move(space: Workspace, decision: str) -> None:
    """The most frequent answer is put to the vote, else the first listed."""
    motion = choose(in_order(state_of(space, decision)))
    if motion is None:
        raise Refused(
            "no_answers",
            "nobody gave a first answer, so there is nothing to vote on",
            hint=f"`moot ledger log {stream_of(decision)}` says why; ask again with others",
        )
    command = ask.SetMotion(text=motion.text, by=motion.by)
    space.engine.execute(stream_of(decision), command, SYSTEM, key="motion")


def file_of(space: Workspace, decision: str) -> Path:
    """Where the debate about a decision stands: where its record says, else under its id."""
    opened = state_of(space, decision).session
    if opened is not None and opened.file:
        return space.root / opened.file
    return space.path / FOLDER / f"{decision}.md"


def _sit(space: Workspace, decision: str, limits: Limits) -> None:
    """Make the session file and say so; a file that a killed run left is the one to use."""
    state, file = state_of(space, decision), file_of(space, decision)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        rules = _rules(state, limits)
        text = new_session(
            _title(state.question),
            context_of(space, decision, state),
            rules,
            str(uuid.uuid4()),
            space.engine.clock(),
        )
        session.new(file, text, space)
    made = session.read(file).document.session_id
    place = file.relative_to(space.root).as_posix()
    command = ask.OpenSession(session=f"debate/{made}", file=place)
    space.engine.execute(stream_of(decision), command, SYSTEM)


def _rules(state: State, limits: Limits) -> Rules:
    mode = Mode(state.rule)
    return Rules(
        tuple(seat.agent for seat in state.seats),
        turn_order=TurnOrder.ROUND_ROBIN,
        turn_timeout=max(1, min(86_400, round(limits.turn_seconds))),
        consensus_threshold=Decimal(THRESHOLDS[mode]),
        consensus_mode=mode,
        escalation=Escalation.TIMEOUT_SKIP,
        max_rounds=state.rounds,
    )


def _title(question: str) -> str:
    line = " ".join(escape_comments(question).split())
    return line if len(line) <= MOST_TITLE else f"{line[: MOST_TITLE - 1]}…"


def context_of(space: Workspace, decision: str, state: State) -> str:
    """What everybody should know, with the motion last; others' words are quoted, line by line."""
    parts = [("Question", state.question)]
    material = text_of(space, state.context)
    if material.strip():
        parts.append(("Material", material))
    given = [one for one in in_order(state) if one.answer is not None]
    answers = "\n".join(f"{one.agent}: {' '.join(one.answer.split())}" for one in given)
    parts.append(("First answers, given before anyone heard the others", answers))
    if state.motion is not None:
        parts.append(("Motion: approve or reject this", state.motion.text))
    told = "\n\n".join(f"### {title}\n\n{_quoted(text)}" for title, text in parts)
    return f"{told}\n\nDecision {decision}. Every stance is about the motion."


def _quoted(text: str) -> str:
    """X-09: as a quotation no line of it can be a heading, a fence or a mark of the protocol."""
    lines = escape_comments(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


# A person's word ----------------------------------------------------------------------------------


def approve(space: Workspace, decision: str, person: str, reason: str) -> Outcome:
    state_of(space, decision)
    return space.engine.execute(stream_of(decision), ask.Approve(reason=reason), person)


def amend(space: Workspace, decision: str, person: str, reason: str, text: str) -> Outcome:
    """The person's own text stands instead of what came out."""
    state_of(space, decision)
    if not text.strip():
        raise Refused("text_required", "amend needs the text", hint="--text FILE, or --text -")
    command = ask.Amend(reason=reason, text=stored(space, text))
    return space.engine.execute(stream_of(decision), command, person)


def veto(space: Workspace, decision: str, person: str, reason: str) -> str:
    """The person says no; a decision that supersedes this one begins, with the reason."""
    before = state_of(space, decision)
    if before.stage is not Stage.VETOED or before.superseded_by is not None:
        space.engine.execute(stream_of(decision), ask.Veto(reason=reason), person)
    return supersede(space, decision)


def supersede(space: Workspace, decision: str) -> str:
    """Begin the decision that takes a vetoed one's place: once, also if we were killed between."""
    state = state_of(space, decision)
    if state.superseded_by is not None:
        return state.superseded_by
    follower = _begun_for(space, decision)
    if follower is None:
        command = ask.AskQuestion(
            question=state.question,
            seats=state.seats,
            chamber=state.chamber,
            rule=state.rule,
            rounds=state.rounds,
            options=state.options,
            context=stored(space, _after_veto(space, decision, state)),
            supersedes=decision,
        )
        follower = _under_next_id(space, command)
    space.engine.execute(stream_of(decision), ask.NameSuccessor(decision=follower), SYSTEM)
    return follower


def _begun_for(space: Workspace, decision: str) -> str | None:
    """A follower that was begun and never named."""
    with space.store.read() as view:
        rows = view.rows(QUESTIONS, limit=100_000)
        found = [row.key for row in rows if decode(row.value).get("supersedes") == decision]
    return found[0].removeprefix(stream_of("")) if found else None


def _after_veto(space: Workspace, decision: str, state: State) -> str:
    word, motion = state.word, state.motion
    assert word is not None
    said = f"{decision} was vetoed by {word.by}: {word.reason}"
    if motion is not None:
        said += f"\nThe motion that was vetoed: {motion.text}"
    before = text_of(space, state.context)
    return f"{said}\n\n{before}".strip()

"""Decisions: a question put to participants, a person's ruling on what came out, its receipt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.api.runs import USUAL, Limits, RunEnd, RunEnding, seating
from moot.core.errors import Malformed, Refused
from moot.core.names import STREAM
from moot.core.quoted import Quoted
from moot.flows.decisions.argument import AbsentVoice
from moot.flows.decisions.questions import Question
from moot.protocols.decision.views import DecisionView

if TYPE_CHECKING:
    from moot.agents.spec import Spec
    from moot.api.runs import RunWatcher, Terminal
    from moot.api.session import Session
    from moot.flows.decisions.argument import Argument
    from moot.flows.decisions.ask import DecisionProgress

__all__ = [
    "AbsentVoice",
    "AskedDecision",
    "ChangedStance",
    "DecisionView",
    "Question",
    "RuledDecision",
    "WrittenReceipt",
    "ask",
    "decide",
    "receipt",
    "resume",
]

RULINGS: Final = ("approve", "veto", "amend")
# Is told the id of a decision and its title before anybody is asked: whoever stops the run, or
# loses it, can go on with that id.
Begun = Callable[[str, str], None]


class ChangedStance(msgspec.Struct, frozen=True):
    """Who moved from where to where, after hearing whom, and the reason given."""

    agent: str
    before: str
    now: str
    after: tuple[str, ...]
    why: Quoted


class AskedDecision(msgspec.Struct, frozen=True):
    """How far a question came.

    `run` is None if nobody had to be asked any more, `outcome` if nothing was voted on yet.
    `restored` says what had become of `restored_file` (gone, cut-short) if it was put back.
    `next` is the command with which it goes on; None if a person has ruled on it. `absent` are
    those who took no part in a round, each with the reason.
    """

    decision: DecisionView
    file: str | None
    run: RunEnding | None
    outcome: str | None
    restored: str | None
    changes: tuple[ChangedStance, ...]
    next: str | None
    absent: tuple[AbsentVoice, ...] = ()
    restored_file: str | None = None


class RuledDecision(msgspec.Struct, frozen=True):
    """The decision after a ruling.

    A vetoed one names what supersedes it. A parliament that was sent back has no ruling yet.
    """

    decision: DecisionView


class WrittenReceipt(msgspec.Struct, frozen=True):
    """`file` is for reading and `proof` is the JSON that proves it; they may be the same file.

    `cautions` are what must be known beside the vote, `dissent` names who disagreed in it.
    `in_toto` is the file with the same as an in-toto statement, if one was wanted.
    """

    decision: str
    stage: str
    file: str
    proof: str
    sha256: str
    cautions: tuple[str, ...]
    dissent: tuple[str, ...]
    title: Quoted
    in_toto: str | None = None


@operation("ask", writes=True, runs_programs=True)
def ask(
    session: Session,
    question: Question,
    *,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
    terminal: Terminal | None = None,
    begun: Begun | None = None,
) -> AskedDecision:
    """Ask several participants: first answers, an argument about the most frequent, a vote.

    Participants, rule and choice that the question leaves open are those of the user's settings
    (nobody_named if there are none).
    What comes out waits for a person's ruling (`decide`). It is many commits and takes no key:
    asking again is another decision, and one that was interrupted is gone on with by `resume`.
    Refused before anything is recorded: an agent that acts (not_you), participants that cannot be
    started or whose keys are not here, a question that is empty or too long.
    """
    from moot.flows.decisions.own_defaults import fill_from_settings
    from moot.flows.decisions.questions import put_question

    _require_unnamed(session)
    filled = fill_from_settings(question, session.folder, session.env)
    decision, specs = put_question(session.workspace, filled, seating(session, terminal, limits))
    return _carry_on(session, decision, specs, limits, watch, terminal, begun)


@operation("ask.resume", writes=True, runs_programs=True)
def resume(
    session: Session,
    decision: str,
    *,
    participants: Sequence[str] = (),
    motion: int | None = None,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
    terminal: Terminal | None = None,
    begun: Begun | None = None,
) -> AskedDecision:
    """Go on with a question that was interrupted, or that a person sent back.

    What is on record is not done again, so a repeat needs no key. `participants` name again who
    sits there, if the record does not hold the whole of a command (spec_incomplete). `motion` picks
    an answer by its number where the rankings leave that open (unknown_option: there is none).
    """
    from moot.flows.decisions.questions import decision_id, require_question, specs_again

    _require_unnamed(session)
    name = decision_id(decision)
    specs = specs_again(require_question(session.workspace, name), participants)
    return _carry_on(session, name, specs, limits, watch, terminal, begun, motion)


@operation("decide", writes=True)
def decide(
    session: Session,
    decision: str,
    ruling: str,
    reason: str,
    *,
    text: str | None = None,
    anew: bool = False,
    sha256: str | None = None,
) -> RuledDecision:
    """A person's ruling on what came out: approve, veto or amend, under that person's key.

    A veto begins another decision with the reason in its context; a parliament goes on itself.
    Amend puts `text` in the place of what came out. `anew` ends a parliament that was sent back
    before it is argued further, and another decision begins. The same veto twice is one and a
    second approval is refused (decided), so a repeat needs no key. An agent is refused
    (human_key_required). With `sha256`, the hash of the text that the person was shown, nothing is
    decided about another one (busy).
    """
    from moot.flows.decisions import decide as rulings
    from moot.flows.decisions.questions import decision_id, require_question, state_of
    from moot.flows.decisions.ruled_text import require_text_shown
    from moot.protocols.decision import stream_of
    from moot.protocols.decision.views import describe_decision

    workspace, name = session.workspace, decision_id(decision)
    require_question(workspace, name)
    _require_ruling(ruling, text, anew)
    session.require_no_agent("a decision")
    choice = rulings.RULINGS[ruling]
    vote = rulings.require_open_for(workspace, name, choice, reason, text, anew)
    require_text_shown(workspace.engine, stream_of(name), sha256)
    person = session.person("a decision")
    if ruling == "approve":
        rulings.approve(workspace, name, person, reason, vote)
    elif ruling == "amend":
        rulings.amend(workspace, name, person, reason, text or "", vote)
    else:
        rulings.veto(workspace, name, person, reason, vote, anew)
    return RuledDecision(describe_decision(name, state_of(workspace, name)))


@operation("receipt", writes=True, as_ledger=True)
def receipt(
    session: Session,
    decision: str,
    file: Path,
    *,
    in_toto: bool = False,
    commit: str | None = None,
) -> WrittenReceipt:
    """Write the receipt of a decision: who voted what, who disagreed, and the proof of it.

    FILE.json proves itself; FILE.md and FILE.html are to be read, with FILE.json beside. The
    machine signs for what the receipt says; if nothing has happened since the last one nothing
    new is recorded, so a repeat needs no key. Only decisions have receipts (not_a_decision).
    `in_toto` also writes FILE.intoto.jsonl, a signed in-toto statement about these files and, if
    one is named, about a `commit` (no_such_commit); that needs the ledger's key each time.
    """
    from moot.api.page_files import require_page_name, write_page
    from moot.api.reports import link_beside
    from moot.flows.decisions.in_toto import SUFFIX, make_statement, sign_statement
    from moot.flows.decisions.receipt import make_receipt
    from moot.flows.decisions.receipt_page import build_receipt_page
    from moot.protocols.decision import stream_of
    from moot.protocols.decision.views import shorten_question
    from moot.store.named_files import write_file

    require_page_name(file)
    commit_id = _find_commit(session, in_toto, commit)
    made = make_receipt(session.workspace, _name_of_decision(decision))
    proof = file.with_suffix(".json")
    write_file(proof, made.data)
    if file != proof:
        page = build_receipt_page(made, proof.name)
        write_page(file, link_beside(session, stream_of(made.content["decision"]), page, file))
    statement = file.with_suffix(SUFFIX) if in_toto else None
    if statement is not None:
        files = dict.fromkeys((proof, file))
        said = make_statement(made, files, commit_id, session.workspace.trust.origin)
        write_file(statement, sign_statement(session.workspace, said))
    content = made.content
    return WrittenReceipt(
        decision=content["decision"],
        stage=content["stage"],
        file=str(file),
        proof=str(proof),
        sha256=made.sha256,
        cautions=tuple(content["cautions"]),
        dissent=tuple(voice["agent"] for voice in content["argument"]["dissent"]),
        title=Quoted(shorten_question(content["question"])),
        in_toto=None if statement is None else str(statement),
    )


def _find_commit(session: Session, in_toto: bool, commit: str | None) -> str | None:
    """The commit that a statement is to be about."""
    from moot.flows.decisions.in_toto import find_commit

    if commit is None:
        return None
    if not in_toto:
        raise Malformed(
            "a commit is named in an in-toto statement alone",
            code="commit_without_statement",
            hint="say --in-toto, too",
        )
    return find_commit(session.folder, commit)


def _require_unnamed(session: Session) -> None:
    """Everybody who is asked signs with a key of this folder: not for one who acts as one agent."""
    if session.acting is not None:
        raise Refused(
            "not_you",
            f"you are {session.acting}; this would sign for everybody who is asked",
            hint="run it yourself, without --as and outside of `moot run`",
        )


def _require_ruling(ruling: str, text: str | None, anew: bool) -> None:
    """Malformed if the parts of a ruling do not go together."""
    problem = ""
    if ruling not in RULINGS:
        problem = f"{ruling!r} is no ruling"
    elif (text is not None) != (ruling == "amend"):
        problem = "a text belongs to amend, and amend needs it"
    elif anew and ruling != "veto":
        problem = "only a veto begins anew"
    if problem:
        raise Malformed(problem, code="bad_ruling", hint=f"one of {', '.join(RULINGS)}")


def _name_of_decision(named: str) -> str:
    """`q-7`, or `decision/q-7`; other records have reports and exports, no receipts."""
    from moot.flows.decisions.questions import decision_id

    name = decision_id(named)
    if "/" in name or not STREAM.match(f"decision/{name}"):
        raise Refused(
            "not_a_decision",
            f"{named} is not a decision, and only decisions have receipts",
            hint="`moot report ID` shows anything; `moot ledger export -o FILE ID` proves it",
        )
    return name


def _carry_on(
    session: Session,
    decision: str,
    specs: Mapping[str, Spec],
    limits: Limits,
    watch: RunWatcher | None,
    terminal: Terminal | None,
    begun: Begun | None,
    motion: int | None = None,
) -> AskedDecision:
    from moot.flows.decisions.ask import carry_on
    from moot.flows.decisions.questions import state_of
    from moot.protocols.decision.views import shorten_question

    workspace = session.workspace
    if begun is not None:
        begun(decision, shorten_question(state_of(workspace, decision).question))
    room = seating(session, terminal, limits)
    progress = carry_on(workspace, decision, specs, room, limits, watch, motion)
    people = bool(workspace.engine.registry().human_keys())
    _tell_person(session, decision, progress)
    return _describe_progress(decision, progress, people)


def _tell_person(session: Session, decision: str, progress: DecisionProgress) -> None:
    from moot.flows.person_notices import PersonMoment, notify_person
    from moot.protocols.decision.model import Stage
    from moot.protocols.decision.views import shorten_question

    if progress.state.stage is Stage.WAITING:
        asked = shorten_question(progress.state.question)
        sentence = f"your word is needed on {decision}: {asked}"
        once = f"{decision} {progress.outcome}"
        path = session.workspace.path
        notify_person(path, session.env, PersonMoment.DECISION, once, sentence)


def _describe_progress(decision: str, progress: DecisionProgress, people: bool) -> AskedDecision:
    from moot.protocols.decision.views import describe_decision

    return AskedDecision(
        decision=describe_decision(decision, progress.state),
        file=str(progress.file) if progress.file else None,
        run=None if progress.ended is None else _describe_ending(progress.ended),
        outcome=progress.outcome or None,
        restored=progress.lost.value if progress.lost else None,
        changes=tuple(_list_changes(progress.argument)),
        next=_next_command(decision, progress, people),
        absent=progress.argument.absent,
        restored_file=str(progress.lost_file) if progress.lost_file else None,
    )


def _describe_ending(ended: RunEnd) -> RunEnding:
    return RunEnding(
        stop=ended.stop,
        detail=Quoted(ended.detail),
        turns=ended.turns,
        waits_for=ended.waits_for,
        cost=ended.cost,
    )


def _list_changes(argument: Argument) -> Iterator[ChangedStance]:
    """By the record, whatever became of the file."""
    reasons = {vote.entry: vote.summary for vote in argument.votes}
    for change in argument.changes:
        after = tuple(dict.fromkeys(entry.agent for entry in change.heard))
        why = reasons.get(change.entry, Quoted(""))
        yield ChangedStance(change.agent, change.before, change.now, after, why)


def _next_command(decision: str, progress: DecisionProgress, people: bool) -> str | None:
    """Without `people` nobody here could rule on it yet."""
    from moot.protocols.decision.model import Stage
    from moot.protocols.decision.ranking_report import needs_pick
    from moot.protocols.decision.views import suggest_decide_command

    state = progress.state
    if state.stage is Stage.WAITING:
        first = "" if people else "`moot agent register operator --human` first; then "
        return first + suggest_decide_command(decision, state.result)
    pick = " --motion N" if needs_pick(state) else ""
    return f"moot ask --resume {decision}{pick}" if state.word is None else None

"""Operations on decisions: ask a question, resume it, rule on its result, write its receipt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from moot.api.decisions.questions import (
    Question,
    decision_id,
    find_specs,
    put_question,
    require_question,
    state_of,
)
from moot.api.decisions.results import AbsentVoice
from moot.api.operation import operation
from moot.api.runs.limits import DEFAULT_LIMITS, Limits, RunEnding, ending_fields, make_surroundings
from moot.core.errors import Malformed, Refused
from moot.core.names import STREAM
from moot.core.text import Quoted
from moot.protocols.decision import stream_of
from moot.protocols.decision.model import Stage
from moot.protocols.decision.rankings import needs_pick
from moot.protocols.decision.views import (
    DecisionView,
    describe_decision,
    shorten_question,
    suggest_decide_command,
)
from moot.store.files import write_file
from moot.workspace.find import worktree_root
from moot.workspace.settings import read_settings
from moot.workspace.user_folders import FILE, user_settings_file

if TYPE_CHECKING:
    from moot.agents.participant import Spec
    from moot.api.decisions.question_run import DecisionProgress
    from moot.api.decisions.results import Argument
    from moot.api.runs.limits import RunWatcher, Terminal
    from moot.api.session import Session


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
# Called with the id and title of a decision before any participant is asked: a user whose run
# stops can resume it with that id.
Begun = Callable[[str, str], None]


class ChangedStance(msgspec.Struct, frozen=True):
    """An agent's stance before and now, whom it heard in between, and its reason."""

    agent: str
    before: str
    now: str
    after: tuple[str, ...]
    why: Quoted


class AskedDecision(msgspec.Struct, frozen=True):
    """The state of a question after a run.

    `run` is None if no participant had to be asked, `outcome` is None before the first vote.
    `restored` is what had happened to `restored_file` (gone, cut-short) if it was restored.
    `next` is the next command; None if a person has ruled on it. `absent` are those who took no
    part in a round, each with the reason.
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

    `cautions` qualify the vote, `dissent` names who disagreed in it. `in_toto` is the file of the
    in-toto statement, if one was requested.
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
    limits: Limits = DEFAULT_LIMITS,
    watch: RunWatcher | None = None,
    terminal: Terminal | None = None,
    begun: Begun | None = None,
) -> AskedDecision:
    """Ask several participants: first answers, an argument about the most frequent, a vote.

    Participants, rule and choice that the question leaves open come from the user's settings
    (nobody_named if there are none). The result waits for a person's ruling (`decide`). A run makes
    many commits and takes no key: asking again is another decision; `resume` continues one that was
    interrupted. Refused before anything is recorded: an acting agent (not_you), participants that
    cannot be started or whose keys are not here, a question that is empty or too long.
    """
    _require_no_acting_agent(session)
    filled = fill_from_settings(question, session.folder, session.env)
    decision, specs = put_question(
        session.workspace, filled, make_surroundings(session, terminal, limits)
    )
    return _continue(session, decision, specs, limits, watch, terminal, begun)


@operation("ask.resume", writes=True, runs_programs=True)
def resume(
    session: Session,
    decision: str,
    *,
    participants: Sequence[str] = (),
    motion: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    watch: RunWatcher | None = None,
    terminal: Terminal | None = None,
    begun: Begun | None = None,
) -> AskedDecision:
    """Continue a question that was interrupted, or that a person sent back.

    Recorded steps are not repeated, so a repeat needs no key. `participants` name the seats again
    if the record does not contain a whole command (spec_incomplete). `motion` picks an answer by
    its number if the rankings leave that open (unknown_option if there is none).
    """
    _require_no_acting_agent(session)
    name = decision_id(decision)
    specs = find_specs(require_question(session.workspace, name), participants)
    return _continue(session, name, specs, limits, watch, terminal, begun, motion)


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
    """Record a person's ruling on the result: approve, veto or amend, under that person's key.

    A veto begins another decision with the reason in its context; a parliament continues itself.
    Amend replaces the result by `text`. `anew` ends a parliament that was sent back before it is
    argued further, and another decision begins. The same veto twice counts once and a second
    approval is refused (decided), so a repeat needs no key. An agent is refused
    (human_key_required). `sha256` is the hash of the text that the person was shown: if the text
    has changed since, the ruling is refused (busy).
    """
    from moot.api.decisions import ruling as rulings

    workspace, name = session.workspace, decision_id(decision)
    require_question(workspace, name)
    _require_ruling(ruling, text, anew)
    session.require_no_agent("a decision")
    choice = rulings.RULINGS[ruling]
    vote = rulings.require_open_for_ruling(workspace, name, choice, reason, text, anew)
    rulings.require_text_shown(workspace.engine, stream_of(name), sha256)
    person = session.person("a decision")
    rulings.record_ruling(
        workspace, name, person, choice, reason, text=text or "", vote=vote, start_over=anew
    )
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

    FILE.json proves itself; FILE.md and FILE.html are for reading and come with a FILE.json. Moot
    signs the content; if nothing has happened since the last receipt nothing new is recorded, so a
    repeat needs no key. Only decisions have receipts (not_a_decision). `in_toto` also writes
    FILE.intoto.jsonl, a signed in-toto statement about these files and, if named, about a `commit`
    (no_such_commit); that needs the ledger's key each time.
    """
    from moot.api.decisions.receipt_file import (
        SUFFIX,
        find_commit,
        make_receipt,
        make_statement,
        sign_statement,
    )
    from moot.api.decisions.receipt_page import build_receipt_page
    from moot.api.page.files import require_page_name, write_page
    from moot.api.page.reports import link_neighbours

    require_page_name(file)
    if commit is not None and not in_toto:
        raise Malformed(
            "only an in-toto statement names a commit",
            code="commit_without_statement",
            hint="add --in-toto",
        )
    commit_id = None if commit is None else find_commit(session.folder, commit)
    new_receipt = make_receipt(session.workspace, _require_decision_id(decision))
    proof = file.with_suffix(".json")
    write_file(proof, new_receipt.data)
    if file != proof:
        page = build_receipt_page(new_receipt, proof.name)
        stream = stream_of(new_receipt.content["decision"])
        write_page(file, link_neighbours(session, stream, page, file))
    statement = file.with_suffix(SUFFIX) if in_toto else None
    if statement is not None:
        files = dict.fromkeys((proof, file))
        content_to_sign = make_statement(
            new_receipt, files, commit_id, session.workspace.trust.origin
        )
        write_file(statement, sign_statement(session.workspace, content_to_sign))
    content = new_receipt.content
    return WrittenReceipt(
        decision=content["decision"],
        stage=content["stage"],
        file=str(file),
        proof=str(proof),
        sha256=new_receipt.sha256,
        cautions=tuple(content["cautions"]),
        dissent=tuple(voice["agent"] for voice in content["argument"]["dissent"]),
        title=Quoted(shorten_question(content["question"])),
        in_toto=None if statement is None else str(statement),
    )


def _require_no_acting_agent(session: Session) -> None:
    """Refuse an acting agent: this would sign with the key of every participant."""
    if session.acting is not None:
        raise Refused(
            "not_you",
            f"you are {session.acting}; this would sign for every participant",
            hint="a person runs it, without --as and outside of `moot run`",
        )


def _require_ruling(ruling: str, text: str | None, anew: bool) -> None:
    """Raise Malformed if the parts of a ruling do not fit together."""
    problem = ""
    if ruling not in RULINGS:
        problem = f"{ruling!r} is not a ruling"
    elif (text is not None) != (ruling == "amend"):
        problem = "amend needs a text, and no other ruling takes one"
    elif anew and ruling != "veto":
        problem = "only veto takes --anew"
    if problem:
        raise Malformed(problem, code="bad_ruling", hint=f"one of {', '.join(RULINGS)}")


def _require_decision_id(named: str) -> str:
    """Return `q-7` for `q-7` or `decision/q-7`; other records have no receipts."""
    name = decision_id(named)
    if "/" in name or not STREAM.match(f"decision/{name}"):
        raise Refused(
            "not_a_decision",
            f"{named} is not a decision, and only decisions have receipts",
            hint="`moot report ID` shows anything; `moot ledger export -o FILE ID` proves it",
        )
    return name


def _continue(
    session: Session,
    decision: str,
    specs: Mapping[str, Spec],
    limits: Limits,
    watch: RunWatcher | None,
    terminal: Terminal | None,
    begun: Begun | None,
    motion: int | None = None,
) -> AskedDecision:
    from moot.api.decisions.question_run import continue_question
    from moot.api.guard.person_notices import PersonMoment, notify_person

    workspace = session.workspace
    asked = shorten_question(state_of(workspace, decision).question)
    if begun is not None:
        begun(decision, asked)
    surroundings = make_surroundings(session, terminal, limits)
    progress = continue_question(workspace, decision, specs, surroundings, limits, watch, motion)
    if progress.state.stage is Stage.WAITING:
        sentence = f"{decision} needs your ruling: {asked}"
        notice_key = f"{decision} {progress.outcome}"
        notify_person(workspace.path, session.env, PersonMoment.DECISION, notice_key, sentence)
    people = bool(workspace.engine.registry().human_keys())
    return AskedDecision(
        decision=describe_decision(decision, progress.state),
        file=str(progress.file) if progress.file else None,
        run=None if progress.ended is None else RunEnding(**ending_fields(progress.ended)),
        outcome=progress.outcome or None,
        restored=progress.lost.value if progress.lost else None,
        changes=tuple(_list_changes(progress.argument)),
        next=_next_command(decision, progress, people),
        absent=progress.argument.absent,
        restored_file=str(progress.lost_file) if progress.lost_file else None,
    )


def _list_changes(argument: Argument) -> Iterator[ChangedStance]:
    """Yield the changes from the record; the file may have been changed."""
    reasons = {vote.entry: vote.summary for vote in argument.votes}
    for change in argument.changes:
        after = tuple(dict.fromkeys(entry.agent for entry in change.heard))
        why = reasons.get(change.entry, Quoted(""))
        yield ChangedStance(change.agent, change.before, change.now, after, why)


def _next_command(decision: str, progress: DecisionProgress, people: bool) -> str | None:
    """Return the next command; without `people` a person must be registered first."""
    state = progress.state
    if state.stage is Stage.WAITING:
        first = "" if people else "`moot agent register operator --human` first; then "
        return first + suggest_decide_command(decision, state.result)
    pick = " --motion N" if needs_pick(state) else ""
    return f"moot ask --resume {decision}{pick}" if state.word is None else None


MOST_FREQUENT: Final = "most-frequent"


def fill_from_settings(question: Question, folder: Path, env: Mapping[str, str]) -> Question:
    """Fill in participants and rules from the user's settings (DEC-040).

    Malformed if no participant is named anywhere. A repository's file cannot name participants:
    they run commands, and that file comes with a clone.
    """
    defaults = read_settings(worktree_root(folder) or folder, user_settings_file(env)).ask
    named = question.participants or ((defaults.participants,) if defaults.participants else ())
    if not named:
        raise Malformed(
            "no participant is named",
            code="nobody_named",
            hint=f'add --with SPEC,SPEC, or set ask.participants = "SPEC,SPEC" in your own {FILE}',
        )
    # A parliament ranks no answers, so it ignores a default for that.
    choose = defaults.choose if question.chamber == "debate" else MOST_FREQUENT
    chosen = question.choose or choose
    return replace(
        question,
        participants=named,
        rule=question.rule or defaults.rule,
        choose="" if chosen == MOST_FREQUENT else chosen,
    )

"""What the clerk's desk does: drafters, amendments, ballots, and the prime minister's word."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.surfaces.cli.parliament.group import (
    answer,
    folder_argument,
    official,
    parliament,
    room_at,
    seat_holder,
)
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.people import a_persons_name, require_no_agent
from moot.surfaces.terminal.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.flows.parliament.chamber import Room

_AMENDMENT = click.argument("amendment", metavar="AMENDMENT")


@command(parliament, "drafter", "parliament.drafter")
@folder_argument
@click.argument("seat", required=False, metavar="[SEAT]")
def drafter(shell: Shell, folder: Path, seat: str | None) -> Answer:
    """Choose who drafts the bill: SEAT, else the one whose motives cover most issues.

    Examples:
      moot parliament drafter uploads
      moot parliament drafter uploads rep_2
    """
    from moot.protocols.parliament.commands import ChooseDrafter

    room = room_at(shell, folder)
    done = room.run(ChooseDrafter(seat=seat), official(shell))
    chosen = done.state.drafter
    return answer(done, [f"{chosen} drafts the bill"], drafter=chosen)


@command(parliament, "incorporate", "parliament.incorporate")
@folder_argument
@_AMENDMENT
@click.option("--text", metavar="FILE|-", help="The new bill as JSON, where words must be found.")
def incorporate(shell: Shell, folder: Path, amendment: str, text: str | None) -> Answer:
    """Work an amendment that has its support into the bill, as its next version.

    An addition, a replacement or a removal is carried out to the letter; for a modification the
    drafter brings the new wording: a JSON object with what changes of title, summary, sections.

    Examples:
      moot parliament incorporate uploads amend-001
      moot parliament incorporate uploads amend-002 --text new-wording.json
    """
    from moot.flows.parliament.bills import merged
    from moot.protocols.parliament.commands import Incorporate
    from moot.protocols.parliament.documents.difference import compare_sections, describe_edits

    room = room_at(shell, folder)
    before = room.state.bill
    draft = merged(room.state, _json(text)) if text else None
    actor = shell.acting or official(shell)
    done = room.run(Incorporate(amendment_id=amendment, draft=draft), shell.actor(actor))
    bill = done.state.bill
    assert bill is not None
    changes = list(
        describe_edits(compare_sections(before.sections if before else None, bill.sections))
    )
    said = f"{amendment} is in the bill, version {bill.version}"
    return answer(done, [said, *changes], amendment=amendment, changes=changes)


@command(parliament, "withdraw", "parliament.withdraw")
@folder_argument
@_AMENDMENT
def withdraw(shell: Shell, folder: Path, amendment: str) -> Answer:
    """Take back an amendment; only who proposed it may.

    Examples:
      moot parliament withdraw uploads amend-001
    """
    from moot.protocols.parliament.commands import Withdraw

    room = room_at(shell, folder)
    known = room.state.amendments.get(amendment)
    actor = (
        seat_holder(shell, room, known.proposed_by) if known else shell.acting or official(shell)
    )
    done = room.run(Withdraw(amendment_id=amendment), actor)
    return answer(done, [f"{amendment} is withdrawn"], amendment=amendment)


@command(parliament, "conclude", "parliament.conclude")
@folder_argument
@_AMENDMENT
@click.option("--vote", is_flag=True, help="Call for everyone's position instead.")
def conclude(shell: Shell, folder: Path, amendment: str, vote: bool) -> Answer:
    """End the discussion of an amendment: more against it than for it rejects it.

    Examples:
      moot parliament conclude uploads amend-001
      moot parliament conclude uploads amend-001 --vote
    """
    from moot.protocols.parliament.commands import CallAmendmentVote, ConcludeAmendment

    room = room_at(shell, folder)
    asked = CallAmendmentVote if vote else ConcludeAmendment
    done = room.run(asked(amendment_id=amendment), official(shell))
    status = str(done.state.amendments[amendment].status)
    said = f"{amendment}: a vote is called" if vote else f"{amendment} is {status}"
    return answer(done, [said], amendment=amendment, amendment_status=status)


@command(parliament, "tally", "parliament.tally")
@folder_argument
@click.option("--close", is_flag=True, help="Wait no longer for votes that are missing.")
def tally(shell: Shell, folder: Path, close: bool) -> Answer:
    """Count the votes and announce the result.

    Examples:
      moot parliament tally uploads
      moot parliament tally uploads --close
    """
    from moot.protocols.parliament.commands import CloseBallot, CountVotes

    room = room_at(shell, folder)
    if close:
        room.run(CloseBallot(), official(shell))
    done = room.run(CountVotes(), official(shell))
    content = next(one["content"] for one in done.logged if one["type"] == "VOTE_TALLY")
    count = content["tally"]
    result = "passed" if content["passed"] else "failed"
    votes = f"{count['yes']} yes, {count['no']} no of {count['total']} seats"
    said = [
        f"version {content['bill_version']} {result}: {votes}",
        *(f"{one['from']}: {one['concern']}" for one in content["key_objections"]),
        f"next: {content['next_action'].replace('_', ' ')}",
    ]
    return answer(done, said, tally=content)


@command(parliament, "decide", "parliament.decide")
@folder_argument
@click.argument(
    "decision",
    type=click.Choice(["approve", "veto", "amend_and_approve", "opening_guidance"]),
)
@click.option("--reason", required=True, metavar="TEXT", help="Why; kept on record.")
@click.option("--guidance", default="", metavar="TEXT", help="What should change.")
@click.option("--text", metavar="FILE|-", help="The amended bill as JSON.")
@click.option("--extend-rounds", type=int, default=0, metavar="N", help="A veto grants rounds.")
def decide(shell: Shell, folder: Path, decision: str, **said: Any) -> Answer:
    """The prime minister's word, signed with a person's key.

    A veto and opening guidance need --guidance; amend_and_approve needs --text: a JSON object
    with what changes of title, summary, sections. Where the session belongs to a decision, this is
    the same word as that of `moot decide`: it stands in both records, or in neither.

    Examples:
      moot parliament decide uploads approve --reason "It does what we need."
      moot parliament decide uploads veto --reason "Old clients break." --guidance "Say how."
    """
    from moot.flows.parliament.bills import merged
    from moot.protocols.parliament.commands import Decide

    room = room_at(shell, folder)
    text = said["text"]
    asked = Decide(
        decision=decision,
        reason=text_argument(said["reason"]),
        guidance=text_argument(said["guidance"]),
        draft=merged(room.state, _json(text)) if text else None,
        extend_rounds=said["extend_rounds"],
    )
    require_no_agent(shell, "the prime minister's word")
    room.rehearse(asked, "prime_minister")
    actor = a_persons_name(shell, "the prime minister's word")
    done = room.run(asked, actor, "prime_minister")
    about = _about(room)
    said_it = f"{decision} by {actor}: {done.state.status}, in {done.state.parliament_id}"
    return answer(done, [said_it, *_questions(room, about)], decision=decision, about=about)


def _about(room: Room) -> list[dict[str, str]]:
    """The decisions that are argued in a session, each with its question."""
    from moot.flows.decisions.questions import state_of
    from moot.flows.parliament.ruling import decisions_of

    found = decisions_of(room.space, room.stream)
    return [{"decision": one, "question": state_of(room.space, one).question} for one in found]


def _questions(room: Room, about: list[dict[str, str]]) -> list[str]:
    """What was decided, in a line each: the decision's question, else the session's problem."""
    from moot.protocols.decision.views import shorten_question

    named = [f"{one['decision']}: {shorten_question(one['question'])}" for one in about]
    return named or [shorten_question(room.state.problem_statement)]


def _json(text: str) -> Any:
    """A JSON argument: a file's name, or - for standard input."""
    from moot.protocols.parliament.messages.shapes import read_json

    return read_json(text_argument(text if text in ("-",) or text.startswith("@") else f"@{text}"))

"""`moot parliament ...`: call a session, bring messages, see where it stands and who is next."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import Malformed, Unavailable
from moot.surfaces.cli.parliament.due_ways import WAYS
from moot.surfaces.cli.parliament.group import (
    answer,
    folder_argument,
    message_line,
    parliament,
    room_at,
    standing,
    who_acts,
)
from moot.surfaces.terminal.answer import Answer, findings_json, remarks, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.core.machine import Due
    from moot.flows.parliament.convening import Plan
    from moot.protocols.parliament.model import State
    from moot.protocols.parliament.views import SeatView, SessionView

# Imported for their commands, which join the group.
from moot.surfaces.cli.parliament import clerk, files, run  # noqa: F401

_SEAT = "Rep. Name:motive,motive[@AGENT]"


@command(parliament, "new", "parliament.new")
@folder_argument
@click.option("--problem", required=True, metavar="TEXT", help="The question to be answered.")
@click.option("--issue", "issues", multiple=True, required=True, metavar="TEXT", help="Repeat it.")
@click.option("--rep", "reps", multiple=True, required=True, metavar=_SEAT, help="Repeat it.")
@click.option(
    "--max-rounds", type=int, default=6, show_default=True, metavar="N", help="Then it is voted."
)
def new(
    shell: Shell,
    folder: Path,
    problem: str,
    issues: tuple[str, ...],
    reps: tuple[str, ...],
    max_rounds: int,
) -> Answer:
    """Call a parliament on a problem and ask for the opening statements.

    Every issue must be among the motives of some representative. A seat with @AGENT is signed
    for by that agent; any other seat gets an agent with a key of its own.

    Examples:
      moot parliament new uploads --problem "Large uploads fail." --issue speed --issue cost \\
        --rep "Rep. Swift:speed" --rep "Rep. Thrift:cost@amber-otter"
    """
    from moot.flows.parliament.convening import convene
    from moot.protocols.parliament.views import view_session

    plans = tuple(_plan(text) for text in reps)
    told = text_argument(problem)
    room = convene(shell.workspace, folder, told, issues, plans, max_rounds)
    seats = view_session(room.state).seats
    data = {**standing(room.state), "folder": str(folder), "seats": seats}
    return Answer(data, lambda: _new_lines(data))


def _plan(text: str) -> Plan:
    from moot.flows.parliament.convening import Plan

    name, colon, rest = text.partition(":")
    if not colon:
        raise Malformed(
            f"{text!r} is not NAME:motive,motive",
            code="bad_seat",
            hint=f'write it like "{_SEAT}"',
        )
    motives, _, agent = rest.partition("@")
    wanted = tuple(one.strip() for one in motives.split(",") if one.strip())
    return Plan(name.strip(), wanted, agent.strip() or None)


def _new_lines(data: dict[str, Any]) -> Iterable[str]:
    yield f"{data['parliament_id']} is in session: {data['status']}"
    rows = [(seat.id, seat.name, ", ".join(seat.satisfaction)) for seat in data["seats"]]
    yield from listing(rows, ("SEAT", "NAME", "STANDS FOR"))
    yield visible(f"next: moot parliament next {shlex.quote(data['folder'])}")


@command(parliament, "submit", "parliament.submit")
@folder_argument
@click.argument("file", metavar="MESSAGE.json|-")
def submit(shell: Shell, folder: Path, file: str) -> Answer:
    """Bring one message in the Agent Response Format: no id, round or timestamp.

    `moot parliament template TYPE` prints one to fill in. A seat's message is signed by its
    agent, the speaker's by the session, the prime minister's by a person. What the rules refuse
    changes nothing, except that a malformed reply counts against its seat: the second in a row
    expels it.

    Examples:
      moot parliament submit uploads question.json
      moot --as amber-otter parliament submit uploads - < answer.json
    """
    from moot.flows.parliament.chamber import submit as bring

    room = room_at(shell, folder)
    data = _read(file)
    done = bring(room, data, shell.acting, who_acts(shell))
    said = [message_line(message) for message in done.logged]
    return answer(done, said, messages=list(done.logged))


@command(parliament, "template", "parliament.template")
@click.argument("kind", metavar="TYPE")
def template(shell: Shell, kind: str) -> Answer:
    """Print a message of a type, to be filled in and submitted. Needs no session.

    TYPE is OPENING_STATEMENT, BILL_DRAFT, QUESTION, ANSWER, AMENDMENT, MOTION, VOTE,
    SPEAKER_RULING, VOTE_TALLY or PM_DECISION.

    Examples:
      moot parliament template QUESTION > question.json
      moot parliament template vote
    """
    import json

    from moot.protocols.parliament.messages.templates import make_template as blank
    from moot.protocols.parliament.messages.words import Kind

    del shell
    known = [word for word in Kind if word == kind.upper()]
    if not known:
        raise Malformed(
            f"{kind} is no type of message",
            code="unknown_type",
            hint=f"one of {', '.join(Kind)}",
        )
    message = blank(known[0])
    return Answer({"message": message}, lambda: json.dumps(message, indent=2).splitlines())


def _read(file: str) -> bytes:
    """Bytes, not text: what is wrong with them is for the message reader to say."""
    from moot.protocols.parliament.messages.message import MAX_MESSAGE

    if file == "-":
        return sys.stdin.buffer.read(MAX_MESSAGE + 1)
    try:
        with Path(file.removeprefix("@")).open("rb") as opened:
            return opened.read(MAX_MESSAGE + 1)
    except OSError as error:
        raise Unavailable(
            "unreadable_file", f"{file}: {error.strerror or error}", hint="check the path"
        ) from None


@command(parliament, "status", "parliament.status")
@folder_argument
def status(shell: Shell, folder: Path) -> Answer:
    """Where a session stands: phase, round, clock, bill, seats, amendments, votes.

    Examples:
      moot parliament status uploads
      moot parliament status uploads --json
    """
    from msgspec.structs import asdict

    from moot.protocols.parliament.views import view_session

    room = room_at(shell, folder)
    changed = room.cabinet.changed()
    view = view_session(room.state)
    data = {**asdict(view), "findings": findings_json(changed)}
    return Answer(data, lambda: [*_status_lines(view), *remarks(changed)])


def _status_lines(view: SessionView) -> Iterable[str]:
    ended = f", {view.outcome}" if view.outcome else ""
    used = f"{view.exchanges} of {view.max_exchanges} exchanges"
    at = f"round {view.round} of {view.max_rounds}"
    yield f"{view.parliament_id}: {view.status}{ended}, {at}, {used}"
    if view.bill_title:
        title = visible(view.bill_title)
        yield f"bill: {title}, version {view.bill_version}, drafted by {view.drafter}"
    rows = [(seat.id, seat.name, _motives(seat), _manner(seat)) for seat in view.seats]
    yield from listing(rows, ("SEAT", "NAME", "MOTIVES", ""))
    for amendment in view.amendments:
        yield visible(f"{amendment.id} ({amendment.status}): {amendment.description}")
    for vote in view.vote_history:
        result = "passed" if vote.passed else "failed"
        yield f"vote in round {vote.round}: {vote.yes} of {vote.total} for it, {result}"


def _motives(seat: SeatView) -> str:
    return ", ".join(f"{name} {score or '-'}" for name, score in seat.satisfaction.items())


def _manner(seat: SeatView) -> str:
    return "expelled" if seat.expelled else "quiet" if seat.quiet else ""


@command(parliament, "next", "parliament.next")
@folder_argument
def next_turn(shell: Shell, folder: Path) -> Answer:
    """Who is expected to do what, and which motives still hold a vote up.

    Examples:
      moot parliament next uploads
    """
    from moot.flows.parliament.ruling import is_over
    from moot.protocols.parliament.turns import agenda
    from moot.protocols.parliament.views import view_session

    room, engine = room_at(shell, folder), shell.workspace.engine
    state = room.state
    dues = () if is_over(engine, room.stream) else agenda(state, engine.clock())
    view = view_session(state)
    data = {
        **standing(state),
        "folder": str(folder),
        "due": [_due(state, due) for due in dues],
        "underserved": view.underserved,
        "ask_next": view.ask_next,
        "may_vote": view.may_vote,
        "missing_votes": view.missing_votes,
    }
    return Answer(data, lambda: _next_lines(data))


def _due(state: State, due: Due) -> dict[str, Any]:
    seat = state.holders.get(due.who)
    return {
        "who": due.who,
        "seat": seat,
        "what": due.what,
        "subject": due.subject,
        "hint": due.hint,
    }


def _next_lines(data: dict[str, Any]) -> Iterable[str]:
    yield f"{data['parliament_id']}: {data['status']}, round {data['round']}"
    rows = [(due["seat"] or due["who"], due["what"], due["subject"]) for due in data["due"]]
    if rows:
        yield from listing(rows, ("WHO", "WHAT", "ABOUT"))
    else:
        yield "nothing is due"
    low = [f"{score.motive} of {score.seat}" for score in data["underserved"]]
    if low and data["status"] == "debate":
        yield visible(f"below 3: {', '.join(low)}")
    at = shlex.quote(data["folder"])
    ways = dict.fromkeys(WAYS[due["what"]] for due in data["due"] if due["what"] in WAYS)
    yield from (visible(f"try: moot parliament {way.replace('DIR', at)}") for way in ways)

"""Mail answered by participants: programs, models, scripts, people at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from moot.api.operation import operation
from moot.api.runs import USUAL, RunResult, read_participants, result_fields, seating

if TYPE_CHECKING:
    from moot.api.runs import Limits, RunWatcher, Terminal
    from moot.api.session import Session


class MailRun(RunResult, frozen=True):
    """How a run ended, whom it waits for and what it cost; `decision` is where that is on record.

    `standing` says how many answers of the participants are still open.
    """

    decision: str | None


@operation("mail.run", writes=True, runs_programs=True)
def run(
    session: Session,
    participants: Sequence[str],
    *,
    limits: Limits | None = None,
    watch: RunWatcher | None = None,
    terminal: Terminal | None = None,
) -> MailRun:
    """Let participants (`NAME=SPEC`) acknowledge the messages that wait for them, each under its
    own key.

    Only answers that are owed and were never given are asked for, so a repeat asks for none twice
    and needs no key; each answer is a commit of its own. A `human` participant is asked at
    `terminal`. Refused before anybody is asked: unknown names, people's names, keys that are not
    here, and any other name than the session's own, if it has one.
    """
    from moot.flows.runs.run_mail import run_mail

    specs = read_participants(session, participants)
    seats = seating(session, terminal, limits or USUAL)
    finished = run_mail(session.workspace, specs, seats, limits or USUAL, watch)
    return MailRun(finished.decision, **result_fields(finished))

"""A parliament whose seats are taken by participants: programs, models, scripts, people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moot.api.operation import operation
from moot.api.runs.limits import USUAL, RunResult, read_participants, result_fields, seating

if TYPE_CHECKING:
    from moot.api.parliaments.session import ParliamentSession
    from moot.api.runs.limits import Limits, RunWatcher, Terminal
    from moot.api.session import Session


class ParliamentRun(RunResult, frozen=True):
    """How a run ended: what stopped it, after how many turns, whom it waits for, what it cost.

    `parliament_id` is the decision that keeps the record of the run: the session's own id, unless
    the session argues another question. `standing` holds the status (`state`), the `round` and the
    version of the `bill`.
    """

    parliament_id: str | None


@operation("parliament.run", writes=True, runs_programs=True)
def run(
    session: Session,
    folder: Path,
    participants: Sequence[str],
    *,
    limits: Limits | None = None,
    watch: RunWatcher | None = None,
    terminal: Terminal | None = None,
) -> ParliamentRun:
    """Let participants state, draft, ask, answer and vote until the prime minister is asked.

    A participant is `SEAT=SPEC`: a seat's id or the name of its agent, and who takes it. A session
    that acts under a name may seat only itself (`not_you`). It is many commits and needs no key:
    whatever interrupts it, the same call goes on where the record stands. Refused before anybody is
    asked: seats that nobody has, participants that cannot be started, keys that are not here, files
    that somebody changed, a session whose question a person has decided.
    """
    from moot.api.parliaments.session import ParliamentSession
    from moot.api.runs.parliament import run_parliament

    parliament = ParliamentSession.open(session.workspace, folder)
    named = [_name_agent(parliament, text) for text in participants]
    specs = read_participants(session, named)
    seats = seating(session, terminal, limits or USUAL)
    finished = run_parliament(parliament, specs, seats, limits or USUAL, watch)
    return ParliamentRun(finished.decision, **result_fields(finished))


def _name_agent(parliament: ParliamentSession, text: str) -> str:
    """`rep_1=SPEC` as `amber-otter=SPEC`; a text that names nobody is left for the reader of specs
    to refuse."""
    from moot.api.runs.parliament import require_seated_agent

    seat, sign, spec = text.partition("=")
    if not sign or ":" in seat:
        return text
    return f"{require_seated_agent(parliament, seat.strip())}={spec}"

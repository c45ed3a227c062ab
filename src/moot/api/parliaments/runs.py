"""Let participants take the seats of a parliament: programs, models, scripts, people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moot.api.operation import operation
from moot.api.runs.limits import (
    DEFAULT_LIMITS,
    RunResult,
    make_surroundings,
    read_participants,
    result_fields,
)

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

    A participant is `SEAT=SPEC`: a seat's id or its agent's name, and who takes it. A session that
    acts under a name may seat only itself (`not_you`). A run makes many commits and needs no key:
    after an interruption the same call continues from the record. Refused before any participant is
    asked: unknown seats, participants that cannot be started, keys that are not here, files that
    another program changed, a session whose question a person has decided.
    """
    from moot.api.parliaments.session import ParliamentSession
    from moot.api.runs.parliament import run_parliament

    parliament = ParliamentSession.open(session.workspace, folder)
    named = [_with_agent_name(parliament, text) for text in participants]
    specs = read_participants(session, named)
    seats = make_surroundings(session, terminal, limits or DEFAULT_LIMITS)
    finished = run_parliament(parliament, specs, seats, limits or DEFAULT_LIMITS, watch)
    return ParliamentRun(finished.decision, **result_fields(finished))


def _with_agent_name(parliament: ParliamentSession, text: str) -> str:
    """Return `amber-otter=SPEC` for `rep_1=SPEC`; a text without a name is left unchanged."""
    from moot.api.runs.parliament import require_seated_agent

    seat, equals, spec = text.partition("=")
    if not equals or ":" in seat:
        return text
    return f"{require_seated_agent(parliament, seat.strip())}={spec}"

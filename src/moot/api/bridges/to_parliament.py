"""Convene a parliament with the agents of a debate, after its consensus or its deadlock.

A thin, provisional or faulty result is refused (XPR-04). No stance becomes a vote: each seat gets a
seed of its opening statement, and leanings are only shown. After a deadlock a person must ask for
the parliament (FLO-06).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from moot.agents.brief import AuthorTrust
from moot.api.bridges import sources
from moot.api.bridges.participants import ParliamentPlan, require_not_evicted, to_pascal_case
from moot.api.bridges.sources import FlowSource
from moot.api.bridges.steps import StepPlan, TakenStep, require_undamaged, take_step
from moot.api.debates.check import build_author_trust
from moot.api.debates.locked_session import LockedSession, lock_session
from moot.api.debates.record import path_in_record
from moot.api.parliaments.convening import SeatRequest as SeatPlan
from moot.api.parliaments.convening import convene, make_folder, next_free_id
from moot.api.parliaments.session import ParliamentSession
from moot.api.parliaments.session import stream_of as parliament_stream
from moot.core.errors import Refused
from moot.core.findings import select_errors
from moot.engine.job import Link
from moot.engine.registry_commands import find_agent
from moot.protocols.debate import events as debate_events
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.course import list_entries
from moot.protocols.debate.model import DebateEntry
from moot.protocols.debate.views import require_course, view_consensus
from moot.protocols.path.model import MadeThing, ResultStanding, StepTarget
from moot.store.files import replace_own_file
from moot.workspace.workspace import Workspace

# A seed is an unsigned message file in the Agent Response Format with what its agent said in the
# debate. The agent reads it, changes it, and submits it under its own key.

SEEDS_FOLDER: Final = "seeds"
LEANINGS: Final = {"approve": "YES", "reject": "NO"}
MAX_FACTS: Final = 20
MAX_MOTIVE: Final = 120
# Motives are keys of signed data, so they contain only characters that every library sorts alike.
_FIRST_SURROGATE: Final = "\ud800"


def last_entries(checked: CheckedSession) -> dict[str, DebateEntry]:
    """Return each agent's last entry."""
    return {entry.author: entry for entry in list_entries(require_course(checked).rounds)}


def list_leanings(checked: CheckedSession) -> dict[str, str]:
    """Return how each agent leans by its last stance; shown only, never cast as a vote (3.5)."""
    last = last_entries(checked)
    names = require_course(checked).rules.agents
    return {
        name: LEANINGS.get(last[name].field_value("stance"), "UNDECIDED")
        if name in last
        else "UNDECIDED"
        for name in names
    }


def list_motives(checked: CheckedSession) -> dict[str, str]:
    """Return each agent's motive: the summary of its last entry, made unique by its name."""
    last = last_entries(checked)
    found: dict[str, str] = {}
    seen: set[str] = set()
    for name in require_course(checked).rules.agents:
        said = last[name].field_value("summary") if name in last else ""
        text = " ".join("".join(c if c < _FIRST_SURROGATE else " " for c in said).split())[
            :MAX_MOTIVE
        ]
        text = text.strip() or f"the view of {name}"
        if text.casefold() in seen:
            text = f"{text} ({name})"
        seen.add(text.casefold())
        found[name] = text
    return found


def write_seeds(folder: Path, checked: CheckedSession, seats: dict[str, str]) -> list[str]:
    """Write a seed for each seat and one for the first bill; existing files are kept."""
    made = []
    (folder / SEEDS_FOLDER).mkdir(parents=True, exist_ok=True)
    for name, document in _build_seeds(checked, seats):
        file = folder / SEEDS_FOLDER / name
        if not file.exists():
            text = json.dumps(document, ensure_ascii=False, indent=2)
            replace_own_file(file, f"{text}\n".encode())
        made.append(f"{SEEDS_FOLDER}/{name}")
    return made


def _build_seeds(checked: CheckedSession, seats: dict[str, str]) -> Iterator[tuple[str, Any]]:
    entries = list_entries(require_course(checked).rounds)
    for agent, seat in seats.items():
        mine = [entry for entry in entries if entry.author == agent]
        yield f"{seat}.json", _build_statement(seat, mine)
    yield "bill-v1.json", _build_bill(checked, seats)


def _build_statement(seat: str, mine: list[DebateEntry]) -> dict[str, Any]:
    summaries = [entry.field_value("summary") for entry in mine if entry.field_value("summary")]
    last = mine[-1] if mine else None
    position = last.field_value("stance") if last is not None else "defer"
    asked = last.field_value("action_requested") if last is not None else ""
    return {
        "type": "OPENING_STATEMENT",
        "from": seat,
        "content": {
            "briefing": {
                "facts": summaries[-MAX_FACTS:] or ["I said nothing in the debate."],
                "constraints": [],
                "precedents": [],
                "open_questions": [asked] if asked and asked != "n/a" else [],
            },
            "direction": {
                "approach": summaries[-1] if summaries else "I have no proposal yet.",
                "principle": f"In the debate my position was: {position or 'none'}.",
                "trade_offs": "",
            },
        },
    }


def _build_bill(checked: CheckedSession, seats: dict[str, str]) -> dict[str, Any]:
    """Build the first draft from the summaries of the agents that approved (3.5)."""
    last = last_entries(checked)
    approved = [
        name for name in seats if name in last and last[name].field_value("stance") == "approve"
    ]
    summary = " ".join(last[name].field_value("summary") for name in approved).strip()
    drafter = next((seats[name] for name in approved), next(iter(seats.values())))
    return {
        "type": "BILL_DRAFT",
        "from": drafter,
        "content": {
            "bill_version": 1,
            "title": checked.document.name,
            "summary": summary or checked.document.name,
            "sections": {
                "problem": checked.document.section_text("Context").strip() or "See the debate.",
                "scope": {"in_scope": [], "out_of_scope": [], "assumptions": []},
                "solution": summary or "To be drafted.",
                "implementation": "To be drafted.",
            },
        },
    }


FOLDER: Final = "paths"
CONSENSUS, DEADLOCK = "consensus-to-parliament", "deadlock-to-parliament"


def to_parliament(
    workspace: Workspace,
    flow: str,
    reference: str,
    asked_by: str,
    request: ParliamentPlan,
    note: str = "",
) -> TakenStep:
    opening, file = sources.find_debate(workspace, reference, debate_events.SessionBegan)
    require_undamaged(workspace, flow, opening, asked_by)
    with lock_session(
        file, workspace.engine.clock, workspace
    ) as held:  # records what the file contains first
        checked, unsigned = held.checked, _list_unsigned_authors(held)
    flow_source, _ = _find_ended_debate(workspace, reference, checked)
    agents = require_course(checked).rules.agents
    for name in agents:
        find_agent(workspace.engine, name)
    if not request.even_if_gone:
        require_not_evicted(workspace, agents)
    approvers = view_consensus(checked).approvers
    problem = _describe_problem(checked, flow_source.source.id, asked_by, note)

    def make(target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        folder = workspace.root / target.file
        parliament = ParliamentSession(workspace, folder, target.id)
        if parliament.state.status is None:
            plans, issues = _plan_seats(checked, request.issues)
            parliament = convene(
                workspace, folder, problem, issues, plans, request.rounds, target.id, link
            )
        make_folder(folder)
        parliament.files.write()
        seats = {seat.agent: seat.id for seat in parliament.state.seats_in_order()}
        texts = write_seeds(folder, checked, seats)
        session_made = MadeThing("session", target.stream, 0, target.id)
        return (
            session_made,
            *(MadeThing("seed", target.stream, 0, f"{target.id}/{t}") for t in texts),
        )

    plan = StepPlan(
        flow,
        flow_source,
        asked_by,
        lambda: _target(workspace, request.folder),
        make,
        needs_new_stream=True,
        file=path_in_record(workspace.root, request.folder) if request.folder is not None else "",
        standing=assess_result(checked, unsigned),
        approvers=approvers,
    )
    return take_step(workspace, plan)


def assess_result(checked: CheckedSession, unsigned: tuple[str, ...] = ()) -> ResultStanding:
    """Return how sure the debate's result is (XPR-04)."""
    result = view_consensus(checked)
    return ResultStanding(
        reached=result.reached,
        thin=any(finding.code == "thin_quorum" for finding in result.findings),
        provisional=result.provisional or not require_course(checked).phase.has_ended,
        errors=len(select_errors(checked.findings)),
        unsigned=unsigned,
    )


def _list_unsigned_authors(held: LockedSession) -> tuple[str, ...]:
    """Return the authors of entries that have no recorded signature of theirs (XPR-05)."""
    trust = build_author_trust(held.reading, held.record)
    entries = list_entries(require_course(held.checked).rounds)
    return tuple(dict.fromkeys(one.author for one in entries if trust(one) is AuthorTrust.UNSIGNED))


def _find_ended_debate(
    workspace: Workspace, reference: str, checked: CheckedSession
) -> tuple[FlowSource, Path]:
    """Return the event that ended the debate; Refused (not_settled) if it has not ended."""
    try:
        return sources.find_debate(workspace, reference, debate_events.SessionEnded)
    except Refused:
        raise Refused(
            "not_settled",
            f"this debate has not ended: it is {require_course(checked).phase.value}",
            hint="`moot debate status FILE` says who must speak",
        ) from None


def _describe_problem(checked: CheckedSession, session_id: str, asked_by: str, note: str) -> str:
    """Return the problem statement: the session's name, its context and origin (FLO-12)."""
    document = checked.document
    parts = [document.name, document.section_text("Context").strip()]
    leaning = ", ".join(f"{name} {word}" for name, word in list_leanings(checked).items())
    parts.append(f"From debate {session_id}, taken up by system, asked by {asked_by}.")
    parts.append(f"Leaning before this session (nobody has voted): {leaning}.")
    if note.strip():
        parts.append(f"The operator's guidance: {' '.join(note.split())}")
    return "\n\n".join(part for part in parts if part)


def _plan_seats(
    checked: CheckedSession, named_issues: tuple[str, ...]
) -> tuple[tuple[SeatPlan, ...], tuple[str, ...]]:
    """Plan a seat for each agent with its motive; named issues are dealt out in turn."""
    stands_for = {agent: [motive] for agent, motive in list_motives(checked).items()}
    own = tuple(motive for motives in stands_for.values() for motive in motives)
    names = list(stands_for)
    for place, issue in enumerate(named_issues):
        stands_for[names[place % len(names)]].append(issue)
    plans = tuple(
        SeatPlan(f"Rep. {to_pascal_case(agent)}", tuple(motives), agent)
        for agent, motives in stands_for.items()
    )
    return plans, named_issues or own


def _target(workspace: Workspace, folder: Path | None) -> StepTarget:
    parliament_id = next_free_id(workspace)
    place = folder or workspace.path / FOLDER / parliament_id
    return StepTarget(
        parliament_stream(parliament_id), parliament_id, path_in_record(workspace.root, place)
    )

"""What a debate agreed on, or could not, goes to a parliament with the same agents.

A thin, provisional or faulty result goes nowhere (XPR-04). Nobody's position becomes a vote: seats
get seeds of their statements, and leans are only shown. A deadlock goes on because a person asks
(FLO-06).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from moot.agents.brief import AuthorTrust
from moot.api.bridges import sources
from moot.api.bridges.participants import ParliamentPlan, pascal, require_present
from moot.api.bridges.sources import FlowSource
from moot.api.bridges.steps import StepPlan, TakenStep, require_undamaged, take_step
from moot.api.debates.check import trust_in
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
from moot.protocols.debate import events as did
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.course import list_entries
from moot.protocols.debate.model import DebateEntry
from moot.protocols.debate.views import require_course, view_consensus
from moot.protocols.path.model import MadeThing, ResultStanding, StepTarget
from moot.store.files import replace_own_file
from moot.workspace.workspace import Workspace

# A seed is a message file in the Agent Response Format that nobody has signed. It says what its
# agent said in the debate; the agent looks at it, changes it, and submits it under its own key.

SEEDS_FOLDER: Final = "seeds"
LEANS: Final = {"approve": "YES", "reject": "NO"}
MOST_FACTS: Final = 20
MOST_MOTIVE: Final = 120
# Motives are keys of signed data, which hold only what every library sorts alike.
_LAST_SIGN: Final = "\ud800"


def last_words(checked: CheckedSession) -> dict[str, DebateEntry]:
    """What each agent said last."""
    return {entry.author: entry for entry in list_entries(require_course(checked).rounds)}


def leans(checked: CheckedSession) -> dict[str, str]:
    """How each agent would seem to vote: shown, never cast (3.5)."""
    last = last_words(checked)
    names = require_course(checked).rules.agents
    return {
        name: LEANS.get(last[name].field_value("stance"), "UNDECIDED")
        if name in last
        else "UNDECIDED"
        for name in names
    }


def motives_of(checked: CheckedSession) -> dict[str, str]:
    """What each agent stands for: the sense of its last entry, in words of its own."""
    last = last_words(checked)
    found: dict[str, str] = {}
    seen: set[str] = set()
    for name in require_course(checked).rules.agents:
        said = last[name].field_value("summary") if name in last else ""
        text = " ".join("".join(c if c < _LAST_SIGN else " " for c in said).split())[:MOST_MOTIVE]
        text = text.strip() or f"the view of {name}"
        if text.casefold() in seen:
            text = f"{text} ({name})"
        seen.add(text.casefold())
        found[name] = text
    return found


def write_seeds(folder: Path, checked: CheckedSession, seats: dict[str, str]) -> list[str]:
    """One file a seat, and one for the first draft of the bill; those that are there stay."""
    made = []
    (folder / SEEDS_FOLDER).mkdir(parents=True, exist_ok=True)
    for name, document in _documents(checked, seats):
        file = folder / SEEDS_FOLDER / name
        if not file.exists():
            text = json.dumps(document, ensure_ascii=False, indent=2)
            replace_own_file(file, f"{text}\n".encode())
        made.append(f"{SEEDS_FOLDER}/{name}")
    return made


def _documents(checked: CheckedSession, seats: dict[str, str]) -> Iterator[tuple[str, Any]]:
    entries = list_entries(require_course(checked).rounds)
    for agent, seat in seats.items():
        mine = [entry for entry in entries if entry.author == agent]
        yield f"{seat}.json", _statement(seat, mine)
    yield "bill-v1.json", _bill(checked, seats)


def _statement(seat: str, mine: list[DebateEntry]) -> dict[str, Any]:
    summaries = [entry.field_value("summary") for entry in mine if entry.field_value("summary")]
    last = mine[-1] if mine else None
    position = last.field_value("stance") if last is not None else "defer"
    asked = last.field_value("action_requested") if last is not None else ""
    return {
        "type": "OPENING_STATEMENT",
        "from": seat,
        "content": {
            "briefing": {
                "facts": summaries[-MOST_FACTS:] or ["I said nothing in the debate."],
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


def _bill(checked: CheckedSession, seats: dict[str, str]) -> dict[str, Any]:
    """3.5: the summary of the bill is what those who approved said."""
    last = last_words(checked)
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
    named: str,
    asked_by: str,
    wanted: ParliamentPlan,
    note: str = "",
) -> TakenStep:
    begun, file = sources.debate(workspace, named, did.SessionBegan)
    require_undamaged(workspace, flow, begun, asked_by)
    with lock_session(
        file, workspace.engine.clock, workspace
    ) as held:  # what stands there is on record first
        checked, unsigned = held.checked, _unsigned(held)
    flow_source, _ = _source(workspace, named, checked)
    agents = require_course(checked).rules.agents
    for name in agents:
        find_agent(workspace.engine, name)
    if not wanted.even_if_gone:
        require_present(workspace, agents)
    approvers = view_consensus(checked).approvers
    problem = _problem(checked, flow_source.source.id, asked_by, note)

    def make(target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        folder = workspace.root / target.file
        room = ParliamentSession(workspace, folder, target.id)
        if room.state.status is None:
            plans, issues = _seats(checked, wanted.issues)
            room = convene(
                workspace, folder, problem, issues, plans, wanted.rounds, target.id, link
            )
        make_folder(folder)
        room.files.write()
        seats = {seat.agent: seat.id for seat in room.state.seats_in_order()}
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
        lambda: _target(workspace, wanted.folder),
        make,
        file=path_in_record(workspace.root, wanted.folder) if wanted.folder is not None else "",
        standing=standing(checked, unsigned),
        approvers=approvers,
    )
    return take_step(workspace, plan)


def standing(checked: CheckedSession, unsigned: tuple[str, ...] = ()) -> ResultStanding:
    """XPR-04: how sure the debate's result is."""
    result = view_consensus(checked)
    return ResultStanding(
        reached=result.reached,
        thin=any(finding.code == "thin_quorum" for finding in result.findings),
        provisional=result.provisional or not require_course(checked).phase.has_ended,
        errors=len(select_errors(checked.findings)),
        unsigned=unsigned,
    )


def _unsigned(held: LockedSession) -> tuple[str, ...]:
    """XPR-05: whose words stand in the file without that one's signature on record."""
    trust = trust_in(held.reading, held.record)
    entries = list_entries(require_course(held.checked).rounds)
    return tuple(dict.fromkeys(one.author for one in entries if trust(one) is AuthorTrust.UNSIGNED))


def _source(workspace: Workspace, named: str, checked: CheckedSession) -> tuple[FlowSource, Path]:
    """The event that ended the debate; a debate that goes on leads nowhere yet."""
    try:
        return sources.debate(workspace, named, did.SessionEnded)
    except Refused:
        raise Refused(
            "not_settled",
            f"this debate is {require_course(checked).phase.value}",
            hint="`moot debate status FILE` says who must speak",
        ) from None


def _problem(checked: CheckedSession, session_id: str, asked_by: str, note: str) -> str:
    """FLO-12: the name of the session and its context, and where they come from."""
    document = checked.document
    parts = [document.name, document.section_text("Context").strip()]
    leaning = ", ".join(f"{name} {word}" for name, word in leans(checked).items())
    parts.append(f"From debate {session_id}, taken up by system, asked by {asked_by}.")
    parts.append(f"Leaning before this session (nobody has voted): {leaning}.")
    if note.strip():
        parts.append(f"The operator's guidance: {' '.join(note.split())}")
    return "\n\n".join(part for part in parts if part)


def _seats(
    checked: CheckedSession, named: tuple[str, ...]
) -> tuple[tuple[SeatPlan, ...], tuple[str, ...]]:
    """Agents become representatives of what they argued for; issues named besides go round."""
    stands_for = {agent: [motive] for agent, motive in motives_of(checked).items()}
    own = tuple(motive for motives in stands_for.values() for motive in motives)
    names = list(stands_for)
    for place, issue in enumerate(named):
        stands_for[names[place % len(names)]].append(issue)
    plans = tuple(
        SeatPlan(f"Rep. {pascal(agent)}", tuple(motives), agent)
        for agent, motives in stands_for.items()
    )
    return plans, named or own


def _target(workspace: Workspace, folder: Path | None) -> StepTarget:
    parliament_id = next_free_id(workspace)
    place = folder or workspace.path / FOLDER / parliament_id
    return StepTarget(
        parliament_stream(parliament_id), parliament_id, path_in_record(workspace.root, place)
    )

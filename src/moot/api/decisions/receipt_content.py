"""Everything a receipt says about a decision, as plain data that Moot signs.

All of it follows from the record: the same record gives the same bytes. Decimals are text. The
texts here are part of signed files, so they keep their wording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from moot import pages as page
from moot.api.decisions.questions import read_text, state_of
from moot.api.decisions.results import NO_ARGUMENT, Argument, summarize_debate, summarize_parliament
from moot.core.clock import to_text
from moot.core.ledger import View
from moot.core.registry.model import State as Registry
from moot.core.text import plural
from moot.protocols.decision import stream_of
from moot.protocols.decision.model import CallCost, ChamberKind, DecisionSeat, PersonsRuling, State
from moot.protocols.decision.rankings import report_rankings
from moot.protocols.decision.views import describe_approval_against_result, list_answers
from moot.protocols.parliament.messages.contents import PrimeMinisterChoice
from moot.workspace.workspace import Workspace

# What sealed first answers prove; it depends on where the keys are kept.

APART: Final = "no author could fit its answer to another's, short of collusion"
TITLE: Final = "How the first answers were kept apart"
NOT_SEALED: Final = (
    "They were not sealed: nothing in the record proves that no answer was fitted to another."
)
TOGETHER: Final = "the runner says it kept them apart; it could have written any of them"


def describe_seal(state: State) -> dict[str, Any] | None:
    """Return who sealed, who did not open, and what that proves; None if nothing was sealed.

    `prompts` are the hashes of each participant's first prompt: none contains another's answer.
    """
    if not state.is_sealed or state.seals_checkpoint is None:
        return None
    names = [seat.agent for seat in state.seats if seat.agent in state.seals]
    opened = {name for name, first in state.answers.items() if first.answer is not None}
    return {
        "sealed": names,
        "unopened": [name for name in names if name not in opened],
        "refused": [name for name in names if state.seals[name].refused],
        "checkpoint": state.seals_checkpoint,
        "custody": describe_custody(state),
        "prompts": {name: state.seals[name].prompt for name in names},
    }


def describe_custody(state: State) -> str:
    """Return what the places of the keys prove about independence."""
    sealed = [seat.custodian for seat in state.seats if seat.agent in state.seals]
    folders = len(set(sealed))
    if folders == len(sealed) and folders > 1 and all(sealed):
        return APART
    if folders <= 1:
        return TOGETHER
    return (
        f"{len(sealed)} keys in {folders} folders: between folders, {APART}; within one, {TOGETHER}"
    )


def seal_block(content: dict[str, Any]) -> page.Block:
    """Build the page's block on how the first answers were kept apart, if they were."""
    seal = content.get("seal")
    if seal is None:
        return page.Prose(NOT_SEALED, title=TITLE)
    custody = seal["custody"]
    rows = [
        ("Sealed before any was opened", ", ".join(seal["sealed"])),
        ("The checkpoint between", f"number {seal['checkpoint']}"),
        ("What that proves", f"{custody[:1].upper()}{custody[1:]}."),
    ]
    if seal["unopened"]:
        rows.append(("Never opened, so absent", ", ".join(seal["unopened"])))
    if seal["refused"]:
        rows.append(("Tried to open another answer", ", ".join(seal["refused"])))
    return page.Table(
        ("What", "Which"),
        tuple(rows),
        title=TITLE,
        caption="The record keeps each first prompt: none contains another's answer.",
    )


RECEIPT_EVENT: Final = "decision.receipt_made"
CHECK: Final = (
    "moot verify FILE.json --trust TRUST.json, or python standalone.py FILE.json --trust "
    "TRUST.json, which is one file; the trust file must come by another way than this one"
)
_SUMMARIZE: Final[dict[ChamberKind, Callable[[Workspace, str, State], Argument]]] = {
    ChamberKind.DEBATE: summarize_debate,
    ChamberKind.PARLIAMENT: summarize_parliament,
}


def compose_receipt(workspace: Workspace, decision: str) -> dict[str, Any]:
    """Compose the receipt of this decision. Its keys are in signed files: they never change."""
    state = state_of(workspace, decision)
    registry = workspace.engine.registry()
    argument = summarize_argument(workspace, decision, state)
    return {
        "decision": decision,
        "stage": state.stage.value,
        "question": state.question,
        "context": _describe_text(workspace, state.context),
        "asked": {"at": to_text(state.asked_at), "by": state.asked_by},
        "chamber": state.chamber.value,
        "rule": state.rule,
        "rounds": state.rounds,
        "options": list(state.options),
        "participants": [_describe_participant(registry, state, seat) for seat in state.seats],
        "first_answers": msgspec.to_builtins(list_answers(state)),
        "seal": describe_seal(state),
        "motion": msgspec.to_builtins(state.motion),
        "ranking": msgspec.to_builtins(report_rankings(state)),
        "argument": msgspec.to_builtins(argument),
        "result": msgspec.to_builtins(state.verdict),
        "cautions": [*list_cautions(state), *_unrecorded_ruling(decision, state, argument)],
        "word": _describe_ruling(workspace, registry, state.word),
        "sent_back": [_describe_ruling(workspace, registry, veto) for veto in state.sent_back],
        "earlier": list(_list_earlier(workspace, state)),
        "superseded_by": state.superseded_by,
        "cost": msgspec.to_builtins(state.cost),
        "evidence": _list_evidence(workspace, decision),
        "check": CHECK,
    }


def summarize_argument(workspace: Workspace, decision: str, state: State) -> Argument:
    """Summarize the argument from the record of its chamber."""
    summarize = _SUMMARIZE.get(state.chamber)
    if summarize is None or state.session is None:
        return NO_ARGUMENT
    return summarize(workspace, decision, state)


def describe_outcome(state: State, argument: Argument) -> str:
    """Return the result of the vote as a sentence; empty if there is none."""
    return (argument.outcome or state.verdict.summary) if state.verdict is not None else ""


def list_superseded(workspace: Workspace, decision: str) -> list[str]:
    """Return the decision and those that it supersedes, the newest first."""
    chain = [decision]
    while (before := state_of(workspace, chain[-1]).supersedes) is not None and before not in chain:
        chain.append(before)
    return chain


def list_streams(workspace: Workspace, decision: str) -> list[str]:
    """Return every stream that a receipt is based on."""
    streams = []
    for name in list_superseded(workspace, decision):
        sessions = state_of(workspace, name).sessions
        streams += [stream_of(name), *(session.id for session in sessions)]
    with workspace.store.read() as view:
        return [stream for stream in streams if view.head(stream) is not None]


def _describe_text(workspace: Workspace, sha256: str | None) -> dict[str, Any] | None:
    """Return a stored text with its hash; an erased one has only its hash."""
    if sha256 is None:
        return None
    text = read_text(workspace, sha256) if workspace.artifacts.has(sha256) else None
    return {"sha256": sha256, "text": text}


def _describe_participant(registry: Registry, state: State, seat: DecisionSeat) -> dict[str, Any]:
    return {
        "agent": seat.agent,
        "kind": seat.kind,
        "what": seat.spec,
        "model": seat.model,
        "scripted": seat.scripted,
        "key": _describe_key(registry, seat.agent),
        "cost": msgspec.to_builtins(state.purses.get(seat.agent, CallCost())),
    }


def _describe_key(registry: Registry, name: str) -> dict[str, Any] | None:
    agent = registry.agents.get(name)
    if agent is None:
        return None
    key = registry.keys[agent.kid]
    return {"class": key.kind.value, "kid": key.kid, "custodian": key.custodian, "epoch": key.epoch}


def _describe_ruling(
    workspace: Workspace, registry: Registry, ruling: PersonsRuling | None
) -> dict[str, Any] | None:
    if ruling is None:
        return None
    return {
        "word": ruling.word.value,
        "by": ruling.by,
        "key": _describe_key(registry, ruling.by),
        "reason": ruling.reason,
        "at": to_text(ruling.at),
        "attended": ruling.attended,
        "text": _describe_text(workspace, ruling.text),
    }


def _list_earlier(workspace: Workspace, state: State) -> Iterator[dict[str, Any]]:
    """Yield the decisions that this one supersedes, with why each was vetoed."""
    if state.supersedes is None:
        return
    for name in list_superseded(workspace, state.supersedes):
        before = state_of(workspace, name)
        yield {
            "decision": name,
            "motion": before.motion.text if before.motion else None,
            "result": msgspec.to_builtins(before.verdict),
            "outcome": describe_outcome(before, summarize_argument(workspace, name, before)),
            "word": before.word.word.value if before.word else None,
            "by": before.word.by if before.word else None,
            "reason": before.word.reason if before.word else None,
        }


def list_cautions(state: State) -> Iterator[str]:
    """Yield what qualifies the tally, such as voices that are not independent (DEC-024)."""
    scripted = [seat.agent for seat in state.seats if seat.scripted]
    if scripted:
        yield f"{', '.join(scripted)}: scripted; no model and no person thought about these words"
    same_source: dict[str, list[str]] = {}
    for seat in state.seats:
        if not seat.scripted and (seat.model or seat.spec):
            what = f"model {seat.model}" if seat.model else f"program {seat.spec}"
            same_source.setdefault(what, []).append(seat.agent)
    for what, names in same_source.items():
        if len(names) > 1:
            yield f"{', '.join(names)}: the same {what}; agreement between them weighs less"
    folders = {seat.custodian for seat in state.seats}
    if len(folders) == 1 < len(state.seats):
        yield "all keys lie in one folder: whoever has it could sign as any of them"
    elif len(folders) < len(state.seats):
        yield (
            f"the keys of {len(state.seats)} participants lie in {len(folders)} folders: whoever "
            "has a folder could sign as anyone whose key lies in it"
        )
    if describe_approval_against_result(state):
        yield f"approved {describe_approval_against_result(state)}"
    fitted = state.endings.get("fitted", 0)
    if fitted:
        yield f"{plural(fitted, 'answer')} had headings set deeper, to fit into the session's file"
    yield from _list_ruling_cautions(state)


def _list_ruling_cautions(state: State) -> Iterator[str]:
    if state.word is not None and state.verdict is None:
        yield "the person decided before there was a result"
    if state.word is not None and not state.word.attended:
        yield f"{state.word.by}'s key was unlocked by a file, not by hand"


def _unrecorded_ruling(decision: str, state: State, argument: Argument) -> Iterator[str]:
    """Yield a caution if the session has a person's ruling that the decision lacks."""
    ruling = argument.heard
    if ruling and state.word is None:
        word = "amend" if ruling == PrimeMinisterChoice.AMEND_AND_APPROVE else ruling
        yield (
            f"a person has said {ruling} in the session, and not here: "
            f"`moot decide {decision} {word}` completes it"
        )


def _list_evidence(workspace: Workspace, decision: str) -> list[dict[str, Any]]:
    """Return every event that a receipt is based on, by its hash, without earlier receipts."""
    names = list_streams(workspace, decision)
    with workspace.store.read() as view:
        return [{"id": name, "events": list(_list_events(view, name))} for name in names]


def _list_events(view: View, name: str) -> Iterator[dict[str, Any]]:
    for record in view.records(name):
        body = record.body
        if body.type != RECEIPT_EVENT:
            yield {
                "seq": record.seq,
                "type": body.type,
                "by": body.actor.id,
                "at": body.at,
                "hash": record.hash.hex(),
                "artifacts": [ref.sha256 for ref in body.artifacts],
            }

"""What sealed first answers prove, which depends on who keeps the keys."""

from __future__ import annotations

from typing import Any, Final

from moot import pages as page
from moot.protocols.decision.model import State

APART: Final = "no author could fit its answer to another's, short of collusion"
TITLE: Final = "How the first answers were kept apart"
NOT_SEALED: Final = (
    "They were not sealed: nothing in the record shows that nobody fitted its answer to another's."
)
TOGETHER: Final = "the runner says it kept them apart; it could have written any of them"


def describe_seal(state: State) -> dict[str, Any] | None:
    """Who sealed, who did not open, and what that proves; None if answers were not sealed.

    `prompts` are the hashes of what each was told first: none of them holds another's answer.
    """
    if not state.is_sealed or state.seals_checkpoint is None:
        return None
    names = [seat.agent for seat in state.seats if seat.agent in state.seals]
    return {
        "sealed": names,
        "unopened": [name for name in names if not _is_opened(state, name)],
        "refused": [name for name in names if state.seals[name].refused],
        "checkpoint": state.seals_checkpoint,
        "custody": describe_custody(state),
        "prompts": {name: state.seals[name].prompt for name in names},
    }


def _is_opened(state: State, name: str) -> bool:
    first = state.answers.get(name)
    return first is not None and first.answer is not None


def describe_custody(state: State) -> str:
    """What nobody could have done, as far as the keys tell."""
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
    """How the first answers were kept apart, for the page, or that nothing shows it."""
    seal = content.get("seal")
    if seal is None:
        return page.Prose(NOT_SEALED, title=TITLE)
    rows = [
        ("Sealed before any was opened", ", ".join(seal["sealed"])),
        ("The checkpoint between", f"number {seal['checkpoint']}"),
        ("What that proves", _sentence(seal["custody"])),
    ]
    if seal["unopened"]:
        rows.append(("Never opened, so absent", ", ".join(seal["unopened"])))
    if seal["refused"]:
        rows.append(("Tried to open another answer", ", ".join(seal["refused"])))
    return page.Table(
        ("What", "Which"),
        tuple(rows),
        title=TITLE,
        caption="What each was told first is kept in the record: none was shown another's answer.",
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."

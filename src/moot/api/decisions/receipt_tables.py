"""The tables of a receipt: who changed, who took part, every vote, and the hashes it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from moot import pages as page
from moot.agents.cost import Cost, in_words
from moot.api.decisions.receipt_file import Receipt
from moot.core.names import REGISTRY

ReceiptContent = dict[str, Any]
TONES: Final[dict[str, page.Tone]] = {
    "approve": "good",
    "YES": "good",
    "reject": "bad",
    "NO": "bad",
    "defer": "caution",
    "neutral": "neutral",
}
COUNTS: Final[tuple[tuple[str, str, page.Tone], ...]] = (
    ("In favour", "in_favour", "good"),
    ("Against", "against", "bad"),
    ("Neither", "others", "neutral"),
    ("Absent", "absent", "caution"),
)
# Recorded for the cost, not for the argument.
_RUN_COSTS: Final = ("decision.call_noted", "decision.run_ended")
_SHOWN_DIGITS: Final = 16
_MAX_CELL: Final = 400
_KEYS_STREAM: Final = "the list of keys"


def describe_cost(cost: dict[str, int]) -> str:
    return in_words(Cost(**cost))


def changes_block(content: ReceiptContent) -> page.Block:
    title = "Who changed, and after what"
    changes = content["argument"]["changes"]
    moved = [change for change in changes if _stance(change["before"]) != _stance(change["now"])]
    surer = ", ".join(_only_surer(change) for change in changes if change not in moved)
    caption = f"Only more or less sure: {surer}." if surer else ""
    if not moved:
        return page.Prose(f"Nobody changed their position.\n\n{caption}".strip(), title)
    return page.Table(
        ("Who", "Round", "From", "To", "After hearing"),
        tuple(
            (
                change["agent"],
                str(change["round"]),
                page.Cell(change["before"], _tone(change["before"])),
                page.Cell(change["now"], _tone(change["now"])),
                "\n".join(
                    f"{entry['agent']}: {page.plain_line(entry['summary'], _MAX_CELL)}"
                    for entry in change["heard"]
                )
                or "not recorded",
            )
            for change in moved
        ),
        title=title,
        caption=caption,
    )


def _stance(position: str) -> str:
    """Return `approve` for `approve 0.85`."""
    return position.partition(" ")[0]


def _only_surer(change: ReceiptContent) -> str:
    before, now = (change[key].partition(" ")[2] for key in ("before", "now"))
    return f"{change['agent']} ({_stance(change['now'])}, {before} to {now})"


def _tone(words: str) -> page.Tone:
    return TONES.get(_stance(words), "plain")


def votes_before_and_after(content: ReceiptContent) -> page.Block:
    """Compare the first answers with the first and the last vote."""
    first, last = content["argument"]["first"], content["argument"]["last"]
    title = "Vote before and after"
    if first is None or last is None:
        return page.Prose("There was no vote.", title)
    votes = [("First answers", _count_first_answers(content)), (f"Round {first['round']}", first)]
    if last["round"] != first["round"]:
        votes.append((f"Round {last['round']}", last))
    return page.Table(
        ("Vote", *(name for name, _ in votes)),
        tuple(
            (label, *(", ".join(count[key]) or "nobody" for _, count in votes))
            for label, key, _ in COUNTS
        ),
        title=title,
        caption="In the first answers, those in favour gave the motion as their answer.",
    )


def _count_first_answers(content: ReceiptContent) -> dict[str, list[str]]:
    answers = {first["agent"]: first["answer"] for first in content["first_answers"]}
    in_favour = content["motion"]["by"] if content["motion"] else []
    return {
        "in_favour": [name for name in answers if name in in_favour],
        "against": [name for name, answer in answers.items() if answer and name not in in_favour],
        "others": [],
        "absent": [name for name, answer in answers.items() if not answer],
    }


def absent_table(content: ReceiptContent) -> page.Table:
    """List who took no part, and why (DEC-032)."""
    first = [
        (answer["agent"], "first answer", answer["failure"] or answer["why"])
        for answer in content["first_answers"]
        if answer["answer"] is None
    ]
    later = [
        (voice["agent"], f"round {voice['round']}", voice["why"])
        for voice in content["argument"]["absent"]
    ]
    return page.Table(
        ("Who", "When", "Why"),
        (*first, *later),
        title="Absent",
        caption="A participant without a usable answer has no vote and does not count as dissent.",
    )


def first_answers(content: ReceiptContent) -> Iterator[page.Block]:
    """Show the first answers; a reader can open the full reasons."""
    answers = content["first_answers"]
    yield page.Table(
        ("Who", "First answer"),
        tuple((first["agent"], _answer(first["answer"])) for first in answers),
        title="First answers, each given without seeing the others",
    )
    reasons = tuple(
        page.Quote(first["agent"], first["why"], markdown=True)
        for first in answers
        if first["answer"] is not None and first["why"]
    )
    if reasons:
        yield page.Fold(reasons, title="Their first reasons")


def _answer(answer: str | None) -> str | page.Cell:
    if answer is None:
        return page.Cell("none", "caution")
    return page.plain_line(answer, _MAX_CELL)


def participants_table(content: ReceiptContent) -> page.Table:
    return page.Table(
        ("Who", "What it is", "Model", "Cost"),
        tuple(
            (
                seat["agent"],
                page.Cell(
                    seat["what"] or seat["kind"], note="scripted voice" if seat["scripted"] else ""
                ),
                seat["model"] or _no_model(seat),
                describe_cost(seat["cost"]),
            )
            for seat in content["participants"]
        ),
        title="Who took part",
    )


def keys_table(content: ReceiptContent) -> page.Table:
    return page.Table(
        ("Who", "Key", "Kept by"),
        tuple(
            (
                seat["agent"],
                page.Cell(_key(seat), code=True),
                page.Cell(
                    (seat["key"] or {}).get("custodian", "nobody")[:_SHOWN_DIGITS], code=True
                ),
            )
            for seat in content["participants"]
        ),
        title="Their keys",
        caption="A person with access to a folder of several keys could sign as any of them.",
        folded=True,
    )


def _no_model(seat: ReceiptContent) -> str:
    """Return `none` for a script or a person; which model a program asks is not known."""
    return "none" if seat["scripted"] or seat["kind"] == "human" else "not known"


def _key(seat: ReceiptContent) -> str:
    key = seat["key"]
    return f"{key['class']} {key['kid'][:_SHOWN_DIGITS]}" if key else "none"


def ballots_table(content: ReceiptContent) -> page.Table:
    return page.Table(
        ("Round", "Who", "Vote", "In short", "Entry"),
        tuple(
            (
                str(vote["round"]),
                vote["agent"],
                page.Cell(vote["stance"], TONES.get(vote["stance"], "plain"), vote["sure"]),
                vote["summary"],
                page.Cell(vote["entry"], code=True),
            )
            for vote in content["argument"]["votes"]
        ),
        title="Every vote",
    )


def superseded_table(content: ReceiptContent) -> page.Table:
    return page.Table(
        ("Decision", "Motion", "The vote", "The person", "Why"),
        tuple(
            (
                decision["decision"],
                decision["motion"] or "none",
                decision["outcome"] or "none",
                page.Cell(
                    decision["word"] or "nothing",
                    "bad" if decision["word"] == "vetoed" else "plain",
                ),
                decision["reason"] or "",
            )
            for decision in content["earlier"]
        ),
        title="What it supersedes",
    )


def proof_blocks(receipt: Receipt, file_name: str) -> Iterator[page.Block]:
    """Show the hashes a receipt is based on, and each stream's proof under the checkpoint."""
    rows = [
        (
            history["id"],
            str(event["seq"]),
            event["type"].partition(".")[2].replace("_", " "),
            event["by"],
            page.Cell(event["hash"], code=True),
        )
        for history in receipt.content["evidence"]
        for event in history["events"]
        if event["type"] not in _RUN_COSTS
    ]
    yield page.Table(
        ("History", "Event", "What", "By", "SHA-256"),
        tuple(rows),
        title="What it is based on",
        caption="The JSON file also has the cost of each call.",
        folded=True,
    )
    yield page.Table(
        ("History", "Up to event", "Place", "Head", "Path to the checkpoint"),
        tuple(
            (
                _KEYS_STREAM if proof["stream"] == REGISTRY else proof["stream"],
                str(proof["seq"]),
                str(proof["index"]),
                page.Cell(proof["hash"], code=True),
                page.Cell(" ".join(node[:16] for node in proof["path"]) or "the root", code=True),
            )
            for proof in receipt.proofs
        ),
        title="Inclusion proofs",
        caption="The JSON file has them in full, with the signed checkpoint.",
        folded=True,
    )
    yield page.Prose(
        "The command is below. Without Moot, use one file of at most 800 lines: "
        f"`python standalone.py {file_name} --trust trust.json`.\n\nBoth check every "
        "signature, the chain of hashes, that nothing is missing up to the checkpoint, and that "
        "the receipt says what was signed. The trust file contains the two public keys of the "
        "ledger; get it from its owner (`moot trust export`), not together with this page.",
        title="How to check it",
        markdown=True,
    )

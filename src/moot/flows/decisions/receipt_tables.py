"""The tables of a receipt: who changed, who took part, every vote, and the hashes it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from moot import pages as page
from moot.agents.cost import Cost, in_words
from moot.core.names import REGISTRY
from moot.flows.decisions.receipt import Receipt

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
# Kept for the cost, not for the argument.
_RUN_COSTS: Final = ("decision.call_noted", "decision.run_ended")
_MOST_ID: Final = 30
_SHOWN: Final = 16
_KEYS: Final = "the list of keys"


def describe_cost(cost: dict[str, int]) -> str:
    return in_words(Cost(**cost))


def changes_block(content: ReceiptContent) -> page.Block:
    title = "Who changed, and after what"
    changes = content["argument"]["changes"]
    if not changes:
        return page.Prose("Nobody changed their position.", title)
    return page.Table(
        ("Who", "Round", "From", "To", "After hearing", "Entry"),
        tuple(
            (
                change["agent"],
                str(change["round"]),
                page.Cell(change["before"], _tone(change["before"])),
                page.Cell(change["now"], _tone(change["now"])),
                "; ".join(map(_describe_heard, change["heard"])) or "not recorded",
                page.Cell(_short(change["entry"]), code=True),
            )
            for change in changes
        ),
        title=title,
    )


def _describe_heard(entry: ReceiptContent) -> str:
    return f"{entry['agent']}: {entry['summary']} (entry {_short(entry['entry'])})"


def _short(entry: str) -> str:
    """Enough of a long id to find it among the votes."""
    return entry.partition("-")[0] if len(entry) > _MOST_ID else entry


def _tone(words: str) -> page.Tone:
    return TONES.get(words.partition(" ")[0], "plain")


def votes_before_and_after(content: ReceiptContent) -> page.Block:
    """From what each would have answered alone to the last vote."""
    first, last = content["argument"]["first"], content["argument"]["last"]
    title = "Vote before and after"
    if first is None or last is None:
        return page.Prose("There was no vote.", title)
    moments = [("First answers", _count_first_answers(content)), (f"Round {first['round']}", first)]
    if last["round"] != first["round"]:
        moments.append((f"Round {last['round']}", last))
    return page.Table(
        ("Vote", *(name for name, _ in moments)),
        tuple(
            (label, *(", ".join(count[key]) or "nobody" for _, count in moments))
            for label, key, _ in COUNTS
        ),
        title=title,
        caption="Before anyone heard the others, those in favour gave the motion as their answer.",
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
    """Who took no part, and why: each in its own sentence (DEC-032)."""
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
        caption="Whoever gave no usable answer has no vote, and is no dissent.",
    )


def participants_table(content: ReceiptContent) -> page.Table:
    return page.Table(
        ("Who", "What it is", "Model", "Key", "Kept by", "Cost"),
        tuple(
            (
                seat["agent"],
                page.Cell(seat["what"] or seat["kind"], note=_scripted(seat)),
                seat["model"] or _no_model(seat),
                page.Cell(_key(seat), code=True),
                page.Cell((seat["key"] or {}).get("custodian", "nobody")[:_SHOWN], code=True),
                describe_cost(seat["cost"]),
            )
            for seat in content["participants"]
        ),
        title="Who took part",
        caption="Whoever has the folder in which several keys lie could sign as any of them.",
    )


def _no_model(seat: ReceiptContent) -> str:
    """A script and a person ask none; what a program asks, only it knows."""
    return "none" if seat["scripted"] or seat["kind"] == "human" else "not known"


def _scripted(seat: ReceiptContent) -> str:
    return "scripted voice" if seat["scripted"] else ""


def _key(seat: ReceiptContent) -> str:
    key = seat["key"]
    return f"{key['class']} {key['kid'][:_SHOWN]}" if key else "none"


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
        title="What it takes the place of",
    )


def proof_blocks(receipt: Receipt, file_name: str) -> Iterator[page.Block]:
    """The hashes it rests on, and where each history stands under the checkpoint."""
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
        title="What it rests on",
        caption="What calls cost is on record too: in the JSON file.",
    )
    yield page.Table(
        ("History", "Up to event", "Place", "Head", "Path to the checkpoint"),
        tuple(
            (
                _KEYS if proof["stream"] == REGISTRY else proof["stream"],
                str(proof["seq"]),
                str(proof["index"]),
                page.Cell(proof["hash"], code=True),
                page.Cell(" ".join(node[:16] for node in proof["path"]) or "the root", code=True),
            )
            for proof in receipt.proofs
        ),
        title="Inclusion proofs",
        caption="Whole in the JSON file, with the signed checkpoint they lead to.",
    )
    yield page.Prose(
        f"moot verify {file_name} --trust trust.json\n\nOr without Moot, with one file of at most "
        f"800 lines:\n\npython standalone.py {file_name} --trust trust.json\n\nBoth check every "
        "signature, the chain of hashes, that nothing is missing up to the checkpoint, and that "
        "the receipt says what was signed for. The trust file holds the two public keys of the "
        "ledger; take it from its owner (moot trust export), never from beside this page.",
        title="How to check it",
    )

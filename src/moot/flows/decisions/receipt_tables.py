"""The tables of a receipt: who changed, who took part, every vote, and the hashes it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from moot import pages as page
from moot.agents.cost import Cost, in_words
from moot.core.names import REGISTRY
from moot.flows.decisions.receipt import Receipt

Said = dict[str, Any]
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
)
# Kept for the cost, not for the argument.
_BOOKS: Final = ("decision.call_noted", "decision.run_ended")
_MOST_ID: Final = 30
_SHOWN: Final = 16
_KEYS: Final = "the list of keys"


def cost_words(purse: dict[str, int]) -> str:
    return in_words(Cost(**purse))


def changes(said: Said) -> page.Block:
    title = "Who changed, and after what"
    changes = said["argument"]["changes"]
    if not changes:
        return page.Prose("Nobody changed their position.", title)
    return page.Table(
        ("Who", "Round", "From", "To", "After hearing", "Entry"),
        tuple(
            (
                one["agent"],
                str(one["round"]),
                page.Cell(one["before"], _tone(one["before"])),
                page.Cell(one["now"], _tone(one["now"])),
                "; ".join(map(_heard, one["heard"])) or "not recorded",
                page.Cell(_short(one["entry"]), code=True),
            )
            for one in changes
        ),
        title=title,
    )


def _heard(one: Said) -> str:
    return f"{one['agent']}: {one['summary']} (entry {_short(one['entry'])})"


def _short(entry: str) -> str:
    """Enough of a long id to find it among the votes."""
    return entry.partition("-")[0] if len(entry) > _MOST_ID else entry


def _tone(words: str) -> page.Tone:
    return TONES.get(words.partition(" ")[0], "plain")


def before_and_after(said: Said) -> page.Block:
    """From what each would have answered alone to the last vote."""
    first, last = said["argument"]["first"], said["argument"]["last"]
    title = "Vote before and after"
    if first is None or last is None:
        return page.Prose("There was no vote.", title)
    moments = [("First answers", _alone(said)), (f"Round {first['round']}", first)]
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


def _alone(said: Said) -> dict[str, list[str]]:
    given = {one["agent"]: one["answer"] for one in said["first_answers"]}
    own = said["motion"]["by"] if said["motion"] else []
    return {
        "in_favour": [name for name in given if name in own],
        "against": [name for name, answer in given.items() if answer and name not in own],
        "others": [name for name, answer in given.items() if not answer],
    }


def participants(said: Said) -> page.Table:
    return page.Table(
        ("Who", "What it is", "Model", "Key", "Kept by", "Cost"),
        tuple(
            (
                one["agent"],
                page.Cell(one["what"] or one["kind"], note=_scripted(one)),
                one["model"] or _no_model(one),
                page.Cell(_key(one), code=True),
                page.Cell((one["key"] or {}).get("custodian", "nobody")[:_SHOWN], code=True),
                cost_words(one["cost"]),
            )
            for one in said["participants"]
        ),
        title="Who took part",
        caption="Whoever has the folder in which several keys lie could sign as any of them.",
    )


def _no_model(one: Said) -> str:
    """A script and a person ask none; what a program asks, only it knows."""
    return "none" if one["scripted"] or one["kind"] == "human" else "not known"


def _scripted(one: Said) -> str:
    return "scripted voice" if one["scripted"] else ""


def _key(one: Said) -> str:
    key = one["key"]
    return f"{key['class']} {key['kid'][:_SHOWN]}" if key else "none"


def ballots(said: Said) -> page.Table:
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
            for vote in said["argument"]["votes"]
        ),
        title="Every vote",
    )


def earlier(said: Said) -> page.Table:
    return page.Table(
        ("Decision", "Motion", "The vote", "The person", "Why"),
        tuple(
            (
                one["decision"],
                one["motion"] or "none",
                one["outcome"] or "none",
                page.Cell(one["word"] or "nothing", "bad" if one["word"] == "vetoed" else "plain"),
                one["reason"] or "",
            )
            for one in said["earlier"]
        ),
        title="What it takes the place of",
    )


def proofs(receipt: Receipt, file_name: str) -> Iterator[page.Block]:
    """The hashes it rests on, and where each history stands under the checkpoint."""
    rows = [
        (
            history["id"],
            str(one["seq"]),
            one["type"].partition(".")[2].replace("_", " "),
            one["by"],
            page.Cell(one["hash"], code=True),
        )
        for history in receipt.says["evidence"]
        for one in history["events"]
        if one["type"] not in _BOOKS
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
                _KEYS if one["stream"] == REGISTRY else one["stream"],
                str(one["seq"]),
                str(one["index"]),
                page.Cell(one["hash"], code=True),
                page.Cell(" ".join(node[:16] for node in one["path"]) or "the root", code=True),
            )
            for one in receipt.proofs
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

"""A receipt for people: the decision, the dissent in full, how everyone came to stand there.

Everything on the page is what the receipt says; as markdown it is a decision record that a team
keeps beside its code. The JSON file that is named at its foot is the proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from moot.agents.cost import Cost, in_words
from moot.core import report as page
from moot.core.names import REGISTRY
from moot.flows.receipts.making import Receipt

Said = dict[str, Any]
_WORDS: Final[dict[str, tuple[str, page.Tone]]] = {
    "approved": ("APPROVED", "good"),
    "vetoed": ("VETOED", "bad"),
    "amended": ("AMENDED", "good"),
    "waiting": ("WAITING FOR A PERSON", "caution"),
}
_TONES: Final[dict[str, page.Tone]] = {
    "approve": "good",
    "YES": "good",
    "reject": "bad",
    "NO": "bad",
    "defer": "caution",
    "neutral": "neutral",
}
_COUNTS: Final[tuple[tuple[str, str, page.Tone], ...]] = (
    ("In favour", "in_favour", "good"),
    ("Against", "against", "bad"),
    ("Neither", "others", "neutral"),
)
_FAVOUR: Final = ("approve", "YES")
# Kept for the cost, not for the argument.
_BOOKS: Final = ("decision.call_noted", "decision.run_ended")
_MOST_ID: Final = 30
_SHOWN: Final = 16
_KEYS: Final = "the list of keys"
MOST_LINES: Final = 12


def report(receipt: Receipt, file_name: str) -> page.Report:
    """The page of a receipt whose JSON is written under this name beside it."""
    proof = page.Proof(file_name, receipt.sha256, f"moot verify {file_name} --trust trust.json")
    return _page(receipt.says, "decision receipt", tuple(_proofs(receipt, file_name)), proof)


def report_of(said: Said) -> page.Report:
    """The same page without a receipt: nothing was signed for, so it proves nothing."""
    return _page(said, "decision", (), None)


def _page(
    said: Said, kind: str, more: tuple[page.Block, ...], proof: page.Proof | None
) -> page.Report:
    label, tone = _WORDS.get(said["stage"], ("NOT DECIDED", "neutral"))
    word, count = said["word"], len(said["participants"])
    return page.Report(
        kind=kind,
        title=said["question"],
        subtitle=f"{said['decision']}, asked {said['asked']['at']}, {count} participants, "
        f"argued in a {said['chamber']}",
        verdict=page.Verdict(label, tone, f"by {word['by']}, {word['at']}" if word else ""),
        decision=_decision(said),
        dissent=_dissent(said),
        blocks=(*_blocks(said), *more),
        proof=proof,
    )


def _decision(said: Said) -> page.Decision:
    word, result, motion = said["word"], said["result"], said["motion"]
    text = motion["text"] if motion else "No motion was set."
    if word and word["text"]:
        text = word["text"]["text"] or f"A text that was erased: {word['text']['sha256']}"
    facts = [page.Fact("rule", f"{said['rule']}, at most {said['rounds']} rounds")]
    if result:
        facts.append(page.Fact("the vote", f"{result['result']}: {result['summary']}"))
    if word:
        facts.append(page.Fact(f"{word['by']} said", f"{word['word']}: {word['reason']}"))
    if said["superseded_by"]:
        facts.append(page.Fact("superseded by", said["superseded_by"], code=True))
    facts.append(page.Fact("cost", _cost(said["cost"])))
    return page.Decision(text, tuple(facts))


def _cost(purse: dict[str, int]) -> str:
    return in_words(Cost(**purse))


def _dissent(said: Said) -> page.Dissent:
    voices = tuple(
        page.Quote(
            author=one["agent"],
            text=_in_full(one),
            stance=one["stance"],
            tone=_TONES.get(one["stance"], "plain"),
            note=", ".join(filter(None, (one["sure"], f"round {one['round']}"))),
            refs=tuple(one["evidence"]),
        )
        for one in said["argument"]["dissent"]
    )
    nobody = "Nobody who took part in the last vote disagreed."
    return page.Dissent(voices, "" if voices else nobody)


def _in_full(voice: Said) -> str:
    """The short form too, unless the long one begins with it."""
    summary, text = voice["summary"], voice["text"]
    return text if text.startswith(summary) else f"{summary}\n\n{text}"


def _blocks(said: Said) -> Iterator[page.Block]:
    if said["argument"]["text"]:
        yield page.Prose(said["argument"]["text"], title="The bill")
    yield from _tally(said)
    if any(vote["sure"] for vote in said["argument"]["votes"]):
        yield _chart(said)
    yield _changes(said)
    yield _before_and_after(said)
    yield _participants(said)
    yield page.Table(
        ("Who", "First answer", "Why"),
        tuple(
            (one["agent"], one["answer"] or page.Cell("none", "caution"), one["why"])
            for one in said["first_answers"]
        ),
        title="First answers, before anyone heard the others",
    )
    yield _ballots(said)
    if said["earlier"]:
        yield _earlier(said)
    if said["context"]:
        text = said["context"]["text"]
        yield page.Prose(text or "It was erased.", title="What they were told")


def _tally(said: Said) -> Iterator[page.Block]:
    last = said["argument"]["last"]
    if last is None:
        return
    seats = Decimal(len(said["participants"]))
    bars = [
        page.Bar(label, Decimal(len(last[key])), tone, ", ".join(last[key]))
        for label, key, tone in _COUNTS
    ]
    cautions = "; ".join(said["cautions"])
    yield page.BarChart(tuple(bars), seats, title="The vote", caption=_sentence(cautions))


def _sentence(text: str) -> str:
    return f"Note: {text}." if text else ""


def _chart(said: Said) -> page.LineChart:
    names = [one["agent"] for one in said["participants"]][:MOST_LINES]
    votes = said["argument"]["votes"]
    series = tuple(
        page.Series(
            name,
            tuple(
                page.Point(
                    vote["round"],
                    Decimal(vote["sure"]),
                    vote["stance"],
                    vote["stance"] not in _FAVOUR,
                )
                for vote in votes
                if vote["agent"] == name
            ),
        )
        for name in names
    )
    return page.LineChart(series, title="Stance and confidence", hollow_means="does not approve")


def _changes(said: Said) -> page.Block:
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
    return _TONES.get(words.partition(" ")[0], "plain")


def _before_and_after(said: Said) -> page.Block:
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
            for label, key, _ in _COUNTS
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


def _participants(said: Said) -> page.Table:
    return page.Table(
        ("Who", "What it is", "Model", "Key", "Kept by", "Cost"),
        tuple(
            (
                one["agent"],
                page.Cell(one["what"] or one["kind"], note=_scripted(one)),
                one["model"] or "not known",
                page.Cell(_key(one), code=True),
                page.Cell((one["key"] or {}).get("custodian", "nobody")[:_SHOWN], code=True),
                _cost(one["cost"]),
            )
            for one in said["participants"]
        ),
        title="Who took part",
        caption="A name that keeps several keys could have written as each of them.",
    )


def _scripted(one: Said) -> str:
    return "scripted voice" if one["scripted"] else ""


def _key(one: Said) -> str:
    key = one["key"]
    return f"{key['class']} {key['kid'][:_SHOWN]}" if key else "none"


def _ballots(said: Said) -> page.Table:
    return page.Table(
        ("Round", "Who", "Vote", "In short", "Entry"),
        tuple(
            (
                str(vote["round"]),
                vote["agent"],
                page.Cell(vote["stance"], _TONES.get(vote["stance"], "plain"), vote["sure"]),
                vote["summary"],
                page.Cell(vote["entry"], code=True),
            )
            for vote in said["argument"]["votes"]
        ),
        title="Every vote",
    )


def _earlier(said: Said) -> page.Table:
    return page.Table(
        ("Decision", "Motion", "The vote", "The person", "Why"),
        tuple(
            (
                one["decision"],
                one["motion"] or "none",
                one["result"]["summary"] if one["result"] else "none",
                page.Cell(one["word"] or "nothing", "bad" if one["word"] == "vetoed" else "plain"),
                one["reason"] or "",
            )
            for one in said["earlier"]
        ),
        title="What it takes the place of",
    )


def _proofs(receipt: Receipt, file_name: str) -> Iterator[page.Block]:
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
        f"500 lines:\n\npython standalone.py {file_name} --trust trust.json\n\nBoth check every "
        "signature, the chain of hashes, that nothing is missing up to the checkpoint, and that "
        "the receipt says what was signed for. The trust file holds the two public keys of the "
        "ledger; take it from its owner (moot trust export), never from beside this page.",
        title="How to check it",
    )

"""A receipt for people (DEC-023): the decision, the dissent in full, how everyone came to it.

Everything on the page is what the receipt says; as markdown it is a decision record that a team
keeps beside its code. The JSON file that is named at its foot is the proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from moot import pages as page
from moot.core.plural import plural
from moot.flows.decisions.receipt import Receipt
from moot.flows.decisions.receipt_tables import (
    COUNTS,
    TONES,
    Said,
    ballots,
    before_and_after,
    changes,
    cost_words,
    earlier,
    participants,
    proofs,
)
from moot.protocols.decision.views import AGAINST_THE_RESULT, shorten_question

_WORDS: Final[dict[str, tuple[str, page.Tone]]] = {
    "approved": ("APPROVED", "good"),
    "vetoed": ("VETOED", "bad"),
    "amended": ("AMENDED", "good"),
    "waiting": ("WAITING FOR A PERSON", "caution"),
}
_UNDECIDED: Final[tuple[str, page.Tone]] = ("NOT DECIDED", "neutral")
_HEADINGS: Final = {"approved": "Decision", "amended": "Decision", "vetoed": "The {} (vetoed)"}
_FAVOUR: Final = ("approve", "YES")
# More lines than these cannot be told apart; the table has everyone.
MOST_LINES: Final = 12


def report(receipt: Receipt, file_name: str) -> page.Report:
    """The page of a receipt whose JSON is written under this name beside it."""
    proof = page.Proof(file_name, receipt.sha256, f"moot verify {file_name} --trust trust.json")
    return _page(receipt.says, "decision receipt", tuple(proofs(receipt, file_name)), proof)


def report_of(said: Said) -> page.Report:
    """The same page without a receipt: nothing was signed for, so it proves nothing."""
    return _page(said, "decision", (), None)


def _page(
    said: Said, kind: str, more: tuple[page.Block, ...], proof: page.Proof | None
) -> page.Report:
    count = len(said["participants"])
    return page.Report(
        kind=kind,
        title=shorten_question(said["question"]),
        subtitle=f"{said['decision']}, asked {said['asked']['at']}, {count} participants, "
        f"argued in a {said['chamber']}",
        verdict=_verdict(said),
        decision=_decision(said),
        dissent=_dissent(said),
        blocks=(*_blocks(said), *more),
        proof=proof,
    )


def _verdict(said: Said) -> page.Verdict:
    """The badge; what was approved and did not carry is not simply good."""
    label, tone = _WORDS.get(said["stage"], _UNDECIDED)
    if said["stage"] == "waiting" and said["argument"]["heard"]:  # one has spoken, elsewhere
        label, tone = _UNDECIDED
    word, against = said["word"], _against(said)
    who = f"by {word['by']}, {word['at']}" if word else ""
    return page.Verdict(label, "caution" if against else tone, f"{against} {who}".strip())


def _against(said: Said) -> str:
    approved = said["stage"] == "approved" and said["result"] is not None
    return AGAINST_THE_RESULT.get(said["result"]["result"], "") if approved else ""


def _heading(said: Said) -> str:
    """Nothing stands under "Decision" that was not decided."""
    what = "bill" if said["motion"] is None and said["argument"]["text"] else "motion"
    return _HEADINGS.get(said["stage"], "The {} (not decided)").format(what)


def _motion(said: Said) -> str:
    """What was voted on; of a bill without a motion its title, for the whole of it follows."""
    if said["motion"]:
        return str(said["motion"]["text"])
    bill: str = said["argument"]["text"]
    return bill.partition("\n\n")[0] or "No motion was set."


def _decision(said: Said) -> page.Decision:
    word, result = said["word"], said["result"]
    text = _motion(said)
    if word and word["text"]:
        text = word["text"]["text"] or f"A text that was erased: {word['text']['sha256']}"
    facts = [page.Fact("rule", f"{said['rule']}, at most {plural(said['rounds'], 'round')}")]
    if result:
        came = said["argument"]["outcome"] or result["summary"]
        facts.append(page.Fact("the vote", f"{result['result']}: {came}"))
    for veto in said["sent_back"]:
        told = f"{veto['word']}, to be argued further: {veto['reason']}"
        facts.append(page.Fact(f"{veto['by']} said", told))
    if word:
        facts.append(page.Fact(f"{word['by']} said", f"{word['word']}: {word['reason']}"))
    if said["superseded_by"]:
        facts.append(page.Fact("superseded by", said["superseded_by"], code=True))
    facts.append(page.Fact("cost", cost_words(said["cost"])))
    return page.Decision(text, tuple(facts), _heading(said))


def _dissent(said: Said) -> page.Dissent:
    voices = tuple(
        page.Quote(
            author=one["agent"],
            text=_in_full(one),
            stance=one["stance"],
            tone=TONES.get(one["stance"], "plain"),
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
    if said["question"].strip() != shorten_question(said["question"]):
        yield page.Prose(said["question"], title="The question")
    if said["argument"]["text"]:
        yield page.Prose(said["argument"]["text"], title="The bill")
    yield from _tally(said)
    if any(vote["sure"] for vote in said["argument"]["votes"]):
        yield _chart(said)
    yield changes(said)
    yield before_and_after(said)
    yield participants(said)
    yield page.Table(
        ("Who", "First answer", "Why"),
        tuple(
            (one["agent"], one["answer"] or page.Cell("none", "caution"), one["why"])
            for one in said["first_answers"]
        ),
        title="First answers, before anyone heard the others",
    )
    yield ballots(said)
    if said["earlier"]:
        yield earlier(said)
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
        for label, key, tone in COUNTS
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

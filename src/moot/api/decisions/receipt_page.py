"""The page of a receipt (DEC-023): the decision, the dissent in full, and how it came about.

The page shows only what the receipt says; as markdown it is a decision record that a team keeps
with its code. The JSON file that the page names at its end is the proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final

from msgspec.structs import replace

from moot import pages as page
from moot.api.decisions.receipt_content import seal_block
from moot.api.decisions.receipt_file import Receipt
from moot.api.decisions.receipt_tables import (
    COUNTS,
    TONES,
    ReceiptContent,
    absent_table,
    ballots_table,
    changes_block,
    describe_cost,
    first_answers,
    keys_table,
    participants_table,
    proof_blocks,
    superseded_table,
    votes_before_and_after,
)
from moot.core.text import plural
from moot.protocols.decision.rankings import RULE_LIMITS
from moot.protocols.decision.views import AGAINST_THE_RESULT, shorten_question


def ranking_tables(content: dict[str, Any]) -> Iterator[page.Block]:
    """Yield nothing if there was only one answer, or the receipt is older than rankings."""
    report = content.get("ranking")
    if report is None:
        return
    yield page.Table(
        ("Answer", "Text", "Given by"),
        tuple(
            (str(option["number"]), option["text"], ", ".join(option["by"]))
            for option in report["options"]
        ),
        title="The answers that were ranked",
        caption="Each participant saw them without names, in a different order.",
    )
    yield page.Table(
        ("Rule", "Chose", "Points", "If all had put their own answer last"),
        tuple(_choice_row(choice) for choice in report["choices"]),
        title="What three rules choose",
        caption=describe_agreement(report),
    )
    yield page.Table(
        ("Who", "Ranking, best first"),
        tuple(
            (
                cast["agent"],
                _ranking_text(cast)
                if cast["ranking"]
                else page.Cell(_ranking_text(cast), "caution"),
            )
            for cast in report["rankings"]
        ),
        title="Every ranking",
    )


def limits_block(content: dict[str, Any]) -> page.Prose | None:
    """Return the known flaws of the rules that were used, each with the smallest example."""
    used = [content["rule"]] if content["chamber"] == "debate" else []
    used += [choice["rule"] for choice in (content.get("ranking") or {"choices": []})["choices"]]
    lines = [f"{rule}: {RULE_LIMITS[rule]}." for rule in used if rule in RULE_LIMITS]
    return page.Prose("\n\n".join(lines), title="What these rules lack") if lines else None


def describe_agreement(report: dict[str, Any]) -> str:
    """Say whether the rules agree, which one counts, and what is left to a person."""
    differ = "The rules differ." if report["differ"] else "All three choose the same."
    rule = report["chosen_by"]
    counts = (
        f"The motion was chosen by {rule}." if rule else "The most frequent answer is put first."
    )
    is_open = any(
        choice["rule"] == rule and choice["winner"] is None for choice in report["choices"]
    )
    open_note = " It left a tie or a cycle, and the asker picked one." if rule and is_open else ""
    return f"{differ} {counts}{open_note}"


def _choice_row(choice: dict[str, Any]) -> tuple[str | page.Cell, ...]:
    points = ", ".join(f"{number}: {each}" for number, each in enumerate(choice["points"], 1))
    own_last = ", ".join(map(str, choice["own_put_last"])) or "nothing"
    return (
        choice["rule"],
        choice["sentence"],
        points,
        page.Cell(f"answer {own_last}", "caution" if choice["own_mattered"] else "plain"),
    )


def _ranking_text(cast: dict[str, Any]) -> str:
    return " > ".join(map(str, cast["ranking"])) or str(cast["failure"])


_NO_NUMBER: Final = (
    "Voters that share one of these may make the same mistakes. How often they do, `moot track` "
    "shows after 30 shared outcomes."
)


def variety_block(content: dict[str, Any]) -> page.Facts:
    """Show how different the voters were, as far as the record knows, without a number."""
    seats = content["participants"]
    models = [seat["model"] or ("" if not seat["scripted"] else "a script") for seat in seats]
    folders = [(seat["key"] or {}).get("custodian", "") for seat in seats]
    return page.Facts(
        (
            page.Fact("models", _list_distinct(models)),
            page.Fact("providers", _list_distinct([_provider(seat) for seat in seats])),
            page.Fact("key folders", _count_folders(folders)),
            page.Fact("what that means", _NO_NUMBER),
        ),
        title="How many voters there really were",
    )


def _provider(seat: dict[str, Any]) -> str:
    """Return the provider from a spec such as `llm:openai/gpt-5`; a program does not name one."""
    if seat["scripted"]:
        return "nobody"
    kind, _, rest = str(seat["what"] or "").partition(":")
    return rest.partition("?")[0].partition("/")[0] if kind == "llm" else ""


def _list_distinct(values: list[str]) -> str:
    """`2 known: gpt-5, a script; 1 unknown`."""
    known = list(dict.fromkeys(value for value in values if value))
    unknown = sum(not value for value in values)
    parts = [f"{len(known)} known: {', '.join(known)}"] if known else []
    parts += [f"{unknown} unknown"] if unknown else []
    return "; ".join(parts)


def _count_folders(folders: list[str]) -> str:
    known, unknown = len({folder for folder in folders if folder}), folders.count("")
    parts = [plural(known, "folder")] if known else []
    parts += [f"{unknown} unknown"] if unknown else []
    return "; ".join(parts)


# How a kind of participant is shown if it has neither a model nor a program.
_KINDS: Final = {"human": "a person", "rules": "a fixed rule", "script": "a script"}


def describe_tool(seat: dict[str, Any]) -> str:
    """Return what played a seat: `claude-opus-4`, `claude`, `a script`, `a person`."""
    if seat["model"]:
        return str(seat["model"])
    if seat["kind"] in _KINDS:
        return _KINDS[seat["kind"]]
    program = str(seat["what"] or "").partition(":")[2].split()
    return PurePath(program[0]).name if program else str(seat["kind"])


def tools_by_name(content: dict[str, Any]) -> dict[str, str]:
    """Return what played each seat, without those where it equals the name."""
    tools = {seat["agent"]: describe_tool(seat) for seat in content["participants"]}
    return {name: tool for name, tool in tools.items() if tool != name}


def quote_voices(voices: Iterable[dict[str, Any]], tools: dict[str, str]) -> tuple[page.Quote, ...]:
    """Quote each voice in full: its summary, then its reasons."""
    return tuple(
        page.Quote(
            author=voice["agent"],
            text=voice["text"].strip() or voice["summary"],
            stance=voice["stance"],
            tone=TONES.get(voice["stance"], "plain"),
            note=(f"{voice['sure']} sure, " if voice["sure"] else "") + f"round {voice['round']}",
            refs=tuple(voice["evidence"]),
            title="" if voice["text"].startswith(voice["summary"]) else voice["summary"],
            tool=tools.get(voice["agent"], ""),
            markdown=True,
        )
        for voice in voices
    )


_BADGES: Final[dict[str, tuple[str, page.Tone]]] = {
    "approved": ("APPROVED", "good"),
    "vetoed": ("VETOED", "bad"),
    "amended": ("AMENDED", "good"),
    "waiting": ("WAITING FOR A PERSON", "caution"),
}
_UNDECIDED: Final[tuple[str, page.Tone]] = ("NOT DECIDED", "neutral")
_HEADINGS: Final = {"approved": "Decision", "amended": "Decision", "vetoed": "The {} (vetoed)"}
_FAVOUR: Final = ("approve", "YES")
# Neutral and defer are in the middle, however sure.
_DIRECTIONS: Final = {"approve": 1, "reject": -1}
_PROVE: Final = (
    "`moot receipt {0} -o {0}.html` writes this page together with a proof that anyone can check."
)
# A reader cannot distinguish more lines; the table has everyone.
MAX_LINES: Final = 12


def build_receipt_page(receipt: Receipt, file_name: str) -> page.Report:
    """Build the page of a receipt whose JSON file, next to the page, has this name."""
    proof = page.ProofFile(file_name, receipt.sha256, f"moot verify {file_name} --trust trust.json")
    return _build_page(
        receipt.content, "decision receipt", tuple(proof_blocks(receipt, file_name)), proof
    )


def build_decision_page(content: ReceiptContent, calibrated: str = "") -> page.Report:
    """Build the same page without a receipt: it is not signed, so it proves nothing.

    `calibrated` is the vote weighted by the voters' record today; no receipt contains it.
    """
    made = _build_page(content, "decision", (), None)
    if not calibrated:
        return made
    facts = (*made.decision.facts, page.Fact("by their record", f"{calibrated}."))
    return replace(made, decision=replace(made.decision, facts=facts))


def _build_page(
    content: ReceiptContent, kind: str, more: tuple[page.Block, ...], proof: page.ProofFile | None
) -> page.Report:
    count = len(content["participants"])
    return page.Report(
        kind=kind,
        title=shorten_question(content["question"]),
        subtitle=f"{content['decision']}, asked {page.human_time(content['asked']['at'])}, "
        f"{plural(count, 'participant')}, argued in a {content['chamber']}",
        verdict=_verdict(content),
        decision=_decision(content),
        dissent=_dissent(content),
        blocks=(*_blocks(content), *more),
        proof=proof,
        how_to_prove=_PROVE.format(content["decision"]),
    )


def _verdict(content: ReceiptContent) -> page.VerdictBadge:
    """Return the badge; an approval against the vote gets a caution."""
    label, tone = _BADGES.get(content["stage"], _UNDECIDED)
    if content["stage"] == "waiting" and content["argument"]["heard"]:  # a ruling in the session
        label, tone = _UNDECIDED
    ruling, against = content["word"], _against_result(content)
    who = f"by {ruling['by']}, {page.human_time(ruling['at'])}" if ruling else ""
    return page.VerdictBadge(label, "caution" if against else tone, f"{against} {who}".strip())


def _against_result(content: ReceiptContent) -> str:
    approved = content["stage"] == "approved" and content["result"] is not None
    return AGAINST_THE_RESULT.get(content["result"]["result"], "") if approved else ""


def _heading(content: ReceiptContent) -> str:
    """Return the heading: "Decision" only if it was decided."""
    what = "bill" if content["motion"] is None and content["argument"]["text"] else "motion"
    return _HEADINGS.get(content["stage"], "The {} (not decided)").format(what)


def _motion(content: ReceiptContent) -> str:
    """Return what was voted on; for a bill without a motion its title, as its text follows."""
    if content["motion"]:
        return str(content["motion"]["text"])
    bill: str = content["argument"]["text"]
    return bill.partition("\n\n")[0] or "No motion was set."


def _decision(content: ReceiptContent) -> page.DecisionCard:
    ruling, result = content["word"], content["result"]
    text = _motion(content)
    if ruling and ruling["text"]:
        text = ruling["text"]["text"] or f"A text that was erased: {ruling['text']['sha256']}"
    facts: list[page.Fact] = []
    if result:
        outcome = content["argument"]["outcome"] or result["summary"]
        facts.append(page.Fact("the vote", f"{result['result']}: {outcome}"))
    for veto in content["sent_back"]:
        sent_back = f"{veto['word']}, to be argued further: {veto['reason']}"
        facts.append(page.Fact(f"{veto['by']} ruled", sent_back))
    if ruling:
        facts.append(page.Fact(f"{ruling['by']} ruled", f"{ruling['word']}: {ruling['reason']}"))
    if content["superseded_by"]:
        facts.append(page.Fact("superseded by", content["superseded_by"], code=True))
    if content["cautions"]:
        facts.append(page.Fact("note", f"{'; '.join(content['cautions'])}."))
    facts.append(page.Fact("cost", describe_cost(content["cost"])))
    reasons, why = _reasons_section(content)
    return page.DecisionCard(text, tuple(facts), _heading(content), reasons, why, markdown=True)


def _dissent(content: ReceiptContent) -> page.Dissent:
    against, tools, losing = _is_majority_against(content), tools_by_name(content), []
    if against:  # only the last vote: the reasons section quotes the winners in full
        last = content["argument"]["last"]["round"]
        losing = [voice for voice in _supporters(content) if voice["round"] == last]
    else:
        losing = content["argument"]["dissent"]
    no_dissent = "Nobody who took part in the last vote disagreed."
    heading = "For the motion" if against else "Dissent"
    return page.Dissent(quote_voices(losing, tools), "" if losing else no_dissent, heading)


def _reasons_section(content: ReceiptContent) -> tuple[tuple[page.Quote, ...], str]:
    """Quote the winning side in full: for an outvoted motion, those against it."""
    against, tools = _is_majority_against(content), tools_by_name(content)
    winning = content["argument"]["dissent"] if against else _supporters(content)
    return quote_voices(winning, tools), "Against the motion" if against else "Why"


def _supporters(content: ReceiptContent) -> list[ReceiptContent]:
    """Return every reason once, the last time it was given; none in receipts of old versions."""
    voices = content["argument"].get("support", ())
    given = {(voice["agent"], voice["summary"], voice["text"]): voice for voice in voices}
    return list(given.values())


def _is_majority_against(content: ReceiptContent) -> bool:
    """Return whether the motion was outvoted: then its opponents are no dissenters."""
    last = content["argument"]["last"]
    return last is not None and len(last["against"]) > len(last["in_favour"])


def _blocks(content: ReceiptContent) -> Iterator[page.Block]:
    if content["question"].strip() != shorten_question(content["question"]):
        yield page.Prose(content["question"], title="The question")
    yield changes_block(content)
    if len({vote["round"] for vote in content["argument"]["votes"] if vote["sure"]}) > 1:
        yield _chart(content)
    if content["argument"]["text"]:
        yield page.Prose(content["argument"]["text"], title="The bill", markdown=True)
    yield from first_answers(content)
    yield seal_block(content)
    yield from ranking_tables(content)
    limits = limits_block(content)
    if limits is not None:
        yield limits
    absent = absent_table(content)
    if absent.rows:
        yield absent
    yield participants_table(content)
    yield variety_block(content)
    if content["earlier"]:
        yield superseded_table(content)
    tables = (*_tally(content), votes_before_and_after(content), ballots_table(content))
    yield page.Fold(tables, title="How it was counted")
    if content["context"]:
        material = content["context"]["text"] or "It was erased."
        yield page.Fold((page.Prose(material, markdown=True),), title="What they were told")
    yield keys_table(content)


def _tally(content: ReceiptContent) -> Iterator[page.Block]:
    last = content["argument"]["last"]
    if last is None:
        return
    seats = Decimal(len(content["participants"]))
    bars = [
        page.Bar(label, Decimal(len(last[key])), tone, ", ".join(last[key]))
        for label, key, tone in COUNTS
    ]
    rule = f"Rule: {content['rule']}, at most {plural(content['rounds'], 'round')}."
    yield page.BarChart(tuple(bars), seats, title="The vote", caption=rule)


def _chart(content: ReceiptContent) -> page.LineChart:
    """Chart each stance from sure against over undecided to sure for."""
    names = [seat["agent"] for seat in content["participants"]][:MAX_LINES]
    votes = content["argument"]["votes"]
    series = tuple(
        page.Series(
            name,
            tuple(
                page.Point(
                    vote["round"],
                    Decimal(vote["sure"]) * _DIRECTIONS.get(vote["stance"], 0),
                    f"{vote['stance']} {vote['sure']}",
                    vote["stance"] not in _FAVOUR,
                )
                for vote in votes
                if vote["agent"] == name
            ),
        )
        for name in names
    )
    return page.LineChart(
        series,
        title="Who stood where",
        y_label="Stance",
        hollow_means="does not approve",
        low=Decimal(-1),
        low_means="sure against",
        high_means="sure for",
    )

"""The rankings on a receipt's page: the answers, who ranked them how, what each rule chose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moot import pages as page
from moot.protocols.decision.rule_limits import RULE_LIMITS


def ranking_tables(content: dict[str, Any]) -> Iterator[page.Block]:
    """Nothing where there was only one answer, or the receipt is older than rankings."""
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
        caption="Everybody saw them without names, in an order of its own.",
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
            (cast["agent"], _order(cast) if cast["ranking"] else page.Cell(_order(cast), "caution"))
            for cast in report["rankings"]
        ),
        title="Every ranking",
    )


def limits_block(content: dict[str, Any]) -> page.Prose | None:
    """What the rules that were used lack, each with the smallest example."""
    used = [content["rule"]] if content["chamber"] == "debate" else []
    used += [choice["rule"] for choice in (content.get("ranking") or {"choices": []})["choices"]]
    lines = [f"{rule}: {RULE_LIMITS[rule]}." for rule in used if rule in RULE_LIMITS]
    return page.Prose("\n\n".join(lines), title="What these rules lack") if lines else None


def describe_agreement(report: dict[str, Any]) -> str:
    """Whether the rules agree, which one counts, and what is left to a person."""
    differ = "The rules differ." if report["differ"] else "All three choose the same."
    rule = report["chosen_by"]
    counts = (
        f"The motion was chosen by {rule}." if rule else "The most frequent answer is put first."
    )
    is_open = any(
        choice["rule"] == rule and choice["winner"] is None for choice in report["choices"]
    )
    left = " It left a tie or a cycle, and whoever asked picked one." if rule and is_open else ""
    return f"{differ} {counts}{left}"


def _choice_row(choice: dict[str, Any]) -> tuple[str | page.Cell, ...]:
    points = ", ".join(f"{number}: {each}" for number, each in enumerate(choice["points"], 1))
    humble = ", ".join(map(str, choice["own_put_last"])) or "nothing"
    return (
        choice["rule"],
        choice["sentence"],
        points,
        page.Cell(f"answer {humble}", "caution" if choice["own_mattered"] else "plain"),
    )


def _order(cast: dict[str, Any]) -> str:
    return " > ".join(map(str, cast["ranking"])) or str(cast["failure"])

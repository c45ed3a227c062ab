"""A verdict for people: the headline, what it rests on, and what to do.

The verifier uses the words of the record format; here they are replaced by plain words. The JSON
output keeps the verifier's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from moot.core.findings import Finding, Severity
from moot.core.text import plural
from moot.surfaces.terminal.answer import (
    DONE,
    REFUSED,
    UNPROVEN,
    Answer,
    finding_line,
    paint,
    table,
    visible,
)

if TYPE_CHECKING:
    from moot.pages import ProofFile, Report
    from moot.verify import BundlePlace, BundleVerdict
    from moot.verify.verdict import VerdictName

_WORDS = {
    "valid": "INTACT",
    "unproven": "UNPROVEN",
    "tampered": "DAMAGED",
    "truncated": "CUT SHORT",
    "rolled-back": "ROLLED BACK",
    "forked": "FORKED",
    "unknown-key": "UNKNOWN KEY",
}
_FACETS = {
    "integrity": "integrity",
    "authenticity": "authenticity",
    "completeness": "completeness",
    "freshness": "freshness",
    "key_status": "keys",
    "artifacts": "artifacts",
}
# Nouns of the record format, and plain words for them.
_PLAIN = {
    "streams": "histories",
    "stream": "history",
    "registry": "list of keys",
    "origin": "ledger",
    "bundle": "record",
}
_ONE_EVENT = re.compile(r"\b1 events follow\b")
# What to do next as a command, by the code of the finding.
_NEXT = {
    "minimum_unset": "Only a checkpoint kept elsewhere protects against the owner of the ledger: "
    "`--checkpoint NOTE` requires what it covers.",
}
_MOST_QUESTION = 200
_QUOTED = r'"(?:[^"\\]|\\.)*"'  # quoted text stays as it is
_PLAIN_WORD = re.compile(rf"{_QUOTED}|\b({'|'.join(_PLAIN)})\b(?!/)")


def verdict_word(name: VerdictName) -> str:
    """Return the word for people: `INTACT` for valid."""
    return _WORDS[name]


def verdict_answer(verdict: BundleVerdict) -> Answer:
    return Answer(verdict.to_dict(), lambda: verdict_lines(verdict), exit_code(verdict))


def exit_code(verdict: BundleVerdict) -> int:
    if verdict:
        return DONE
    return UNPROVEN if verdict.verdict == "unproven" else REFUSED


def verdict_lines(verdict: BundleVerdict) -> Iterable[str]:
    word, _, rest = headline(verdict).partition(_WORDS[verdict.verdict])
    yield word + paint(_WORDS[verdict.verdict], _colour(verdict)) + rest
    yield ""
    yield from table(_rows(verdict))
    yield f"{'custody':<14}{facet(verdict, 'custody')}"
    if verdict.says is not None:
        yield f"{'says':<14}{receipt_summary(verdict.says)}"
    findings = plain_findings(verdict)
    if findings:
        yield ""
        yield from map(finding_line, findings)


def _rows(verdict: BundleVerdict) -> list[tuple[str, str]]:
    """Return the verdict in the format's own word, what it rests on, and the trusted key."""
    rows = [(name, facet(verdict, field)) for field, name in _FACETS.items()]
    trusted = [] if verdict.fingerprint is None else [("fingerprint", verdict.fingerprint)]
    return [("verdict", verdict.verdict), *rows, *trusted]


def receipt_summary(says: Mapping[str, Any]) -> str:
    """Return `q-1 APPROVED by operator: "Which queue?", 1 dissenting`, for any content."""
    word, result = (
        part if isinstance(part, dict) else {} for part in (says["word"], says["result"])
    )
    texts = (says["decision"], says["stage"], says["question"], word.get("by"))
    decision, stage, question, by = (text if isinstance(text, str) else "" for text in texts)
    voices = result.get("dissent")
    dissent = len(voices) if isinstance(voices, list) else 0
    who = f"{decision} {stage.upper()}" + (f" by {by}" if by else "")
    summary = f"{who.strip()}: {_quoted(question)}, {dissent} dissenting"
    return visible(f"{summary} (a summary signed by the ledger's key)")


def _quoted(question: str) -> str:
    short = f"{question[:_MOST_QUESTION]}…" if len(question) > _MOST_QUESTION else question
    return json.dumps(short, ensure_ascii=False)


def headline(verdict: BundleVerdict) -> str:
    """Return `INTACT · 412 events · complete up to checkpoint 9`."""
    word, clock = _WORDS[verdict.verdict], " · test clock" if verdict.clock == "fixed" else ""
    if verdict.verdict == "tampered":
        return f"{word} at {_place(verdict.first_bad)}; {_trusted(verdict.last_trusted)}{clock}"
    return f"{word} · {plural(verdict.events, 'event')} · {_because(verdict)}{clock}"


def _place(place: BundlePlace | None) -> str:
    """Name a place; events are counted from 1, and the first line of an export is not an event."""
    if place is None:
        return "an unknown place"
    if place.stream is None:
        return f"line {place.line}"
    return f"event {place.line - 1}"


def _trusted(place: BundlePlace | None) -> str:
    return "nothing is trusted" if place is None else f"trusted up to {place.line - 1}"


def _because(verdict: BundleVerdict) -> str:
    if verdict.verdict == "valid":
        part = verdict.streams != verdict.checkpoint_streams
        some = f"{verdict.streams} of {verdict.checkpoint_streams} histories, " if part else ""
        return f"{some}complete up to checkpoint {verdict.checkpoint}"
    grave = [finding for finding in plain_findings(verdict) if finding.severity != "info"]
    if not grave:
        return facet(verdict, "completeness")
    return grave[0].message + (f" ({grave[0].where})" if grave[0].where else "")


def facet(verdict: BundleVerdict, field: str) -> str:
    return plain(str(getattr(verdict, field)))


def plain(text: str) -> str:
    text = _ONE_EVENT.sub("1 event follows", text)
    return _PLAIN_WORD.sub(lambda found: _PLAIN[found[1]] if found[1] else found[0], text)


def plain_findings(verdict: BundleVerdict) -> list[Finding]:
    return [
        Finding(
            rule=found.rule,
            code=found.code,
            message=plain(found.message),
            severity=Severity(found.severity),
            line=found.line,
            where=found.where,
            hint=_NEXT.get(found.code) or plain(found.hint or ""),
        )
        for found in verdict.findings
    ]


def _colour(verdict: BundleVerdict) -> str:
    return {DONE: "green", UNPROVEN: "yellow"}.get(exit_code(verdict), "red")


def verdict_page(verdict: BundleVerdict, title: str, proof: ProofFile | None) -> Report:
    """Return the verdict as a page."""
    from moot import pages as page

    tones: dict[int, page.Tone] = {DONE: "good", UNPROVEN: "caution"}
    receipt = [] if verdict.says is None else [("says", receipt_summary(verdict.says))]
    rows = [page.Fact(name, text) for name, text in (*_rows(verdict), *receipt)]
    marks = {True: "holds", False: "fails", None: "not checked"}
    checks = [(check.name, marks[check.ok], plain(check.detail)) for check in verdict.checks]
    findings = [
        page.FindingRow(
            found.severity.value, found.message, found.rule, found.where or "", found.hint
        )
        for found in plain_findings(verdict)
    ]
    return page.Report(
        kind="verdict",
        title=title,
        verdict=page.VerdictBadge(_WORDS[verdict.verdict], tones.get(exit_code(verdict), "bad")),
        decision=page.DecisionCard(headline(verdict), (*rows,), heading="Verdict"),
        dissent=None,
        blocks=(
            page.Prose(facet(verdict, "custody"), title="Who could have written as whom"),
            page.Table(("Check", "Result", "Detail"), tuple(checks), title="What was checked"),
            page.Findings(tuple(findings), title="Findings"),
        ),
        proof=proof,
    )

"""The artifact of a research thread: seven sections of numbered items, and its markdown.

Each number is used once: a killed item stays in the artifact, with who killed it and why, so that
ids in older messages keep their meaning. What can be derived is not stored: predictions for a
killed hypothesis read N/A, and tests are sorted by their score.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from immutables import Map

from moot.core.clock import Millis, to_text
from moot.core.findings import Breach, Finding, Rule, Severity, check_all
from moot.core.markdown import escape_comments
from moot.protocols.mail.deltas import ARTIFACT_SECTIONS, RESEARCH_THREAD, ArtifactSection

SCORE_DIMENSIONS = ("likelihood_ratio", "cost", "speed", "ambiguity")
UNKNOWN = "unknown"
NOT_APPLICABLE = "N/A"
_PLAIN_NAME = re.compile(r"\w[\w -]*")


class KillNote(msgspec.Struct, frozen=True):
    """Who took an item out of the artifact, when and why."""

    by: str
    at: Millis
    reason: str


class ArtifactItem(msgspec.Struct, frozen=True):
    """One numbered item; `fields` are its author's, after all edits."""

    id: str
    fields: Mapping[str, Any]
    added_by: str
    added_at: Millis
    killed: KillNote | None = None

    @property
    def name(self) -> str:
        return _as_one_line(self.fields.get("name") or "")

    @property
    def score(self) -> int | None:
        """The sum of the four dimensions, if each is a whole number from 0 to 3."""
        score = self.fields.get("score")
        values = [score.get(name) for name in SCORE_DIMENSIONS] if isinstance(score, dict) else []
        valid = [value for value in values if type(value) is int and 0 <= value <= 3]
        return sum(valid) if len(valid) == len(SCORE_DIMENSIONS) else None


class Contributor(msgspec.Struct, frozen=True):
    """Whose deltas were merged, and how many."""

    agent: str
    deltas: int
    program: str = UNKNOWN
    model: str = UNKNOWN


class Artifact(msgspec.Struct, frozen=True):
    """`items[section]` in the order of their numbers, killed ones included."""

    session_id: str
    created_at: Millis
    updated_at: Millis
    version: int = 0
    status: str = "draft"
    thread: Mapping[str, Any] = Map()
    items: Mapping[str, tuple[ArtifactItem, ...]] = Map()
    contributors: tuple[Contributor, ...] = ()

    def items_alive(self, section: str) -> list[ArtifactItem]:
        return [item for item in self.items.get(section, ()) if item.killed is None]

    def count_items_alive(self) -> dict[str, int]:
        """Count the items that were not killed, by section, without the research thread."""
        sections = (section for section in ARTIFACT_SECTIONS if section != RESEARCH_THREAD.id)
        return {section: len(self.items_alive(section)) for section in sections}


def new_artifact(session_id: str, created_at: Millis, question: str = "") -> Artifact:
    """Return an empty artifact; its research thread begins with the question of the KICKOFF."""
    thread = Map({"statement": question}) if question else Map()
    return Artifact(session_id, created_at, created_at, thread=thread)


# Markdown -----------------------------------------------------------------------------------------


def write_artifact_markdown(artifact: Artifact) -> str:
    """Return the whole artifact as one document with front matter."""
    parts = [_write_front_matter(artifact)]
    for number, section in enumerate(ARTIFACT_SECTIONS.values(), 1):
        content = "\n".join(_write_items(artifact, section)) or "None registered.\n"
        parts.append(f"\n## {number}. {section.heading}\n\n{content}")
    return "".join(parts)


def _write_front_matter(artifact: Artifact) -> str:
    lines = [
        "---",
        f"session_id: {_yaml_string(artifact.session_id)}",
        f"created_at: {_yaml_string(to_text(artifact.created_at))}",
        f"updated_at: {_yaml_string(to_text(artifact.updated_at))}",
        f"version: {artifact.version}",
        "contributors:" if artifact.contributors else "contributors: []",
    ]
    for contributor in artifact.contributors:
        lines += [
            f"  - agent: {_yaml_string(contributor.agent)}",
            f"    program: {_yaml_string(contributor.program)}",
            f"    model: {_yaml_string(contributor.model)}",
        ]
    return "\n".join([*lines, f"status: {artifact.status}", "---", ""])


def _yaml_string(text: str) -> str:
    """Return the text in quotes: every JSON string is a YAML string too."""
    return json.dumps(text)


def _write_items(artifact: Artifact, section: ArtifactSection) -> Iterator[str]:
    if section is RESEARCH_THREAD:
        if artifact.thread:
            fields = sorted(artifact.thread.items())
            yield "".join(_write_field(name, value) for name, value in fields)
        return
    for item in _sort_for_reading(artifact.items.get(section.id, ())):
        yield _write_item(item, section, artifact)


def _sort_for_reading(items: tuple[ArtifactItem, ...]) -> list[ArtifactItem]:
    """Sort killed items last; among the others the better score first, then the lower number."""
    return sorted(items, key=lambda item: (item.killed is not None, -(item.score or 0)))


def _write_item(item: ArtifactItem, section: ArtifactSection, artifact: Artifact) -> str:
    name = f": {item.name}" if item.name else ""
    ended = " (killed)" if item.killed else ""
    lines = [f"### {item.id}{name}{ended}\n\n"]
    fields = {key: value for key, value in item.fields.items() if key != "name"}
    if isinstance(fields.get("predictions"), dict):
        fields["predictions"] = _mark_dead_predictions(fields["predictions"], artifact)
    required = [name for name in section.required if name in fields]
    others = sorted(fields.keys() - set(required))
    lines += (_write_field(name, fields[name]) for name in (*required, *others))
    if item.score is not None:
        lines.append(_write_field("total score", f"{item.score} of {3 * len(SCORE_DIMENSIONS)}"))
    lines.append(_write_field("added", f"{item.added_by}, {to_text(item.added_at)}"))
    if item.killed:
        killed = item.killed
        lines.append(_write_field("killed", f"{killed.by}, {to_text(killed.at)}"))
        lines.append(_write_field("reason", killed.reason))
    return "".join(lines)


def _mark_dead_predictions(predictions: dict[str, Any], artifact: Artifact) -> dict[str, Any]:
    """Return the predictions, with N/A for each hypothesis that was killed."""
    dead = {item.id for item in artifact.items.get("hypothesis_slate", ()) if item.killed}
    return {key: NOT_APPLICABLE if key in dead else value for key, value in predictions.items()}


def _write_field(name: str, value: Any) -> str:
    """Write one list item that stays one, whatever its author wrote.

    Every line of the value is indented: otherwise it could open a section of the artifact. A name
    that could pass for another field is quoted.
    """
    text = value if isinstance(value, str) else _value_in_words(value)
    lines = escape_comments(text).replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    is_plain = _PLAIN_NAME.fullmatch(name)
    label = name if is_plain else json.dumps(_as_one_line(name), ensure_ascii=False)
    return f"- {label}: " + "\n  ".join(lines).rstrip() + "\n"


def _value_in_words(value: Any) -> str:
    """Write a list of texts with commas, anything else as JSON."""
    if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
        return ", ".join(_as_one_line(text) for text in value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _as_one_line(value: Any) -> str:
    is_text = isinstance(value, str)
    text = value if is_text else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return " ".join(escape_comments(text).split())


# The rows for findings about deltas and about the artifact that they made.
#
# `MERGE_RULES` is by code: after an error the merge leaves the delta out, after a warning it counts
# (except an edit of a killed item, or one without any usable field). `ARTIFACT_RULES` are the
# minima of a finished artifact; all are warnings, because an early version may fall short of them.

_WARN = Severity.WARNING
_MINIMA = {
    "hypothesis_slate": (3, "hypotheses"),
    "predictions_table": (3, "predictions"),
    "discriminative_tests": (2, "tests"),
    "assumption_ledger": (3, "assumptions"),
    "adversarial_critique": (2, "critiques"),
}


def _never(_: Any) -> Iterator[Breach]:
    """Find nothing: the merge itself finds the breach, because it has the delta."""
    return iter(())


_WHILE_MERGING: tuple[Rule[Any], ...] = (
    Rule(
        "MRG-001",
        "invalid_section",
        "a delta names one of the seven sections",
        _never,
        hint="hypothesis_slate, predictions_table, discriminative_tests, assumption_ledger, "
        "anomaly_register, adversarial_critique or research_thread",
    ),
    Rule("MRG-002", "rt_add_not_allowed", "the research thread is only edited", _never,
         '"operation": "EDIT" with target_id null or "RT"'),
    Rule("MRG-003", "invalid_target", "EDIT and KILL name an item of their section", _never,
         "ids are in the latest COMPILED message"),
    Rule("MRG-004", "section_limit_exceeded", "at most six hypotheses are alive at a time", _never,
         "KILL one first, then ADD again"),
    Rule("MRG-005", "target_killed", "a killed item is not edited", _never,
         "ADD it again if it deserves to live", _WARN),
    Rule("MRG-006", "missing_required_field", "an item says what its section asks", _never,
         "EDIT the item and add the fields", _WARN),
    Rule("MRG-007", "forbidden_payload_key", "ids and who killed what are not set by a payload",
         _never, "leave the field out", _WARN),
    Rule("MRG-008", "edit_conflict", "two agents change one field in one round", _never,
         "agree, then EDIT it again", _WARN),
    Rule("MRG-009", "payload_not_object", "an ADD or EDIT brings an object with its fields",
         _never, '"payload": {"claim": "..."}'),
    Rule("MRG-010", "not_a_list", "what is a list in an item is edited by a list", _never,
         '"anchors": ["..."]', _WARN),
)  # fmt: skip
MERGE_RULES: dict[str, Rule[Any]] = {rule.code: rule for rule in _WHILE_MERGING}


def _too_few(artifact: Artifact) -> Iterator[Breach]:
    for section, (least, name) in _MINIMA.items():
        count = len(artifact.items_alive(section))
        if count < least:
            yield f"{count} {name} of at least {least}", section


def _no_third(artifact: Artifact) -> Iterator[Breach]:
    for section in ("hypothesis_slate", "adversarial_critique"):
        items = artifact.items_alive(section)
        if items and not any(_mentions(item, "third alternative", "third") for item in items):
            yield "no item is the third alternative", section


def _no_scale(artifact: Artifact) -> Iterator[Breach]:
    items = artifact.items_alive("assumption_ledger")
    if items and not any(_mentions(item, "scale", "physics") for item in items):
        yield "no assumption is about scale or physics", "assumption_ledger"


def _no_potency(artifact: Artifact) -> Iterator[Breach]:
    for item in artifact.items_alive("discriminative_tests"):
        if not item.fields.get("potency_check"):
            yield f"{item.id} has no potency check", item.id


def _mentions(item: ArtifactItem, *words: str) -> bool:
    """True if a field named after the word is true, or its name, statement or kind has the word."""
    flags = {name.casefold() for name, value in item.fields.items() if value is True}
    values = [item.fields.get(name) for name in ("name", "statement", "kind", "type", "claim")]
    text = " ".join(value for value in values if isinstance(value, str)).casefold()
    return any(word in text or any(word in flag for flag in flags) for word in words)


ARTIFACT_RULES: tuple[Rule[Artifact], ...] = (
    Rule("MRG-011", "below_minimum", "each section has its minimum", _too_few,
         "ask for more deltas in this section", _WARN),
    Rule("MRG-012", "no_third_alternative", "a third alternative was considered", _no_third,
         "ADD an item whose name says third alternative, or with third_alternative: true", _WARN),
    Rule("MRG-013", "no_scale_check", "one assumption is about scale or physics", _no_scale,
         "ADD an assumption that checks the orders of magnitude, with scale_check: true", _WARN),
    Rule("MRG-014", "no_potency_check", "every test has a potency check", _no_potency,
         "EDIT the test and add potency_check", _WARN),
)  # fmt: skip


def check_artifact(artifact: Artifact) -> tuple[Finding, ...]:
    return check_all(ARTIFACT_RULES, artifact)

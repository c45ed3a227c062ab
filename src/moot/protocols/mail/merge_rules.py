"""The rows for findings about deltas and about the artifact that they made.

`MERGE_RULES` is by code: after an error the delta is left out, after a warning it counts (not an
edit of a killed item, nor one that has no field left). `ARTIFACT_RULES` are the minima of a
finished artifact; all are warnings, since an early version may fall short of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moot.core.findings import Breach, Finding, Rule, Severity, check_all
from moot.protocols.mail.artifact import Artifact, ArtifactItem

_WARN = Severity.WARNING
_MINIMA = {
    "hypothesis_slate": (3, "hypotheses"),
    "predictions_table": (3, "predictions"),
    "discriminative_tests": (2, "tests"),
    "assumption_ledger": (3, "assumptions"),
    "adversarial_critique": (2, "critiques"),
}


def _never(_: Any) -> Iterator[Breach]:
    """No check of its own: the merge itself finds it, with the delta at hand."""
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
    Rule("MRG-004", "section_limit_exceeded", "at most six hypotheses stand at a time", _never,
         "KILL one first, then ADD again"),
    Rule("MRG-005", "target_killed", "a killed item is not edited", _never,
         "ADD it anew if it deserves to live", _WARN),
    Rule("MRG-006", "missing_required_field", "an item says what its section asks", _never,
         "EDIT the item and add the fields", _WARN),
    Rule("MRG-007", "forbidden_payload_key", "ids and who killed what are not set by a payload",
         _never, "leave the field away", _WARN),
    Rule("MRG-008", "edit_conflict", "two agents change one field in one round", _never,
         "agree, then EDIT it once more", _WARN),
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
    """A field named after the word and true, or the word in its name, statement or kind."""
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

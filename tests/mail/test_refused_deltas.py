"""Deltas that no artifact would take: left out by the merge, and said by the linter before."""

from __future__ import annotations

import json
from itertools import product
from typing import Any, Final

import pytest

from moot.core.findings import Severity
from moot.protocols.mail.artifact import new_artifact
from moot.protocols.mail.body import MessageBody
from moot.protocols.mail.deltas import ARTIFACT_SECTIONS, RESEARCH_THREAD, read_delta_blocks
from moot.protocols.mail.merge import Contribution, MergedArtifact, merge_deltas
from moot.protocols.mail.message_rules import lint_message
from tests.mail.bodies import delta

PREFIXES: Final = [section.prefix for section in ARTIFACT_SECTIONS.values()]
PAYLOADS: Final[list[Any]] = [
    {"name": "n", "anchors": ["§1"]},
    {"name": "n", "anchors": "§1"},
    {"conflicts_with": {}},
    {"references": None},
    "a text",
    ["a", "list"],
    None,
]


def body_with(*deltas: dict[str, object]) -> str:
    blocks = "".join(f"```delta\n{json.dumps(one)}\n```\n" for one in deltas)
    return f"# Delta Contribution\n\n## Deltas\n\n{blocks}"


def merge(*deltas: dict[str, object]) -> MergedArtifact:
    contributions = [
        Contribution(1_000, "amber-otter", "t:1", block.number, block.delta)
        for block in read_delta_blocks(MessageBody(body_with(*deltas)))
        if block.delta is not None
    ]
    return merge_deltas(new_artifact("RS-20260218-cell-fate", 0, "Why?"), contributions)


def whole_artifact() -> list[dict[str, object]]:
    """Two items in every section that takes any: what stands in none of these never will."""
    return [
        delta(section=section.id, payload={name: ["x"] for name in section.required})
        for section in ARTIFACT_SECTIONS.values()
        if section is not RESEARCH_THREAD
        for _ in range(2)
    ]


@pytest.mark.parametrize("payload", ["a text", ["a", "list"], None, 7])
def test_an_edit_whose_payload_is_no_object_is_left_out(payload: Any) -> None:
    edit = delta(operation="EDIT", target_id="H1", payload=payload)
    merged = merge(delta(), edit)
    assert [row.code for row in merged.findings] == ["payload_not_object"]
    assert [applied.delta.operation for applied in merged.applied] == ["ADD"]
    assert merged.artifact == merge(delta()).artifact


@pytest.mark.requirement("BRN-021")
@pytest.mark.parametrize("payload", ["nothing", ["a", "list"], None, 7])
@pytest.mark.parametrize("section", list(ARTIFACT_SECTIONS)[1:])
def test_an_addition_whose_payload_is_no_object_is_left_out(section: str, payload: Any) -> None:
    merged = merge(delta(), delta(section=section, payload=payload))
    assert [(row.code, row.severity) for row in merged.findings] == [
        ("payload_not_object", Severity.ERROR)
    ]
    assert len(merged.applied) == 1
    assert merged.artifact == merge(delta()).artifact


@pytest.mark.requirement("BRN-021")
@pytest.mark.parametrize("field", ["anchors", "conflicts_with", "references"])
@pytest.mark.parametrize("value", ["§2", {"item": "§2"}, None])
@pytest.mark.parametrize("mark", [{}, {"replace": True}])
def test_an_edit_loses_the_field_that_is_no_list_and_keeps_the_rest(
    field: str, value: Any, mark: dict[str, Any]
) -> None:
    edit = delta(operation="EDIT", target_id="H1", payload={"claim": "d", field: value, **mark})
    merged = merge(delta(), edit)
    assert [(row.code, row.severity) for row in merged.findings] == [
        ("not_a_list", Severity.WARNING)
    ]
    assert f"`{field}`" in merged.findings[0].message
    same = delta(operation="EDIT", target_id="H1", payload={"claim": "d"})
    assert merged.artifact == merge(delta(), same).artifact
    (item,) = merged.artifact.items["hypothesis_slate"]
    assert item.fields["claim"] == "d"


@pytest.mark.requirement("BRN-021")
def test_a_thread_keeps_what_is_right_of_an_edit() -> None:
    fields = {"statement": "s", "context": "c", "why_it_matters": "w"}
    edit = delta(
        operation="EDIT",
        section="research_thread",
        target_id=None,
        payload={**fields, "anchors": "§1"},
    )
    merged = merge(edit)
    assert [row.code for row in merged.findings] == ["not_a_list"]
    assert fields.items() <= dict(merged.artifact.thread).items()
    assert "anchors" not in merged.artifact.thread


@pytest.mark.parametrize(
    ("section", "target"), [("hypothesis_slate", "H1"), ("research_thread", None)]
)
def test_an_edit_of_which_no_field_is_left_does_not_count(section: str, target: Any) -> None:
    edit = delta(operation="EDIT", section=section, target_id=target, payload={"anchors": "§2"})
    merged = merge(delta(), edit)
    assert [row.code for row in merged.findings] == ["not_a_list"]
    assert len(merged.applied) == 1
    assert merged.artifact == merge(delta()).artifact


@pytest.mark.parametrize("payload", [{}, {"id": "H9"}])
def test_an_edit_that_changes_nothing_still_counts(payload: dict[str, Any]) -> None:
    edit = delta(operation="EDIT", target_id="H1", payload=payload)
    assert len(merge(delta(), edit).applied) == 2


def test_a_thread_is_not_edited_by_a_text_either() -> None:
    edit = delta(operation="EDIT", section="research_thread", target_id=None, payload="Why not?")
    assert [row.code for row in merge(edit).findings] == ["payload_not_object"]


def always_refused() -> list[dict[str, object]]:
    """Every kind of delta that even a whole artifact does not take."""
    targets = [None, "RT", "XX1", "H0", "H01", "1", *(f"{prefix}1" for prefix in PREFIXES)]
    sections = [*ARTIFACT_SECTIONS, "elsewhere"]
    refused = []
    for operation, section, target, payload in product(
        ("ADD", "EDIT", "KILL"), sections, targets, PAYLOADS
    ):
        one = delta(operation=operation, section=section, target_id=target, payload=payload)
        if len(merge(*whole_artifact(), one).applied) == len(whole_artifact()):
            refused.append(one)
    return refused


def test_the_linter_warns_of_every_delta_that_a_merge_always_refuses() -> None:
    refused = always_refused()
    assert len(refused) > 1500
    silent = [
        one for one in refused if not lint_message("DELTA[human]: x", body_with(one)).findings
    ]
    assert silent == []
    codes = {
        row.code
        for one in refused
        for row in lint_message("DELTA[human]: x", body_with(one)).findings
    }
    assert codes >= {"invalid_target", "missing_delta_field", "not_a_list", "rt_add_not_allowed"}


@pytest.mark.parametrize(
    ("section", "target"),
    [("predictions_table", "H1"), ("research_thread", "H1"), ("hypothesis_slate", "H0")],
)
def test_a_target_of_another_section_is_named_with_what_fits(section: str, target: str) -> None:
    one = delta(operation="EDIT", section=section, target_id=target)
    rows = lint_message("DELTA[human]: x", body_with(one)).findings
    assert [row.code for row in rows] == ["invalid_target"]
    assert repr(target) in rows[0].message


def test_a_sound_delta_is_not_warned_of() -> None:
    for one in (
        *whole_artifact()[:2],
        delta(operation="EDIT", target_id="H12", payload={"anchors": ["§2"]}),
        delta(operation="EDIT", section="research_thread", target_id="RT", payload={"a": "b"}),
        delta(operation="KILL", section="anomaly_register", target_id="X1", payload={}),
    ):
        assert lint_message("DELTA[human]: x", body_with(one)).findings == ()

"""Deltas merge into one artifact: one order, numbers for good, conflicts told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.findings import Severity
from moot.protocols.mail.artifact import (
    ARTIFACT_RULES,
    MERGE_RULES,
    SCORE_DIMENSIONS,
    Artifact,
    check_artifact,
    new_artifact,
    write_artifact_markdown,
)
from moot.protocols.mail.body import MessageBody
from moot.protocols.mail.deltas import ARTIFACT_SECTIONS, Delta, DeltaOperation
from moot.protocols.mail.merge import (
    MAX_HYPOTHESES,
    Contribution,
    MergedArtifact,
    merge_deltas,
    read_contributions,
)
from tests.mail.bodies import body_of
from tests.sampling import examples

NEW = new_artifact("RS-20260218-cell-fate", 1_000, "Why?")
H = "hypothesis_slate"


def given_by(
    agent: str,
    at: int,
    operation: str,
    target: str | None = None,
    section: str = H,
    **payload: Any,
) -> Contribution:
    delta = Delta(DeltaOperation(operation), section, target, payload, "because")
    return Contribution(at, agent, f"t:{at}", 1, delta)


def hypothesis(at: int, agent: str = "amber-otter", **more: Any) -> Contribution:
    fields = {"name": f"h{at}", "claim": "c", "mechanism": "m", "anchors": ["§1"], **more}
    return given_by(agent, at, "ADD", **fields)


def codes(merged: MergedArtifact) -> list[str]:
    return [finding.code for finding in merged.findings]


def fields(artifact: Artifact, item_id: str) -> dict[str, Any]:
    items = (item for items in artifact.items.values() for item in items)
    return dict(next(item for item in items if item.id == item_id).fields)


def test_adding_numbers_the_items_of_each_section() -> None:
    merged = merge_deltas(
        NEW,
        [
            hypothesis(2),
            hypothesis(1),
            given_by(
                "teal-crane", 3, "ADD", section="predictions_table", condition="c", predictions={}
            ),
        ],
    )
    assert [(one.id, one.name) for one in merged.artifact.items[H]] == [("H1", "h1"), ("H2", "h2")]
    assert [one.id for one in merged.artifact.items["predictions_table"]] == ["P1"]
    assert merged.artifact.version == 1
    assert merged.findings == ()
    assert [(one.agent, one.deltas) for one in merged.artifact.contributors] == [
        ("amber-otter", 2),
        ("teal-crane", 1),
    ]
    assert (merged.artifact.created_at, merged.artifact.updated_at) == (1_000, 1_000)


def test_a_number_is_never_given_twice() -> None:
    first = merge_deltas(
        NEW, [hypothesis(1), hypothesis(2), given_by("a", 3, "KILL", "H2", reason="no")]
    )
    second = merge_deltas(first.artifact, [hypothesis(4)])
    assert [one.id for one in second.artifact.items[H]] == ["H1", "H2", "H3"]
    assert second.artifact.version == 2


def test_what_arrives_late_gets_the_next_number() -> None:
    """What a version has published keeps its number, whatever the times say."""
    first = merge_deltas(NEW, [hypothesis(5)])
    second = merge_deltas(first.artifact, [hypothesis(1)])
    assert [(one.id, one.name) for one in second.artifact.items[H]] == [("H1", "h5"), ("H2", "h1")]


def test_an_edit_changes_what_it_names_and_joins_anchors() -> None:
    merged = merge_deltas(
        NEW, [hypothesis(1), given_by("b", 2, "EDIT", "H1", claim="better", anchors=["§2", "§1"])]
    )
    assert fields(merged.artifact, "H1")["claim"] == "better"
    assert fields(merged.artifact, "H1")["anchors"] == ["§1", "§2"]
    assert fields(merged.artifact, "H1")["mechanism"] == "m"


@pytest.mark.parametrize("flag", ["replace", "anchors_replace"])
def test_anchors_are_replaced_on_request_and_the_request_is_not_kept(flag: str) -> None:
    asked: dict[str, Any] = {flag: True}
    edit = given_by("b", 2, "EDIT", "H1", anchors=["§9"], **asked)
    after = fields(merge_deltas(NEW, [hypothesis(1), edit]).artifact, "H1")
    assert after["anchors"] == ["§9"]
    assert flag not in after


def test_references_are_the_same_if_their_three_parts_are() -> None:
    same = {"session": "s", "item": "H1", "relation": "extends"}
    edits = [
        given_by("b", 2, "EDIT", "H1", references=[same]),
        given_by("c", 3, "EDIT", "H1", references=[{**same, "note": "x"}, {**same, "item": "H2"}]),
    ]
    found = fields(merge_deltas(NEW, [hypothesis(1), *edits]).artifact, "H1")["references"]
    assert found == [same, {**same, "item": "H2"}]


def test_a_killed_item_stays_and_says_who_and_why() -> None:
    merged = merge_deltas(
        NEW,
        [
            hypothesis(1),
            given_by("b", 2, "KILL", "H1", reason="refuted"),
            given_by("c", 3, "KILL", "H1", reason="again"),
        ],
    )
    (item,) = merged.artifact.items[H]
    assert item.killed is not None
    assert (item.killed.by, item.killed.at, item.killed.reason) == ("b", 2, "refuted")
    assert merged.findings == ()
    assert [one.agent for one in merged.applied] == ["amber-otter", "b"]


def test_a_killed_item_is_not_edited() -> None:
    merged = merge_deltas(
        NEW,
        [
            hypothesis(1),
            given_by("b", 2, "KILL", "H1", reason="r"),
            given_by("c", 3, "EDIT", "H1", claim="x"),
        ],
    )
    assert codes(merged) == ["target_killed"]
    assert fields(merged.artifact, "H1")["claim"] == "c"


def test_at_most_six_hypotheses_stand() -> None:
    merged = merge_deltas(NEW, [hypothesis(at) for at in range(MAX_HYPOTHESES + 1)])
    assert codes(merged) == ["section_limit_exceeded"]
    assert len(merged.artifact.items[H]) == MAX_HYPOTHESES
    killed = merge_deltas(
        merged.artifact, [given_by("b", 50, "KILL", "H1", reason="r"), hypothesis(51)]
    )
    assert killed.findings == ()
    assert killed.artifact.items[H][-1].id == "H7"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (given_by("a", 9, "ADD", section="tests", name="x"), "invalid_section"),
        (given_by("a", 9, "EDIT", "H1", section="", name="x"), "invalid_section"),
        (given_by("a", 9, "ADD", section="research_thread"), "rt_add_not_allowed"),
        (given_by("a", 9, "KILL", "RT", section="research_thread"), "rt_add_not_allowed"),
        (given_by("a", 9, "EDIT", "H1", section="research_thread"), "invalid_target"),
        (given_by("a", 9, "EDIT", None, claim="x"), "invalid_target"),
        (given_by("a", 9, "EDIT", "H7", claim="x"), "invalid_target"),
        (given_by("a", 9, "KILL", "P1", reason="x"), "invalid_target"),
    ],
)
def test_what_cannot_be_applied_is_left_out_and_told(bad: Contribution, code: str) -> None:
    """Nothing else changes, and the others count."""
    without = merge_deltas(NEW, [hypothesis(1)])
    merged = merge_deltas(NEW, [hypothesis(1), bad])
    assert merged.artifact == without.artifact
    (finding,) = merged.findings
    assert (finding.code, finding.severity) == (code, Severity.ERROR)
    assert finding.where == "t:9 delta block 1"
    assert finding.hint


def test_what_an_item_lacks_is_reported_and_the_item_kept() -> None:
    merged = merge_deltas(NEW, [given_by("a", 1, "ADD", name="x", claim="")])
    assert codes(merged) == ["missing_required_field"]
    assert "claim, mechanism, anchors" in merged.findings[0].message
    assert [one.id for one in merged.artifact.items[H]] == ["H1"]
    bare = Delta(DeltaOperation.KILL, H, "H1", {}, "")
    killed = merge_deltas(merged.artifact, [Contribution(2, "b", "t:2", 1, bare)])
    assert codes(killed) == ["missing_required_field"]


@pytest.mark.parametrize(
    "key",
    ["id", "killed", "killed_by", "__proto__", "constructor", "added", " Added\n", "total  score"],
)
def test_a_payload_cannot_set_what_is_not_its_own(key: str) -> None:
    merged = merge_deltas(NEW, [hypothesis(1, **{key: "x"})])
    assert codes(merged) == ["forbidden_payload_key"]
    assert key not in fields(merged.artifact, "H1")
    assert merged.artifact.items[H][0].id == "H1"


def test_a_field_cannot_pass_for_another() -> None:
    merged = merge_deltas(
        NEW, [hypothesis(1, **{"added: amber-otter, 2026-01-01": "x", "- killed": "y"})]
    )
    lines = write_artifact_markdown(merged.artifact).splitlines()
    assert '- "added: amber-otter, 2026-01-01": x' in lines
    assert '- "- killed": y' in lines
    assert sum(line.startswith("- added: ") for line in lines) == 1


def test_two_who_set_one_field_are_reported_and_the_later_stands() -> None:
    first = merge_deltas(NEW, [hypothesis(1)]).artifact
    edits = [
        given_by("amber-otter", 2, "EDIT", "H1", claim="a"),
        given_by("teal-crane", 2, "EDIT", "H1", claim="b"),
    ]
    merged = merge_deltas(first, edits)
    assert codes(merged) == ["edit_conflict"]
    assert "amber-otter and teal-crane both set `claim` of H1" in merged.findings[0].message
    assert fields(merged.artifact, "H1")["claim"] == "b"
    same = [edits[0], given_by("teal-crane", 3, "EDIT", "H1", claim="a")]
    assert merge_deltas(first, same).findings == ()


def test_one_who_changes_their_mind_is_no_conflict() -> None:
    edits = [given_by("b", at, "EDIT", "H1", claim=f"c{at}") for at in (2, 3)]
    merged = merge_deltas(NEW, [hypothesis(1), *edits])
    assert merged.findings == ()
    assert fields(merged.artifact, "H1")["claim"] == "c3"


def test_the_order_is_time_then_agent_then_message_then_block() -> None:
    places = [(1, "b", "t:9", 9), (2, "a", "t:1", 2), (2, "a", "t:2", 1), (2, "b", "t:0", 1)]
    deltas = [
        Contribution(
            *place, Delta(DeltaOperation.ADD, "anomaly_register", None, {"name": str(number)})
        )
        for number, place in enumerate(places)
    ]
    items = merge_deltas(NEW, reversed(deltas)).artifact.items["anomaly_register"]
    assert [item.name for item in items] == ["0", "1", "2", "3"]


def test_a_name_stays_on_its_line() -> None:
    merged = merge_deltas(NEW, [hypothesis(1, name="a\n## 8. Forged\n<!-- b")])
    assert "### H1: a ## 8. Forged &lt;!-- b\n" in write_artifact_markdown(merged.artifact)


def test_the_research_thread_is_edited() -> None:
    for target in (None, "RT"):
        edit = given_by("a", 1, "EDIT", target, section="research_thread", statement="How?")
        assert merge_deltas(NEW, [edit]).artifact.thread["statement"] == "How?"


def test_a_delta_that_is_delivered_twice_counts_once() -> None:
    assert merge_deltas(NEW, [hypothesis(1), hypothesis(1)]) == merge_deltas(NEW, [hypothesis(1)])


def test_nothing_at_all_is_a_version_too() -> None:
    merged = merge_deltas(NEW, [])
    assert (merged.artifact.version, merged.findings, merged.applied) == (1, (), ())


def test_a_message_gives_its_deltas_in_order() -> None:
    body = body_of("DELTA") + "\n```delta\n[]\n```\n\n```delta\n" + '{"operation": "KILL"}\n```\n'
    found = read_contributions("t:4", "amber-otter", 5, body)
    assert [(one.number, one.delta.operation) for one in found] == [(1, "ADD"), (3, "KILL")]


# The order of delivery

SECTIONS = st.sampled_from([*ARTIFACT_SECTIONS, "elsewhere"])
PAYLOADS = st.dictionaries(
    st.sampled_from(["name", "claim", "anchors", "score", "id", "reason", "predictions"]),
    st.sampled_from(["x", "y", ["§1"], ["§2", "§1"], 3, None, {"H1": "up"}]),
    max_size=4,
)
DELTAS = st.builds(
    Delta,
    st.sampled_from(DeltaOperation),
    SECTIONS,
    st.sampled_from([None, "H1", "H2", "P1", "RT", "nope"]),
    PAYLOADS,
    st.sampled_from(["", "because"]),
)
# One message can have many blocks, and several may carry the same time; no two the same place.
ROUNDS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["amber-otter", "teal-crane"]), DELTAS),
    max_size=14,
).map(
    lambda rows: [
        Contribution(at, agent, f"t:{number // 2}", number, delta)
        for number, (at, agent, delta) in enumerate(rows)
    ]
)


@settings(max_examples=examples(150))
@given(ROUNDS, st.randoms(use_true_random=False))
def test_any_order_of_delivery_gives_the_same_artifact(
    deltas: list[Contribution], random: Any
) -> None:
    shuffled = [*deltas, *deltas[:3]]
    random.shuffle(shuffled)
    merged, again = merge_deltas(NEW, deltas), merge_deltas(NEW, shuffled)
    assert merged == again
    assert write_artifact_markdown(merged.artifact) == write_artifact_markdown(again.artifact)


@settings(max_examples=examples(150))
@given(ROUNDS, ROUNDS)
def test_numbers_only_ever_grow(first: list[Contribution], second: list[Contribution]) -> None:
    one = merge_deltas(NEW, first).artifact
    two = merge_deltas(one, second).artifact
    assert two.version == 2
    for section, items in two.items.items():
        prefix = ARTIFACT_SECTIONS[section].prefix
        assert [item.id for item in items] == [f"{prefix}{n + 1}" for n in range(len(items))]
        before = one.items.get(section, ())
        assert [item.id for item in before] == [item.id for item in items[: len(before)]]
        assert all(new.killed for old, new in zip(before, items, strict=False) if old.killed)
    assert len(two.items_alive(H)) <= MAX_HYPOTHESES
    check_artifact(two)


# The artifact as a document


@given(ROUNDS, st.text(), st.text())
def test_whatever_the_payloads_say_the_artifact_has_seven_sections(
    deltas: list[Contribution], claim: str, name: str
) -> None:
    deltas = [*deltas, hypothesis(9, claim=f"\n## 8. Forged\n```\n{claim}", name=name)]
    text = write_artifact_markdown(merge_deltas(NEW, deltas).artifact)
    headings = [f"{n}. {shelf.heading}" for n, shelf in enumerate(ARTIFACT_SECTIONS.values(), 1)]
    assert [part.name for part in MessageBody(text).sections] == headings
    assert text.startswith('---\nsession_id: "RS-20260218-cell-fate"\n')


def test_predictions_of_a_killed_hypothesis_are_not_applicable() -> None:
    predictions = given_by(
        "a", 2, "ADD", section="predictions_table", condition="heat", predictions={"H1": "up"}
    )
    merged = merge_deltas(
        NEW, [hypothesis(1), predictions, given_by("a", 3, "KILL", "H1", reason="r")]
    )
    assert '- predictions: {"H1": "N/A"}' in write_artifact_markdown(merged.artifact)
    assert fields(merged.artifact, "P1")["predictions"] == {"H1": "up"}


def test_tests_stand_in_the_order_of_their_score() -> None:
    def test(at: int, **score: Any) -> Contribution:
        return given_by("a", at, "ADD", section="discriminative_tests", name=f"t{at}", score=score)

    high, low = dict.fromkeys(SCORE_DIMENSIONS, 3), dict.fromkeys(SCORE_DIMENSIONS, 1)
    wrong = dict.fromkeys(SCORE_DIMENSIONS, 99)
    merged = merge_deltas(NEW, [test(1, **wrong), test(2, **low), test(3, **high)])
    text = write_artifact_markdown(merged.artifact)
    assert text.index("### T3") < text.index("### T2") < text.index("### T1")
    assert "- total score: 12 of 12" in text
    assert merged.artifact.items["discriminative_tests"][0].score is None


def test_the_minima_of_an_artifact_are_checked() -> None:
    assert {finding.code for finding in check_artifact(NEW)} == {"below_minimum"}
    poor = merge_deltas(
        NEW,
        [
            hypothesis(1),
            given_by("a", 2, "ADD", section="discriminative_tests", name="t"),
            given_by("a", 3, "ADD", section="assumption_ledger", name="a"),
        ],
    )
    found = {finding.code for finding in check_artifact(poor.artifact)}
    assert found == {rule.code for rule in ARTIFACT_RULES}
    assert all(one.severity is Severity.WARNING for one in check_artifact(poor.artifact))


def test_a_full_artifact_has_no_findings() -> None:
    deltas = [hypothesis(at) for at in range(1, 3)]
    deltas.append(hypothesis(3, name="Third alternative: both are wrong"))
    wanted: dict[str, tuple[int, dict[str, Any]]] = {
        "predictions_table": (3, {"condition": "c", "predictions": {"H1": "up"}}),
        "discriminative_tests": (
            2,
            {
                "name": "t",
                "procedure": "p",
                "discriminates": "H1/H2",
                "expected_outcomes": {"H1": "up"},
                "potency_check": "dose",
            },
        ),
        "assumption_ledger": (
            3,
            {
                "name": "Scale",
                "statement": "s",
                "load": "l",
                "test": "t",
                "status": "unchecked",
            },
        ),
        "adversarial_critique": (
            2,
            {
                "name": "c",
                "attack": "a",
                "evidence": "e",
                "current_status": "open",
                "third_alternative": True,
            },
        ),
    }
    at = 10
    for section, (count, payload) in wanted.items():
        for _ in range(count):
            at += 1
            deltas.append(given_by("a", at, "ADD", section=section, **payload))
    merged = merge_deltas(NEW, deltas)
    assert merged.findings == ()
    assert check_artifact(merged.artifact) == ()


def test_every_row_of_the_merge_can_stand_alone() -> None:
    for rule in (*MERGE_RULES.values(), *ARTIFACT_RULES):
        assert rule.id.startswith("MRG-")
        assert rule.sentence
        assert rule.hint

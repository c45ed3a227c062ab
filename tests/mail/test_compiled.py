"""COMPILED vN: the body of the document, the artifact inside, and nothing lost without a word."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.mail.artifact import write_artifact_markdown
from moot.protocols.mail.body import MessageBody
from moot.protocols.mail.merge import (
    CompiledMessage,
    CompiledVersion,
    DeltaMessage,
    compile_thread,
    split_into_rounds,
)
from moot.protocols.mail.message_rules import lint_message
from tests.mail.bodies import body_of, delta

THREAD = "RS-20260218-cell-fate"


def source(number: int, *deltas: dict[str, object], agent: str = "amber-otter") -> DeltaMessage:
    blocks = "".join(f"```delta\n{json.dumps(one)}\n```\n" for one in deltas)
    return DeltaMessage(
        f"{THREAD}:{number}", agent, number * 1_000, f"# Delta Contribution\n{blocks}"
    )


def compiled(*rounds: list[DeltaMessage]) -> CompiledVersion:
    return compile_thread(THREAD, 0, rounds, "Why?")


@pytest.mark.requirement("BRN-022")
@pytest.mark.requirement("BRN-024")
@pytest.mark.requirement("BRN-025")
@pytest.mark.requirement("BRN-026")
def test_the_message_has_the_body_of_the_document() -> None:
    made = compiled([source(1, delta(), delta()), source(2, delta(), agent="teal-crane")])
    assert made.subject == "COMPILED: v1 (3 added)"
    body = MessageBody(made.body)
    assert body.title is not None
    assert body.title.value == "Compiled Artifact v1"
    names = ["Summary", "Contributors", "Statistics", "Validation Status", "Full Artifact"]
    assert [part.name for part in body.sections] == names
    assert body.text_of("Contributors") == "- amber-otter (2 deltas)\n- teal-crane (1 delta)"
    assert body.text_of("Statistics").split("\n") == [
        "- Hypotheses: 3",
        "- Predictions: 0",
        "- Tests: 0",
        "- Assumptions: 0",
        "- Anomalies: 0",
        "- Critiques: 0",
    ]
    assert body.text_of("Validation Status").startswith("0 errors, 5 warnings\n")
    checked = lint_message(made.subject, made.body)
    assert checked.findings == ()
    assert not checked.ack_required


def test_the_artifact_is_inside_as_it_is_on_its_own() -> None:
    made = compiled([source(1, delta())])
    body = MessageBody(made.body)
    (block,) = body.blocks
    assert block.info == "markdown"
    assert body.read_code(block) == made.markdown == write_artifact_markdown(made.artifact)


def test_the_document_says_who_and_which_version() -> None:
    made = compiled([source(1, delta())], [source(2, delta(), agent="teal-crane")])
    head = made.markdown.split("---\n")[1]
    assert f'session_id: "{THREAD}"\n' in head
    assert 'created_at: "1970-01-01T00:00:00.000Z"\n' in head
    assert 'updated_at: "1970-01-01T00:00:02.000Z"\n' in head
    assert "version: 2\n" in head
    assert "status: active\n" in head
    assert re.findall(r'agent: "(.*)"', head) == ["amber-otter", "teal-crane"]


def test_versions_go_up_by_one_and_keep_their_numbers() -> None:
    late = source(1, delta(payload={"name": "late"}))
    first = compiled([source(5, delta())])
    second = compiled([source(5, delta())], [late, source(7)])
    assert (first.artifact.version, second.artifact.version) == (1, 2)
    names = [item.name for item in second.artifact.items["hypothesis_slate"]]
    assert names == ["n", "late"]


def test_what_came_while_a_version_was_made_belongs_to_the_next() -> None:
    one, two, three = (source(n, delta(payload={"name": f"n{n}"})) for n in (1, 2, 3))
    assert split_into_rounds([]) == [[]]
    assert split_into_rounds([one, two]) == [[one, two]]
    assert split_into_rounds([one, two, CompiledMessage(), three]) == [[one, two], [three]]
    rounds = split_into_rounds(
        [two, one, CompiledMessage(two.message_id), three, CompiledMessage("elsewhere:1")]
    )
    assert rounds == [[two], [one, three], []]
    published, then = compiled(rounds[0]), compiled(*rounds[:2])
    items = then.artifact.items["hypothesis_slate"]
    assert items[:1] == published.artifact.items["hypothesis_slate"]
    assert [item.name for item in items] == ["n2", "n1", "n3"]


def test_what_could_not_be_read_is_in_the_status() -> None:
    bad = DeltaMessage(
        f"{THREAD}:3", "teal-crane", 3_000, "```delta\n{,}\n```\n\nDELTA[x]: inline\n"
    )
    none = DeltaMessage(f"{THREAD}:4", "teal-crane", 4_000, "Nothing here.\n")
    made = compiled([source(1, delta()), bad, none])
    found = [(one.rule, one.where) for one in made.findings if not one.rule.startswith("MRG")]
    assert found == [
        ("MB-005", f"{THREAD}:3 line 2"),
        ("MBX-037", f"{THREAD}:3 line 5"),
        ("MB-004", f"{THREAD}:4 body"),
    ]
    assert "MB-005" in MessageBody(made.body).text_of("Validation Status")


def test_what_was_left_out_is_in_the_status() -> None:
    made = compiled([source(1, delta(operation="KILL", target_id="H9"))])
    assert MessageBody(made.body).text_of("Validation Status").startswith("1 error, 5 warnings")
    assert made.subject == "COMPILED: v1 (nothing new)"
    assert lint_message(made.subject, made.body).is_valid


def test_a_long_list_of_findings_is_cut() -> None:
    made = compiled([source(1, *[delta(section="x")] * 200)])
    assert "- and 155 more" in MessageBody(made.body).text_of("Validation Status")
    assert len(made.findings) == 205


def test_the_example_of_a_delta_compiles() -> None:
    made = compiled([DeltaMessage("t:1", "amber-otter", 1, body_of("DELTA"))])
    assert "### H1: Chromatin memory\n" in made.markdown


@given(st.lists(st.text(), max_size=4), st.text(), st.text())
def test_whatever_was_written_compiles_to_a_valid_message(
    bodies: list[str], name: str, claim: str
) -> None:
    written = source(9, delta(payload={"name": name, "claim": claim, claim: name}))
    sources = [DeltaMessage(f"t:{n}", "amber-otter", n, body) for n, body in enumerate(bodies)]
    made = compiled([*sources, written])
    assert lint_message(made.subject, made.body).findings == ()
    assert MessageBody(made.body).read_code(MessageBody(made.body).blocks[-1]) == made.markdown

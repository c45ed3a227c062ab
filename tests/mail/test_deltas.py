"""Delta blocks: strict JSON, exactly fenced; what was meant as one is never passed over."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moot.protocols.mail.body import MessageBody
from moot.protocols.mail.delta_checks import find_stray_deltas
from moot.protocols.mail.deltas import (
    ARTIFACT_SECTIONS,
    DeltaOperation,
    parse_strict_json,
    read_delta_blocks,
)
from moot.protocols.mail.message_rules import lint_message
from tests.mail.bodies import body_of, delta


def message(*blocks: str, fence: str = "```") -> str:
    body = "\n".join(f"{fence}delta\n{block}\n{fence}\n" for block in blocks)
    return f"# Delta Contribution\n\n## Deltas\n\n{body}"


def rules(body: str) -> list[str]:
    return [finding.rule for finding in lint_message("DELTA[opus]: x", body).findings]


@pytest.mark.requirement("BRN-017")
@pytest.mark.requirement("BRN-021")
def test_a_whole_delta_is_read_as_written() -> None:
    (block,) = read_delta_blocks(MessageBody(body_of("DELTA")))
    read = block.delta
    assert read is not None
    assert (block.number, block.line) == (1, 7)
    assert read.operation is DeltaOperation.ADD
    assert read.section == "hypothesis_slate"
    assert read.target_id is None
    assert list(read.payload) == ["name", "claim", "mechanism", "anchors"]
    assert read.payload["anchors"] == ["§42"]
    assert read.rationale == "None of the others explains §42"


@pytest.mark.parametrize("fence", ["```", "````", "~~~", "~~~~~"])
def test_any_proper_fence_will_do(fence: str) -> None:
    assert rules(message(json.dumps(delta()), fence=fence)) == []


@pytest.mark.requirement("BRN-018")
@pytest.mark.parametrize(
    "body",
    [
        "# Delta Contribution\n",
        '```json\n{"operation": "ADD"}\n```\n',
        '```Delta\n{"operation": "ADD"}\n```\n',
        '```delta json\n{"operation": "ADD"}\n```\n',
        '```\n{"operation": "ADD"}\n```\n',
        ':::delta\n{"operation": "ADD"}\n:::\n',
        '- ```delta\n  {"operation": "ADD"}\n  ```\n',
        '> ```delta\n> {"operation": "ADD"}\n> ```\n',
        "DELTA[hypothesis]: cells remember\n",
        'Here it is: {"operation": "ADD"}\n',
        '~~~markdown\n```delta\n{"operation": "ADD"}\n```\n~~~\n',
        '    ```delta\n    {"operation": "ADD"}\n    ```\n',
    ],
)
def test_nothing_else_counts_as_a_delta_block(body: str) -> None:
    assert read_delta_blocks(MessageBody(body)) == []
    assert "MB-004" in rules(body)


@pytest.mark.parametrize(
    ("stray", "line"),
    [
        ('```json\n{"operation": "ADD"}\n```\n', 1),
        ('\n```Delta\n{"x": 1}\n```\n', 2),
        ('```delta json\n{"x": 1}\n```\n', 1),
        ("a\n\n:::delta\n", 3),
        ('- ```delta\n  {"x": 1}\n  ```\n', 1),
        ('> ```delta\n> {"x": 1}\n> ```\n', 1),
        ("text\nDELTA[hypothesis]: cells remember\n", 2),
        ("- DELTA: cells remember\n", 1),
        ('{"operation": "ADD"}\n', 1),
        ('    ```delta\n    {"x": 1}\n    ```\n', 1),
    ],
)
def test_a_delta_in_the_wrong_place_is_reported_among_good_ones(stray: str, line: int) -> None:
    """The first implementations read nothing there and said nothing."""
    (found,) = find_stray_deltas(MessageBody(stray))
    assert found.line == line
    good = message(json.dumps(delta()))
    (finding,) = lint_message("DELTA[opus]: x", stray + "\n\n" + good).findings
    assert (finding.rule, finding.line) == ("MBX-037", line)
    (alone, also) = lint_message("DELTA[opus]: x", stray).findings
    assert (alone.rule, alone.line, also.rule) == ("MB-004", line, "MBX-037")


def test_prose_and_quoted_examples_are_no_strays() -> None:
    quoted = '~~~markdown\n```delta\n{"operation": "ADD"}\n```\n~~~\n'
    assert list(find_stray_deltas(MessageBody(f"About the delta of the Nile.\n\n{quoted}"))) == []


@pytest.mark.requirement("BRN-019")
@pytest.mark.parametrize(
    ("block", "said"),
    [
        ('{"operation": "ADD",}', ""),
        ('{"operation": "ADD"', ""),
        ("", ""),
        ("{'operation': 'ADD'}", ""),
        ('{"operation": "ADD"} // why', ""),
        ('{"operation": "ADD", "operation": "KILL"}', "twice"),
        ('{"payload": {"a": 1, "a": 1}}', "twice"),
        ('{"score": NaN}', "NaN"),
        ('{"score": -Infinity}', "Infinity"),
        ('{"score": 1e999}', "too large"),
        ('{"name": "\\ud800"}', "surrogate"),
        ("[" * 100_000, "deep"),
        ('{"a":' * 40 + "1" + "}" * 40, "deep"),
        ('{"n": ' + "9" * 5_000 + "}", ""),
    ],
    ids=lambda text: text[:30],
)
def test_a_block_is_strict_json(block: str, said: str) -> None:
    (finding,) = lint_message("DELTA[opus]: x", message(block)).findings
    assert finding.rule == "MB-005"
    assert finding.where == "delta block 1"
    assert said in finding.message


@pytest.mark.requirement("BRN-019")
def test_of_two_blocks_only_the_bad_one_is_reported() -> None:
    body = message(json.dumps(delta()), '{\n  "operation": "ADD",\n}')
    (finding,) = lint_message("DELTA[opus]: x", body).findings
    assert (finding.rule, finding.where) == ("MB-005", "delta block 2")
    assert finding.line is not None
    assert body.split("\n")[finding.line - 1] == '  "operation": "ADD",'
    assert "Illegal trailing comma before end of object" in finding.message


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('{"a": 1,}', "Illegal trailing comma before end of object", 7),
        ('{"a": [1 ,\n\t]}', "Illegal trailing comma before end of array", 9),
        ('[{"a": 1,\n\n}]', "Illegal trailing comma before end of object", 8),
        ("[,]", "Expecting value", 1),
        ("[1,}", "Expecting value", 3),
        ('{"a": 1,]', "Expecting property name enclosed in double quotes", 8),
        ('{"a": ]', "Expecting value", 6),
        ("[1,", "Expecting value", 3),
        ("]", "Expecting value", 0),
    ],
)
def test_what_is_wrong_with_json_is_reported_alike_on_every_python(
    text: str, message: str, place: int
) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        parse_strict_json(text)
    assert (caught.value.msg, caught.value.pos) == (message, place)


@pytest.mark.parametrize("value", ["[]", "[{}]", '"ADD"', "1", "null", "true"])
def test_a_block_is_one_object(value: str) -> None:
    assert rules(message(value)) == ["MBX-030"]


@pytest.mark.requirement("BRN-020")
@pytest.mark.parametrize("operation", ["UPDATE", "add", "", None, 1, ["ADD"], {}])
def test_the_operation_is_one_of_three(operation: object) -> None:
    assert "MBX-031" in rules(message(json.dumps(delta(operation=operation))))
    without = {key: value for key, value in delta().items() if key != "operation"}
    assert rules(message(json.dumps(without))) == ["MBX-031"]


@pytest.mark.requirement("BRN-020")
@pytest.mark.parametrize("operation", list(DeltaOperation))
def test_each_of_the_three_is_read(operation: DeltaOperation) -> None:
    target = None if operation is DeltaOperation.ADD else "H1"
    body = message(json.dumps(delta(operation=operation.value, target_id=target)))
    assert rules(body) == []
    read = read_delta_blocks(MessageBody(body))[0].delta
    assert read is not None
    assert read.operation is operation


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"section": "tests"}, "MBX-032"),
        ({"section": ["x"]}, "MBX-033"),
        ({"payload": []}, "MBX-033"),
        ({"rationale": " "}, "MBX-033"),
        ({"target_id": 7}, "MBX-033"),
        ({"target_id": "H1"}, "MBX-034"),
        ({"operation": "EDIT"}, "MBX-034"),
        ({"operation": "KILL"}, "MBX-034"),
        ({"payload": {"name": "x"}}, "MBX-035"),
        ({"operation": "KILL", "target_id": "H1", "payload": {}, "rationale": ""}, "MBX-035"),
        ({"section": "research_thread"}, "MBX-036"),
    ],
)
def test_what_the_document_leaves_open_is_a_warning(change: dict[str, object], rule: str) -> None:
    checked = lint_message("DELTA[opus]: x", message(json.dumps(delta(**change))))
    assert checked.is_valid
    assert rule in [finding.rule for finding in checked.findings]


def test_the_research_thread_is_edited_without_a_target() -> None:
    for target in (None, "RT"):
        change = delta(operation="EDIT", section="research_thread", target_id=target)
        assert rules(message(json.dumps(change))) == []


def test_the_seven_sections_have_their_prefixes() -> None:
    assert {shelf.prefix for shelf in ARTIFACT_SECTIONS.values()} == {
        "RT",
        "H",
        "P",
        "T",
        "A",
        "X",
        "C",
    }
    assert len(ARTIFACT_SECTIONS) == 7


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_any_json_value_in_a_block_has_an_answer(value: object) -> None:
    text = json.dumps(value)
    assert parse_strict_json(text) == value
    (block,) = read_delta_blocks(MessageBody(message(text)))
    assert block.problem == ""
    lint_message("DELTA[opus]: x", message(text))


@given(st.dictionaries(st.sampled_from(sorted(delta())), JSON))
def test_any_fields_of_a_delta_have_an_answer(fields: dict[str, object]) -> None:
    lint_message("DELTA[opus]: x", message(json.dumps(delta(**fields))))


@given(st.text())
def test_any_text_in_a_block_has_an_answer(text: str) -> None:
    for block in read_delta_blocks(MessageBody(message(text))):
        assert block.problem or block.value is not None or text.strip() == "null"
    list(find_stray_deltas(MessageBody(text)))


# Whatever was written --------------------------------------------------------------------------

_STRING = st.lists(
    st.sampled_from(
        [
            *("ADD", "a", "payload", "}", "[", " ", ":", '\\":', "\\n", "\\x", "\x01"),
            *("§", "\\u00e9", "\\ud83d\\ude00", "\\ud800", "\ud800"),
        ]
    ),
    max_size=3,
).map(lambda pieces: '"' + "".join(pieces) + '"')
_SPACE = st.sampled_from(["", "", " ", "\n", "\r\n\t", "\u00a0"])
_NOT_A_TEXT = st.sampled_from(["null", "1", "-0", "1e5", "1e999", "true", "NaN", "9" * 30])


def _written(
    names: st.SearchStrategy[str], value: st.SearchStrategy[str]
) -> st.SearchStrategy[str]:
    member = st.tuples(_SPACE, names, _SPACE, st.just(":"), _SPACE, value).map("".join)
    members = st.lists(member, max_size=4).map(",".join)
    return st.tuples(st.just("{"), members, st.sampled_from(["}", "}", "}", ",}", ""])).map("".join)


_LIST = st.lists(_STRING | _NOT_A_TEXT, max_size=3).map(lambda inner: f"[{','.join(inner)}]")
_PAYLOAD = _written(_STRING, _STRING | _LIST | _NOT_A_TEXT | _written(_STRING, _STRING))
_NAME = st.sampled_from(['"operation"', '"payload"', '"\\u0070ayload"', '"rationale"']) | _STRING


@given(st.tuples(_written(_NAME, _STRING | _PAYLOAD | _NOT_A_TEXT), _SPACE).map("".join))
@example('{"payload": {"a": "x", "a": "y"}}')
@example('{"payload": {"a" : "x", "a" : "y:"}}')
@example('{"a": "x:", "other": {"b": "1", "b": "2"}}')
def test_any_text_is_json_that_readers_agree_on_or_refused(text: str) -> None:
    try:
        value = parse_strict_json(text)
    except ValueError:
        return
    assert json.loads(text) == value
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()

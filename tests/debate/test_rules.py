"""Every rule by itself: a file that breaks it, and the code that says so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from moot.core.findings import Rule, Severity, select_errors
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.compare import APPEND_ONLY_RULES
from moot.protocols.debate.file_rules import (
    ENTRY_RULES,
    FILE_RULES,
    FREE_TEXT_RULES,
    ODDITY_RULES,
    ORDER_RULES,
    STRUCTURED_RULES,
    VERSION_RULES,
)
from moot.protocols.debate.settings import SCHEMA, SETTING_READERS
from moot.protocols.debate.turns import SPEAKING_RULES
from moot.protocols.debate.views import view_status
from tests.debate.sessions import (
    CREATED,
    SESSION_ID,
    TWO_AGENTS,
    TWO_ROUNDS,
    codes,
    entry,
    entry_id,
    rules_block,
    session,
)

RULES: list[Rule[Any]] = [
    *(
        *VERSION_RULES,
        *FILE_RULES,
        *ENTRY_RULES,
        *STRUCTURED_RULES,
        *FREE_TEXT_RULES,
        *ODDITY_RULES,
        *ORDER_RULES,
    ),
]
ROWS = [*RULES, *APPEND_ONLY_RULES, *(rule for rules in SPEAKING_RULES.values() for rule in rules)]
# D-06: every other code is ours and in small letters.
KNOWN_ELSEWHERE = {
    *("MISSING_PROTOCOL_VERSION", "MISSING_CREATED", "MISSING_SESSION_ID"),
    *("INVALID_PROTOCOL_VERSION", "INVALID_CREATED_FORMAT", "INVALID_SESSION_ID_FORMAT"),
    *("MISSING_TITLE", "EMPTY_TITLE", "MISSING_RULES_SECTION", "MISSING_REQUIRED_RULE"),
    *("INVALID_RULE_VALUE", "DUPLICATE_AGENT_NAME", "EMPTY_AGENTS_LIST"),
    *("MISSING_CONTEXT_SECTION", "MISSING_DIALOGUE_SECTION", "MISSING_ENTRY_ID"),
    *("DUPLICATE_ENTRY_ID", "MISSING_TURN_ROUND", "MISSING_STATUS_LINE", "INVALID_ENTRY_STATUS"),
    *("INVALID_STANCE", "INVALID_CONFIDENCE", "CONFIDENCE_OUT_OF_RANGE", "UNKNOWN_AGENT"),
    *("MISSING_REQUIRED_FIELD", "MISSING_YIELD_MARKER", "ROUND_NOT_MONOTONIC"),
    "OUT_OF_ORDER_TURN",
}

V, C, S = (
    "<!-- bounce-protocol: 0.1 -->\n",
    f"<!-- created: {CREATED} -->\n",
    f"<!-- session-id: {SESSION_ID} -->\n",
)


def case(id_: str, name: str, text: str | bytes, *expected: str) -> object:
    """A file, and all its errors."""
    return pytest.param(text, expected, id=f"{id_} {name}", marks=pytest.mark.requirement(id_))


def versioned(version: str) -> str:
    return session(header=header_of(version))


def header_of(version: str) -> str:
    return f"<!-- bounce-protocol: {version} -->\n{C}{S}"


def created(text: str) -> str:
    return session(header=f"{V}<!-- created: {text} -->\n{S}")


def named(text: str) -> str:
    return session(header=f"{V}{C}<!-- session-id: {text} -->\n")


def one(**changes: str) -> str:
    return session(entry(1, "red-fox", **changes))  # type: ignore[arg-type]  # never a number


def swapped(first: str, second: str) -> str:
    """The session with two of its sections exchanged."""
    parts = re.split(r"(?m)^(?=## )", session())
    heads = {part.split("\n")[0]: place for place, part in enumerate(parts)}
    a, b = heads[f"## {first}"], heads[f"## {second}"]
    parts[a], parts[b] = parts[b], parts[a]
    return "".join(part if part.endswith("\n\n") else part + "\n\n" for part in parts)


def without(section: str) -> str:
    return re.sub(rf"(?ms)^## {section}\n.*?(?=^## |\Z)", "", session())


HEADER: Sequence[object] = [
    case("BNC-001", "a byte that is no UTF-8", session().encode() + b"\xff", "encoding"),
    case(
        "BNC-003", "context and dialogue exchanged", swapped("Context", "Dialogue"), "section_order"
    ),
    case(
        "BNC-003",
        "rules and context exchanged",
        swapped("Protocol Rules", "Context"),
        "section_order",
    ),
    case("BNC-003", "no dialogue", without("Dialogue"), "MISSING_DIALOGUE_SECTION"),
    case("BNC-003", "no context", without("Context"), "MISSING_CONTEXT_SECTION"),
    case("BNC-003", "no rules", without("Protocol Rules"), "MISSING_RULES_SECTION"),
    case("BNC-003", "a section twice", session() + "\n## Context\n\nagain\n", "duplicate_section"),
    case("BNC-018", "a blank line first", "\n" + session(), "header_not_first"),
    case("BNC-018", "text first", "Hello.\n" + session(), "header_not_first", "text_before_title"),
    case("BNC-018", "a blank line between", session(header=f"{V}\n{C}{S}"), "header_not_first"),
    case(
        "BNC-018", "a fourth comment", session(header=f"{V}{C}{S}<!-- by: me -->\n"), "header_extra"
    ),
    case("BNC-019", "another order", session(header=f"{C}{V}{S}"), "header_order"),
    case("BNC-020", "no version", session(header=f"{C}{S}"), "MISSING_PROTOCOL_VERSION"),
    case("BNC-021", "three numbers", versioned("0.1.0"), "INVALID_PROTOCOL_VERSION"),
    case("BNC-021", "a letter", versioned("v0.1"), "INVALID_PROTOCOL_VERSION"),
    case("BNC-021", "no number", versioned("x"), "INVALID_PROTOCOL_VERSION"),
    case("BNC-022", "major one", versioned("1.0"), "version_major"),
    case("BNC-109", "major two", versioned("2.0"), "version_major"),
    case(
        "BNC-108",
        "major one in a broken file",
        session(header=header_of("1.0"), block="", title="x"),
        "version_major",
    ),
    case("BNC-023", "no created", session(header=f"{V}{S}"), "MISSING_CREATED"),
    case("BNC-023", "no zone", created("2026-02-18T14:30:00"), "INVALID_CREATED_FORMAT"),
    case("BNC-023", "a word", created("yesterday"), "INVALID_CREATED_FORMAT"),
    case(
        "BNC-023", "a day that is none", created("2026-02-30T14:30:00Z"), "INVALID_CREATED_FORMAT"
    ),
    case("BNC-023", "another zone", created("2026-02-18T14:30:00+02:00")),
    case("BNC-023", "no seconds", created("2026-02-18T14:30Z")),
    case("BNC-024", "no session id", session(header=f"{V}{C}"), "MISSING_SESSION_ID"),
    case("BNC-025", "upper case", named(SESSION_ID.upper()), "INVALID_SESSION_ID_FORMAT"),
    case("BNC-025", "no hyphens", named(SESSION_ID.replace("-", "")), "INVALID_SESSION_ID_FORMAT"),
    case("BNC-025", "another version", named("a1b2c3d4-e5f6-7890-abcd-ef1234567890")),
    case("BNC-028", "empty", session(header=f"{V}{C}<!-- session-id: -->\n"), "MISSING_SESSION_ID"),
    case("BNC-028", "a word", named("mine"), "INVALID_SESSION_ID_FORMAT"),
    case(
        "BNC-028",
        "all zero",
        named("0" * 8 + "-0000-0000-0000-" + "0" * 12),
        "INVALID_SESSION_ID_FORMAT",
    ),
    case(
        "BNC-027", "no spaces", session(header=f"{V}<!--created: {CREATED}-->\n{S}"), "header_form"
    ),
    case(
        "BNC-027",
        "two spaces",
        session(header=f"{V}<!-- created:  {CREATED} -->\n{S}"),
        "header_form",
    ),
    case("BNC-027", "a space behind", session(header=f"{V}{C.rstrip()} \n{S}"), "header_form"),
    case("BNC-029", "another title", session(title="# Session: x"), "MISSING_TITLE"),
    case("BNC-029", "no title", session(title=""), "MISSING_TITLE"),
    case(
        "BNC-029", "text above it", session(title="So:\n\n# Bounce Session: x"), "text_before_title"
    ),
    case("BNC-030", "an empty name", session(title="# Bounce Session: "), "EMPTY_TITLE"),
    case("BNC-031", "any name will do", session(title="# Bounce Session: x")),
    case("BNC-060", "no context", without("Context"), "MISSING_CONTEXT_SECTION"),
    case("BNC-064", "no entry yet", session()),
]


def setting(**changes: str | None) -> str:
    return session(block=rules_block(TWO_AGENTS, **changes))


def agents(*lines: str) -> str:
    block = rules_block(("red-fox",)).replace("agents:\n  - red-fox\n", "".join(lines))
    return session(block=block)


def listed(*names: str) -> str:
    return session(agents=names)


BAD = "INVALID_RULE_VALUE"
SETTINGS: Sequence[object] = [
    case("BNC-032", "no block", session(block="turn-order: round-robin\n"), "rules_block_missing"),
    case("BNC-034", "an empty list", agents("agents: []\n"), "EMPTY_AGENTS_LIST"),
    case("BNC-034", "no list", agents("agents: red-fox\n"), BAD),
    case("BNC-034", "a flow list", agents("agents: [red-fox, 'blue-hen'] # two\n")),
    case("BNC-034", "names like numbers and truth", agents("agents:\n- 007\n- yes\n")),
    case("BNC-035", "a name twice", listed("red-fox", "red-fox"), "DUPLICATE_AGENT_NAME"),
    case("BNC-036", "usual names", listed("claude-sonnet", "gpt-4o", "human-reviewer")),
    case("BNC-037", "a hyphen first", agents("agents: [-x]\n"), BAD),
    case("BNC-037", "a space", agents("agents: [Ann Lee]\n"), BAD),
    case("BNC-037", "a hundred letters", listed("X" * 100), BAD),
    case("BNC-037", "ninety-nine letters", listed("X" * 99)),
    case("BNC-037", "the shortest and oddest", listed("ab", "4o", "a--b")),
    case("BNC-038", "parallel", setting(turn_order="parallel"), BAD),
    case("BNC-038", "supervised", setting(turn_order="supervised")),
    case("BNC-042", "none", setting(max_turns_per_round="0"), BAD),
    case("BNC-042", "eleven", setting(max_turns_per_round="11"), BAD),
    case("BNC-042", "one and a half", setting(max_turns_per_round="1.5"), BAD),
    case("BNC-042", "a text", setting(max_turns_per_round='"1"'), BAD),
    case("BNC-042", "letters behind", setting(max_turns_per_round="3abc"), BAD),
    case("BNC-042", "ten", setting(max_turns_per_round="10")),
    case("BNC-044", "none", setting(turn_timeout="0"), BAD),
    case("BNC-044", "more than a day", setting(turn_timeout="86401"), BAD),
    case("BNC-044", "a day", setting(turn_timeout="86400")),
    case("BNC-044", "a second", setting(turn_timeout="1")),
    case("BNC-045", "negative", setting(consensus_threshold="-0.1"), BAD),
    case("BNC-045", "more than all", setting(consensus_threshold="1.1"), BAD),
    case("BNC-045", "not a number", setting(consensus_threshold="NaN"), BAD),
    case("BNC-045", "zero", setting(consensus_threshold="0")),
    case("BNC-045", "one", setting(consensus_threshold="1")),
    case("BNC-049", "veto", setting(consensus_mode="veto"), BAD),
    case("BNC-049", "unanimous", setting(consensus_mode="unanimous")),
    case("BNC-050", "none", setting(escalation="none"), BAD),
    case("BNC-050", "skip", setting(escalation="timeout-skip")),
    case("BNC-054", "none", setting(max_rounds="0"), BAD),
    case("BNC-054", "too many", setting(max_rounds="101"), BAD),
    case("BNC-054", "a hundred", setting(max_rounds="100")),
    case("BNC-055", "json", setting(output_format="json"), BAD),
    case("BNC-055", "free text", setting(output_format="free-text")),
    case("BNC-058", "a key twice", setting(tags="x\nmax-rounds: 3"), "duplicate_rule"),
    case("BNC-058", "an anchor", setting(tags="&a b"), "rules_unreadable"),
    case("BNC-058", "a second document", setting(tags="x\n---\nb: c"), "rules_unreadable"),
]

STATUS = "2026-03-01T09:01:00Z [author: red-fox] [status: yield]"


def head(status_line: str = STATUS, place: str = "<!-- turn: 1 round: 1 -->") -> str:
    text = one()
    return text.replace(STATUS, status_line).replace("<!-- turn: 1 round: 1 -->", place)


ENTRIES: Sequence[object] = [
    case(
        "BNC-013",
        "two authors",
        head(STATUS.replace("]", "] [author: blue-hen]", 1)),
        "MISSING_STATUS_LINE",
    ),
    case(
        "BNC-068",
        "no id",
        one().replace(f"<!-- entry: {entry_id(1)} -->\n", ""),
        "MISSING_ENTRY_ID",
    ),
    case(
        "BNC-068", "an id that is none", session(entry(1, "red-fox", id_="x1")), "invalid_entry_id"
    ),
    case("BNC-068", "an empty id", one().replace(entry_id(1) + " ", ""), "MISSING_ENTRY_ID"),
    case("BNC-070", "turn zero", head(place="<!-- turn: 0 round: 1 -->"), "MISSING_TURN_ROUND"),
    case("BNC-070", "round zero", head(place="<!-- turn: 1 round: 0 -->"), "MISSING_TURN_ROUND"),
    case("BNC-070", "negative", head(place="<!-- turn: -1 round: 1 -->"), "MISSING_TURN_ROUND"),
    case("BNC-070", "a letter", head(place="<!-- turn: x round: 1 -->"), "MISSING_TURN_ROUND"),
    case(
        "BNC-070",
        "too long for a number",
        head(place=f"<!-- turn: {'9' * 5000} round: 1 -->"),
        "MISSING_TURN_ROUND",
    ),
    case("BNC-072", "in brackets", head(f"[{STATUS.replace(' [', '] [', 1)}")),
    case(
        "BNC-072", "no author", head("2026-03-01T09:01:00Z [status: yield]"), "MISSING_STATUS_LINE"
    ),
    case(
        "BNC-072",
        "a time that is none",
        head("noon [author: red-fox] [status: yield]"),
        "invalid_timestamp",
    ),
    case("BNC-073", "done", one(status="done"), "INVALID_ENTRY_STATUS"),
    *(
        case("BNC-073", f"{word} in capitals", one(status=word.upper()), "INVALID_ENTRY_STATUS")
        for word in ("open", "in_progress", "closed", "yield")
    ),
    case("BNC-073", "closed", one(status="closed")),
    case("BNC-073", "yield", one(status="yield")),
    case(
        "BNC-068",
        "a blank line below the id",
        one().replace(" -->\n<!-- turn", " -->\n\n<!-- turn"),
        "blank_in_head",
    ),
    case(
        "BNC-072",
        "a blank line above the status line",
        one().replace("round: 1 -->\n", "round: 1 -->\n\n"),
        "blank_in_head",
    ),
    case("BNC-080", "a capital", one(stance="Approve"), "INVALID_STANCE"),
    case("BNC-080", "neutral", one(stance="neutral")),
    case("BNC-082", "none at all", one(confidence="0.0")),
    case("BNC-082", "certain", one(confidence="1.0")),
    case("BNC-082", "less than none", one(confidence="-0.01"), "CONFIDENCE_OUT_OF_RANGE"),
    case("BNC-112", "a word", one(confidence="high"), "INVALID_CONFIDENCE"),
    case("BNC-112", "not a number", one(confidence="NaN"), "INVALID_CONFIDENCE"),
    case("BNC-112", "percent", one(confidence="85%"), "INVALID_CONFIDENCE"),
    case("BNC-112", "a power of ten", one(confidence="1e-1"), "INVALID_CONFIDENCE"),
    case("BNC-112", "no digit first", one(confidence=".5"), "INVALID_CONFIDENCE"),
    case("BNC-086", "nothing asked", one(asks=""), "MISSING_REQUIRED_FIELD"),
    case("BNC-086", "n/a", one(asks="N/A")),
    case(
        "BNC-090",
        "all that a body may hold",
        one(body="### h\n\n- a\n- b\n\n|x|\n|-|\n\n```\n## c\n```\n\n**d**"),
    ),
    case("BNC-091", "level two", one(body="## Mine"), "heading_in_body"),
    case("BNC-091", "level one", one(body="a\n\n# Mine"), "heading_in_body"),
    case("BNC-091", "level three", one(body="### Mine")),
    case("BNC-091", "in a code block", one(body="```\n## Mine\n```")),
    case("BNC-091", "the dialogue's own heading", one(body="## Dialogue"), "heading_in_body"),
    case("BNC-092", "no marker", one(marker=""), "MISSING_YIELD_MARKER"),
    case(
        "BNC-096",
        "status yield and no marker",
        one(status="yield", marker=""),
        "MISSING_YIELD_MARKER",
    ),
    case("BNC-096", "status open and a marker", one(status="open")),
    case(
        "BNC-128",
        "over two lines",
        one().replace("<!-- entry: ", "<!-- entry:\n"),
        "MISSING_ENTRY_ID",
        "comment_multiline",
    ),
    case(
        "BNC-128",
        "no spaces",
        one().replace(f"<!-- entry: {entry_id(1)} -->", f"<!--entry: {entry_id(1)}-->"),
        "comment_form",
    ),
    case("BNC-054", "a sixth round", session(entry(1, "red-fox", 6)), "max_rounds"),
    case(
        "BNC-042",
        "a second entry in the round",
        session(entry(1, "red-fox"), entry(2, "red-fox", 1, 2)),
        "max_turns",
    ),
    case("BNC-111", "a stance of the runtime", one(stance="refine"), "INVALID_STANCE"),
    case("BNC-114", "someone else", session(entry(1, "grey-owl")), "UNKNOWN_AGENT"),
    case(
        "BNC-126",
        "a judge after the end, incomplete",
        session(
            entry(1, "red-fox"),
            entry(
                2,
                "judge",
                1,
                2,
                fields="stance: neutral\nconfidence: 0.0\nsummary: x\naction_requested: n/a\n",
            ),
            agents=("red-fox",),
            max_rounds="1",
        ),
        "MISSING_REQUIRED_FIELD",
    ),
    case(
        "BNC-125",
        "a judge after the end",
        session(entry(1, "red-fox"), entry(2, "judge", 1, 2), agents=("red-fox",), max_rounds="1"),
    ),
    case("BNC-125", "a judge before the end", session(entry(1, "judge")), "UNKNOWN_AGENT"),
]


@pytest.mark.parametrize(("text", "expected"), [*HEADER, *SETTINGS, *ENTRIES])
def test_a_file_has_exactly_these_errors(text: str | bytes, expected: tuple[str, ...]) -> None:
    assert sorted(codes(text)) == sorted(expected)


def warning(id_: str, name: str, text: str, *expected: str) -> object:
    """A valid file, and what is remarked on it."""
    return pytest.param(text, expected, id=f"{id_} {name}", marks=pytest.mark.requirement(id_))


WARNINGS: Sequence[object] = [
    warning(
        "BNC-025", "another version", named("a1b2c3d4-e5f6-7890-abcd-ef1234567890"), "uuid_not_v4"
    ),
    warning("BNC-029", "a second title", session(context="a\n\n# Another\n\nb"), "extra_title"),
    warning("BNC-060", "an empty context", session(context=""), "context_empty"),
    warning(
        "BNC-060", "a section of its own", session(context="a\n\n## More\n\nb"), "unknown_section"
    ),
    warning("BNC-096", "status open and a marker", one(status="in_progress"), "status_disagrees"),
    warning("BNC-085", "a summary of three lines", one(summary="one\ntwo\nthree"), "summary_long"),
    warning("BNC-085", "a summary of two lines", one(summary="one\ntwo")),
    warning(
        "BNC-089",
        "no blank line",
        one().replace("evidence: n/a\n\n", "evidence: n/a\n# no\n").replace("# no\n", "1. x\n"),
        "no_blank_line",
    ),
    warning("BNC-128", "a space behind", one(marker="<!-- yield -->  \n"), "trailing_space"),
    warning(
        "BNC-106",
        "the same entry again",
        session(entry(1, "red-fox"), entry(1, "red-fox")),
        "DUPLICATE_ENTRY_ID",
    ),
    warning(
        "BNC-116",
        "the second before the first",
        session(entry(1, "blue-hen", 1, 1), entry(2, "red-fox", 1, 2)),
        "OUT_OF_ORDER_TURN",
    ),
    warning(
        "BNC-117",
        "someone who was not named",
        session(
            entry(1, "ant", asks="cow to speak"),
            entry(2, "bee", 1, 2),
            agents=("ant", "bee", "cow"),
            turn_order="supervised",
        ),
        "OUT_OF_ORDER_TURN",
    ),
    warning(
        "BNC-110",
        "an unknown key and field in 0.1",
        one(evidence="n/a\nreply_to: y"),
        "unknown_field",
    ),
    warning(
        "BNC-015",
        "a turn left out",
        session(entry(1, "red-fox", 1, 1), entry(2, "blue-hen", 1, 3)),
        "turn_gap",
    ),
    warning(
        "BNC-015",
        "a turn given twice",
        session(entry(1, "red-fox", 1, 1), entry(2, "blue-hen", 1, 1)),
        "duplicate_turn",
    ),
]


@pytest.mark.parametrize(("text", "expected"), WARNINGS)
def test_a_file_is_valid_and_warned_of(text: str, expected: tuple[str, ...]) -> None:
    assert codes(text) == []
    assert codes(text, "warning") == list(expected)


@pytest.mark.requirement("BNC-033")
@pytest.mark.parametrize("key", SETTING_READERS)
def test_each_of_the_nine_settings_is_required_by_name(key: str) -> None:
    if key == "agents":
        text = session(block=rules_block(("x1",)).replace("agents:\n  - x1\n", ""))
    else:
        text = setting(**{key.replace("-", "_"): None})
    (wrong,) = select_errors(check_session(text).findings)
    assert (wrong.code, wrong.where) == ("MISSING_REQUIRED_RULE", key)


@pytest.mark.requirement("BNC-056")
@pytest.mark.requirement("BNC-079")
@pytest.mark.parametrize(
    "name", ["stance", "confidence", "summary", "action_requested", "evidence"]
)
def test_each_of_the_five_fields_is_required_where_the_output_is_structured(name: str) -> None:
    text = re.sub(rf"(?m)^{name}: .*\n", "", one())
    (wrong,) = select_errors(check_session(text).findings)
    assert (wrong.code, name in wrong.message) == ("MISSING_REQUIRED_FIELD", True)


@pytest.mark.requirement("BNC-057")
@pytest.mark.requirement("BNC-079")
def test_free_text_needs_no_field_and_wrong_ones_are_only_warned_of() -> None:
    bare = session(entry(1, "red-fox", fields=""), output_format="free-text")
    assert codes(bare) == []
    odd = session(entry(1, "red-fox", stance="maybe", confidence="7"), output_format="free-text")
    assert codes(odd) == []
    assert codes(odd, "warning") == ["INVALID_STANCE", "CONFIDENCE_OUT_OF_RANGE"]


@pytest.mark.requirement("BNC-110")
@pytest.mark.requirement("BNC-162")
@pytest.mark.requirement("BNC-163")
def test_a_later_minor_version_may_say_more() -> None:
    text = session(
        entry(1, "red-fox", evidence="n/a\nreply_to: y"),
        header=f"<!-- bounce-protocol: 0.2 -->\n{C}{S}<!-- signed-by: x -->\n",
        tags="x",
    )
    checked = check_session(text)
    assert checked.valid
    assert {one.severity for one in checked.findings} == {Severity.INFO}
    assert codes(versioned("0.0"), "warning") == ["older_minor"]


@pytest.mark.requirement("BNC-025")
@pytest.mark.requirement("BNC-105")
def test_ids_of_another_version_are_errors_for_anyone_who_asks() -> None:
    text = session(entry(1, "red-fox", id_="aaaa1111-bbbb-2222-cccc-dddd3333eeee"))
    assert codes(text, "warning") == ["uuid_not_v4"]
    assert codes(text, strict_uuid=True) == ["uuid_not_v4"]
    assert codes(TWO_ROUNDS, strict_uuid=True) == []


@pytest.mark.requirement("BNC-002")
def test_another_name_than_md_is_only_warned_of() -> None:
    checked = check_session(session(), file_name="x.txt")
    assert checked.valid
    assert [one.code for one in checked.findings] == ["file_extension"]


@pytest.mark.requirement("BNC-107")
@pytest.mark.requirement("BNC-113")
def test_rounds_that_go_back_suggest_damage_and_all_entries_are_kept() -> None:
    checked = check_session(session(entry(1, "red-fox", 2), entry(2, "blue-hen", 1)))
    (wrong,) = select_errors(checked.findings)
    assert wrong.code == "ROUND_NOT_MONOTONIC"
    assert "damaged" in wrong.hint
    assert len(checked.document.entries) == 2
    assert codes(TWO_ROUNDS) == codes(TWO_ROUNDS, "warning") == []


@pytest.mark.requirement("BNC-118")
def test_free_form_knows_no_order() -> None:
    names = ("ant", "bee", "cow")
    for order in ((2, 1, 0), (1, 2, 0), (0, 2, 1)):
        said = [entry(n, names[who], 1, n) for n, who in enumerate(order, start=1)]
        assert codes(session(*said, agents=names, turn_order="free-form"), "warning") == []


@pytest.mark.requirement("BNC-058")
def test_the_schema_has_the_documents_bounds() -> None:
    assert SCHEMA["required"] == list(SETTING_READERS)
    assert SCHEMA["properties"]["turn-timeout"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 86400,
    }
    assert SCHEMA["properties"]["agents"]["items"]["pattern"] == "^[a-z0-9][a-z0-9-]*[a-z0-9]$"


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: f"{rule.id}:{rule.code}")
def test_every_row_names_its_norm_and_says_what_to_do(rule: Rule[Any]) -> None:
    assert re.fullmatch(r"R([1-9]|1[0-9]|20)|[3-7](\.[1-9])?", rule.id)
    assert rule.code in KNOWN_ELSEWHERE or re.fullmatch(r"[a-z][a-z0-9_]+", rule.code)
    assert rule.sentence
    assert rule.hint
    assert rule.severity in set(Severity)


def test_every_code_that_other_tools_know_is_used() -> None:
    assert {rule.code for rule in RULES if rule.code.isupper()} == KNOWN_ELSEWHERE


@pytest.mark.requirement("BNC-010")
def test_a_norm_that_must_be_kept_is_an_error_and_one_that_should_a_warning() -> None:
    """The exceptions: a double is only ignored (A-52), order is only flagged (A-63)."""
    must = {"R4", "R8", "R9", "R10", "R11", "R12", "R17", "R20"}
    found = {rule.id for rule in RULES if rule.severity is Severity.ERROR}
    assert must <= found
    for flagged in ("R13", "R14", "R18"):
        assert {rule.severity for rule in RULES if rule.id == flagged} == {Severity.WARNING}


def test_findings_stand_in_the_order_of_the_file() -> None:
    text = session(
        entry(1, "red-fox", stance="x", confidence="2"), entry(2, "grey-owl", 1, 2, status="x")
    )
    lines = [one.line for one in check_session(text).findings if one.line]
    assert lines == sorted(lines)
    assert len(lines) == 4


@pytest.mark.requirement("BNC-037")
def test_the_error_about_a_name_says_which_names_can_be_used() -> None:
    (wrong,) = select_errors(check_session(session(agents=("Ann Lee", "bob"))).findings)
    assert (wrong.code, wrong.where) == ("INVALID_RULE_VALUE", "agents")
    assert "'Ann Lee'" in wrong.message
    assert "1 to 99 letters, digits, `.`, `_` or `-`" in wrong.message


@pytest.mark.requirement("BNC-036")
@pytest.mark.parametrize("name", ["Bob", "a", "a_b", "x-", "Zoë", "gpt-4.1", "B0B"])
def test_a_name_that_should_be_in_lower_case_is_warned_of_and_takes_part(name: str) -> None:
    """A-14: 3.3 says SHOULD, and section 5 that one SHOULD validate."""
    checked = check_session(
        session(entry(1, name, stance="neutral"), entry(2, "hen", 1, 2), agents=(name, "hen"))
    )
    (odd,) = checked.findings
    assert (odd.code, odd.severity, odd.where) == ("odd_agent_name", "warning", "agents")
    assert repr(name) in odd.message
    assert checked.course is not None
    assert [one.author for one in checked.course.rounds[0].entries] == [name, "hen"]


@pytest.mark.requirement("BNC-117")
def test_a_name_in_capitals_is_named_as_a_whole_word() -> None:
    text = session(
        entry(1, "Lead", stance="neutral", asks="DevOps first, then Dev."),
        agents=("Lead", "Ops", "Dev"),
        turn_order="supervised",
    )
    assert view_status(check_session(text)).next == "Dev"


@pytest.mark.requirement("BNC-037")
def test_lenient_names_are_odd_and_no_more() -> None:
    """A-14: `lenient` takes even a name that no entry could be written under."""
    text = session(agents=("Ann Lee", "bob"))
    assert codes(text) == ["INVALID_RULE_VALUE"]
    assert codes(text, lenient=True) == []
    assert codes(text, "warning", lenient=True) == ["odd_agent_name"]
    assert check_session(text, lenient=True).course is not None
    twice = session(agents=("Bob", "Bob"))
    assert codes(twice, lenient=True) == ["DUPLICATE_AGENT_NAME"]
    assert check_session(twice, lenient=True).course is None
    assert codes(session(agents=()), lenient=True) == codes(session(agents=()))
    assert codes(TWO_ROUNDS, "warning", lenient=True) == []


@pytest.mark.requirement("BNC-025")
@pytest.mark.parametrize(
    ("value", "error", "warning"),
    [
        (SESSION_ID, [], []),
        (SESSION_ID[:14] + "1" + SESSION_ID[15:], [], ["uuid_not_v4"]),
        (SESSION_ID[:19] + "c" + SESSION_ID[20:], [], ["uuid_not_v4"]),
        (SESSION_ID[:-1], ["INVALID_SESSION_ID_FORMAT"], []),
        (SESSION_ID + "0", ["INVALID_SESSION_ID_FORMAT"], []),
        (SESSION_ID[:-1] + "g", ["INVALID_SESSION_ID_FORMAT"], []),
        (SESSION_ID[:-1] + "A", ["INVALID_SESSION_ID_FORMAT"], []),
        ("{" + SESSION_ID + "}", ["INVALID_SESSION_ID_FORMAT"], []),
        ("00000000-0000-0000-0000-000000000000", ["INVALID_SESSION_ID_FORMAT"], []),
    ],
)
def test_a_session_id_has_one_form(value: str, error: list[str], warning: list[str]) -> None:
    assert (codes(named(value)), codes(named(value), "warning")) == (error, warning)


@pytest.mark.requirement("BNC-106")
def test_another_text_under_a_known_id_is_ignored_and_makes_the_file_invalid() -> None:
    """R7: ids are unique. A copy takes nothing away; here words stand that no reader counts."""
    known = entry(1, "red-fox")
    other = session(known, entry(2, "blue-hen", 1, 2, id_=entry_id(1)))
    checked = check_session(other)
    assert (codes(other), checked.valid) == (["duplicate_entry_conflict"], False)
    assert checked.course is not None
    assert [written.author for written in checked.course.rounds[0].entries] == ["red-fox"]
    assert check_session(session(known, known)).valid


@pytest.mark.requirement("BNC-116")
def test_a_turn_that_was_left_out_is_named_as_soon_as_its_round_is_over() -> None:
    names = ("red-fox", "blue-hen", "grey-owl")
    over = session(entry(1, "red-fox"), entry(2, "grey-owl", 1, 2), agents=names)
    assert [(one.code, one.severity) for one in check_session(over).findings] == [
        ("missing_turn", "warning")
    ]
    late = over + entry(3, "blue-hen", 1, 3)
    assert "missing_turn" not in [one.code for one in check_session(late).findings]


@pytest.mark.requirement("BNC-112")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0." + "8" * 40, "INVALID_CONFIDENCE"),
        ("1." + "0" * 39 + "1", "CONFIDENCE_OUT_OF_RANGE"),
        ("-0.01", "CONFIDENCE_OUT_OF_RANGE"),
    ],
)
def test_a_number_is_called_out_of_range_only_if_it_is(text: str, code: str) -> None:
    found = check_session(session(entry(1, "red-fox", confidence=text))).findings
    assert [one.code for one in found] == [code]

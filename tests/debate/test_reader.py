"""Reading: everything is kept with its lines, quoted structure forges nothing, no bytes do harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from moot.protocols.debate.checker import check_session
from moot.protocols.debate.model import OddityKind, SessionDocument, Stance, split_evidence
from moot.protocols.debate.reader import read_document
from tests.debate.sessions import TWO_ROUNDS, VALID, codes, entry, session

PIECES = (
    "<!-- yield -->\n",
    "<!-- entry: 00000001-1111-4222-8333-444455556666 -->\n",
    "<!-- turn: 1 round: 1 -->\n",
    "2026-03-01T09:01:00Z [author: red-fox] [status: yield]\n",
    "stance: approve\n",
    "confidence: 0.8\n",
    "summary: x\n",
    "\n",
    "```\n",
    "~~~\n",
    "````yaml\n",
    "- ```\n",
    "> <!-- yield -->\n",
    "    <!-- yield -->\n",
    "<!--\n",
    "-->\n",
    "<div>\n",
    "<pre>\n",
    "</pre>\n",
    "## Dialogue\n",
    "## Context\n",
    "# Bounce Session: x\n",
    "---\n",
    "text\n",
    "text \r\n",
    "\r",
    "<!-- yield --> \n",
    "<!-- operator-resume: 2026-03-01T09:01:00Z -->\n",
)
WHOLE = (entry(7, "red-fox", 1, 1), entry(8, "blue-hen", 1, 2, body="```\ncode\n```\n\n- x"))
MIXED = st.lists(st.sampled_from((*PIECES, *WHOLE)), max_size=25).map("".join)


def bodies(document: SessionDocument) -> list[str]:
    return [one.body for one in document.entries]


def quoting(body: str) -> SessionDocument:
    return read_document(session(entry(1, "red-fox", body=body), entry(2, "blue-hen", 1, 2)))


@given(st.binary(max_size=400))
def test_no_bytes_make_reader_or_checker_raise(data: bytes) -> None:
    check_session(data)


@given(MIXED)
def test_no_mixture_of_markers_makes_reader_or_checker_raise(text: str) -> None:
    check_session(text)
    check_session(session() + text)


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("", ""),
        ("\n", ""),
        (" \n\t\n", ""),
        ("words", "words"),
        ("\n\nwords \n\n", "words "),
        ("```\ncode\n```", "```\ncode\n```"),
        ("~~~x\n## a\n~~~\nb", "~~~x\n## a\n~~~\nb"),
        ("a\n---\nb", "a\n---\nb"),
    ],
)
def test_a_body_is_read_without_the_blank_lines_around_it(
    written: str, read: str, eol: str
) -> None:
    text = session(entry(1, "red-fox", body=written), entry(2, "blue-hen", 1, 2, body="Next."))
    for whole in (text, text.rstrip()):
        document = read_document(whole.replace("\n", eol))
        assert bodies(document) == [read.replace("\n", eol), "Next."]
        assert all(one.yielded for one in document.entries)


@pytest.mark.requirement("BNC-100")
@pytest.mark.requirement("BNC-102")
def test_an_entry_that_broke_off_anywhere_is_only_incomplete() -> None:
    """A-34, A-75: whatever is missing of it, its author can replace it."""
    base, tail = session(entry(1, "red-fox", stance="reject")), entry(2, "blue-hen", 1, 2)
    for size in range(2, len(tail) - 1):
        checked = check_session(base + tail[:size])
        wrong = [one.code for one in checked.findings if one.severity == "error"]
        assert wrong == ["MISSING_YIELD_MARKER"], tail[:size]
        assert not checked.has_blocking_errors
        assert checked.course is not None
        assert checked.course.open_entry is not None


@given(st.integers(0, len(TWO_ROUNDS)))
def test_a_file_cut_anywhere_is_read_and_loses_no_yielded_entry(cut: int) -> None:
    before, whole = read_document(TWO_ROUNDS[:cut]), read_document(TWO_ROUNDS)
    done = [one.id for one in before.entries if one.yielded]
    assert done == [one.id for one in whole.entries][: len(done)]
    ended = TWO_ROUNDS[:cut].count("<!-- yield -->")
    assert len(done) == ended


@pytest.mark.requirement("BNC-067")
def test_the_parts_of_an_entry_are_kept_with_their_lines() -> None:
    document = read_document(TWO_ROUNDS)
    lines = TWO_ROUNDS.splitlines()
    for one in document.entries:
        assert lines[one.line - 1] == f"<!-- entry: {one.id} -->"
        assert lines[one.body_line - 1] == one.body
        for field in one.fields:
            assert lines[field.line - 1] == f"{field.name}: {field.value}"
        text = document.text[one.start : one.end]
        assert text.startswith("<!-- entry")
        assert text.endswith("<!-- yield -->\n")


@pytest.mark.requirement("BNC-017")
@pytest.mark.requirement("BNC-071")
@pytest.mark.requirement("BNC-069")
def test_the_words_of_the_protocol_are_in_the_model() -> None:
    document = read_document(TWO_ROUNDS)
    assert [(one.turn, one.round) for one in document.entries] == [(1, 1), (2, 1), (1, 2), (2, 2)]
    first = document.entries[0]
    assert (first.stance, str(first.confidence), first.author) == (
        Stance.APPROVE,
        "0.7",
        "red-fox",
    )
    assert len({one.id for one in document.entries}) == 4


@pytest.mark.parametrize(
    "body",
    [
        "```\n<!-- yield -->\n```",
        "~~~~ text\n<!-- yield -->\n<!-- entry: x -->\n~~~\n~~~~",
        "> <!-- yield -->\n> <!-- entry: x -->",
        "- item\n\n      <!-- yield -->",
        "    <!-- yield -->",
        "Say `<!-- yield -->` at the end.",
        "```\n" + TWO_ROUNDS.replace("```", "'''") + "```",
    ],
)
def test_quoted_markers_forge_no_entry(body: str) -> None:
    document = quoting(body)
    assert [one.author for one in document.entries] == ["red-fox", "blue-hen"]
    assert document.entries[0].body.strip() == body.strip()
    assert document.oddities == ()


@pytest.mark.parametrize("heading", ["Dialogue", "Context", "Protocol Rules"])
def test_quoted_headings_move_no_section(heading: str) -> None:
    quoted = f"```\n## {heading}\n\n<!-- entry: x -->\n```"
    plain, hidden = read_document(session()), read_document(session(context=quoted))
    assert [one.name for one in hidden.sections] == [one.name for one in plain.sections]
    assert hidden.entries == ()
    assert codes(session(context=quoted)) == []


def test_the_first_dialogue_counts_and_a_later_one_hijacks_nothing() -> None:
    text = session(entry(1, "red-fox")) + "\n## Dialogue\n" + entry(2, "blue-hen", 1, 2)
    document = read_document(text)
    assert len(document.entries) == 2
    assert codes(text) == ["duplicate_section"]


@pytest.mark.parametrize("opening", ["```python\nprint()", "<!-- a note\nthat goes on", "<pre>\nx"])
def test_a_block_that_is_never_closed_swallows_no_later_entry(opening: str) -> None:
    document = quoting(opening)
    assert [one.yielded for one in document.entries] == [True, True]
    assert document.entries[0].oddities[0].kind is OddityKind.UNCLOSED_BLOCK
    text = session(entry(1, "red-fox", body=opening), entry(2, "blue-hen", 1, 2))
    assert codes(text) == []
    assert codes(text, "warning") == ["unclosed_block"]


def test_a_block_that_is_never_closed_is_no_match_for_one_that_is_quoted() -> None:
    quoted = "```\n" + entry(9, "blue-hen").strip() + "\n\nand so on"
    document = quoting(quoted)
    assert [one.author for one in document.entries] == ["red-fox", "blue-hen"]


@pytest.mark.requirement("BNC-008")
def test_an_entry_written_by_hand_is_as_good_as_any() -> None:
    by_hand = (
        "<!-- entry: 5b0ce0b2-7c7a-4f3b-9d51-1c1f6e2a9f00 -->\n<!-- turn: 1 round: 1 -->\n"
        "2026-03-01T10:01:00+01:00 [author: red-fox] [status: closed]\nstance: approve\n"
        "confidence: 1\nsummary: Fine.\naction_requested: n/a\nevidence: n/a\n\n<!-- yield -->"
    )
    assert codes(session() + "\n" + by_hand) == []
    assert read_document(session() + by_hand).entries[0].yielded


@pytest.mark.parametrize("name", VALID)
def test_other_line_ends_and_a_byte_order_mark_change_nothing_but_a_warning(name: str) -> None:
    text = VALID[name]
    crlf = check_session(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert crlf.valid
    assert {"crlf", "byte_order_mark"} <= {one.code for one in crlf.findings}
    plain = check_session(text)
    assert [one.fields for one in crlf.document.entries] == [
        one.fields for one in plain.document.entries
    ]
    assert crlf.course is not None
    assert plain.course is not None
    assert crlf.course.phase is plain.course.phase


def test_a_lone_carriage_return_is_an_error() -> None:
    assert "lone_cr" in codes(session(entry(1, "red-fox", body="a\rb")))


def test_stray_text_between_entries_is_remarked_on_once() -> None:
    text = session(entry(1, "red-fox")) + "\nHello,\nworld.\n" + entry(2, "blue-hen", 1, 2)
    assert codes(text, "warning") == ["stray_text"]


@pytest.mark.requirement("BNC-127")
def test_other_comments_between_entries_are_metadata_and_no_flaw() -> None:
    text = session(entry(1, "red-fox")) + "\n<!-- operator-resume: 2026-03-01T09:30:00Z -->\n"
    document = read_document(text)
    assert [(one.key, one.value, one.after) for one in document.marks] == [
        ("operator-resume", "2026-03-01T09:30:00Z", 1)
    ]
    assert codes(text, "warning") == []


@pytest.mark.requirement("BNC-088")
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("lib/auth.ts, OWASP Top 10 2025", ("lib/auth.ts", "OWASP Top 10 2025")),
        ("n/a", ()),
        ("N/A", ()),
        ("a.md,b.md", ("a.md", "b.md")),
        ("https://example.com/?q=a,b, c.md", ("https://example.com/?q=a,b", "c.md")),
    ],
)
def test_evidence_is_a_list(text: str, parts: tuple[str, ...]) -> None:
    assert split_evidence(text) == parts


@pytest.mark.requirement("BNC-006")
def test_a_rendered_page_shows_no_metadata() -> None:
    shown = MarkdownIt().render(TWO_ROUNDS)
    visible = "".join(part for part in shown.split("<!--")[0:1]) + "".join(
        part.partition("-->")[2] for part in shown.split("<!--")[1:]
    )
    assert "entry:" not in visible
    assert "turn: 1" not in visible


@pytest.mark.requirement("BNC-012")
def test_a_person_takes_part_like_anyone_else() -> None:
    text = session(entry(1, "human-reviewer"), agents=("human-reviewer", "bot-1"))
    assert codes(text) == []

"""The function that explains a change: whatever was at work, nobody is named without proof."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.api.guard.who_changed import (
    UNKNOWN,
    Announced,
    Cause,
    CauseKind,
    Certainty,
    FileChange,
    Hunk,
    TextEdit,
    Verdict,
    explain,
    identify_words,
    predict_content,
)
from moot.system.git_objects import blob_id

BEFORE = b"one\ntwo\nthree\n"
AGENTS = ("amber-otter", "teal-crane", "gray-heron", "")
NAMED = [name for name in AGENTS if name]
TEXTS = st.text("abc\n", max_size=12)


def change(after: bytes | None, *, is_new: bool = True, data: bytes = BEFORE) -> FileChange:
    blob = "" if after is None else blob_id(after)
    return FileChange("/w", "a.txt", blob_id(data), blob, 10, 20, is_new, data)


def announcing(who: str, after: bytes | None, kind: CauseKind = CauseKind.EDIT) -> Cause:
    return Cause(who, kind, frozenset({"" if after is None else blob_id(after)}))


@st.composite
def causes(draw: st.DrawFn) -> Cause:
    who, kind = draw(st.sampled_from(AGENTS)), draw(st.sampled_from(CauseKind))
    if kind is not CauseKind.EDIT or draw(st.booleans()):
        return Cause(who, kind)
    if draw(st.booleans()):
        return announcing(who, draw(TEXTS).encode())
    return Cause(who, kind, frozenset(), Announced(edits=(TextEdit("two", draw(TEXTS)),)))


@pytest.mark.requirement("GRD-019")
@given(st.lists(causes(), max_size=5), TEXTS, st.booleans(), st.sampled_from(NAMED))
def test_proved_are_only_bytes_that_this_agent_alone_announced(
    at_work: list[Cause], text: str, is_new: bool, holder: str
) -> None:
    made = change(text.encode(), is_new=is_new)
    verdict = explain(made, at_work, holder, blob_id)
    announcers = {cause.who for cause in at_work if _announces(cause, made)}
    if verdict.certainty is Certainty.PROVED:
        assert announcers == {verdict.who}
        others = [cause for cause in at_work if cause.who != verdict.who]
        assert is_new or all(
            each.is_announced or each.kind is CauseKind.OTHER_FILES for each in others
        )
    elif is_new and len(announcers) == 1 and "" not in announcers:
        pytest.fail("the bytes are those that one agent announced")


def _announces(cause: Cause, made: FileChange) -> bool:
    if made.after in cause.predicted:
        return True
    results = predict_content(cause.announced, made.data) if cause.announced is not None else []
    return made.after in {"" if each is None else blob_id(each) for each in results}


@given(st.lists(causes(), max_size=5), TEXTS, st.booleans(), st.sampled_from(NAMED))
def test_the_only_one_known_is_one_command_or_the_holder(
    at_work: list[Cause], text: str, is_new: bool, holder: str
) -> None:
    verdict = explain(change(text.encode(), is_new=is_new), at_work, holder, blob_id)
    if verdict.certainty is Certainty.ONLY_KNOWN:
        assert {cause.who for cause in at_work} == {verdict.who}
        assert verdict.who == holder or [each.kind for each in at_work] == [CauseKind.COMMAND]
    if verdict.certainty is Certainty.UNKNOWN:
        assert verdict == UNKNOWN


@given(st.lists(causes(), max_size=4), causes(), TEXTS, st.sampled_from(NAMED))
def test_one_more_at_work_never_turns_suspicion_to_another(
    at_work: list[Cause], more: Cause, text: str, holder: str
) -> None:
    """Who is named before is still named, or nobody is; unless the new one announced the bytes."""
    made = change(text.encode())
    before = explain(made, at_work, holder, blob_id)
    after = explain(made, [*at_work, more], holder, blob_id)
    if before.who and after.who and not _announces(more, made):
        assert after.who == before.who


@given(st.lists(causes(), max_size=5), TEXTS, st.sampled_from(NAMED))
def test_the_order_of_causes_does_not_matter(at_work: list[Cause], text: str, holder: str) -> None:
    made = change(text.encode())
    verdicts = {explain(made, order, holder, blob_id) for order in (at_work, at_work[::-1])}
    assert len(verdicts) == 1


def test_without_anybody_at_work_it_is_unknown() -> None:
    assert explain(change(b"x"), [], "teal-crane", blob_id) == UNKNOWN


def test_what_was_there_before_proves_nothing_beside_another_command() -> None:
    made = change(b"committed\n", is_new=False)
    edit = announcing("amber-otter", b"committed\n")
    proved = Verdict(Certainty.PROVED, "amber-otter")
    assert explain(made, [edit], "teal-crane", blob_id) == proved
    script = Cause("gray-heron", CauseKind.COMMAND)
    assert explain(made, [edit, script], "teal-crane", blob_id) == UNKNOWN
    other = announcing("teal-crane", b"something else\n")
    assert explain(made, [edit, other], "teal-crane", blob_id) == proved


def test_the_same_announcement_of_two_proves_nothing() -> None:
    both = [announcing(who, b"x\n") for who in ("amber-otter", "gray-heron")]
    assert explain(change(b"x\n"), both, "teal-crane", blob_id) == UNKNOWN


def test_several_edits_of_one_agent_are_followed_in_any_order() -> None:
    edits = [TextEdit("one", "ONE"), TextEdit("three", "THREE")]
    own = [
        Cause("teal-crane", CauseKind.EDIT, frozenset(), Announced(edits=(each,))) for each in edits
    ]
    script = Cause("gray-heron", CauseKind.COMMAND)
    made = change(b"ONE\ntwo\nTHREE\n")
    proved = Verdict(Certainty.PROVED, "teal-crane")
    assert explain(made, [*own, script], "teal-crane", blob_id) == proved
    assert explain(change(b"ONE\ntwo\nthree.\n"), [*own, script], "teal-crane", blob_id) == UNKNOWN


def edit(who: str, old: str, new: str) -> Cause:
    return Cause(who, CauseKind.EDIT, frozenset(), Announced(edits=(TextEdit(old, new),)))


def test_the_only_one_at_work_is_named_without_proof() -> None:
    made, script = change(b"x\n"), Cause("gray-heron", CauseKind.COMMAND)
    known = Verdict(Certainty.ONLY_KNOWN, "gray-heron")
    assert explain(made, [script], "teal-crane", blob_id) == known
    assert explain(made, [script, script], "teal-crane", blob_id) == UNKNOWN
    assert explain(made, [Cause("", CauseKind.COMMAND)], "teal-crane", blob_id) == UNKNOWN
    beside = Cause("gray-heron", CauseKind.OTHER_FILES)
    assert explain(made, [beside], "teal-crane", blob_id) == UNKNOWN
    assert explain(made, [script, beside], "gray-heron", blob_id) == known


@pytest.mark.parametrize(
    ("other", "is_proved"),
    [
        (Cause("gray-heron", CauseKind.OTHER_FILES), True),
        (edit("gray-heron", "two", "2"), True),
        (Cause("gray-heron", CauseKind.EDIT), False),
        (Cause("gray-heron", CauseKind.UNGUARDED), False),
    ],
)
def test_who_could_have_put_back_what_was_there_before(other: Cause, is_proved: bool) -> None:
    at_work = [announcing("amber-otter", b"committed\n"), other]
    verdict = explain(change(b"committed\n", is_new=False), at_work, "teal-crane", blob_id)
    assert verdict == (Verdict(Certainty.PROVED, "amber-otter") if is_proved else UNKNOWN)


def test_bytes_count_as_new_if_nothing_else_is_said() -> None:
    made = FileChange("/w", "a.txt", "1", "2", 10, 20)
    at_work = [
        Cause("amber-otter", CauseKind.EDIT, frozenset({"2"})),
        Cause("x-y", CauseKind.COMMAND),
    ]
    proved = Verdict(Certainty.PROVED, "amber-otter")
    assert explain(made, at_work, "teal-crane", blob_id) == proved


def test_one_edit_proves_its_bytes_but_not_without_the_bytes_before() -> None:
    at_work = [edit("amber-otter", "two", "2"), Cause("gray-heron", CauseKind.COMMAND)]
    made = change(b"one\n2\nthree\n")
    proved = Verdict(Certainty.PROVED, "amber-otter")
    assert explain(made, at_work, "teal-crane", blob_id) == proved
    whole = Cause("amber-otter", CauseKind.EDIT, frozenset(), Announced(whole="x\n"))
    blind = msgspec.structs.replace(change(b"x\n"), data=None)
    assert explain(blind, [whole, *at_work], "teal-crane", blob_id) == UNKNOWN


def test_five_edits_in_a_row_are_followed_and_six_are_not() -> None:
    script, proved = Cause("gray-heron", CauseKind.COMMAND), Verdict(Certainty.PROVED, "teal-crane")
    for count, verdict in ((5, proved), (6, UNKNOWN)):
        letters = "abcdef"[:count]
        own = [edit("teal-crane", letter, letter.upper()) for letter in letters]
        own.append(Cause("teal-crane", CauseKind.COMMAND))
        made = change(letters.upper().encode(), data=letters.encode())
        assert explain(made, [*own, script], "teal-crane", blob_id) == verdict


def test_a_file_that_an_agent_removes_and_makes_again_is_its_own() -> None:
    removal = Cause("teal-crane", CauseKind.EDIT, frozenset(), Announced(removed=True))
    at_work = [removal, edit("teal-crane", "", "new\n"), Cause("gray-heron", CauseKind.COMMAND)]
    proved = Verdict(Certainty.PROVED, "teal-crane")
    assert explain(change(b"new\n"), at_work, "teal-crane", blob_id) == proved
    assert explain(change(None), at_work, "teal-crane", blob_id) == proved


@pytest.mark.parametrize(
    ("announced", "before", "readings"),
    [
        (Announced(whole="x\n"), b"a\n", [b"x\n"]),
        (Announced(whole="x\r\n"), b"a\n", [b"x\r\n", b"x\n"]),
        (Announced(whole="x\n"), b"\xef\xbb\xbfa\n", [b"x\n", b"\xef\xbb\xbfx\n"]),
        (Announced(whole="\ufeffx\n"), b"\xef\xbb\xbfa\n", [b"\xef\xbb\xbfx\n"]),
        (Announced(whole="x\n"), b"\xff\xfe", [b"x\n"]),
        (Announced(edits=(TextEdit("a", "b"),)), b"a\na\na\n", [b"b\na\na\n", b"b\nb\nb\n"]),
        (Announced(edits=(TextEdit("a", "b", True),)), b"a\na\n", [b"b\nb\n"]),
        (Announced(edits=(TextEdit("a\n", ""),)), b"a\n\nb", [b"\nb"]),
        (
            Announced(edits=(TextEdit("a", ""),)),
            b"a\na\nb\n",
            [b"\na\nb\n", b"\n\nb\n", b"a\nb\n"],
        ),
        (Announced(edits=(TextEdit("a", "", True),)), b"a\na\nb\n", [b"\n\nb\n", b"b\n"]),
        (
            Announced(hunks=(Hunk(("a", "b"), ("1", "2", "3")), Hunk(("d",), ("4",)))),
            b"a\nb\nc\nd\ne\n",
            [b"1\n2\n3\nc\n4\ne\n"],
        ),
        (
            Announced(hunks=(Hunk(("a",), ("1",), "", True),)),
            b"a\nb\na\n",
            [b"a\nb\n1\n"],
        ),
        (Announced(hunks=(Hunk(("a",), ("1",)), Hunk(("a",), ("2",), "", True))), b"a\n", []),
        (Announced(hunks=(Hunk(("b",), ("x",)), Hunk(("a",), ("y",)))), b"a\nb\n", []),
    ],
)
def test_every_reading_is_given_and_no_other(
    announced: Announced, before: bytes, readings: list[bytes]
) -> None:
    assert predict_content(announced, before) == readings


def test_no_more_than_32_readings_are_followed() -> None:
    edits = tuple(TextEdit(letter, letter.upper()) for letter in "abcdef")
    assert len(predict_content(Announced(edits=edits), b"abcdefabcdef")) == 32


@pytest.mark.parametrize(
    ("announced", "before", "after"),
    [
        (Announced(whole="x\n"), None, b"x\n"),
        (Announced(whole="x\ny\n"), b"a\r\nb\r\n", b"x\r\ny\r\n"),
        (Announced(whole="x\n"), b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfx\n"),
        (Announced(edits=(TextEdit("two", "2"),)), BEFORE, b"one\n2\nthree\n"),
        (Announced(edits=(TextEdit("o", "0", True),)), BEFORE, b"0ne\ntw0\nthree\n"),
        (Announced(edits=(TextEdit("one\ntwo", "x"),)), b"one\r\ntwo\r\n", b"x\r\n"),
        (Announced(edits=(TextEdit("two", ""),)), BEFORE, b"one\nthree\n"),
        (Announced(edits=(TextEdit("", "new\n"),)), None, b"new\n"),
        (Announced(hunks=(Hunk(("two",), ("2", "2b")),)), BEFORE, b"one\n2\n2b\nthree\n"),
        (Announced(hunks=(Hunk(("a",), ("b",), "two"),)), b"a\ntwo\na", b"a\ntwo\nb\n"),
        (Announced(hunks=(Hunk((), ("four",)),)), BEFORE, BEFORE + b"four\n"),
        (Announced(removed=True), BEFORE, None),
    ],
)
def test_what_a_call_announces_leads_to_these_bytes(
    announced: Announced, before: bytes | None, after: bytes | None
) -> None:
    assert after in predict_content(announced, before)


@pytest.mark.parametrize(
    ("announced", "before"),
    [
        (Announced(edits=(TextEdit("four", "4"),)), BEFORE),
        (Announced(edits=(TextEdit("", "new"),)), BEFORE),
        (Announced(hunks=(Hunk(("four",), ("4",)),)), BEFORE),
        (Announced(hunks=(Hunk(("two",), ("2",), "no such line"),)), BEFORE),
        (Announced(edits=(TextEdit("a", "b"),)), b"\xff\xfe"),
        (Announced(), BEFORE),
    ],
)
def test_what_cannot_be_applied_predicts_nothing(announced: Announced, before: bytes) -> None:
    assert predict_content(announced, before) == []


def test_an_own_edit_that_announced_other_bytes_did_not_make_these() -> None:
    announced = announcing("amber-otter", b"announced\n")
    made = change(b"a person's\n")
    assert explain(made, [announced], "amber-otter", blob_id) == UNKNOWN
    command = Cause("amber-otter", CauseKind.COMMAND)
    own = Verdict(Certainty.ONLY_KNOWN, "amber-otter")
    assert explain(made, [announced, command], "amber-otter", blob_id) == own


@pytest.mark.parametrize(
    ("written", "formatted"),
    [
        (b"import b, a\nf( 1,2 )\n", b"import a, b\n\nf(1, 2)\n"),
        (b'x = {"a":1}', b"x = {'a': 1,\n}\n"),
    ],
)
def test_what_a_formatter_makes_of_an_own_edit_is_the_holders(
    written: bytes, formatted: bytes
) -> None:
    edit = Cause(
        "amber-otter", CauseKind.EDIT, frozenset({blob_id(written), identify_words(written)})
    )
    tests = Cause("teal-crane", CauseKind.COMMAND)
    made = msgspec.structs.replace(change(formatted), words=identify_words(formatted))
    own = Verdict(Certainty.ONLY_KNOWN, "amber-otter")
    assert explain(made, [edit, tests], "amber-otter", blob_id) == own
    assert explain(made, [edit, tests], "teal-crane", blob_id) == UNKNOWN, (
        "no proof against another"
    )
    other = msgspec.structs.replace(made, words=identify_words(b"other words"))
    assert explain(other, [edit, tests], "amber-otter", blob_id) == UNKNOWN

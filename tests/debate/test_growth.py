"""A file that became longer: the same is said of it as if it were read from the beginning."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.debate import longer_file
from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.longer_file import check_longer
from tests.debate.sessions import VALID, entry, session
from tests.debate.test_following import RESUME, SESSIONS

NAMES = ("red-fox", "blue-hen", "human-judge")
BODIES = (
    "Words.",
    "",
    "```\n<!-- yield -->\n```",
    "```\nnever closed",
    "## Too big",
    "Session closed.",
    "<!-- open",
    "<!-- generated-by: orchestrator -->",
    "## Context",
    "Ä 🦊",
)
ASKS = ("n/a", "blue-hen", "red-fox or blue-hen", "nobody")
ORDERS = ("round-robin", "free-form", "supervised")
PIECES = st.one_of(
    st.builds(
        entry,
        st.integers(1, 6),
        st.sampled_from((*NAMES, "judge", "system", "stranger")),
        st.integers(1, 3),
        st.integers(1, 4),
        stance=st.sampled_from(("approve", "reject", "neutral", "defer", "never")),
        confidence=st.sampled_from(("0.7", "1.0", "1.5")),
        asks=st.sampled_from(ASKS),
        status=st.sampled_from(("yield", "closed", "open")),
        body=st.sampled_from(BODIES),
        marker=st.sampled_from(
            ("<!-- yield -->\n", "<!-- yield -->\n", "<!-- yield -->", "<!-- yield --> \n", "")
        ),
    ),
    st.sampled_from(
        (RESUME, "\n", "stray\n", "\r\n", "\n## Context\n", "<!-- entry: x -->\n", "<!-- en")
    ),
)
SOUND = st.builds(
    lambda number, author, stance, asks: (number, author, stance, asks),
    st.just(0),
    st.sampled_from(NAMES),
    st.sampled_from(("approve", "reject", "neutral", "defer")),
    st.sampled_from(ASKS),
)


def step_by_step(parts: list[str]) -> CheckedSession:
    checked = check_session(parts[0])
    for more in parts[1:]:
        checked = check_longer(checked, more)
    return checked


@given(st.sampled_from(SESSIONS), st.lists(st.integers(0, 100_000), max_size=6))
def test_a_file_cut_anywhere_grows_to_what_it_is_whole(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    parts = [text[a:b] for a, b in pairwise(places)]
    assert step_by_step(parts) == check_session(text)


@given(
    st.lists(PIECES, max_size=6), st.sampled_from(ORDERS), st.sampled_from(("1", "2")),
    st.sampled_from(("structured", "free-text")), st.sampled_from(("0.0", "0.7", "1.0")),
)  # fmt: skip
def test_whatever_is_appended_the_same_is_said_of_the_whole(
    pieces: list[str], order: str, most: str, form: str, threshold: str
) -> None:
    start = session(
        agents=NAMES, turn_order=order, max_turns_per_round=most, output_format=form,
        consensus_threshold=threshold, max_rounds="2",
    )  # fmt: skip
    assert step_by_step([start, *pieces]) == check_session(start + "".join(pieces))


@given(st.lists(SOUND, max_size=12), st.sampled_from(ORDERS))
def test_sound_entries_of_any_authors_are_followed_to_the_end(
    said: list[tuple[int, str, str, str]], order: str
) -> None:
    start = session(agents=NAMES, turn_order=order, max_turns_per_round="4", max_rounds="4")
    pieces = [
        entry(number + 1, author, 1 + number // 3, 1 + number % 3, stance=stance, asks=asks)
        for number, (_, author, stance, asks) in enumerate(said)
    ]
    assert step_by_step([start, *pieces]) == check_session(start + "".join(pieces))
    assert check_longer(check_session(start), "".join(pieces)) == check_session(
        start + "".join(pieces)
    )


@pytest.mark.parametrize("name", VALID)
def test_the_usual_append_reads_nothing_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = VALID[name]
    whole = check_session(text)
    starts = [one.start for one in whole.document.entries] + [len(text)]
    seen: list[str] = []

    def see_and_check(text: str, **_: object) -> CheckedSession:
        seen.append(text)
        return check_session(text)

    monkeypatch.setattr(longer_file, "check_session", see_and_check)
    checked = check_session(text[: starts[0]])
    for start, end in pairwise(starts):
        checked = check_longer(checked, text[start:end])
    assert checked == whole
    assert seen == []


def test_what_is_found_in_a_new_entry_stands_in_the_order_of_its_lines() -> None:
    more = "stance: reject\nconfidence: 0.8\nsummary: A.\naction_requested: n/a\nevidence: n/a\n"
    start = session(entry(1, "red-fox", stance="reject"))
    late = entry(2, "blue-hen", 1, 2, at="2026-03-01T10:02:00Z", fields=more + "mood: good\n")
    longer = check_longer(check_session(start), late)
    assert longer == check_session(start + late)
    assert [(one.code, one.line) for one in longer.findings] == [
        ("late_entry", 42),
        ("unknown_field", 50),
    ]


def test_a_turn_that_a_new_entry_passes_over_is_missed() -> None:
    start, more = session(), entry(1, "blue-hen", stance="reject")
    longer = check_longer(check_session(start), more)
    assert longer == check_session(start + more)
    assert [one.code for one in longer.findings] == ["missing_turn"]

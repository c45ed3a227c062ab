"""Following a session: whatever the portions in which it comes, the same entries are heard."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.api.debates.proof import FollowedFile, follow_file
from moot.core.errors import Tampered
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.dialogue import Dialogue, read_dialogue
from moot.protocols.debate.model import SessionDocument
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.session_follower import CompletePiece, SessionFollower
from moot.protocols.debate.state import course_from_state
from moot.protocols.debate.turns import find_standing
from tests.debate.sessions import SUPERVISED, TWO_ROUNDS, VALID, entry, session
from tests.project import Project

RESUME = "\n<!-- operator-resume: 2026-03-01T09:30:00Z -->\n"
QUOTED = "```\n<!-- yield -->\n<!-- entry: quoted -->\n```\n\nÄ äther 🦊"
SESSIONS = [
    *VALID.values(),
    session(entry(1, "red-fox", body=QUOTED), RESUME, entry(2, "blue-hen", 1, 2)),
    session(entry(1, "red-fox")) + RESUME,
    TWO_ROUNDS.replace("\n", "\r\n"),
    "\ufeff" + TWO_ROUNDS,
]


def hear(text: str, cuts: list[int]) -> tuple[SessionFollower, list[CompletePiece]]:
    data = text.encode()
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    follower = SessionFollower()
    heard = [one for start, end in pairwise(places) for one in follower.feed(data[start:end])]
    return follower, heard


@pytest.mark.requirement("BNC-100")
@given(st.sampled_from(SESSIONS), st.lists(st.integers(0, 100_000), max_size=12))
def test_any_portions_give_the_same_entries_and_the_same_course(text: str, cuts: list[int]) -> None:
    follower, heard = hear(text, cuts)
    checked = check_session(text)
    entries = [one for one in heard if one.entry is not None]
    assert [one.entry.id for one in entries if one.entry] == [
        one.id for one in checked.document.entries
    ]
    assert [one.line for one in entries] == [one.line for one in checked.document.entries]
    assert [one.start for one in heard[1:]] == [
        one.start + len(one.text.encode()) for one in heard[:-1]
    ]
    assert text.encode()[follower.size :].strip() == b""
    state = follower.state
    assert state is not None
    assert state.rules is not None
    assert checked.course is not None
    assert find_standing(course_from_state(state, state.rules)) == find_standing(checked.course)


@given(st.binary(max_size=300))
def test_no_bytes_disturb_it(data: bytes) -> None:
    follower = SessionFollower()
    list(follower.feed(data))
    list(follower.feed(TWO_ROUNDS.encode()))


def test_a_quoted_marker_at_the_end_of_a_portion_ends_nothing() -> None:
    text = SESSIONS[len(VALID)]
    place = text.encode().index(b"<!-- yield -->") + len(b"<!-- yield -->\n")
    _, heard = hear(text, [place])
    assert [one.entry.body for one in heard if one.entry] == [QUOTED, "Words about it."]


def test_an_entry_that_is_not_yielded_is_not_heard() -> None:
    half = entry(3, "red-fox", 2, 1, marker="")
    _, heard = hear(SUPERVISED + half, [])
    assert len(heard) == 3


def test_a_new_entry_costs_its_own_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in characters that are read again, not in time."""
    from moot.protocols.debate import session_follower

    read: list[int] = []

    def counting(text: str, start: int, number: int) -> Dialogue:
        read.append(len(text) - start)
        return read_dialogue(text, start, number)

    monkeypatch.setattr(session_follower, "read_dialogue", counting)
    rules = {"turn_order": "free-form", "max_turns_per_round": "10", "max_rounds": "100"}
    follower = SessionFollower()
    list(follower.feed(session(agents=("ant", "bee"), **rules).encode()))
    for number in range(200):
        piece = entry(1, "ant", 1, number + 1, stance="reject", id_=f"{number}").encode()
        (heard,) = follower.feed(piece)
        assert read[-1] == len(piece)
        assert heard.entry is not None
    count = len(read)
    for _ in range(50):
        assert list(follower.feed(b"words without any marker\n" * 40)) == []
    assert len(read) == count


# Lines that look like the end of something and are not, each portion of which must be looked into.
GARBAGE = {
    "between": "words <!-- a note -->\n<!-- yield -->\n",
    "in an entry": "> <!-- yield -->\nmore words, <!-- and a note -->\n",
    "quoted": "<!-- entry: a -->\n<!-- yield -->\n",
}
BEGUN = {
    "between": "",
    "in an entry": entry(1, "red-fox", marker=""),
    "quoted": entry(1, "red-fox", marker="") + "```\n",
}
ENDS = {
    "between": entry(1, "red-fox"),
    "in an entry": "\n<!-- yield -->\n",
    "quoted": "```\n\n<!-- yield -->\n",
}


@pytest.mark.parametrize("kind", GARBAGE)
@pytest.mark.parametrize("above", [True, False], ids=["whole", "no dialogue yet"])
def test_what_completes_nothing_costs_no_more_than_its_length(
    kind: str, above: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in characters that are read, for ten times the garbage ten times as many."""
    from moot.protocols.debate import session_follower

    read = 0

    def counting(text: str, start: int, number: int) -> Dialogue:
        nonlocal read
        read += len(text) - start
        return read_dialogue(text, start, number)

    def counting_all(text: str) -> SessionDocument:
        nonlocal read
        read += len(text)
        return read_document(text)

    monkeypatch.setattr(session_follower, "read_dialogue", counting)
    monkeypatch.setattr(session_follower, "read_document", counting_all)
    follower = SessionFollower()
    start = session() if above else session().replace("## Dialogue", "## Dialogues")
    list(follower.feed((start + BEGUN[kind]).encode()))
    came = len(start + BEGUN[kind])
    for _ in range(4_000):
        assert list(follower.feed(GARBAGE[kind].encode())) == []
        came += len(GARBAGE[kind])
    assert read <= 9 * came + 2 * (1 << 16)
    assert came > 100_000
    heard = [*follower.feed(ENDS[kind].encode()), *follower.feed(b"")]
    assert [one.entry.author for one in heard if one.entry] == (["red-fox"] if above else [])


def test_a_quoted_marker_ends_nothing_behind_a_whole_entry_either() -> None:
    """What was heard of a portion does not move the end of the portion."""
    whole, text = entry(1, "red-fox"), entry(2, "blue-hen", 1, 2, body=QUOTED)
    place = len((session(whole) + text.partition("<!-- yield -->")[0]).encode())
    follower = SessionFollower()
    data = (session(whole) + text).encode()
    first = list(follower.feed(data[: place + len("<!-- yield -->\n")]))
    more = list(follower.feed(data[place + len("<!-- yield -->\n") :]))
    assert [one.entry.author for one in first if one.entry] == ["red-fox"]
    assert [one.entry.body for one in more if one.entry] == [QUOTED]


def test_a_watch_that_hears_nothing_more_has_heard_all(tmp_path: Path) -> None:
    file = tmp_path / "s.md"
    file.write_text(session() + BEGUN["quoted"], encoding="utf-8")
    watch = FollowedFile(file)
    assert watch.read_new() == []
    for portion in (*[GARBAGE["quoted"]] * 300, ENDS["quoted"]):
        with file.open("a", encoding="utf-8") as opened:
            opened.write(portion)
        watch.follower._patience = 0  # as after megabytes of it
        assert watch.read_new() == []
    assert [one.entry.author for one in watch.read_new() if one.entry] == ["red-fox"]
    assert watch.read_new() == []


def test_a_file_that_was_changed_above_ends_the_watch(tmp_path: Path) -> None:
    file = tmp_path / "s.md"
    file.write_text(TWO_ROUNDS, encoding="utf-8")
    watch = FollowedFile(file)
    assert len(watch.read_new()) == 4
    assert watch.read_new() == []
    file.write_text(TWO_ROUNDS[:-200] + "x" * 400, encoding="utf-8")
    with pytest.raises(Tampered) as changed:
        watch.read_new()
    assert changed.value.code == "session_changed"
    file.write_text(TWO_ROUNDS[:-200], encoding="utf-8")
    with pytest.raises(Tampered):
        watch.read_new()


def test_it_follows_until_the_session_ends(tmp_path: Path) -> None:
    """Each pause writes one more entry, so nothing waits for time."""
    file = tmp_path / "s.md"
    pieces = [entry(1, "red-fox"), entry(2, "blue-hen", 1, 2)]
    file.write_text(session(), encoding="utf-8")

    def pause(_seconds: float) -> None:
        with file.open("a", encoding="utf-8") as opened:
            opened.write(pieces.pop(0))

    heard = list(follow_file(FollowedFile(file), lambda: False, pause))
    assert [one.entry.author for one in heard if one.entry] == ["red-fox", "blue-hen"]
    assert heard[-1].state.phase == "ended:consensus"


@pytest.fixture
def place(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, tmp_path / "keys", MOOT_CLOCK="2026-03-01T09:01:00Z")


def test_bytes_that_are_no_text_are_never_recorded(place: Project) -> None:
    place.ok("init")
    file = place.root / "s.md"
    file.write_text(session(entry(1, "red-fox")), encoding="utf-8")
    with place.workspace() as space:
        watch = FollowedFile(file, space)
        watch.read_new()
        with file.open("ab") as opened:
            opened.write(entry(2, "blue-hen", 1, 2, body="odd: X").encode().replace(b"X", b"\xff"))
        assert len(watch.read_new()) == 1
        assert not watch.follower.is_utf8
    done = place.json("debate", "verify", "s.md")
    assert (done.data["verdict"], done.code) == ("unproven", 3)
    place.ok("debate", "tick", "s.md")
    assert place.json("debate", "verify", "s.md").data["verdict"] == "unproven"
    code = place.refused("debate", "close", "s.md", "--reason", "Enough.")
    assert code == ("invalid_session", 1)


def test_the_command_shows_each_entry_and_where_it_led(place: Project) -> None:
    (place.root / "s.md").write_text(TWO_ROUNDS, encoding="utf-8")
    data = place.ok("debate", "watch", "s.md")
    assert (len(data["entries"]), data["state"]) == (4, "ended:consensus")
    shown = place.run("debate", "watch", "s.md", "--seconds", "0").out.splitlines()
    assert len(shown) == 5
    assert "red-fox" in shown[0]
    assert place.refused("debate", "watch", "none.md") == ("unreadable_file", 4)
    (place.root / "t.md").write_text("# nothing", encoding="utf-8")
    code = place.refused("debate", "watch", "t.md", "--seconds", "0")
    assert code == ("invalid_session", 1)


@pytest.mark.requirement("BNC-008")
def test_in_a_workspace_what_others_write_is_observed(place: Project) -> None:
    place.ok("init")
    file = place.root / "s.md"
    file.write_text(session(entry(1, "red-fox")), encoding="utf-8")
    assert len(place.ok("debate", "watch", "s.md", "--seconds", "0")["entries"]) == 1
    assert place.ok("debate", "verify", "s.md")["verdict"] == "valid"
    with place.workspace() as space:
        watch = FollowedFile(file, space)
        assert len(watch.read_new()) == 1
        for piece in (entry(2, "blue-hen", 1, 2, stance="reject"), RESUME):
            with file.open("a", encoding="utf-8") as opened:
                opened.write(piece)
            assert len(watch.read_new()) == 1
    assert place.ok("debate", "verify", "s.md")["verdict"] == "valid"

"""Lists on a terminal are no wider than it; into a pipe goes everything."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.surfaces.terminal.answer import visible
from moot.surfaces.terminal.listing import GAP, LEAST, MOST, fitted, listing
from tests.cli.terminal import on_a_terminal
from tests.cli.test_mail import KICKOFF, write
from tests.cli.test_presence import as_
from tests.project import Project, git

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
SUBJECT = "Which of the three caches that we have do we keep when the sessions move?"
EVENT = "proto_20260218_001"
THREAD = "RS-20260218-which-cache"
AT = "2026-02-18T12:00:00"


@pytest.fixture
def project(bare: Project) -> Project:
    """Scopes, work and subjects as long as they get in a real project."""
    git(bare.root, "init", "-q", "-b", "feature/sessions-move-to-the-database")
    bare.env["MOOT_CLOCK"] = "2026-02-18T12:00:00.123Z"
    bare.env["MOOT_UTC"] = "1"  # whole times, which take the most room
    bare.init()
    for name in ("amber-otter", "teal-crane"):
        bare.ok("join", "--register", name)
    bare.ok(*as_("amber-otter", "reserve", "src/auth/sessions", "src/auth/cache.py", "docs/auth"))
    bare.json(*as_("teal-crane", "reserve", "src/auth/sessions/store.py"))
    kickoff = write(bare, "k.md", KICKOFF)
    words = ("send", "teal-crane", f"KICKOFF: {SUBJECT}", kickoff, "--thread", THREAD)
    bare.ok(*as_("amber-otter", *words))
    return bare


# What each list still says on a narrow terminal.
LISTS = {
    ("event", "list"): (EVENT, AT, "src/auth/sessions/store"),
    ("scope", "list"): ("src/auth/sessions", AT),
    ("mail", "thread", THREAD): (f"{THREAD}:1", AT, "KICKOFF: Which of"),
    ("agenda",): (f"{THREAD}:1",),
    ("mail", "pending"): (f"{THREAD}:1", "KICKOFF: Which of"),
    ("--as", "teal-crane", "inbox", "--peek"): (f"{THREAD}:1", "KICKOFF: Which of"),
    ("story", f"{THREAD}:1"): (f"{THREAD}:1", AT, "KICKOFF: Which of"),
}


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
@pytest.mark.parametrize("columns", [80, 100, 160])
def test_a_list_fits_the_terminal_and_keeps_what_is_copied(
    project: Project, words: tuple[str, ...], columns: int
) -> None:
    seen = COLOURS.sub("", on_a_terminal(project, *words, COLUMNS=str(columns)))
    rows, _, _ = seen.partition("how:")  # below are commands to copy, which nothing cuts
    assert max(map(len, rows.splitlines())) <= columns
    for kept in LISTS[words]:
        assert kept in seen


def test_who_is_here_fits_the_terminal(bare: Project) -> None:
    git(bare.root, "init", "-q", "-b", "feature/sessions-move-to-the-database")
    bare.ok("init")
    scopes = [f"src/auth/sessions/part-{number}" for number in range(6)]
    bare.ok(*as_("amber-otter", "join", "--register", "amber-otter", "--scope", *scopes[:1]))
    bare.ok(*as_("amber-otter", "reserve", *scopes))
    seen = COLOURS.sub("", on_a_terminal(bare, "status", COLUMNS="80"))
    _, tables = seen.split("\r\n\r\n", 1)
    assert max(map(len, tables.splitlines())) <= 80
    assert "amber-otter  Active" in tables
    assert "src/auth/sessions/part-0" in tables


def test_the_terminal_itself_says_how_wide_it_is(project: Project) -> None:
    status = ("sh", "-c", 'stty cols 60; exec "$@"', "sh")
    seen = COLOURS.sub("", on_a_terminal(project, "event", "list", through=status))
    assert max(map(len, seen.splitlines())) <= 60
    assert EVENT in seen
    unsaid = COLOURS.sub("", on_a_terminal(project, "event", "list"))
    assert unsaid.splitlines() == project.run("event", "list").out.splitlines()


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_into_a_pipe_goes_everything(project: Project, words: tuple[str, ...]) -> None:
    wide, narrow = project.spawn(*words), project.spawn(*words, COLUMNS="40")
    assert narrow == wide
    assert "…" not in wide.out
    assert project.spawn(*words, "--json", COLUMNS="40") == project.spawn(*words, "--json")


# One table, as wide as it must be.

HEAD = ["AT", "ID", "WHO", "ABOUT"]


def shown(columns: int, *rows: tuple[str, ...]) -> list[str]:
    return list(fitted([HEAD, *map(list, rows)], columns))


def test_what_fits_is_left_as_it_is() -> None:
    at = "2026-02-18T12:00:00.123Z"
    row = (at, "m-1:1", "amber-otter", "a few words")
    assert shown(57, row)[1] == f"{at}  m-1:1  amber-otter  a few words"
    assert shown(56, row)[1] == f"{AT}Z  m-1:1  amber-otter  a few words"


def test_text_is_cut_before_names_and_names_before_ids() -> None:
    row = (f"{AT}Z", "m-1:1", "amber-otter", "a text of many words that goes on and on")
    assert shown(68, row)[1] == f"{AT}Z  m-1:1  amber-otter  a text of many words that…"
    assert shown(50, row)[1:] == [
        "  ABOUT",
        f"{AT}Z  m-1:1  amber-otter",
        "  a text of many words that goes on and on",
    ]
    assert shown(38, row)[2:] == [
        "2026-02-18…         m-1:1  amber-otter",
        "  a text of many words that goes on a…",
    ]


def test_a_random_id_is_known_by_its_beginning() -> None:
    row = (AT, "debate/5d6c8e82-19ce-493e-9bd6-edc9da9059b8#4", "amber-otter", "one")
    assert shown(60, row)[1] == f"{AT}  debate/5d6c8e82…#4  amber-otter  one"


def test_an_id_that_does_not_fit_stands_above_its_row() -> None:
    short, long = "mail/w-1", "debate/5d6c8e82-19ce-493e-9bd6-edc9da9059b8"
    rows = [["ID", "EVENTS", "LAST"], [short, "10", f"{AT}Z"], [long, "4", f"{AT}Z"]]
    assert list(fitted(rows, 40)) == [
        "ID                   EVENTS  LAST",
        "mail/w-1             10      2026-02-18…",
        long,
        "                     4       2026-02-18…",
    ]
    assert list(fitted(rows, 80))[2] == f"{long}  4       {AT}Z"


def test_what_the_rows_are_about_gives_way_last() -> None:
    rows = [["NAME", "STATUS", "SINCE"], ["amber-otter-of-the-north", "active", f"{AT}Z"]]
    assert list(fitted(rows, 46))[1] == "amber-otter-of-the-north  active  2026-02-18…"
    assert list(fitted(rows, 40))[1:] == [
        "amber-otter-of-the-north",
        "                     active  2026-02-18…",
    ]


def test_a_name_that_one_has_to_type_is_never_cut() -> None:
    name = "amber-otter-of-the-north"
    rows = [["WHO", "BY", "ID"], [name, f"{AT}Z", "parliament/parl-001"]]
    for columns in (80, 52, 38, 20):
        lines = list(fitted(rows, columns))
        assert any(line.startswith(name) for line in lines), columns
        assert any("parliament/parl-001" in line for line in lines), columns
    second = [["AT", "WHOM", "ABOUT"], [f"{AT}Z", name, "words and words"]]
    assert name in "\n".join(fitted(second, 20))


def test_words_without_spaces_are_text_too() -> None:
    rows = [["NAME", "ABOUT"], ["amber-otter", "我们要把会话存到哪里" * 3]]
    assert list(fitted(rows, 40))[1] == "amber-otter  我们要把会话存到哪里我们要…"


def test_of_a_text_without_end_a_pipe_gets_only_so_much() -> None:
    (_, row) = listing([["x" * 10_000_000]], ["SAID"])
    assert row == "x" * (MOST - 1) + "…"


def wide(text: str) -> int:
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


@given(
    st.lists(st.lists(st.text(max_size=60).map(visible), min_size=3, max_size=3), min_size=1),
    st.integers(3 * LEAST + 2 * len(GAP), 120),
)
def test_whatever_is_said_it_fits(rows: list[list[str]], columns: int) -> None:
    for line in fitted([["STATE", "WHAT", "ABOUT"], *rows], columns):
        assert wide(line) <= columns


@pytest.mark.parametrize("head", ["ID", "WHO", "PATH"])
@given(
    rows=st.lists(st.lists(st.text(max_size=60).map(visible), min_size=3, max_size=3), min_size=1),
    columns=st.integers(8 + 2 * LEAST + 2 * len(GAP), 120),
)
def test_whatever_an_id_or_a_name_is_it_stays_whole(
    head: str, rows: list[list[str]], columns: int
) -> None:
    if head == "WHO":  # no name has a blank in it
        rows = [[row[0].replace(" ", ""), *row[1:]] for row in rows]
    lines = list(fitted([[head, "WHAT", "ABOUT"], *rows], columns))
    for row in rows:
        assert any(line.startswith(row[0].rstrip()) for line in lines)
    for line in lines:
        assert wide(line) <= columns or line in [row[0] for row in rows]

"""An entry that was begun and never yielded: once its time is up, it holds up nobody (4.6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.api.debates import session as debates
from moot.core.clock import fixed_clock
from moot.core.errors import Refused
from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.course import is_placeholder
from moot.protocols.debate.drafts import EntryDraft
from tests.debate.sessions import TWO_AGENTS, entry, rules_block, session
from tests.debate.test_file_and_record import FOX, HEN, LATER, new, place
from tests.project import Project

__all__ = ["place"]
HALF = entry(2, HEN, 1, 2, status="open", marker="", body="I think that")
IN_TIME, LATE = fixed_clock("2026-03-01T09:07:00Z"), fixed_clock("2026-03-01T09:07:00.001Z")
WORD = EntryDraft(author=HEN, stance="reject", confidence="0.5", summary="No.")


def left(tmp_path: Path, half: str = HALF, **settings: str) -> Path:
    file = tmp_path / "s.md"
    file.write_text(session(entry(1, FOX), half, block=rules_block(TWO_AGENTS, **settings)))
    return file


def seen(file: Path) -> CheckedSession:
    checked = check_session(file.read_bytes())
    assert checked.valid, checked.findings
    return checked


@pytest.mark.requirement("BNC-095")
@pytest.mark.parametrize("policy", ["timeout-skip", "default-action"])
@pytest.mark.parametrize("order", ["round-robin", "free-form"])
def test_the_policy_takes_the_place_of_an_entry_whose_time_is_up(
    tmp_path: Path, policy: str, order: str
) -> None:
    file = left(tmp_path, escalation=policy, turn_order=order)
    before = file.read_bytes()
    assert debates.tick(file, IN_TIME).entries == ()
    assert file.read_bytes() == before
    assert len(debates.tick(file, LATE).entries) == 1
    first, stands_in = seen(file).document.entries
    assert (first.author, stands_in.author, stands_in.round, stands_in.turn) == (FOX, HEN, 1, 2)
    assert is_placeholder(stands_in)
    assert file.read_bytes().startswith(before[: before.index(HALF.strip().encode())])
    assert debates.tick(file, LATE).entries == ()


@pytest.mark.requirement("BNC-095")
def test_a_person_gives_it_its_time_again(tmp_path: Path) -> None:
    file = left(tmp_path)
    with pytest.raises(Refused) as refused:
        debates.add(file, WORD, LATE)
    assert refused.value.code == "waiting_human"
    debates.resume_late(file, LATE)
    assert "operator-resume" in file.read_text()
    debates.add(file, WORD, LATE)
    assert [one.author for one in seen(file).document.entries] == [FOX, HEN]


@pytest.mark.requirement("BNC-095")
@pytest.mark.parametrize("author", [HEN, FOX, "grey-owl"])
def test_a_person_passes_over_whatever_was_begun(tmp_path: Path, author: str) -> None:
    file = left(tmp_path, HALF.replace(HEN, author))
    debates.resume_skipping(file, LATE)
    _, stands_in = seen(file).document.entries
    assert (stands_in.author, is_placeholder(stands_in)) == (HEN, True)


@pytest.mark.requirement("BNC-103")
def test_what_someone_else_began_out_of_turn_is_not_the_policys_to_remove(tmp_path: Path) -> None:
    file = left(tmp_path, HALF.replace(HEN, FOX), escalation="timeout-skip")
    before = file.read_bytes()
    assert debates.tick(file, LATE).entries == ()
    assert file.read_bytes() == before


@pytest.mark.requirement("BNC-103")
def test_the_operator_closes_a_session_in_which_someone_writes_when_its_time_is_up(
    tmp_path: Path,
) -> None:
    file = left(tmp_path)
    before = file.read_bytes()
    with pytest.raises(Refused) as refused:
        debates.close(file, "Enough.", IN_TIME)
    assert refused.value.code == "entry_open"
    assert file.read_bytes() == before
    debates.close(file, "Enough.", LATE)
    assert [one.author for one in seen(file).document.entries] == [FOX, "system"]


@pytest.mark.requirement("BNC-095")
@pytest.mark.parametrize("act", ["tick", "skip", "late", "close"])
def test_file_and_record_stay_together(place: Project, act: str) -> None:
    policy = "timeout-skip" if act == "tick" else "human"
    file = new(place, "--escalation", policy)
    words = ("--stance", "reject", "--confidence", "0.5", "--summary", "No.")
    place.ok("debate", "add", "s.md", "--author", FOX, *words)
    with file.open("a") as opened:
        opened.write(HALF)
    done = {
        "tick": ("tick", "s.md"),
        "skip": ("resume", "s.md", "--skip"),
        "late": ("resume", "s.md", "--late"),
        "close": ("close", "s.md", "--reason", "Enough."),
    }[act]
    place.ok("debate", *done, MOOT_CLOCK=LATER)
    seen(file)
    assert place.ok("debate", "verify", "s.md", MOOT_CLOCK=LATER)["verdict"] == "valid"

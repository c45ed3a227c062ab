"""A debate for Python programs, beyond what every way in offers: iterators, limits, watchers."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from moot.agents.runnable import NoWatcher
from moot.api.debates import proof, reading, runs, writing
from moot.api.runs.limits import CallOutcome, Limits
from moot.api.session import Session
from moot.core.errors import Malformed, Unavailable
from moot.keys.folder import KeyFolder
from tests.debate.sessions import EARLY, TWO_ROUNDS, entry, session

AGENTS = ("amber-otter", "teal-crane")
VOICES = [f"{name}=rules:approve" for name in AGENTS]


@pytest.fixture
def bare(tmp_path: Path) -> Session:
    """A session in a folder without a workspace."""
    return Session(tmp_path, keys=KeyFolder(tmp_path / "keys"))


def test_entries_are_followed_one_by_one(bare: Session) -> None:
    file = bare.folder / "s.md"
    file.write_text(session(entry(1, "red-fox")))
    looked: list[str] = []

    def stop() -> bool:
        """The second look finds what came meanwhile; then it is enough."""
        looked.append("")
        if len(looked) == 1:
            file.write_text(session(entry(1, "red-fox"), entry(2, "blue-hen", turn=2)))
        return len(looked) == 2

    entries = proof.follow(bare, file, stop=stop)
    assert [(each.author, each.line > 0) for each in entries] == [
        ("red-fox", True),
        ("blue-hen", True),
    ]


def test_a_debate_that_has_ended_is_followed_to_its_end(bare: Session) -> None:
    file = bare.folder / "s.md"
    file.write_text(EARLY)
    assert len(list(proof.follow(bare, file))) == EARLY.count("<!-- entry")


def test_a_run_keeps_to_its_limits_and_tells_who_looks_on(bare: Session) -> None:
    class Watcher(NoWatcher):
        def __init__(self) -> None:
            self.outcomes: list[CallOutcome] = []

        def on_outcome(self, outcome: CallOutcome) -> None:
            self.outcomes.append(outcome)

    file, watcher = bare.folder / "s.md", Watcher()
    writing.new(bare, file, "Ship it?", AGENTS)
    limits = Limits(turns=1, usd=Decimal("0.5"))
    stopped = runs.run(bare, file, VOICES, limits=limits, watch=watcher)
    assert (stopped.stop, stopped.turns, stopped.decision) == ("turns-spent", 1, None)
    assert [outcome.agent for outcome in watcher.outcomes] == ["amber-otter"]
    assert runs.suggest_decision(stopped) is None
    assert reading.status(bare, file).next == "teal-crane"


def test_money_is_limited_in_millionths_of_a_dollar() -> None:
    assert Limits(usd=Decimal("1.5")).budget.micros == 1_500_000
    assert Limits().budget.micros is None


def test_a_page_needs_a_name_that_says_its_form(bare: Session) -> None:
    file = bare.folder / "s.md"
    file.write_text(TWO_ROUNDS)
    with pytest.raises(Malformed) as refused:
        reading.report(bare, file, output=bare.folder / "page.txt")
    assert refused.value.code == "bad_page_name"
    assert [path.name for path in bare.folder.iterdir()] == ["s.md"]


def test_an_id_that_is_none_writes_nothing(bare: Session) -> None:
    file = bare.folder / "s.md"
    file.write_text(session())
    with pytest.raises(Malformed) as refused:
        writing.add(bare, file, author="red-fox", summary="Yes.", entry_id="1")
    assert refused.value.code == "bad_entry_id"
    assert file.read_text() == session()


def test_a_workspace_that_was_named_must_be_there(tmp_path: Path) -> None:
    nowhere = Session(tmp_path, home=tmp_path / "none", keys=KeyFolder(tmp_path / "keys"))
    with pytest.raises(Unavailable):
        writing.new(nowhere, tmp_path / "s.md", "Ship it?", AGENTS)
    assert list(tmp_path.iterdir()) == []
    assert Session(tmp_path, keys=KeyFolder(tmp_path / "keys")).workspace_or_none is None

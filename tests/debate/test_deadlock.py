"""Deadlock: everyone defers, the session ends, and its escalation policy applies (7.4, A-30)."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.protocols.debate import commands as ask
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.escalation import is_written_by_policy
from tests.debate.sessions import entry, session
from tests.debate.test_file_and_record import FOX, HEN, kinds, place
from tests.debate.test_hostile_files import bare
from tests.debate.test_record import STREAM, adding, begun
from tests.project import Project

__all__ = ["bare", "place"]
DEFERS = ("--stance", "defer", "--confidence", "0.1", "--summary", "Not mine.")
CLOSE = ("debate", "close", "s.md", "--reason", "We take the blue one.")


def deadlock(place: Project, policy: str, *more: str) -> Path:
    words = ("--title", "Which?", "--agents", f"{FOX},{HEN}", "--escalation", policy, *more)
    place.ok("debate", "new", "s.md", *words)
    for author in (FOX, HEN):
        said = place.ok("debate", "add", "s.md", "--author", author, *DEFERS)
    assert said["state"] == "ended:deadlock"
    return place.root / "s.md"


def policy_of(place: Project) -> str | None:
    status = place.ok("debate", "status", "s.md")
    assert status["state"] == "ended:deadlock"
    policy: str | None = status["deadlock_policy"]
    return policy


@pytest.mark.requirement("BNC-138")
@pytest.mark.requirement("BNC-123")
def test_under_human_the_operator_decides_and_system_sums_up(bare: Project) -> None:
    file = deadlock(bare, "human")
    assert policy_of(bare) == "human"
    assert "waits for its operator" in bare.run("debate", "status", "s.md").out
    before = file.read_bytes()
    assert bare.ok("debate", "tick", "s.md")["entries"] == []
    refused = bare.json("debate", "resume", "s.md", "--late").error
    assert (refused["code"], "moot debate close" in refused["hint"]) == ("nothing_to_resume", True)
    assert file.read_bytes() == before
    assert len(bare.ok(*CLOSE)["entries"]) == 1
    checked = check_session(file.read_bytes())
    last = checked.document.entries[-1]
    assert (checked.findings, last.author) == ((), "system")
    assert "We take the blue one." in last.body
    assert policy_of(bare) is None
    assert bare.refused(*CLOSE) == ("session_ended", 1)


@pytest.mark.requirement("BNC-138")
@pytest.mark.parametrize("action", ["neutral", "reject", "defer"])
def test_the_default_action_is_written_once_by_the_entry_that_brings_the_deadlock(
    bare: Project, action: str
) -> None:
    file = deadlock(bare, "default-action", "--default-action", action)
    checked = check_session(file.read_bytes())
    assert checked.findings == ()
    last = checked.document.entries[-1]
    stance = (last.author, last.field_value("stance"), last.field_value("confidence"))
    assert stance == ("system", action, "0.0")
    assert "default-action" in last.field_value("summary")
    assert checked.settings.rules is not None
    assert is_written_by_policy(last, checked.settings.rules)
    assert policy_of(bare) is None
    assert bare.ok("debate", "tick", "s.md")["entries"] == []
    assert bare.refused(*CLOSE) == ("session_ended", 1)


@pytest.mark.requirement("BNC-138")
def test_a_deadlock_by_hand_gets_its_default_action_with_the_next_tick(bare: Project) -> None:
    said = [entry(n, who, 1, n, stance="defer") for n, who in enumerate((FOX, HEN), start=1)]
    (bare.root / "s.md").write_text(session(*said, escalation="default-action"), "utf-8")
    assert policy_of(bare) == "default-action"
    assert len(bare.ok("debate", "tick", "s.md")["entries"]) == 1
    assert policy_of(bare) is None


@pytest.mark.requirement("BNC-138")
def test_under_timeout_skip_no_turn_is_left_to_skip(bare: Project) -> None:
    file = deadlock(bare, "timeout-skip")
    before = file.read_bytes()
    assert policy_of(bare) == "timeout-skip"
    assert "no turn left to skip" in bare.run("debate", "status", "s.md").out
    assert bare.ok("debate", "tick", "s.md")["entries"] == []
    assert bare.refused(*CLOSE) == ("session_ended", 1)
    assert file.read_bytes() == before


@pytest.mark.requirement("BNC-138")
def test_the_operator_is_told_until_their_key_has_signed_the_decision(
    place: Project, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("correct horse", encoding="utf-8")
    secret.chmod(0o600)
    place.ok("agent", "register", "operator", "--human", MOOT_PASSPHRASE_FILE=str(secret))
    file = deadlock(place, "human")
    world_before = kinds(place, file)
    assert [name for name, _ in world_before][-1] == "SessionEnded"
    assert deadlock_dues(place) == ["decide a deadlock"]
    before = file.read_bytes()
    assert place.refused("--as", FOX, *CLOSE) == ("human_key_required", 1)
    assert (file.read_bytes(), kinds(place, file)) == (before, world_before)
    done = place.ok(*CLOSE, MOOT_PASSPHRASE_FILE=str(secret))
    assert (done["recorded"], kinds(place, file)[-1]) == ("signed", ("EntryYielded", "operator"))
    assert deadlock_dues(place) == []
    place.ok("ledger", "rebuild")
    assert deadlock_dues(place) == []
    assert place.ok("debate", "verify", "s.md")["verdict"] == "valid"


def deadlock_dues(place: Project) -> list[str]:
    items = place.ok("agenda")["due"]
    return [one["what"] for one in items if "deadlock" in one["what"]]


@pytest.mark.requirement("BNC-138")
@pytest.mark.parametrize(
    ("policy", "due"),
    [
        ("human", ["decide a deadlock"]),
        ("default-action", ["apply the default action"]),
        ("timeout-skip", []),
    ],
)
def test_a_deadlock_is_open_until_it_is_summed_up(policy: str, due: list[str]) -> None:
    world = begun(FOX, HEN, escalation=policy)
    for number, who in enumerate((FOX, HEN), start=1):
        said = entry(number, who, 1, number, stance="defer")
        world.engine.execute(STREAM, adding(world, said), who)
    assert [one.what for _, one in world.engine.agenda([STREAM])] == due
    assert (STREAM in world.engine.open_streams()) is bool(due)
    alone = adding(world, entry(3, "system", 1, 3, stance="neutral"))
    with pytest.raises(Refused) as refused:
        world.engine.execute(STREAM, alone, FOX)
    assert refused.value.code == "not_you"
    summary = adding(world, entry(3, "system", 1, 3, stance="neutral"), ask.Observe)
    world.engine.execute(STREAM, summary, SYSTEM)
    assert list(world.engine.agenda([STREAM])) == []
    assert STREAM not in world.engine.open_streams()

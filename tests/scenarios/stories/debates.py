"""Debates in one file: begun, argued, judged, kept going by their operator, proved, run."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from moot.api.debates.writing import TurnOrder
from tests.debate.sessions import entry, session
from tests.scenarios.world import World, story

AGENTS = ("amber-otter", "teal-crane")
YES = {"stance": "approve", "confidence": "0.9", "summary": "It is never faster."}


def begin(world: World, **settings: Any) -> Path:
    file = world.project.root / "cache.md"
    made = world.do("debate.new", file=file, title="Drop the cache?", agents=AGENTS, **settings)
    assert (made["file"], made["agents"]) == (str(file), list(AGENTS))
    return file


def write_by_hand(world: World, *entries: str) -> Path:
    """A debate that was written long ago: the agent that is due let the time pass."""
    file = world.project.root / "old.md"
    file.write_text(session(*entries, agents=AGENTS).replace("2026-03-01T", "2020-03-01T"))
    return file


@story(
    does="debate.new debate.add debate.status debate.consensus debate.check debate.compare "
    "debate.summary debate.report debate.verify",
    refuses="debate.new debate.add debate.status debate.consensus",
)
def two_agents_agree_under_their_own_keys(world: World) -> None:
    file = begin(world, consensus_threshold=Decimal("0.8"))
    assert world.refuse("debate.new", file=file, title="Twice", agents=AGENTS) == "file_exists"
    assert world.refuse("debate.add", "teal-crane", file=file, **YES) == "wrong_speaker"
    assert world.refuse("debate.add", "teal-crane", file=file, author="amber-otter") == "not_you"
    once = {"file": file, "entry_id": "0a0b0c0d-1111-4222-8333-444455556666", **YES}
    added = world.do("debate.add", "amber-otter", **once)
    assert (added["recorded"], added["again"], added["next"]) == ("signed", False, "teal-crane")
    assert world.do("debate.add", "amber-otter", **once)["again"]
    before = file.with_name("before.md")
    before.write_bytes(file.read_bytes())
    assert world.do("debate.status", file=file)["may_speak"] == ["teal-crane"]
    ended = world.do("debate.add", "teal-crane", file=file, **YES)
    assert ended["state"] == "ended:consensus"
    result = world.do("debate.consensus", file=file)
    assert (result["reached"], result["approvers"]) == (True, list(AGENTS))
    assert not world.do("debate.consensus", file=file, threshold=Decimal("0.95"))["reached"]
    assert world.refuse("debate.consensus", file=file, round_number=9) == "round_not_found"
    assert world.do("debate.compare", old=before, new=file)["append_only"]
    changed = file.with_name("changed.md")
    changed.write_text(file.read_text().replace("never", "often"))
    assert not world.do("debate.compare", old=before, new=changed)["append_only"]
    assert world.do("debate.check", file=file)["valid"]
    assert "Drop the cache?" in world.do("debate.summary", file=file)["markdown"]
    page = file.with_name("page.html")
    made = world.do("debate.report", file=file, output=page)
    assert (made["file"], made["report"]["verdict"]["label"]) == (str(page), "CONSENSUS")
    assert "Drop the cache?" in page.read_text()
    assert world.do("debate.verify", file=file)["verdict"] == "valid"
    file.write_text("no debate\n")
    assert world.refuse("debate.status", file=file) == "invalid_session"


@story(
    does="debate.watch debate.sign debate.verify",
    refuses="debate.watch debate.sign debate.verify",
)
def what_was_written_by_hand_is_observed_and_signed_later(world: World) -> None:
    file = write_by_hand(world, entry(1, "amber-otter"))
    assert world.refuse("debate.verify", file=file) == "not_recorded"
    watched = world.do("debate.watch", file=file, seconds=0)
    assert [each["author"] for each in watched["entries"]] == ["amber-otter"]
    assert world.do("debate.watch", file=file, seconds=0) == watched
    assert world.refuse("debate.watch", file=file.with_name("none.md")) == "unreadable_file"
    assert "1 only observed" in world.do("debate.verify", file=file)["authenticity"]
    assert world.refuse("debate.sign", file=file) == "actor_required"
    assert len(world.do("debate.sign", "amber-otter", file=file)["entries"]) == 1
    assert world.do("debate.sign", "amber-otter", file=file)["entries"] == []
    assert "1 signed by their authors" in world.do("debate.verify", file=file)["authenticity"]
    file.write_text(file.read_text().replace("A point was made", "No point was made"))
    damaged = world.do("debate.verify", file=file)
    assert (damaged["verdict"], damaged["findings"][0]["code"]) == ("tampered", "file_changed")


@story(
    does="debate.watch debate.status debate.tick debate.resume debate.add_context debate.close",
    refuses="debate.tick debate.resume debate.add_context debate.close",
)
def only_a_person_moves_a_debate_that_waits_for_its_operator(world: World) -> None:
    file = write_by_hand(world, entry(1, "amber-otter", stance="reject"))
    world.do("debate.watch", file=file, seconds=0)  # from here on it is recorded
    assert world.do("debate.tick", file=file)["entries"] == []
    assert world.do("debate.status", file=file)["state"] == "waiting-human"
    acts: dict[str, dict[str, Any]] = {
        "debate.resume": {"late": True},
        "debate.add_context": {"title": "More", "text": "The budget was cut."},
        "debate.close": {"reason": "Decided elsewhere."},
    }
    for operation, arguments in acts.items():
        refused = world.refuse(operation, "amber-otter", file=file, **arguments)
        assert refused == "human_key_required"
    passed = world.as_person("debate.resume", file=file, late=False)
    assert (len(passed["entries"]), passed["recorded"]) == (1, "signed")
    assert world.refuse("debate.resume", file=file, late=True) == "nothing_to_resume"
    more = world.as_person("debate.add_context", file=file, **acts["debate.add_context"])
    assert more["recorded"] == "signed"
    assert "The budget was cut." in file.read_text()
    closed = world.as_person("debate.close", file=file, reason="Decided elsewhere.")
    assert (closed["state"], closed["recorded"]) == ("ended:closed-by-operator", "signed")
    assert world.refuse("debate.close", file=file, reason="Again.") == "session_ended"
    file.write_text(file.read_text().replace("reject", "approve"))
    assert world.refuse("debate.tick", file=file) == "session_changed"


@story(
    does="debate.new debate.add debate.status debate.close",
    refuses="debate.add debate.resume debate.close",
)
def a_supervisor_begins_a_round_and_a_person_decides_a_deadlock(world: World) -> None:
    file = begin(world, turn_order=TurnOrder.SUPERVISED)
    defers = {**YES, "stance": "defer", "file": file}
    first = world.do("debate.add", "amber-otter", **defers)
    assert (first["round"], first["next"]) == (1, "amber-otter")
    assert world.refuse("debate.add", "amber-otter", round_number=3, **defers) == "wrong_round"
    begun = world.do("debate.add", "amber-otter", round_number=2, next_agent="teal-crane", **defers)
    assert (begun["round"], begun["turn"], begun["next"]) == (2, 1, "teal-crane")
    assert world.do("debate.add", "teal-crane", **defers)["state"] == "ended:deadlock"
    assert world.do("debate.status", file=file)["deadlock_policy"] == "human"
    assert world.refuse("debate.resume", file=file, late=True) == "nothing_to_resume"
    ruling = {"file": file, "reason": "We keep it."}
    assert world.refuse("debate.close", "amber-otter", **ruling) == "human_key_required"
    assert world.as_person("debate.close", **ruling)["recorded"] == "signed"
    assert world.do("debate.status", file=file)["deadlock_policy"] is None
    assert world.refuse("debate.close", None, **ruling) == "session_ended"


@story(does="debate.new debate.run", refuses="debate.run")
def participants_argue_a_debate_to_its_end(world: World) -> None:
    file = begin(world, max_rounds=1)
    stranger = ["coral-finch=rules:approve"]
    assert world.refuse("debate.run", file=file, participants=stranger) == "unknown_agent"
    own = [f"{name}=rules:approve" for name in AGENTS]
    assert world.refuse("debate.run", "amber-otter", file=file, participants=own) == "not_you"
    done = world.do("debate.run", file=file, participants=own)
    assert (done["stop"], done["turns"]) == ("settled", 2)
    assert (done["standing"]["state"], done["restored"]) == ("ended:consensus", None)
    again = world.do("debate.run", file=file, participants=own)
    assert (again["stop"], again["decision"]) == ("settled", done["decision"])

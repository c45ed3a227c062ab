"""A keeper that lies: what it answers is believed as far as it can be checked."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from moot.api.presence import scopes
from moot.api.session import Session
from moot.core.clock import Millis
from moot.core.errors import MootError
from moot.core.ledger import View
from moot.core.names import CHECKPOINT
from moot.core.signing import key_id
from moot.engine.replay import take_snapshot
from moot.hosts import messages as wire
from moot.hosts.members import Member
from moot.hosts.replica import RemoteArtifacts
from moot.hosts.request_handler import Request, RequestHandler
from moot.hosts.sync_delta import read_delta
from moot.keys.folder import KeyFolder
from moot.protocols.presence import STREAM
from moot.protocols.presence.machine import MACHINE
from moot.store.artifacts import MAX_BYTES
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of, held_paths, reserve
from tests.project import Project

DOOR_NEWS = "moot.hosts.request_handler.read_delta"


@pytest.mark.parametrize("what", ["nothing", "the same again"])
def test_a_keeper_that_always_has_more_and_sends_nothing_new_is_not_asked_for_ever(
    laptop: Project, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    times = 0

    def lie(view: View, asked: wire.CopyPosition, now: Millis) -> wire.SyncDelta:
        nonlocal times
        times += 1
        if times > 20:
            raise MootError("asked_for_ever", "it would go on")
        if what == "the same again":
            asked = wire.CopyPosition(0, b"", 0, 0)
        return msgspec.structs.replace(read_delta(view, asked, now), more=True)

    monkeypatch.setattr(DOOR_NEWS, lie)
    assert reserve(laptop, OTTER, "src/a.py") == "bad_answer"
    assert held_paths(laptop) == [], "what is here can still be read"


@pytest.mark.requirement("HST-012")
def test_a_command_is_not_called_recorded_unless_the_keeper_shows_it(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nobody would miss it: this machine does not have it, and no other was told of it."""

    def lie(self: RequestHandler, asked: Request, question: wire.Commit) -> None:
        asked.reply(wire.Committed(self._read_delta(question.follow)))

    before = events_of(kept.project)
    monkeypatch.setattr(RequestHandler, "_take_command", lie)
    assert reserve(laptop, OTTER, "src/a.py") == "another_history"
    assert events_of(kept.project) == events_of(laptop) == before


def test_a_brief_answer_that_was_not_asked_for_is_none(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook or a single command ends right away: nobody would ever look for what it was told."""

    def lie(_self: RequestHandler, asked: Request, _question: wire.Commit) -> None:
        asked.reply(wire.Committed(None))

    before = events_of(kept.project)
    monkeypatch.setattr(RequestHandler, "_take_command", lie)
    assert reserve(laptop, OTTER, "src/a.py") == "bad_answer"
    session = Session(laptop.root, acting=OTTER, keys=KeyFolder(laptop.keys), env=laptop.env)
    with pytest.raises(MootError) as refused:
        scopes.reserve(session, ["src/b.py"])
    session.close(checkpoint=False)  # as a hook does
    assert refused.value.code == "bad_answer"
    assert events_of(kept.project) == events_of(laptop) == before


@pytest.mark.parametrize("size", [2**40, MAX_BYTES + 1, 3])
def test_an_artifact_that_has_no_end_is_not_fetched(
    laptop: Project, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    sent = 0

    def lie(
        _self: RequestHandler, _member: Member, _question: wire.DownloadPiece
    ) -> wire.ArtifactPiece:
        nonlocal sent
        sent += 1
        return wire.ArtifactPiece(size, b"x" * 1_000)  # without an end

    monkeypatch.setattr("moot.hosts.request_handler._BACKGROUND", {wire.DownloadPiece: lie})
    with laptop.workspace() as workspace:
        artifacts = workspace.artifacts
        assert isinstance(artifacts, RemoteArtifacts)
        assert not artifacts.has(hashlib.sha256(b"wanted").hexdigest())
        assert sent == 1
        assert list(artifacts.all_hashes()) == [], "nothing that was not wanted is kept"


def test_what_a_keeper_says_cannot_play_with_the_terminal(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = wire.Failed("Refused", "x\x1b[2J", "gone\x1b]0;title\x07", "type\x1b[8m this", ())
    monkeypatch.setattr(
        RequestHandler, "_answer_follow", lambda _self, asked, _question: asked.reply(said)
    )
    done = laptop.run("--as", OTTER, "reserve", "src")
    assert done.code != 0
    assert "\x1b" not in done.out + done.err
    assert "\x07" not in done.out + done.err


def test_an_answer_of_another_kind_is_no_answer(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        RequestHandler, "_answer_follow", lambda _self, asked, _question: asked.reply(wire.Done(5))
    )
    assert reserve(laptop, OTTER, "src") == "bad_answer"


def test_a_keeper_that_shows_two_machines_two_histories_cannot_bring_them_together(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hides one machine's event from the other, and shows it what came after."""
    assert held_paths(desktop) == []
    assert reserve(laptop, OTTER, "src/a.py") == ""
    hidden = events_of(kept.project)
    assert reserve(laptop, OTTER, "src/b.py") == ""

    def hide(view: View, asked: wire.CopyPosition, now: Millis) -> wire.SyncDelta:
        delta = read_delta(view, asked, now)
        records = tuple(one for one in delta.records if b"src/a.py" not in one[3])
        return msgspec.structs.replace(delta, records=records, note=None)

    with monkeypatch.context() as patch:
        patch.setattr(DOOR_NEWS, hide)
        assert reserve(desktop, CRANE, "docs") not in ("", "reservation_conflict")
        assert events_of(desktop) < hidden
    assert reserve(desktop, CRANE, "src/a.py") == "reservation_conflict"


def test_a_state_that_the_keeper_sums_up_wrongly_is_found_by_the_doctor(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    """The ledger's own key signs snapshots, so its keeper can sign any. The events say
    otherwise, and nobody has to believe it."""
    assert reserve(laptop, OTTER, "src/a.py") == ""
    with kept.project.workspace() as workspace, workspace.store.write() as change:
        engine = workspace.engine
        loaded = engine._replay.load(change, STREAM)
        empty = msgspec.structs.replace(loaded, state=MACHINE.initial)
        held = engine.keys.find(CHECKPOINT, key_id(engine.trust.checkpoint))
        assert held is not None
        change.put_snapshot(take_snapshot(engine.trust.origin, STREAM, empty, held.signer))
    desktop.ok("status")
    assert desktop.ok("verify")["verdict"] == "valid", "no event was touched"
    codes = {one["code"] for one in desktop.json("ledger", "doctor").envelope["data"]["findings"]}
    assert "derived_differs" in codes
    desktop.ok("ledger", "rebuild")
    assert desktop.json("ledger", "doctor").code == 0
    assert reserve(desktop, CRANE, "src/a.py") == "reservation_conflict"

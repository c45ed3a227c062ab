"""Events taken out of the file without a key: noticed, not written on, not signed over."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from moot.core.clock import system_clock
from moot.core.errors import MootError, Refused, Tampered
from moot.core.machine import KeyClass
from moot.core.names import CHECKPOINT
from moot.core.signing import key_id
from moot.engine.checkpoints import make_checkpoint
from moot.engine.export import bundle
from moot.engine.registry_commands import register
from moot.keys.folder import KeyFolder
from moot.keys.seen_checkpoints import SeenLedger, read_seen_ledger
from moot.protocols.example.model import Ask
from moot.verify import standalone
from moot.workspace.create import create_workspace
from moot.workspace.integrity_check import CheckOptions, check_workspace
from moot.workspace.recovery import accept_loss
from moot.workspace.workspace import Workspace
from tests.project import Project
from tests.workspace import removing_events

OTTER = "amber-otter"
A, B, LAST = "example/a", "example/b", "example/last"


class ThreeLists:
    """A ledger with three lists, all pinned and kept, and its key folder."""

    def __init__(self, root: Path, keys: KeyFolder) -> None:
        self.path, self.keys = root / ".moot", keys
        self.ledger = self.path / "ledger.db"
        assert create_workspace(root, keys, system_clock)
        with self.open() as space:
            add(space, OTTER)
            for stream in (A, B, LAST):
                ask(space, stream, 4)
            add(space, "coral-finch")

    def open(self, keys: KeyFolder | None = None) -> Workspace:
        return Workspace(self.path, keys or self.keys)

    def kept(self) -> SeenLedger:
        with self.open() as space:
            origin = space.trust.origin
        return read_seen_ledger(self.keys.path / "kept.db", origin)

    def verdict(self) -> str:
        return check_workspace(self.path, CheckOptions(self.keys)).verdict

    def told_outside(self) -> str:
        """What someone with an export, a trust file and the standalone checker is told."""
        with tempfile.TemporaryDirectory() as name, self.open() as space:
            with suppress(MootError):
                space.engine.checkpoint()
            file = Path(name, "record.moot")
            with space.store.read() as view:
                file.write_bytes(b"".join(bundle(view, space.trust, space.artifacts)))
            found = standalone.verify(str(file), str(self.path / "trust.json"))
        seen, _, counted = found.completeness.removesuffix(" streams").partition(" of ")
        part = counted and seen != counted
        return f"{found.verdict} in part" if part else str(found.verdict)

    def events(self) -> int:
        with self.open() as space, space.store.read() as view:
            return view.count_streams_and_events()[1]

    def note(self) -> str | None:
        with self.open() as space, space.store.read() as view:
            return view.newest_note()


def add(space: Workspace, name: str) -> None:
    signer = space.folder.add_key(space.trust.origin, name, KeyClass.AGENT)
    register(space.engine, name, signer, custodian=space.folder.custodian)


def ask(space: Workspace, stream: str = A, count: int = 1) -> None:
    for _ in range(count):
        space.engine.execute(stream, Ask(title="t", of=OTTER), OTTER)


@pytest.fixture
def lists(tmp_path: Path) -> ThreeLists:
    root = tmp_path / "project"
    root.mkdir()
    return ThreeLists(root, KeyFolder(tmp_path / "keys"))


@pytest.fixture
def warm(lists: ThreeLists) -> Iterator[Workspace]:
    """A process that has written to each of them before they are cut."""
    with lists.open() as space:
        for stream in (A, B, LAST):
            ask(space, stream)
        space.engine.checkpoint()
        yield space


def agent_of_its_own(space: Workspace, folder: Path) -> KeyFolder:
    """A key folder with one agent's key: it makes no checkpoints, and so has kept nothing."""
    own = KeyFolder(folder)
    signer = own.add_key(space.trust.origin, "teal-crane", KeyClass.AGENT)
    register(space.engine, "teal-crane", signer, custodian=own.custodian)
    space.pin_trust(own)
    return own


def refused(act: Callable[[], object]) -> Tampered:
    with pytest.raises(Tampered) as error:
        act()
    return error.value


def require_rolled_back(act: Callable[[], object]) -> None:
    error = refused(act)
    assert error.code == "rolled_back"
    assert "accept-loss" in error.hint


CUTS: dict[str, Callable[[Path], None]] = {
    "the end of the list that is written next": lambda file: removing_events.cut(file, A, 2),
    "the end of the registry": lambda file: removing_events.cut(file, "registry"),
    "the end of another list": lambda file: removing_events.cut(file, B, 2),
    "the newest list": lambda file: removing_events.remove(file, LAST),
    "a list in the middle": lambda file: removing_events.remove(file, B),
}
each_cut = pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS.keys())


@pytest.mark.requirement("LDG-098")
@each_cut
def test_what_was_cut_is_not_written_on_or_signed_over(
    lists: ThreeLists, cut: Callable[[Path], None]
) -> None:
    cut(lists.ledger)
    kept, events, note = lists.kept(), lists.events(), lists.note()
    with lists.open() as space:
        require_rolled_back(lambda: ask(space))
        require_rolled_back(space.engine.checkpoint)
        refused(space.engine.rebuild)
    assert (lists.kept(), lists.events(), lists.note()) == (kept, events, note)


@pytest.mark.requirement("LDG-098")
@each_cut
def test_a_process_that_was_at_work_signs_for_nothing_that_was_cut(
    lists: ThreeLists, warm: Workspace, cut: Callable[[Path], None]
) -> None:
    cut(lists.ledger)
    kept, note = lists.kept(), lists.note()
    for _ in range(3):
        with suppress(Tampered):
            ask(warm)
        with suppress(Tampered):
            ask(warm, "example/new")
        refused(warm.engine.checkpoint)
    warm.close()
    assert (lists.kept(), lists.note()) == (kept, note)
    assert lists.verdict() not in ("valid", "unproven")
    assert lists.told_outside() != "valid"


@pytest.mark.requirement("LDG-098")
@each_cut
@pytest.mark.parametrize("moved", [True, False])
def test_whatever_is_written_afterwards_it_never_looks_intact_again(
    lists: ThreeLists, cut: Callable[[Path], None], moved: bool
) -> None:
    cut(lists.ledger)
    if not moved:
        removing_events.run(lists.ledger, "UPDATE streams SET moved = 0")
    heads = lists.kept().heads
    for number in range(5):
        for stream in (A, "example/c", f"example/{number}", LAST, B):
            with lists.open() as space, suppress(MootError):
                ask(space, stream, 2)
        with lists.open() as space, suppress(MootError):
            add(space, f"coral-finch-{number}")
        assert lists.verdict() != "valid"
        assert lists.told_outside() != "valid"
    lost = {name for name, head in heads.items() if lists.kept().heads[name] == head}
    assert lost, "what was kept of the stream that was cut is kept still"


@pytest.mark.requirement("LDG-098")
def test_a_cut_that_is_not_marked_as_moved_is_refused_where_it_was_made(lists: ThreeLists) -> None:
    removing_events.cut(lists.ledger, B, 2, moved=False)
    before = lists.kept().heads[B]
    with lists.open() as space:
        require_rolled_back(lambda: ask(space, A))
        require_rolled_back(lambda: ask(space, B))
    assert lists.kept().heads[B] == before
    assert lists.verdict() == "truncated"
    assert lists.told_outside() == "truncated"


@pytest.mark.requirement("LDG-098")
def test_a_head_that_was_set_back_is_not_signed_for(lists: ThreeLists) -> None:
    """Its events are still there, and could be removed once a checkpoint lacks them."""
    removing_events.set_back(lists.ledger, B)
    kept, note = lists.kept(), lists.note()
    with lists.open() as space:
        require_rolled_back(lambda: ask(space, A))
        require_rolled_back(space.engine.checkpoint)
    assert (lists.kept(), lists.note()) == (kept, note)


@pytest.mark.requirement("LDG-098")
def test_an_event_forged_in_the_place_of_one_that_was_pinned_is_not_signed_for(
    lists: ThreeLists,
) -> None:
    """Nothing is gone, and a protocol may have to record that it failed; but it ends there."""
    removing_events.forge_newest(lists.ledger, B)
    kept, note = lists.kept(), lists.note()
    with lists.open() as space:
        ask(space, B)
        require_rolled_back(space.engine.checkpoint)
    assert (lists.kept(), lists.note()) == (kept, note)
    assert lists.verdict() == "tampered"


@pytest.mark.requirement("LDG-098")
def test_a_tree_made_to_fit_the_cut_is_not_signed(lists: ThreeLists) -> None:
    """The nodes lie in the same file: who cuts a stream can also put them right."""
    removing_events.cut(lists.ledger, B, 2, moved=True)
    note, kept = lists.note(), lists.kept()
    with lists.open() as space, space.store.write() as change:  # all but the note that is signed
        held = space.keys.find(CHECKPOINT, key_id(space.trust.checkpoint))
        assert held is not None
        assert make_checkpoint(change, space.trust, held.signer, system_clock())
    removing_events.run(
        lists.ledger, "DELETE FROM notes WHERE number = (SELECT max(number) FROM notes)"
    )
    assert lists.note() == note
    with lists.open() as space:
        ask(space, A)
        assert refused(space.engine.checkpoint).code == "tree_damaged"
    assert (lists.note(), lists.kept()) == (note, kept)
    assert lists.verdict() != "valid"


@pytest.mark.requirement("LDG-100")
@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.parametrize("knowing", [True, False])
def test_a_tree_made_to_fit_the_cut_is_not_made_right_by_a_rebuild(
    lists: ThreeLists, tmp_path: Path, pinned: bool, knowing: bool
) -> None:
    """Not even where nothing is kept: the note was signed for another one."""
    with lists.open() as space:
        own = agent_of_its_own(space, tmp_path / "own")
    removing_events.cut(lists.ledger, B, 2, moved=False)
    if pinned:
        fits = "noted_seq = seq, noted_hash = hash"
        removing_events.run(lists.ledger, f"UPDATE streams SET {fits} WHERE name = '{B}'")
    removing_events.run(lists.ledger, "DELETE FROM nodes", "DELETE FROM index_rows")
    before = dump(lists.ledger)
    with lists.open(None if knowing else own) as space:
        error = refused(space.engine.rebuild)
    assert error.code == ("rolled_back" if knowing else "tree_damaged")
    assert dump(lists.ledger) == before


def dump(ledger: Path) -> list[str]:
    with closing(sqlite3.connect(ledger)) as db:
        return list(db.iterdump())


@pytest.mark.requirement("LDG-100")
def test_a_damaged_tree_is_fixed_by_a_rebuild_which_the_doctor_names(lists: ThreeLists) -> None:
    project = Project(lists.path.parent, lists.keys.path)
    removing_events.run(
        lists.ledger, "UPDATE nodes SET hash = zeroblob(32) WHERE level = 0 AND place = 1"
    )
    with lists.open() as space:
        ask(space, A)
        error = refused(space.engine.checkpoint)
        assert (error.code, "moot ledger rebuild" in error.hint) == ("tree_damaged", True)
    (found,) = (
        found
        for found in project.json("ledger", "doctor").data["findings"]
        if found["code"] == "tree_damaged"
    )
    assert (found["severity"], "moot ledger rebuild" in found["hint"]) == ("error", True)
    (fixed,) = project.ok("ledger", "rebuild")["findings"]
    assert (fixed["code"], fixed["where"]) == ("tree_differs", found["where"])
    assert project.ok("ledger", "checkpoint")["made"] is True
    assert project.ok("ledger", "doctor")["findings"] == []
    assert lists.verdict() == "valid"
    assert lists.told_outside() == "valid"


@pytest.mark.requirement("LDG-098")
def test_a_new_list_does_not_take_the_place_of_one_that_was_removed(
    lists: ThreeLists, warm: Workspace, tmp_path: Path
) -> None:
    """Not even where nothing is kept: the newest checkpoint counts them."""
    own = agent_of_its_own(warm, tmp_path / "own")
    warm.engine.checkpoint()
    removing_events.remove(lists.ledger, LAST)
    require_rolled_back(lambda: ask(warm, "example/new"))
    with lists.open(own) as space:
        require_rolled_back(
            lambda: space.engine.execute("example/new", Ask(title="t", of=OTTER), "teal-crane")
        )


@pytest.mark.requirement("LDG-098")
@pytest.mark.parametrize("further", [1, 4])
def test_what_another_process_pinned_meanwhile_is_not_signed_over(
    lists: ThreeLists, warm: Workspace, further: int
) -> None:
    with lists.open() as space:
        ask(space, A, 3)
    kept, note = lists.kept(), lists.note()
    removing_events.cut(lists.ledger, A, 3)
    ask(warm, A, further)  # where it stood when this process looked last
    require_rolled_back(warm.engine.checkpoint)
    warm.close()
    assert (lists.kept(), lists.note()) == (kept, note)
    assert lists.verdict() not in ("valid", "unproven")


@pytest.mark.requirement("LDG-098")
def test_an_older_note_put_back_under_a_process_at_work_is_not_followed(
    lists: ThreeLists, warm: Workspace
) -> None:
    kept = lists.kept()
    removing_events.run(
        lists.ledger, "DELETE FROM notes WHERE number = (SELECT max(number) FROM notes)"
    )
    ask(warm, A)
    require_rolled_back(warm.engine.checkpoint)
    assert read_seen_ledger(lists.keys.path / "kept.db", warm.trust.origin) == kept


@pytest.mark.requirement("LDG-098")
def test_what_a_process_forgot_after_a_failure_is_still_not_written_on(
    lists: ThreeLists, warm: Workspace
) -> None:
    removing_events.cut(lists.ledger, A, 2)
    for _ in range(2):
        refused(lambda: warm.engine.tick(A))  # a failure empties what is kept in memory
        refused(lambda: ask(warm, A))


@pytest.mark.requirement("LDG-098")
def test_a_history_that_others_made_again_is_not_signed_by_a_process_at_work(
    lists: ThreeLists, warm: Workspace, tmp_path: Path
) -> None:
    own = agent_of_its_own(warm, tmp_path / "own")
    warm.engine.checkpoint()
    kept, note = lists.kept(), lists.note()
    removing_events.cut(lists.ledger, A, 2, moved=False)
    refused(lambda: warm.engine.tick(A))  # which forgets what it knew of the list
    with lists.open(own) as space:
        for _ in range(4):
            space.engine.execute(A, Ask(title="t", of=OTTER), "teal-crane")
    ask(warm, A)
    require_rolled_back(warm.engine.checkpoint)
    warm.close()
    assert (lists.kept(), lists.note()) == (kept, note)
    assert lists.verdict() not in ("valid", "unproven")


@pytest.mark.requirement("LDG-098")
def test_events_that_no_checkpoint_covers_are_not_missed(lists: ThreeLists, tmp_path: Path) -> None:
    """Nothing says that they were there: only a checkpoint does."""
    with lists.open() as space:
        own = agent_of_its_own(space, tmp_path / "own")
    with lists.open(own) as space:
        for _ in range(2):
            space.engine.execute(A, Ask(title="t", of=OTTER), "teal-crane")
    with closing(lists.open()) as space, space.store.write() as change:
        change.file_pending()
    removing_events.cut(lists.ledger, A, 1)
    with lists.open() as space:
        ask(space, A)
    assert lists.verdict() == "valid"


@pytest.mark.requirement("LDG-098")
def test_a_key_folder_that_has_kept_nothing_knows_nothing(
    lists: ThreeLists, tmp_path: Path
) -> None:
    with lists.open() as space:
        own = agent_of_its_own(space, tmp_path / "own")
    removing_events.cut(lists.ledger, A, 2)
    with lists.open(own) as space:
        for _ in range(4):  # further than before
            space.engine.execute(A, Ask(title="t", of=OTTER), "teal-crane")
    assert not (own.path / "kept.db").exists()
    with lists.open() as space:
        require_rolled_back(lambda: ask(space, A))
        require_rolled_back(space.engine.checkpoint)


def test_a_cut_record_can_still_be_exported_as_evidence(lists: ThreeLists) -> None:
    project = Project(lists.path.parent, lists.keys.path)
    removing_events.cut(lists.ledger, A)
    assert project.refused("ledger", "checkpoint") == ("rolled_back", 1)
    project.ok("ledger", "export", "-o", "evidence.moot")
    assert project.json("verify", "evidence.moot").data["verdict"] == "truncated"


# Each stream is asked about once.


def test_a_process_asks_the_key_folder_about_each_list_once(lists: ThreeLists) -> None:
    asked: list[str] = []
    with lists.open() as space:
        ask(space, A)
        ask(space, B)
        with space.seen_checkpoints._connection() as db:
            db.set_trace_callback(asked.append)
        for _ in range(5):
            ask(space, A)
            ask(space, B)
        assert asked == []
        ask(space, LAST)
        assert len(asked) == 1


# Accepting the loss.


LOSSES = {name: cut for name, cut in CUTS.items() if "middle" not in name}


@pytest.mark.requirement("LDG-098")
@pytest.mark.parametrize("moved", [True, False])
@pytest.mark.parametrize("cut", LOSSES.values(), ids=LOSSES.keys())
def test_an_accepted_loss_is_gone_on_from(
    lists: ThreeLists, cut: Callable[[Path], None], moved: bool
) -> None:
    cut(lists.ledger)
    if not moved:
        removing_events.run(lists.ledger, "UPDATE streams SET moved = 0")
    with lists.open() as space:
        lost = space.seen_checkpoints.newest(space.trust.origin)
        assert lost is not None
        made = accept_loss(space, "somebody cut it", None)
    assert made.checkpoint.number == lost.number + 1
    with lists.open() as space, space.store.read() as view:
        assert lists.kept().heads == {name: (h.seq, h.hash) for name, h in view.streams()}
    assert lists.verdict() == "valid"
    doctor = Project(lists.path.parent, lists.keys.path).ok("ledger", "doctor")
    assert {found["code"] for found in doctor["findings"]} <= {"derived_differs"}
    with lists.open() as space:
        for stream in (A, B, LAST, "example/new"):
            ask(space, stream, 2)
    assert lists.verdict() == "valid"
    assert lists.told_outside() == "valid"


@pytest.mark.requirement("LDG-099")
def test_an_accepted_loss_is_said_here_and_to_those_who_get_an_export(lists: ThreeLists) -> None:
    project = Project(lists.path.parent, lists.keys.path)
    removing_events.cut(lists.ledger, A)
    project.ok("ledger", "accept-loss", "--reason", "a bundle fell into the stream")
    project.ok("ledger", "export", "-o", "record.moot")
    for words in (("verify",), ("verify", "record.moot", "--trust", ".moot/trust.json")):
        done = project.run(*words)
        assert done.code == 0
        assert done.out.startswith("INTACT")
        assert "a loss was accepted at event 3 of the list of keys on 20" in done.out
        assert '"a bundle fell into the stream"' in done.out
    file, trust = lists.path.parent / "record.moot", lists.path / "trust.json"
    (said,) = standalone.verify(str(file), str(trust)).findings
    assert said.startswith("a loss was accepted at event 3 of the registry on 20")
    assert said.endswith('Z: "a bundle fell into the stream"')


@pytest.mark.requirement("LDG-098")
def test_what_is_left_must_hold_before_a_loss_is_accepted(lists: ThreeLists) -> None:
    """Else the new checkpoint would sign for a head that fits no event."""
    removing_events.cut(lists.ledger, A)
    removing_events.run(lists.ledger, f"UPDATE streams SET hash = x'00' WHERE name = '{A}'")
    kept, events = lists.kept(), lists.events()
    with lists.open() as space:
        error = refused(lambda: accept_loss(space, "somebody cut it", None))
    assert (error.code, error.stream) == ("tampered", A)
    assert (lists.kept(), lists.events()) == (kept, events)


@pytest.mark.requirement("LDG-098")
def test_a_list_gone_from_the_middle_cannot_be_accepted(lists: ThreeLists) -> None:
    """The lists after it keep their places under the checkpoint, and one of them is empty."""
    removing_events.remove(lists.ledger, B)
    kept, events = lists.kept(), lists.events()
    with lists.open() as space:
        error = refused(lambda: accept_loss(space, "somebody cut it", None))
    assert error.code == "stream_missing"
    assert (lists.kept(), lists.events()) == (kept, events)


def test_nothing_is_accepted_where_nothing_is_lost(lists: ThreeLists) -> None:
    with lists.open() as space, pytest.raises(Refused) as error:
        accept_loss(space, "why not", None)
    assert error.value.code == "nothing_lost"


@pytest.mark.requirement("LDG-098")
def test_an_event_forged_in_the_place_of_a_lost_one_is_not_accepted(lists: ThreeLists) -> None:
    """Else a checkpoint would be signed over it, and what shows that it is forged forgotten."""
    removing_events.forge_newest(lists.ledger, A)
    kept, events = lists.kept(), lists.events()
    with lists.open() as space:
        error = refused(lambda: accept_loss(space, "somebody cut it", None))
    assert (error.code, error.stream, error.seq) == ("unproved_record", A, 3)
    assert (lists.kept(), lists.events()) == (kept, events)


@pytest.mark.requirement("LDG-098")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE notes SET note = 'x' WHERE number = (SELECT max(number) FROM notes)",
        "INSERT INTO notes SELECT max(number) + 1, 'x' FROM notes",
    ],
)
def test_a_damaged_checkpoint_locks_nobody_out(lists: ThreeLists, damage: str) -> None:
    """Every event is there; only the note, which the key folder has kept, is not."""
    removing_events.run(lists.ledger, damage)
    with lists.open() as space:
        lost = space.seen_checkpoints.newest(space.trust.origin)
        assert lost is not None
        made = accept_loss(space, "somebody wrote over the checkpoint", None)
    assert made.checkpoint.number == lost.number + 1
    with lists.open() as space:
        ask(space)
    assert lists.verdict() == lists.told_outside() == "valid"


def test_where_no_note_signs_the_tree_none_of_it_is_signed_for(lists: ThreeLists) -> None:
    """An intruder who removes the notes can write any leaf: an event that never existed."""
    for file in lists.keys.path.glob("kept.db*"):
        file.unlink()
    removing_events.run(lists.ledger, "DELETE FROM notes", "UPDATE nodes SET hash = zeroblob(32)")
    with lists.open() as space:
        ask(space)
    assert lists.verdict() == lists.told_outside() == "valid"


def test_events_whose_mark_was_taken_away_are_pinned_all_the_same(
    lists: ThreeLists, tmp_path: Path
) -> None:
    """Else the next checkpoint would count them, and not prove them."""
    with lists.open() as space:
        own = agent_of_its_own(space, tmp_path / "own")
    with lists.open(own) as space:
        space.engine.execute(A, Ask(title="t", of=OTTER), "teal-crane")
        with space.store.write() as change:
            change.file_pending()
    removing_events.run(lists.ledger, "UPDATE streams SET moved = 0")
    with lists.open() as space:
        ask(space, B)
    assert lists.verdict() == lists.told_outside() == "valid"

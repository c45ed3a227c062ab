"""What may be wrong with a workspace: one check each, named for the flaw it finds.

A check yields `(message, where)` for each breach; an empty message means its rule's own sentence.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from moot.core.clock import MINUTE, Millis
from moot.core.errors import MootError, Tampered, Unavailable
from moot.core.findings import Breach, HintWords
from moot.core.names import CHECKPOINT, SYSTEM
from moot.workspace import trust as trust_files
from moot.workspace.check import pinned_trust
from moot.workspace.checkup import Checkup
from moot.workspace.file_versions import FILE as FILE_MEMORY
from moot.workspace.find import DATABASE, JOINED, LEDGER, is_joined
from moot.workspace.loss import lost_heads
from moot.workspace.rollback_guard import was_rolled_back

Breaches = Iterator[Breach]

KNOWN = {"ledger.db", "ledger.db-wal", "ledger.db-shm", "artifacts", "trust.json", ".gitignore"}
KNOWN |= {"ledger.db-line", "ledger.db-fetching", "files.db", "files.db-wal", "files.db-shm"}
KNOWN |= {"decisions", "hooks", "opencode-plugin.js", "pace", "papers", "paths", "running"}
KNOWN |= {"sealed", JOINED, DATABASE, "keeper"}
KNOWN |= {f"{FILE_MEMORY}{end}" for end in ("", "-wal", "-shm")}
SHOWN = 10
CLOCK_SLACK: Millis = 5 * MINUTE
LOW_DISK_BYTES = 64 * 1024 * 1024


# The record itself.


def unreadable_trust(checkup: Checkup) -> Breaches:
    if checkup.trust_problem:
        yield checkup.trust_problem, "trust.json"


def changed_trust(checkup: Checkup) -> Breaches:
    own = checkup.trust
    place = pinned_trust(checkup.folder, own.origin) if own is not None else None
    if place is None:
        return
    try:
        pinned = trust_files.read_trust_file(place).trust()
    except Unavailable:  # a rule of its own
        return
    except MootError as error:
        yield str(error), str(place)
    else:
        if pinned != own:
            yield "", "trust.json"


def damaged_store(checkup: Checkup) -> Breaches:
    for problem in checkup.store_problems[:SHOWN]:
        yield problem, "ledger.db"


def read_only_ledger(checkup: Checkup) -> Breaches:
    """Everything that is recorded needs the file, and its folder for what SQLite puts beside it."""
    for place in (checkup.path, checkup.path / LEDGER):
        if place.exists() and not os.access(place, os.W_OK):
            yield "", place.name
            return


def broken_chain(checkup: Checkup) -> Breaches:
    for error in checkup.derived.broken if checkup.derived is not None else ():
        yield str(error), error.stream if isinstance(error, Tampered) else None


def stale_derivation(checkup: Checkup) -> Breaches:
    differences = checkup.derived.differences if checkup.derived is not None else []
    for finding in differences[:SHOWN]:
        yield finding.message, finding.where
    if len(differences) > SHOWN:
        yield f"and {len(differences) - SHOWN} more", None


def damaged_tree(checkup: Checkup) -> Breaches:
    tree = checkup.derived.tree if checkup.derived is not None else None
    if tree is not None:
        yield tree.description, f"checkpoint {tree.checkpoint}"


def rolled_back(checkup: Checkup) -> Breaches:
    if checkup.view is None or checkup.trust is None or isinstance(checkup.seen_ledger, MootError):
        return
    note, heads = checkup.seen_ledger.newest, checkup.seen_ledger.heads
    if note is not None and was_rolled_back(checkup.view, checkup.trust, note):
        yield f"checkpoint {note.number} was made here before and is gone", None
    for stream, seq in lost_heads(checkup.view, heads):
        yield f"event {seq} was here before and is gone or another now", stream


def forked(checkup: Checkup) -> Breaches:
    for record in checkup.view.forks() if checkup.view is not None else ():
        yield f"a second event was signed for position {record.seq}", record.stream


def unpinned(checkup: Checkup) -> Breaches:
    moved = checkup.view.moved_heads() if checkup.view is not None else []
    if moved:
        yield "the newest events are under no checkpoint yet", moved[0][0]


def in_use(checkup: Checkup) -> Breaches:
    ledger = str((checkup.path / "ledger.db").resolve())
    for process in sorted(Path("/proc").glob("[0-9]*")):
        if int(process.name) != os.getpid() and ledger in _open_files(process):
            name = (process / "comm").read_text("utf-8", "replace").strip()
            yield f"process {process.name} ({name}) has the ledger open", None


def _open_files(process: Path) -> set[str]:
    try:
        return {os.readlink(link) for link in (process / "fd").iterdir()}
    except OSError:  # it has ended, or is somebody else's
        return set()


def silent_keeper(checkup: Checkup) -> Breaches:
    """On a machine that joined, and has not left: does its keeper answer and know it?"""
    if not is_joined(checkup.path) or checkup.trust is None:
        return
    from moot.keeper.copying import KeeperLine
    from moot.workspace.joined import read_membership

    line: KeeperLine | None = None
    try:
        membership = read_membership(checkup.path, checkup.folder, checkup.trust.origin)
        line = KeeperLine(membership)
        line.greet()
    except MootError as error:
        if error.code != "machine_left":
            yield str(error), JOINED
    finally:
        if line is not None:
            line.close()


# Files.


def unknown_file(checkup: Checkup) -> Breaches:
    for entry in sorted(checkup.path.iterdir()):
        if entry.name not in KNOWN and not entry.name.startswith(f"{LEDGER}.moved-"):
            yield "", entry.name


def leftover(checkup: Checkup) -> Breaches:
    unfinished = list(checkup.path.parent.glob(f"{checkup.path.name}.new-*"))
    for entry in sorted(unfinished + list((checkup.path / "artifacts").glob(".*"))):
        yield "", str(entry)


def missing_artifact(checkup: Checkup) -> Breaches:
    if checkup.derived is None or checkup.registry is None or is_joined(checkup.path):
        return  # where the ledger is kept elsewhere, what is not here is fetched when it is used
    for sha256 in sorted(checkup.derived.cited):
        if sha256 not in checkup.registry.erased and not checkup.artifacts.has(sha256):
            yield "", sha256


def damaged_artifact(checkup: Checkup) -> Breaches:
    for sha256 in checkup.stored:
        try:
            for _ in checkup.artifacts.chunks(sha256):
                pass
        except (MootError, OSError) as error:
            yield str(error), sha256


def uncited_artifact(checkup: Checkup) -> Breaches:
    if checkup.derived is None or checkup.derived.broken:
        return
    for sha256 in checkup.stored:
        if sha256 not in checkup.derived.cited:
            yield "", sha256


def unfinished_erasure(checkup: Checkup) -> Breaches:
    erased = checkup.registry.erased if checkup.registry is not None else {}
    for sha256 in checkup.stored:
        if sha256 in erased:
            yield "", sha256


# Keys.


def exposed_key(checkup: Checkup) -> Breaches:
    folder = checkup.folder.path
    private = [*folder.glob("*/*.key"), folder / "folder.json"]
    for file in sorted(path for path in private if path.exists()):
        if os.name != "nt" and stat.S_IMODE(file.stat().st_mode) & 0o077:
            yield f"others may read {file.name}", str(file), None, _known(file)


def _known(file: Path) -> HintWords:
    """What hints may say of a key's file; the ledger's own two keys are nobody's to rotate."""
    name, dot, _ = file.name.removesuffix(".key").partition(".")
    owned = file.suffix == ".key" and dot and name not in (SYSTEM, CHECKPOINT)
    return {"FILE": str(file), **({"NAME": name} if owned else {})}


def exposed_folder(checkup: Checkup) -> Breaches:
    place = str(checkup.folder.path)
    if _others_may(checkup.folder.path) & 0o022:
        yield "", place, None, {"FOLDER": place}


def open_folder(checkup: Checkup) -> Breaches:
    may, place = _others_may(checkup.folder.path), str(checkup.folder.path)
    if may and not may & 0o022:  # that is the graver one above
        yield "", place, None, {"FOLDER": place}


def _others_may(folder: Path) -> int:
    """What those who do not own it may do with a folder, in the bits of its mode."""
    if os.name == "nt" or not folder.is_dir():
        return 0
    return stat.S_IMODE(folder.stat().st_mode) & 0o077


def unreadable_key(checkup: Checkup) -> Breaches:
    if checkup.trust is None:
        return
    origin = checkup.trust.origin
    for file in sorted(checkup.folder.ledger_folder(origin).glob("*.key")):
        name, _, kid = file.name.removesuffix(".key").partition(".")
        try:
            checkup.folder.read_key(origin, name, kid)
        except MootError as error:
            if error.code != "key_exposed":  # a rule of its own
                yield str(error), str(file), None, _known(file)


def damaged_memory(checkup: Checkup) -> Breaches:
    if isinstance(checkup.seen_ledger, MootError):
        yield str(checkup.seen_ledger), str(checkup.folder.user_folder.path / "kept.db")


def unreadable_pinned_trust(checkup: Checkup) -> Breaches:
    own = checkup.trust
    place = pinned_trust(checkup.folder, own.origin) if own is not None else None
    try:
        if place is not None:
            trust_files.read_trust_file(place)
    except Unavailable as error:
        yield str(error), str(place), None, {"FILE": str(place)}
    except MootError:
        return  # DOC-02 has said so


def unpinned_trust(checkup: Checkup) -> Breaches:
    if checkup.trust is not None and pinned_trust(checkup.folder, checkup.trust.origin) is None:
        yield "", str(checkup.folder.ledger_folder(checkup.trust.origin) / "trust.json")


# Surroundings.


def committed(checkup: Checkup) -> Breaches:
    git = shutil.which("git")
    if git is None:
        return
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    listed = subprocess.run(
        [git, "-C", str(checkup.path.parent), "ls-files", "--", checkup.path.name],
        capture_output=True,
        check=False,
        env=env,
    )
    if listed.returncode == 0 and listed.stdout.strip():
        yield "", checkup.path.name


def not_ignored(checkup: Checkup) -> Breaches:
    if not (checkup.path / ".gitignore").is_file():
        yield "", ".gitignore"


def clock_off(checkup: Checkup) -> Breaches:
    newest = checkup.derived.newest if checkup.derived is not None else None
    if newest is None or checkup.registry is None or checkup.registry.clock != "system":
        return
    ahead = newest.at - checkup.now
    if ahead > CLOCK_SLACK:
        yield f"the last event is {ahead // MINUTE} minutes ahead of this machine's clock", None


def low_disk(checkup: Checkup) -> Breaches:
    free = shutil.disk_usage(checkup.path).free
    if free < LOW_DISK_BYTES:
        yield f"only {free // 2**20} MiB are free where the record is kept", str(checkup.path)

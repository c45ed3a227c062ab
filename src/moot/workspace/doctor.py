"""What is wrong with a workspace, and how to mend it. Repairs nothing, writes nothing.

`RULES` is the list of what is looked at, one row each; `Checkup` is what the checks look at. A
check that cannot be made because something graver is broken is silent: that is reported already.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import cached_property
from pathlib import Path

from moot.core.clock import MINUTE, Millis
from moot.core.errors import MootError, Tampered
from moot.core.findings import Finding, Rule, Severity, check_all
from moot.core.registry.model import State as Registry
from moot.engine.keys import Trust
from moot.engine.machines import Machines
from moot.engine.rebuild import Derived, compare
from moot.engine.replay import Replay
from moot.keys.folder import KeyFolder
from moot.keys.kept import KeptNotes
from moot.store.artifacts import FileArtifacts
from moot.store.sqlite.reader import SqliteReader
from moot.store.sqlite.view import SqliteView
from moot.workspace import trust as trust_files
from moot.workspace.check import pinned_trust
from moot.workspace.loss import lost_heads
from moot.workspace.workspace import lacks

Breaches = Iterator[tuple[str, str | None]]

KNOWN = {"ledger.db", "ledger.db-wal", "ledger.db-shm", "artifacts", "trust.json", ".gitignore"}
SHOWN = 10
CLOCK_SLACK: Millis = 5 * MINUTE
LOW_DISK_BYTES = 64 * 1024 * 1024


class Checkup:
    """One look at one workspace; each thing is read at most once, and only if a check asks."""

    def __init__(self, path: Path, folder: KeyFolder, now: Millis) -> None:
        self.path = path
        self.folder = folder
        self.now = now
        self.artifacts = FileArtifacts(path / "artifacts")
        self.trust: Trust | None = None
        self.view: SqliteView | None = None
        self.trust_problem = ""
        self.store_problems: list[str] = []

    def look(self) -> tuple[Finding, ...]:
        """Open what can be opened, read-only, and let every rule have its say."""
        with ExitStack() as stack:
            self._read_trust()
            self._open(stack)
            return check_all(RULES, self)

    def _read_trust(self) -> None:
        try:
            self.trust = trust_files.read(self.path / "trust.json").trust()
        except MootError as error:
            self.trust_problem = str(error)

    def _open(self, stack: ExitStack) -> None:
        try:
            reader = stack.enter_context(closing(SqliteReader(self.path / "ledger.db")))
            self.store_problems = reader.integrity()
            if not self.store_problems:
                self.view = stack.enter_context(reader.read())
        except MootError as error:
            self.store_problems = [str(error)]

    @cached_property
    def derived(self) -> Derived | None:
        if self.view is None or self.trust is None:
            return None
        return compare(self.view, Replay(self.trust, Machines()))

    @cached_property
    def registry(self) -> Registry | None:
        if self.view is None or self.trust is None:
            return None
        try:
            return Replay(self.trust, Machines()).registry(self.view)
        except MootError:
            return None

    @cached_property
    def stored(self) -> list[str]:
        return list(self.artifacts.all())


def examine(path: Path, folder: KeyFolder, now: Millis) -> tuple[Finding, ...]:
    """Everything that is wrong with the workspace at `path`."""
    return Checkup(path, folder, now).look()


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
        pinned = trust_files.read(place).trust()
    except MootError as error:
        yield str(error), str(place)
    else:
        if pinned != own:
            yield "", "trust.json"


def damaged_store(checkup: Checkup) -> Breaches:
    for problem in checkup.store_problems[:SHOWN]:
        yield problem, "ledger.db"


def broken_chain(checkup: Checkup) -> Breaches:
    for error in checkup.derived.broken if checkup.derived is not None else ():
        yield str(error), error.stream if isinstance(error, Tampered) else None


def stale_derivation(checkup: Checkup) -> Breaches:
    differences = checkup.derived.differences if checkup.derived is not None else []
    for finding in differences[:SHOWN]:
        yield finding.message, finding.where
    if len(differences) > SHOWN:
        yield f"and {len(differences) - SHOWN} more", None


def rolled_back(checkup: Checkup) -> Breaches:
    if checkup.view is None or checkup.trust is None:
        return
    notes, origin = KeptNotes(checkup.folder.path / "kept.db"), checkup.trust.origin
    note = notes.newest(origin)
    if note is not None and lacks(checkup.view, checkup.trust, note):
        yield f"checkpoint {note.number} was made here before and is gone", None
    for stream, seq in lost_heads(checkup.view, notes.heads(origin)):
        yield f"event {seq} was here before and is gone or another now", stream


def forked(checkup: Checkup) -> Breaches:
    for record in checkup.view.forks() if checkup.view is not None else ():
        yield f"a second event was signed for position {record.seq}", record.stream


def unpinned(checkup: Checkup) -> Breaches:
    moved = checkup.view.stale_heads() if checkup.view is not None else []
    if moved:
        yield "the newest events are under no checkpoint yet", moved[0][0]


# Files.


def unknown_file(checkup: Checkup) -> Breaches:
    for entry in sorted(checkup.path.iterdir()):
        if entry.name not in KNOWN:
            yield "", entry.name


def leftover(checkup: Checkup) -> Breaches:
    unfinished = list(checkup.path.parent.glob(f"{checkup.path.name}.new-*"))
    for entry in sorted(unfinished + list((checkup.path / "artifacts").glob(".*"))):
        yield "", str(entry)


def missing_artifact(checkup: Checkup) -> Breaches:
    if checkup.derived is None or checkup.registry is None:
        return
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
            yield f"others may read {file.name}", str(file)


def exposed_folder(checkup: Checkup) -> Breaches:
    folder = checkup.folder.path
    if os.name != "nt" and folder.is_dir() and stat.S_IMODE(folder.stat().st_mode) & 0o022:
        yield "", str(folder)


def unreadable_key(checkup: Checkup) -> Breaches:
    if checkup.trust is None:
        return
    origin = checkup.trust.origin
    for file in sorted(checkup.folder.ledger(origin).glob("*.key")):
        name, _, kid = file.name.removesuffix(".key").partition(".")
        try:
            checkup.folder.get(origin, name, kid)
        except MootError as error:
            if error.code != "key_exposed":  # a rule of its own
                yield str(error), str(file)


def unpinned_trust(checkup: Checkup) -> Breaches:
    if checkup.trust is not None and pinned_trust(checkup.folder, checkup.trust.origin) is None:
        yield "", str(checkup.folder.ledger(checkup.trust.origin) / "trust.json")


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


_WARNING, _INFO = Severity.WARNING, Severity.INFO
_RESTORE = "keep the file as it is; restore .moot/ledger.db from a backup"

RULES: tuple[Rule[Checkup], ...] = (
    Rule(
        "DOC-01",
        "trust_unreadable",
        "the workspace's trust file cannot be read",
        unreadable_trust,
        hint="copy it back from trust.json of this ledger in your key folder",
    ),
    Rule(
        "DOC-02",
        "trust_changed",
        "the workspace's trust file is not the one your key folder remembers",
        changed_trust,
        hint="find out who changed it; then copy it back from your key folder",
    ),
    Rule("DOC-03", "store_damaged", "the ledger file is damaged", damaged_store, hint=_RESTORE),
    Rule(
        "DOC-04",
        "chain_broken",
        "the record does not hold",
        broken_chain,
        hint=f"`moot verify` names the first bad event; {_RESTORE}",
    ),
    Rule(
        "DOC-05",
        "derived_differs",
        "an index or snapshot is not what the events say",
        stale_derivation,
        _WARNING,
        hint="`moot ledger rebuild` makes it anew from the events",
    ),
    Rule(
        "DOC-06",
        "rolled_back",
        "events that were here before are gone",
        rolled_back,
        hint="restore the newest copy of .moot/ledger.db; if it is lost for good, "
        "`moot ledger accept-loss --reason TEXT` goes on from here",
    ),
    Rule(
        "DOC-07",
        "forked",
        "a second history was signed",
        forked,
        hint="`moot ledger export` carries the proof; ask the holder of that key",
    ),
    Rule(
        "DOC-08",
        "not_pinned",
        "events are under no checkpoint",
        unpinned,
        _INFO,
        hint="`moot ledger checkpoint` pins them, where the checkpoint key is",
    ),
    Rule(
        "DOC-10",
        "unknown_file",
        "this file is not part of a workspace",
        unknown_file,
        _WARNING,
        hint="move it elsewhere if it is yours",
    ),
    Rule(
        "DOC-11",
        "leftover",
        "left behind by a process that was stopped",
        leftover,
        _WARNING,
        hint="remove it once no moot command is running",
    ),
    Rule(
        "DOC-12",
        "artifact_missing",
        "an event cites this file, and it is not stored",
        missing_artifact,
        _WARNING,
        hint="put it back from a backup of .moot/artifacts, or from an export",
    ),
    Rule(
        "DOC-13",
        "artifact_damaged",
        "a stored file is not what its name says",
        damaged_artifact,
        hint="put it back from a backup of .moot/artifacts, or from an export",
    ),
    Rule(
        "DOC-14",
        "artifact_uncited",
        "a stored file that no event cites",
        uncited_artifact,
        _INFO,
        hint="harmless: a command stored it and did not get further",
    ),
    Rule(
        "DOC-15",
        "erasure_unfinished",
        "recorded as erased, and its bytes are still here",
        unfinished_erasure,
        hint="`moot artifact erase` with its hash finishes the work",
    ),
    Rule(
        "DOC-20",
        "key_exposed",
        "others may read a private key",
        exposed_key,
        hint="chmod 600 FILE; if it may have been copied, `moot agent rotate NAME`",
    ),
    Rule(
        "DOC-21",
        "key_folder_exposed",
        "others may write to the key folder",
        exposed_folder,
        hint="chmod 700 FOLDER",
    ),
    Rule(
        "DOC-22",
        "bad_key_file",
        "a key file cannot be used",
        unreadable_key,
        hint="restore it from a backup, or `moot agent rotate NAME` with a person's consent",
    ),
    Rule(
        "DOC-23",
        "trust_not_pinned",
        "your key folder has never met this ledger, so nothing in it can be verified",
        unpinned_trust,
        _WARNING,
        hint="compare `moot trust show` with its owner's, then copy .moot/trust.json there",
    ),
    Rule(
        "DOC-30",
        "committed",
        "the workspace is committed to git: every checkout carries an old copy of the record",
        committed,
        hint="git rm -r --cached .moot",
    ),
    Rule(
        "DOC-31",
        "gitignore_missing",
        "nothing keeps the workspace out of git",
        not_ignored,
        _WARNING,
        hint="echo '*' > .moot/.gitignore",
    ),
    Rule(
        "DOC-40",
        "clock_off",
        "the last event is in the future",
        clock_off,
        _WARNING,
        hint="set this machine's clock; order does not depend on it, time limits do",
    ),
    Rule(
        "DOC-41",
        "disk_low",
        "the disk is nearly full",
        low_disk,
        _WARNING,
        hint="free some space: writing fails cleanly when there is none",
    ),
)

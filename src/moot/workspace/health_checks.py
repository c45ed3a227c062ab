"""What may be wrong with a workspace: one check for each problem, named after it.

A check yields `(message, where)` for each breach; an empty message stands for the rule's sentence.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path

from moot.core.clock import MINUTE, Millis
from moot.core.errors import MootError, Tampered, Unavailable
from moot.core.findings import Breach, Finding, HintWords, Rule, Severity, check_all
from moot.core.ledger import View
from moot.core.names import CHECKPOINT, SYSTEM
from moot.core.registry.model import State as Registry
from moot.engine.machines import Machines
from moot.engine.rebuild import DerivedData, compare_derived
from moot.engine.replay import Replay
from moot.engine.signers import LedgerTrust
from moot.keys.folder import KeyFolder
from moot.keys.seen_checkpoints import SeenLedger, read_seen_ledger
from moot.store.artifacts import FileArtifacts
from moot.workspace import trust as trust_files
from moot.workspace.file_versions import FILE as FILE_MEMORY
from moot.workspace.find import DATABASE, JOINED, LEDGER, is_joined
from moot.workspace.integrity_check import pinned_trust
from moot.workspace.recovery import lost_heads
from moot.workspace.rollback_guard import was_rolled_back

# Codes of errors that tell nothing about the state of the ledger.
UNREADABLE_CODES = {
    "changed_meanwhile",
    "log_unreadable",
    "store_unreachable",
    "store_busy",
    "disk_full",
    "disk_failed",
    "kept_unreadable",
}


class Checkup:
    """What `moot ledger doctor` reads of one workspace; each part at most once, when needed."""

    def __init__(self, path: Path, folder: KeyFolder, now: Millis) -> None:
        self.path = path
        self.folder = folder
        self.now = now
        self.artifacts = FileArtifacts(path / "artifacts")
        self.trust: LedgerTrust | None = None
        self.view: View | None = None
        self.trust_problem = ""
        self.store_problems: list[str] = []

    @contextmanager
    def opened(self) -> Iterator[Checkup]:
        """Open what can be opened; note why the rest cannot as a problem."""
        with ExitStack() as stack:
            self._read_trust()
            self._open(stack)
            yield self

    def _read_trust(self) -> None:
        try:
            self.trust = trust_files.read_trust_file(self.path / "trust.json").trust()
        except MootError as error:
            self.trust_problem = str(error)

    def _open(self, stack: ExitStack) -> None:
        try:
            from moot.hosts.opening import open_for_check

            reader = stack.enter_context(closing(open_for_check(self.path, self.folder)))
            self.store_problems = reader.integrity()
            if not self.store_problems:
                opened: AbstractContextManager[View] = reader.read()
                self.view = stack.enter_context(opened)
        except MootError as error:
            _raise_if_unreadable(error)
            self.store_problems = [str(error)]

    @cached_property
    def derived(self) -> DerivedData | None:
        if self.view is None or self.trust is None:
            return None
        return compare_derived(self.view, Replay(self.trust, Machines()))

    @cached_property
    def registry(self) -> Registry | None:
        if self.view is None or self.trust is None:
            return None
        try:
            return Replay(self.trust, Machines()).registry(self.view)
        except MootError:
            return None

    @cached_property
    def seen_ledger(self) -> SeenLedger | MootError:
        """Return the checkpoint and heads in the key folder, or why they cannot be read."""
        origin = self.trust.origin if self.trust is not None else ""
        try:
            return read_seen_ledger(self.folder.user_folder.path / "kept.db", origin)
        except MootError as error:
            _raise_if_unreadable(error)
            return error

    @cached_property
    def stored(self) -> list[str]:
        return list(self.artifacts.all_hashes())


def _raise_if_unreadable(error: MootError) -> None:
    """Raise an error that only means something could not be read: whether it is damaged is then
    unknown, so it must not become a finding."""
    if error.code in UNREADABLE_CODES:
        raise error


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
    """Check the file and its folder, in which SQLite makes its log: writing needs both."""
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
        yield f"checkpoint {note.number} was made here before and is missing", None
    for stream, seq in lost_heads(checkup.view, heads):
        yield f"event {seq} was here before and is missing or replaced", stream


def forked(checkup: Checkup) -> Breaches:
    for record in checkup.view.forks() if checkup.view is not None else ():
        yield f"a second event was signed for position {record.seq}", record.stream


def unpinned(checkup: Checkup) -> Breaches:
    moved = checkup.view.moved_heads() if checkup.view is not None else []
    if moved:
        yield "no checkpoint covers the newest events yet", moved[0][0]


def in_use(checkup: Checkup) -> Breaches:
    ledger = str((checkup.path / "ledger.db").resolve())
    for process in sorted(Path("/proc").glob("[0-9]*")):
        if int(process.name) != os.getpid() and ledger in _open_files(process):
            name = (process / "comm").read_text("utf-8", "replace").strip()
            yield f"process {process.name} ({name}) has the ledger open", None


def _open_files(process: Path) -> set[str]:
    try:
        return {os.readlink(link) for link in (process / "fd").iterdir()}
    except OSError:  # it has exited, or belongs to another user
        return set()


def silent_keeper(checkup: Checkup) -> Breaches:
    """Check on a joined machine whether its keeper answers and knows it."""
    if not is_joined(checkup.path) or checkup.trust is None:
        return
    from moot.hosts.opening import check_keeper

    try:
        check_keeper(checkup.path, checkup.folder, checkup.trust.origin)
    except MootError as error:
        if error.code != "machine_left":
            yield str(error), JOINED


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
        return  # a joined machine fetches missing artifacts when it needs them
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
            yield f"{file.name} is readable by other users", str(file), None, _known(file)


def _known(file: Path) -> HintWords:
    """Return the words for a key file's hint; without NAME for the ledger's own two keys, which
    cannot be rotated."""
    name, dot, _ = file.name.removesuffix(".key").partition(".")
    owned = file.suffix == ".key" and dot and name not in (SYSTEM, CHECKPOINT)
    return {"FILE": str(file), **({"NAME": name} if owned else {})}


def exposed_folder(checkup: Checkup) -> Breaches:
    place = str(checkup.folder.path)
    if _others_may(checkup.folder.path) & 0o022:
        yield "", place, None, {"FOLDER": place}


def open_folder(checkup: Checkup) -> Breaches:
    may, place = _others_may(checkup.folder.path), str(checkup.folder.path)
    if may and not may & 0o022:  # else `exposed_folder` reports it
        yield "", place, None, {"FOLDER": place}


def _others_may(folder: Path) -> int:
    """Return the mode bits of group and others for a folder."""
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
        return  # DOC-02 reports it


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
        yield f"only {free // 2**20} MiB are free on the ledger's disk", str(checkup.path)


# `RULES` lists the checks. A check that cannot run because of a worse problem yields nothing: the
# worse one is reported already.


def examine_workspace(path: Path, folder: KeyFolder, now: Millis) -> tuple[Finding, ...]:
    """Return everything that is wrong with the workspace at `path`."""
    with Checkup(path, folder, now).opened() as checkup:
        return check_all(RULES, checkup)


_WARNING, _INFO = Severity.WARNING, Severity.INFO
_RESTORE = "keep the damaged file, and restore .moot/ledger.db from a backup"

RULES: tuple[Rule[Checkup], ...] = (
    Rule("DOC-01", "trust_unreadable", "the workspace's trust file cannot be read",
         unreadable_trust,
         "copy it back from trust.json of this ledger in your key folder"),
    Rule("DOC-02", "trust_changed",
         "the workspace's trust file is not the one your key folder remembers",
         changed_trust, "find out who changed it; then copy it back from your key folder"),
    Rule("DOC-03", "store_damaged", "the ledger file is damaged", damaged_store,
         f"`moot ledger rebuild` creates a missing index table again; else {_RESTORE}"),
    Rule("DOC-04", "chain_broken", "the record is damaged", broken_chain,
         f"`moot verify` names the first bad event; {_RESTORE}"),
    Rule("DOC-05", "derived_differs", "an index or snapshot differs from the events",
         stale_derivation, "`moot ledger rebuild` computes it again from the events",
         _WARNING),
    Rule(
        "DOC-06",
        "rolled_back",
        "events that were here before are missing",
        rolled_back,
        hint="restore the newest copy of .moot/ledger.db; if it is lost for good, "
        "`moot ledger accept-loss --reason TEXT` continues from here",
    ),
    Rule("DOC-07", "forked", "a second history was signed", forked,
         "`moot ledger export` contains the proof; ask the owner of that key"),
    Rule("DOC-08", "not_pinned", "no checkpoint covers these events", unpinned,
         "`moot ledger checkpoint` makes one, if the key folder has the checkpoint key", _INFO),
    Rule("DOC-09", "in_use", "another process has the ledger open", in_use,
         "normal while agents work; writers wait for each other up to 30 seconds", _INFO),
    Rule("DOC-10", "unknown_file", "this file is not part of a workspace", unknown_file,
         "move it elsewhere if it is yours", _WARNING),
    Rule("DOC-11", "leftover", "left behind by a process that was stopped", leftover,
         "remove it when no moot command is running", _WARNING),
    Rule("DOC-12", "artifact_missing", "an event cites this file, and it is not stored",
         missing_artifact,
         "restore it from a backup of .moot/artifacts, or from an export", _WARNING),
    Rule("DOC-13", "artifact_damaged", "a stored file does not match its hash",
         damaged_artifact,
         "restore it from a backup of .moot/artifacts, or from an export"),
    Rule("DOC-14", "artifact_uncited", "a stored file that no event cites",
         uncited_artifact, "harmless: a command stored it and then stopped", _INFO),
    Rule("DOC-15", "erasure_unfinished", "recorded as erased, and its bytes are still here",
         unfinished_erasure, "run `moot artifact erase` with its hash again"),
    Rule(
        "DOC-16",
        "tree_damaged",
        "the stored head tree is not the one that the newest checkpoint signed",
        damaged_tree,
        hint="`moot ledger rebuild` computes it again, and keeps it only if the checkpoint signed "
        "its root",
    ),
    Rule("DOC-17", "keeper_silent", "the keeper of this ledger does not answer",
         silent_keeper,
         "start `moot keep` there, or check the network; this machine's copy can be read",
         _WARNING),
    Rule("DOC-18", "ledger_read_only", "the ledger may not be written here",
         read_only_ledger,
         "check the permissions of .moot and its disk; commands that only read still work",
         _WARNING),
    Rule("DOC-20", "key_exposed", "other users may read a private key", exposed_key,
         "`chmod 600 FILE`; if it may have been copied, `moot agent rotate NAME`"),
    Rule("DOC-21", "key_folder_exposed", "other users may write to the key folder",
         exposed_folder, "`chmod 700 FOLDER`"),
    Rule("DOC-22", "bad_key_file", "a key file cannot be used", unreadable_key,
         "restore it from a backup, or `moot agent rotate NAME` with a person's consent"),
    Rule("DOC-23", "trust_not_pinned",
         "your key folder does not have this ledger's keys, so nothing in it can be verified",
         unpinned_trust,
         "compare `moot trust show` with its owner's, then copy .moot/trust.json there", _WARNING),
    Rule(
        "DOC-24",
        "kept_damaged",
        "kept.db, the remembered checkpoints in the key folder, cannot be used",
        damaged_memory,
        hint="restore kept.db from a backup of the key folder; without it Moot cannot detect a "
        "rollback, so before you remove it compare `moot verify` with a copy elsewhere",
    ),
    Rule("DOC-25", "pinned_trust_unreadable", "the trust file in your key folder cannot be read",
         unreadable_pinned_trust,
         "check its permissions (`chmod 600 FILE`), or set MOOT_KEYS to your own key folder"),
    Rule("DOC-26", "key_folder_open",
         "other users may list the key folder, and see its ledgers and names",
         open_folder, "`chmod 700 FOLDER`, unless it is shared on purpose", _WARNING),
    Rule("DOC-30", "committed",
         "the workspace is committed to git: every checkout has an old copy of the record",
         committed, "git rm -r --cached .moot"),
    Rule("DOC-31", "gitignore_missing", "nothing keeps the workspace out of git",
         not_ignored, "echo '*' > .moot/.gitignore", _WARNING),
    Rule("DOC-40", "clock_off", "the last event is in the future", clock_off,
         "set this machine's clock; timeouts depend on it, the order of events does not", _WARNING),
    Rule("DOC-41", "disk_low", "the disk is nearly full", low_disk,
         "free some space", _WARNING),
)  # fmt: skip

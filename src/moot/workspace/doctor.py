"""What is wrong with a workspace, and how to mend it. Repairs nothing, writes nothing.

`RULES` lists what is looked at, one row each; the checks are in `ailments.py`. A check that cannot
be made because something graver is broken says nothing: the graver one is reported already.
"""

from __future__ import annotations

from pathlib import Path

from moot.core.clock import Millis
from moot.core.findings import Finding, Rule, Severity, check_all
from moot.keys.folder import KeyFolder
from moot.workspace import ailments
from moot.workspace.checkup import Checkup


def examine_workspace(path: Path, folder: KeyFolder, now: Millis) -> tuple[Finding, ...]:
    """Everything that is wrong with the workspace at `path`."""
    with Checkup(path, folder, now).opened() as checkup:
        return check_all(RULES, checkup)


_WARNING, _INFO = Severity.WARNING, Severity.INFO
_RESTORE = "keep the file as it is; restore .moot/ledger.db from a backup"

RULES: tuple[Rule[Checkup], ...] = (
    Rule("DOC-01", "trust_unreadable", "the workspace's trust file cannot be read",
         ailments.unreadable_trust,
         "copy it back from trust.json of this ledger in your key folder"),
    Rule("DOC-02", "trust_changed",
         "the workspace's trust file is not the one your key folder remembers",
         ailments.changed_trust, "find out who changed it; then copy it back from your key folder"),
    Rule("DOC-03", "store_damaged", "the ledger file is damaged", ailments.damaged_store,
         f"a missing index table is made anew by `moot ledger rebuild`; else {_RESTORE}"),
    Rule("DOC-04", "chain_broken", "the record does not hold", ailments.broken_chain,
         f"`moot verify` names the first bad event; {_RESTORE}"),
    Rule("DOC-05", "derived_differs", "an index or snapshot is not what the events say",
         ailments.stale_derivation, "`moot ledger rebuild` makes it anew from the events",
         _WARNING),
    Rule(
        "DOC-06",
        "rolled_back",
        "events that were here before are gone",
        ailments.rolled_back,
        hint="restore the newest copy of .moot/ledger.db; if it is lost for good, "
        "`moot ledger accept-loss --reason TEXT` goes on from here",
    ),
    Rule("DOC-07", "forked", "a second history was signed", ailments.forked,
         "`moot ledger export` carries the proof; ask the holder of that key"),
    Rule("DOC-08", "not_pinned", "events are under no checkpoint", ailments.unpinned,
         "`moot ledger checkpoint` pins them, where the checkpoint key is", _INFO),
    Rule("DOC-09", "in_use", "another process has the ledger open", ailments.in_use,
         "normal while agents work; writers wait for each other up to 30 seconds", _INFO),
    Rule("DOC-10", "unknown_file", "this file is not part of a workspace", ailments.unknown_file,
         "move it elsewhere if it is yours", _WARNING),
    Rule("DOC-11", "leftover", "left behind by a process that was stopped", ailments.leftover,
         "remove it once no moot command is running", _WARNING),
    Rule("DOC-12", "artifact_missing", "an event cites this file, and it is not stored",
         ailments.missing_artifact,
         "put it back from a backup of .moot/artifacts, or from an export", _WARNING),
    Rule("DOC-13", "artifact_damaged", "a stored file is not what its name says",
         ailments.damaged_artifact,
         "put it back from a backup of .moot/artifacts, or from an export"),
    Rule("DOC-14", "artifact_uncited", "a stored file that no event cites",
         ailments.uncited_artifact, "harmless: a command stored it and did not get further", _INFO),
    Rule("DOC-15", "erasure_unfinished", "recorded as erased, and its bytes are still here",
         ailments.unfinished_erasure, "`moot artifact erase` with its hash finishes the work"),
    Rule(
        "DOC-16",
        "tree_damaged",
        "the stored tree is not the one that the newest checkpoint was made of",
        ailments.damaged_tree,
        hint="`moot ledger rebuild` makes it anew from what is pinned, and keeps it only if the "
        "checkpoint signs its root",
    ),
    Rule("DOC-17", "keeper_silent", "the keeper of this ledger cannot be asked",
         ailments.silent_keeper,
         "start `moot keep` there, or see whether the line is cut; what is here can be read",
         _WARNING),
    Rule("DOC-18", "ledger_read_only", "the ledger may not be written here",
         ailments.read_only_ledger,
         "check permissions of .moot and its disk; commands that only read still work", _WARNING),
    Rule("DOC-20", "key_exposed", "others may read a private key", ailments.exposed_key,
         "`chmod 600 FILE`; if it may have been copied, `moot agent rotate NAME`"),
    Rule("DOC-21", "key_folder_exposed", "others may write to the key folder",
         ailments.exposed_folder, "`chmod 700 FOLDER`"),
    Rule("DOC-22", "bad_key_file", "a key file cannot be used", ailments.unreadable_key,
         "restore it from a backup, or `moot agent rotate NAME` with a person's consent"),
    Rule("DOC-23", "trust_not_pinned",
         "your key folder has never met this ledger, so nothing in it can be verified",
         ailments.unpinned_trust,
         "compare `moot trust show` with its owner's, then copy .moot/trust.json there", _WARNING),
    Rule(
        "DOC-24",
        "kept_damaged",
        "the memory of checkpoints in the key folder cannot be used",
        ailments.damaged_memory,
        hint="put kept.db back from a backup of the key folder; removing it makes moot forget "
        "what it has seen, so compare `moot verify` with a copy elsewhere first",
    ),
    Rule("DOC-25", "pinned_trust_unreadable", "the trust file in your key folder cannot be read",
         ailments.unreadable_pinned_trust,
         "check its permissions (`chmod 600 FILE`), or name your own key folder by MOOT_KEYS"),
    Rule("DOC-26", "key_folder_open",
         "others may look into the key folder, and see for which ledgers and names it has keys",
         ailments.open_folder, "`chmod 700 FOLDER`, unless it is shared on purpose", _WARNING),
    Rule("DOC-30", "committed",
         "the workspace is committed to git: every checkout carries an old copy of the record",
         ailments.committed, "git rm -r --cached .moot"),
    Rule("DOC-31", "gitignore_missing", "nothing keeps the workspace out of git",
         ailments.not_ignored, "echo '*' > .moot/.gitignore", _WARNING),
    Rule("DOC-40", "clock_off", "the last event is in the future", ailments.clock_off,
         "set this machine's clock; order does not depend on it, time limits do", _WARNING),
    Rule("DOC-41", "disk_low", "the disk is nearly full", ailments.low_disk,
         "free some space: writing fails cleanly when there is none", _WARNING),
)  # fmt: skip

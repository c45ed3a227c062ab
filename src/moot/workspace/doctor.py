"""What is wrong with a workspace, and how to mend it. Repairs nothing, writes nothing.

`RULES` is the list of what is looked at, one row each; the checks are in `ailments.py`. A check
that cannot be made because something graver is broken is silent: that is reported already.
"""

from __future__ import annotations

from pathlib import Path

from moot.core.clock import Millis
from moot.core.findings import Finding, Rule, Severity, check_all
from moot.keys.folder import KeyFolder
from moot.workspace import ailments
from moot.workspace.checkup import Checkup


def examine(path: Path, folder: KeyFolder, now: Millis) -> tuple[Finding, ...]:
    """Everything that is wrong with the workspace at `path`."""
    with Checkup(path, folder, now).opened() as checkup:
        return check_all(RULES, checkup)


_WARNING, _INFO = Severity.WARNING, Severity.INFO
_RESTORE = "keep the file as it is; restore .moot/ledger.db from a backup"

RULES: tuple[Rule[Checkup], ...] = (
    Rule(
        "DOC-01",
        "trust_unreadable",
        "the workspace's trust file cannot be read",
        ailments.unreadable_trust,
        hint="copy it back from trust.json of this ledger in your key folder",
    ),
    Rule(
        "DOC-02",
        "trust_changed",
        "the workspace's trust file is not the one your key folder remembers",
        ailments.changed_trust,
        hint="find out who changed it; then copy it back from your key folder",
    ),
    Rule(
        "DOC-03",
        "store_damaged",
        "the ledger file is damaged",
        ailments.damaged_store,
        hint=_RESTORE,
    ),
    Rule(
        "DOC-04",
        "chain_broken",
        "the record does not hold",
        ailments.broken_chain,
        hint=f"`moot verify` names the first bad event; {_RESTORE}",
    ),
    Rule(
        "DOC-05",
        "derived_differs",
        "an index or snapshot is not what the events say",
        ailments.stale_derivation,
        _WARNING,
        hint="`moot ledger rebuild` makes it anew from the events",
    ),
    Rule(
        "DOC-06",
        "rolled_back",
        "events that were here before are gone",
        ailments.rolled_back,
        hint="restore the newest copy of .moot/ledger.db; if it is lost for good, "
        "`moot ledger accept-loss --reason TEXT` goes on from here",
    ),
    Rule(
        "DOC-07",
        "forked",
        "a second history was signed",
        ailments.forked,
        hint="`moot ledger export` carries the proof; ask the holder of that key",
    ),
    Rule(
        "DOC-08",
        "not_pinned",
        "events are under no checkpoint",
        ailments.unpinned,
        _INFO,
        hint="`moot ledger checkpoint` pins them, where the checkpoint key is",
    ),
    Rule(
        "DOC-09",
        "in_use",
        "another process has the ledger open",
        ailments.in_use,
        _INFO,
        hint="normal while agents work; writers wait for each other up to 30 seconds",
    ),
    Rule(
        "DOC-10",
        "unknown_file",
        "this file is not part of a workspace",
        ailments.unknown_file,
        _WARNING,
        hint="move it elsewhere if it is yours",
    ),
    Rule(
        "DOC-11",
        "leftover",
        "left behind by a process that was stopped",
        ailments.leftover,
        _WARNING,
        hint="remove it once no moot command is running",
    ),
    Rule(
        "DOC-12",
        "artifact_missing",
        "an event cites this file, and it is not stored",
        ailments.missing_artifact,
        _WARNING,
        hint="put it back from a backup of .moot/artifacts, or from an export",
    ),
    Rule(
        "DOC-13",
        "artifact_damaged",
        "a stored file is not what its name says",
        ailments.damaged_artifact,
        hint="put it back from a backup of .moot/artifacts, or from an export",
    ),
    Rule(
        "DOC-14",
        "artifact_uncited",
        "a stored file that no event cites",
        ailments.uncited_artifact,
        _INFO,
        hint="harmless: a command stored it and did not get further",
    ),
    Rule(
        "DOC-15",
        "erasure_unfinished",
        "recorded as erased, and its bytes are still here",
        ailments.unfinished_erasure,
        hint="`moot artifact erase` with its hash finishes the work",
    ),
    Rule(
        "DOC-16",
        "tree_damaged",
        "the stored tree is not the one that the newest checkpoint was made of",
        ailments.damaged_tree,
        hint="`moot ledger rebuild` makes it anew from what is pinned, and keeps it only if the "
        "checkpoint signs its root",
    ),
    Rule(
        "DOC-20",
        "key_exposed",
        "others may read a private key",
        ailments.exposed_key,
        hint="`chmod 600 FILE`; if it may have been copied, `moot agent rotate NAME`",
    ),
    Rule(
        "DOC-21",
        "key_folder_exposed",
        "others may write to the key folder",
        ailments.exposed_folder,
        hint="`chmod 700 FOLDER`",
    ),
    Rule(
        "DOC-22",
        "bad_key_file",
        "a key file cannot be used",
        ailments.unreadable_key,
        hint="restore it from a backup, or `moot agent rotate NAME` with a person's consent",
    ),
    Rule(
        "DOC-23",
        "trust_not_pinned",
        "your key folder has never met this ledger, so nothing in it can be verified",
        ailments.unpinned_trust,
        _WARNING,
        hint="compare `moot trust show` with its owner's, then copy .moot/trust.json there",
    ),
    Rule(
        "DOC-24",
        "kept_damaged",
        "the memory of checkpoints in the key folder cannot be used",
        ailments.damaged_memory,
        hint="put kept.db back from a backup of the key folder; removing it makes moot forget "
        "what it has seen, so compare `moot verify` with a copy elsewhere first",
    ),
    Rule(
        "DOC-25",
        "pinned_trust_unreadable",
        "the trust file in your key folder cannot be read",
        ailments.unreadable_pinned_trust,
        hint="check its permissions (`chmod 600 FILE`), or name your own key folder by MOOT_KEYS",
    ),
    Rule(
        "DOC-26",
        "key_folder_open",
        "others may look into the key folder, and see for which ledgers and names it has keys",
        ailments.open_folder,
        _WARNING,
        hint="`chmod 700 FOLDER`, unless it is shared on purpose",
    ),
    Rule(
        "DOC-30",
        "committed",
        "the workspace is committed to git: every checkout carries an old copy of the record",
        ailments.committed,
        hint="git rm -r --cached .moot",
    ),
    Rule(
        "DOC-31",
        "gitignore_missing",
        "nothing keeps the workspace out of git",
        ailments.not_ignored,
        _WARNING,
        hint="echo '*' > .moot/.gitignore",
    ),
    Rule(
        "DOC-40",
        "clock_off",
        "the last event is in the future",
        ailments.clock_off,
        _WARNING,
        hint="set this machine's clock; order does not depend on it, time limits do",
    ),
    Rule(
        "DOC-41",
        "disk_low",
        "the disk is nearly full",
        ailments.low_disk,
        _WARNING,
        hint="free some space: writing fails cleanly when there is none",
    ),
)

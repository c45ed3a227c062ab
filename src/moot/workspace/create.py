"""`moot init`: keys first, then a complete folder under another name, then one rename.

So a crash leaves a complete workspace or none. If two processes create one at the same time, the
second rename fails and its folder is removed.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from contextlib import closing, suppress
from pathlib import Path

from moot.core.clock import Clock
from moot.core.errors import StoreFailed
from moot.core.machine import KeyClass
from moot.core.names import CHECKPOINT, OPERATOR, SYSTEM
from moot.core.registry.model import ORIGIN_PREFIX
from moot.core.signing import Signer
from moot.engine.engine import Engine
from moot.engine.registry_commands import FoundingKeys, found_ledger, register
from moot.engine.signers import LedgerTrust
from moot.keys.folder import KeyFolder
from moot.keys.passphrase_lock import require_long_passphrase
from moot.store.files import sync_folder, write_new_file
from moot.store.sqlite import SqliteStore
from moot.workspace import trust as trust_files
from moot.workspace.find import FOLDER
from moot.workspace.known_workspaces import remember_place
from moot.workspace.user_folders import require_outside


def create_workspace(
    root: Path,
    folder: KeyFolder,
    clock: Clock,
    *,
    fixed_clock: bool = False,
    passphrase: str | None = None,
) -> bool:
    """Create `.moot/` in `root`; False if there is one. A passphrase also registers `operator`."""
    place = root / FOLDER
    if place.exists():
        return False
    folder.require_own("the keys of a new ledger")
    require_outside(folder.path, root)
    if passphrase is not None:
        require_long_passphrase(passphrase)  # before the first key is made
    fresh = root / f"{FOLDER}.new-{secrets.token_hex(6)}"
    root_seed = Signer.new_seed()
    origin = ORIGIN_PREFIX + Signer(root_seed).kid
    is_made = False
    try:
        fresh.mkdir(mode=choose_mode(root))
        _fill(fresh, folder, clock, fixed_clock, passphrase, root_seed)
        os.rename(fresh, place)
        is_made = True
        sync_folder(root)
    except OSError as error:
        if place.exists():
            return False
        raise not_created(root, error) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        if not is_made:  # another process was faster, or it failed: these keys are useless
            shutil.rmtree(folder.ledger_folder(origin), ignore_errors=True)
    with suppress(OSError):  # the workspace works even if its folder is not remembered
        folder.remember_place(origin, root)
    remember_place(folder.path, root, origin)
    return True


def choose_mode(root: Path) -> int:
    """Return the mode of a new workspace: private, unless others may write to the project too.

    The ledger and the index of copies quote files that may be private.
    """
    is_shared = stat.S_IMODE(root.stat().st_mode) & 0o022
    return 0o755 if is_shared else 0o700


def not_created(root: Path, error: OSError) -> StoreFailed:
    """Return the error for a workspace that could not be created in `root`."""
    return StoreFailed(
        "workspace_not_created",
        f"the workspace in {root} could not be created: {error.strerror or error}",
        hint="check space and permissions there",
    )


def _fill(
    fresh: Path,
    folder: KeyFolder,
    clock: Clock,
    fixed_clock: bool,
    passphrase: str | None,
    root_seed: bytes,
) -> None:
    """Make the ledger and its first checkpoint in the folder."""
    origin = ORIGIN_PREFIX + Signer(root_seed).kid
    root = folder.add_key(origin, SYSTEM, KeyClass.SYSTEM, seed=root_seed)
    checkpoint = folder.add_key(origin, CHECKPOINT, KeyClass.CHECKPOINT)
    custodian = folder.custodian
    with closing(SqliteStore(fresh / "ledger.db", create=True)) as store:
        trust = found_ledger(
            store, root, checkpoint, clock, custodian=custodian, fixed_clock=fixed_clock
        )
        engine = Engine(store, FoundingKeys(root, checkpoint), trust, clock)
        if passphrase is not None:
            person = folder.add_key(origin, OPERATOR, KeyClass.HUMAN, passphrase=passphrase)
            register(engine, OPERATOR, person, custodian=custodian, kind=KeyClass.HUMAN)
        engine.checkpoint()
    _write_trust(fresh, folder, trust)
    (fresh / "artifacts").mkdir()
    write_new_file(fresh / ".gitignore", b"*\n")


def _write_trust(fresh: Path, folder: KeyFolder, trust: LedgerTrust) -> None:
    data = trust_files.trust_file_bytes(trust_files.trust_file_of(trust))
    write_new_file(fresh / "trust.json", data)
    write_new_file(folder.ledger_folder(trust.origin) / "trust.json", data, 0o600)

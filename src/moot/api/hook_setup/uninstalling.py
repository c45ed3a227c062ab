"""`moot uninstall`: remove the hooks, keep the record, and say where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.hook_setup.tools import require_guarded
from moot.api.hook_setup.tools import uninstall as uninstall_hooks
from moot.api.operation import operation
from moot.core.text import Quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from moot.api.session import Session


class KeptPlace(msgspec.Struct, frozen=True):
    """Something that stays, where it is, and how to remove it."""

    what: str
    where: Quoted
    to_remove: str


class Uninstalled(msgspec.Struct, frozen=True):
    """`changed` are the files that were restored or removed, in all of `worktrees`."""

    changed: list[str]
    worktrees: list[str]
    kept: tuple[KeptPlace, ...]


@operation("uninstall", writes=True)
def uninstall(session: Session) -> Uninstalled:
    """Remove our hooks from every worktree and tool, and list what stays.

    The record, the keys and the settings stay. A repeat changes nothing. Refused as
    `human_key_required` to an agent, and below a coding tool or `moot run`.
    """
    taken = uninstall_hooks(session, everywhere=True)
    return Uninstalled(taken.changed, taken.worktrees, tuple(_what_stays(session)))


def _what_stays(session: Session) -> Iterator[KeptPlace]:
    from shlex import quote

    from moot.workspace.user_folders import FILE, user_settings_file

    guarded = require_guarded(session, inner=True)
    record, root = guarded.workspace, guarded.worktree_root
    yield KeptPlace(
        "the record of this project",
        Quoted(str(record)),
        f"rm -r {quote(str(record))}, then `moot ledger forget {quote(str(record.parent))}`",
    )
    keys = session.keys.ledger_folder(session.workspace.trust.origin)
    yield KeptPlace(
        "its keys; without them nothing can be added to the record",
        Quoted(str(keys)),
        f"rm -r {quote(str(keys))}",
    )
    for what, file in (
        ("settings of this repository", root / FILE),
        ("your own settings", user_settings_file(session.env)),
    ):
        if file is not None and file.is_file():
            yield KeptPlace(what, Quoted(str(file)), f"rm {quote(str(file))}")
    yield KeptPlace(
        "the program itself", Quoted("moot"), "the way it was installed: pipx, uv or pip uninstall"
    )

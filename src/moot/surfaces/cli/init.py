"""`moot init`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from moot.core.clock import Clock, fixed_clock, system_clock
from moot.surfaces.terminal.answer import Answer, paint
from moot.surfaces.terminal.shell import Shell, command


@command(None, "init", "init")
def init(shell: Shell) -> Answer:
    """Make a workspace for this repository: one for all its worktrees.

    Writes `.moot/` in the root of the main worktree (ignored by git) and the keys into your key
    folder. Running it again changes nothing. If a passphrase, of at least 8 characters, can be
    asked for (or is in MOOT_PASSPHRASE_FILE), your own key `operator` is made as well.
    BB_AGENT_STALE_MINUTES, if it is set now, is from then on the time after which an agent here
    counts as stale. If a ledger was made in this folder before, that is said: a new one does not
    go on with its record.

    Examples:
      moot init
      MOOT_PASSPHRASE_FILE=~/.moot-pass moot init --json
    """
    from moot.workspace.create import create
    from moot.workspace.find import FOLDER, project_root
    from moot.workspace.trust import fingerprint

    place = shell.home or project_root(Path.cwd())
    place = place.parent if place.name == FOLDER else place
    exists = (place / FOLDER).exists()
    clock, fixed = _clock(shell)
    passphrase = None if exists else shell.new_passphrase("operator")
    created = create(place, shell.folder, clock, fixed_clock=fixed, passphrase=passphrase)
    shell.home = place
    if created:
        _set_stale_time(shell)
    registry = shell.workspace.engine.registry()
    data = {
        "created": created,
        "workspace": str(shell.workspace.path),
        "keys": str(shell.folder.path),
        "fingerprint": fingerprint(shell.workspace.trust),
        "operator": "operator" in registry.agents,
        "earlier": _earlier(shell, place) if created else [],
    }
    return Answer(data, lambda: _lines(data))


def _earlier(shell: Shell, place: Path) -> list[dict[str, Any]]:
    """Other ledgers that were made here, and how far this key folder has seen them."""
    space = shell.workspace
    others = [origin for origin in shell.folder.made_in(place) if origin != space.trust.origin]
    kept = {origin: space.kept.newest(origin) for origin in others}
    return [
        {"origin": origin, "checkpoint": note.number if note is not None else None}
        for origin, note in kept.items()
    ]


def _set_stale_time(shell: Shell) -> None:
    from moot.core.names import SYSTEM
    from moot.protocols.presence import STREAM, liveness
    from moot.protocols.presence.commands import SetStaleMinutes
    from moot.protocols.presence.model import DEFAULT_STALE

    stale, _warning = liveness.stale_from_text(shell.env.get(liveness.STALE_VARIABLE))
    if stale is not None and stale != DEFAULT_STALE:
        shell.workspace.engine.execute(STREAM, SetStaleMinutes(stale_millis=stale), SYSTEM)


def _clock(shell: Shell) -> tuple[Clock, bool]:
    text = shell.env.get("MOOT_CLOCK")
    return (fixed_clock(text), True) if text else (system_clock, False)


def _lines(data: dict[str, Any]) -> Iterable[str]:
    verb = "made" if data["created"] else "was there already:"
    yield f"{paint('workspace', 'green')} {verb} {data['workspace']}"
    yield f"keys         {data['keys']}"
    yield f"fingerprint  {data['fingerprint']}"
    if not data["operator"]:
        yield "no person's key yet: `moot agent register operator --human` makes one"
    for known in data["earlier"]:
        reached = f", up to checkpoint {known['checkpoint']}" if known["checkpoint"] else ""
        yield f"an earlier ledger was made in this folder: {known['origin']}{reached}"
    if data["earlier"]:
        yield "its record is not continued by this one; to bring it back, restore the earlier .moot"
        yield "from a backup, in the place of this one: the keys are still in your key folder"

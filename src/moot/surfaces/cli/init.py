"""`moot init`."""

from __future__ import annotations

from collections.abc import Iterable

from moot.api import workspaces
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
    session = shell.session
    passphrase = None if workspaces.exists(session) else shell.new_passphrase("operator")
    made = workspaces.init(session, passphrase=passphrase)
    return Answer(made, lambda: _lines(made))


def _lines(made: workspaces.MadeWorkspace) -> Iterable[str]:
    verb = "made" if made.created else "was there already:"
    yield f"{paint('workspace', 'green')} {verb} {made.workspace}"
    yield f"keys         {made.keys}"
    yield f"fingerprint  {made.fingerprint}"
    if not made.operator:
        yield "no person's key yet: `moot agent register operator --human` makes one"
    for known in made.earlier:
        reached = f", up to checkpoint {known.checkpoint}" if known.checkpoint else ""
        yield f"an earlier ledger was made in this folder: {known.origin}{reached}"
    if made.earlier:
        yield "its record is not continued by this one; to bring it back, restore the earlier .moot"
        yield "from a backup, in the place of this one: the keys are still in your key folder"

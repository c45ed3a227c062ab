"""`moot init` and `moot config`: make a workspace, and change its settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click
from msgspec.structs import replace

from moot.api.hook_setup.tools import ASK_FOR_SERVER, ASK_FOR_TRUST, CODING_TOOLS
from moot.api.presence import config as settings
from moot.api.workspace import workspaces
from moot.surfaces.cli.hook import installed_lines
from moot.surfaces.terminal.answer import Answer, paint, table
from moot.surfaces.terminal.derive import derive, options
from moot.surfaces.terminal.shell import Shell, command


@command(None, "init", "init")
@options("""
    --tools all|none|TOOL,...  Coding tools to set up (default: asked at a terminal, else none).
    --join INVITATION = invitation  Share a ledger that another machine keeps.
    --name MACHINE                  With --join: this machine's name there.
""")
def init(
    shell: Shell, tools: str | None = None, invitation: str | None = None, name: str | None = None
) -> Answer:
    """Make a workspace for this repository: one for all its worktrees.

    Writes `.moot/` in the root of the main worktree (ignored by git) and the keys into your key
    folder. Running it again changes nothing. If a passphrase, of at least 8 characters, can be
    asked for (or is in MOOT_PASSPHRASE_FILE), your own key `operator` is made as well.
    If BB_AGENT_STALE_MINUTES is set now, it becomes the time after which an agent here counts as
    stale. If a ledger was made in this folder before, the answer says so: a new ledger does not
    continue its record.

    With --join, this machine shares a ledger that another machine keeps (`moot keep`, `moot
    invite`). It gets a verified copy of the ledger, and keeps the keys of its own agents.

    At a terminal it offers to set up git and all coding tools on PATH. Your yes also tells the
    tools to trust these hooks, and the server that some of them start (docs/how-to/use-mcp.md).
    --tools sets up tools without asking, and stores no trust.

    Examples:
      moot init
      moot init --tools claude,git
      MOOT_PASSPHRASE_FILE=~/.moot-pass moot init --json
      moot init --join build.example:7417#4f0e…#a1b2c3d4#…
    """
    if invitation is not None:
        return _join(shell, invitation, name, tools)
    if name is not None:
        raise click.UsageError("--name belongs to --join")
    session = shell.session
    passphrase = (
        None if workspaces.exists(session) else shell.new_passphrase("operator", may_wait=True)
    )
    chosen = [] if tools in (None, "none") else [word for word in tools.split(",") if word]
    made = workspaces.init(session, passphrase=passphrase, tools=chosen)
    if tools is None and shell.interactive():
        made = _offer_hooks(shell, made)
    return Answer(made, lambda: _lines(made, asked=tools is not None or shell.interactive()))


def _join(shell: Shell, invitation: str, name: str | None, tools: str | None) -> Answer:
    from moot.api.hosts import machines

    chosen = [] if tools in (None, "none") else [word for word in tools.split(",") if word]
    made = machines.join_keeper(shell.session, invitation, name=name, tools=chosen)
    if tools is None and shell.interactive():
        made = _offer_hooks(shell, made)
    asked = tools is not None or shell.interactive()
    return Answer(made, lambda: [*_joined_lines(made), *_hook_lines(made, asked=asked)])


def _joined_lines(made: workspaces.MadeWorkspace) -> Iterable[str]:
    joined = made.joined
    assert joined is not None
    verb = "joined" if made.created else "had joined already:"
    yield f"{paint(joined.machine, 'green')} {verb} the ledger kept at {joined.keeper}"
    yield f"workspace    {made.workspace}"
    yield f"keys         {made.keys}"
    yield f"fingerprint  {made.fingerprint}"
    events = "1 event" if joined.events == 1 else f"{joined.events} events"
    yield f"copied       {events}, every signature verified"


def _offer_hooks(shell: Shell, made: workspaces.MadeWorkspace) -> workspaces.MadeWorkspace:
    """Ask once for all tools; yes also means that the tools may trust these hooks."""
    if not _has_coding_tool(made) or not click.confirm(
        _question(made.programs), default=True, err=True
    ):
        return made
    again = workspaces.init(shell.session, tools=made.programs, trust=True)
    return replace(made, programs=again.programs, hooks=again.hooks)


def _has_coding_tool(made: workspaces.MadeWorkspace) -> bool:
    """Return whether there is more than git, which edits nothing by itself."""
    return any(program in CODING_TOOLS for program in made.programs)


def _question(offered: Sequence[str]) -> str:
    yes_to = {"these hooks": ASK_FOR_TRUST, "moot's server": ASK_FOR_SERVER}
    kept = [
        f"{' and '.join(asking)} that you trust {what}"
        for what, tools in yes_to.items()
        if (asking := [tool for tool in offered if tool in tools])
    ]
    trust = f" (this also tells {', and '.join(kept)})" if kept else ""
    return f"let {', '.join(offered)} ask moot before they edit{trust}?"


def _lines(made: workspaces.MadeWorkspace, *, asked: bool) -> Iterable[str]:
    verb = "made" if made.created else "was there already:"
    yield f"{paint('workspace', 'green')} {verb} {made.workspace}"
    if made.has_keys:
        yield f"keys         {made.keys}"
    else:
        yield f"{paint('keys', 'red')}         not in {made.keys}: no agent can be registered"
        yield "             here; set MOOT_KEYS to the key folder that this workspace was made with"
    yield f"fingerprint  {made.fingerprint}"
    if made.you is not None:
        yield f"you          {made.you}: this name acts at a terminal if you name no agent"
    if made.has_keys and not made.operator:
        yield "no person's key yet: `moot agent register operator --human` makes one"
    for known in made.earlier:
        reached = f", up to checkpoint {known.checkpoint}" if known.checkpoint else ""
        yield f"an earlier ledger was made in this folder: {known.origin}{reached}"
    if made.earlier:
        yield "this one does not continue its record; to use the earlier one, replace this .moot by"
        yield "the earlier .moot from a backup: its keys are still in your key folder"
    yield from _hook_lines(made, asked=asked)


def _hook_lines(made: workspaces.MadeWorkspace, *, asked: bool) -> Iterable[str]:
    for hooks in made.hooks:
        yield from installed_lines(hooks)
    if not asked and _has_coding_tool(made):
        yield f"not asking before they edit: {', '.join(made.programs)}; `moot init --tools all`"


@derive("config", settings.config, """
    [KEY = name
    [VALUE]]
""")  # fmt: skip
def config(shown: settings.Config) -> Iterable[str]:
    """Show the settings of this workspace, or one of them, or give one a new value.

    A person signs a new value in the record, so it needs your own key. BB_AGENT_STALE_MINUTES
    changes only what you see; takeovers also follow the workspace's setting.

    Examples:
      moot config
      moot config stale-minutes
      moot config stale-minutes 30
    """
    if shown.changed_by is not None:
        (setting,) = shown.settings
        return [f"{setting.key} is now {setting.value}, set by {shown.changed_by}"]
    return table((setting.key, f"{setting.value}  ({setting.about})") for setting in shown.settings)

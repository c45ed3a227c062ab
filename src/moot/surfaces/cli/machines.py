"""`moot keep`, `moot invite`, `moot machine`: one ledger for several machines."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from moot.api.hosts import leaving, session_owners
from moot.api.hosts import machines as api
from moot.surfaces.terminal.answer import Answer, paint, print_line, say_aside, table, visible
from moot.surfaces.terminal.derive import derive
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.local_time import in_local_time
from moot.surfaces.terminal.shell import Shell, command

# Seconds. Python handles signals in its main thread; a signal that arrived in another thread does
# not wake a wait without a timeout.
LOOK_EVERY: Final = 1.0
NO_KEEPER: Final = "no keeper runs now, and no other machine can record anything: `moot keep`"


@command(None, "keep", "keep")
@click.option(
    "--listen",
    metavar="HOST[:PORT]|unix:FILE",
    default=f"{api.LOOPBACK}:{api.PORT}",
    show_default=True,
    help="Where to listen; 0.0.0.0 lets other machines in, unix:FILE only this user's clones here.",
)
@click.option("--address", metavar="HOST:PORT", help="The address that other machines use.")
def keep(shell: Shell, listen: str, address: str | None) -> Answer:
    """Share this workspace's ledger with other machines, until Ctrl-C.

    Agents on this machine work as before and need no keeper. A machine that is invited
    (`moot invite`) joins with `moot init --join INVITATION`: it gets a copy of the ledger,
    decides on it and signs with its own agents' keys; the keeper checks every request again
    before it records it, and signs only with the ledger's own key. Connections use TLS; the
    invitation contains the keeper's fingerprint.

    Examples:
      moot keep
      moot keep --listen 0.0.0.0:7417 --address build.example:7417
      moot keep --listen unix:/run/user/1000/moot
    """
    host, port, file = _read_listen(listen)
    ended = _listen_for_end()
    with api.keep(shell.session, host, port, address, ended.set, _warn, file) as kept:
        line = f"keeping at {kept.address}, fingerprint {kept.fingerprint}"
        if shell.json:  # standard output is for the one answer at the end
            say_aside(line)
        else:
            print_line(line, at_once=True)
            say_aside(paint("`moot invite` lets a machine join; Ctrl-C ends it", "dim", sys.stderr))
        while not ended.wait(LOOK_EVERY):
            pass
    return Answer(kept, lambda: [f"{kept.address} is closed"])


def _warn(text: str) -> None:
    say_aside(paint(text, "yellow", sys.stderr))


def _read_listen(text: str) -> tuple[str, int, Path | None]:
    """Parse `--listen` into host, port and, for `unix:FILE`, the socket's file."""
    host, colon, port = text.rpartition(":")
    if text.startswith("unix:") and text != "unix:":
        return api.LOOPBACK, api.PORT, Path(text.removeprefix("unix:"))
    if not colon:
        return text, api.PORT, None
    if not port.isdigit() or int(port) > 65535:
        raise click.UsageError(f"{text} is not an address: HOST, HOST:PORT or unix:FILE")
    return host.strip("[]") or api.LOOPBACK, int(port), None


def _listen_for_end() -> threading.Event:
    """Return an event that SIGINT and SIGTERM set."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    return ended


@derive("invite", api.invite, """
    --hours 1..720       How long it is valid.
    --address HOST:PORT  The keeper's address, as that machine sees it.
""")  # fmt: skip
def invite(made: api.InvitedMachine) -> Iterator[str]:
    """Print an invitation: a code that lets one machine join. It works once, and expires.

    Anyone who has it can join: send it as you would send a password. It contains the keeper's
    address and fingerprint, so that no other server can answer in its place.

    Examples:
      moot invite
      moot invite --hours 1 --address build.example:7417
    """
    only_here = api.is_local_address(made.address)
    place = "on this machine, in another clone" if only_here else "on the other machine, in a clone"
    yield f"{place} of this repository:"
    yield f"  moot init --join {made.invitation}"
    yield f"valid once, until {in_local_time(made.expires_at)}"
    if only_here:
        yield f"{made.address} is reachable from this machine only; for others, restart the keeper"
        yield f"with the address that they use: `moot keep --listen HOST:{api.PORT}`"
    if not made.is_kept_now:
        yield NO_KEEPER


SECTIONS = {
    "Machines": {
        "list": "who shares this ledger, with how many agents",
        "revoke": "remove a machine from this ledger",
        "leave": "let this machine leave the ledger",
    },
    "Which machine owns a session": {
        "move-here": "bring a session and its files here",
        "hand-over": "give a session to another machine",
    },
}


@click.command("machine", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def machine() -> None:
    """The machines that share this ledger."""


@derive("machine.list", api.list_machines, group=machine, says_if_old=True)
def list_machines(shown: api.MachineList) -> Iterator[str]:
    """List the machines that share this ledger, and how many agents each has.

    A machine that joined asks the keeper; if the keeper does not answer, it shows its own copy.

    Examples:
      moot machine list
    """
    if shown.keeper is None and not shown.machines:
        yield "this ledger is on this machine alone; `moot keep` shares it"
        return
    yield f"kept at {shown.keeper}"
    if shown.is_kept_now is False:
        yield NO_KEEPER
    if not shown.machines:
        return
    rows: list[tuple[str, ...]] = [("MACHINE", "AGENTS", "JOINED", "SEEN", "MOOT", "")]
    for row in shown.machines:
        times = (
            "" if at is None else in_local_time(at) for at in (row.joined_at, row.last_seen_at)
        )
        ended = "left" if row.has_left else "removed" if row.is_revoked else ""
        mark = ended or ("this one" if row.here else "")
        rows.append((row.name, str(row.agents), *times, row.version, mark))
    yield from table(rows)
    if shown.why_old is not None:
        yield f"there may be more: {visible(shown.why_old)}"


@derive("machine.revoke", api.revoke_machine, "NAME", group=machine)
def revoke(removed: api.MachineRow) -> Iterator[str]:
    """Remove a machine from this ledger: from now on the keeper refuses all its requests.

    What its agents signed stays on record; if their keys may have been misused, revoke those as
    well (`moot agent revoke`).

    Examples:
      moot machine revoke laptop
    """
    yield f"{removed.name} is removed from this ledger"


@derive("machine.move_here", session_owners.move_here, """
    WHAT
    --into PATH:new  Where to write the debate's file, or the parliament's folder.
""", group=machine)  # fmt: skip
def move_here(moved: session_owners.MovedSession) -> Iterator[str]:
    """Move a session to this machine: write its files from the record, and record its steps here.

    WHAT is the id of a debate, parliament, decision or trace, or a debate's file. The machine where
    a session began owns it; other machines can read it, but not record its steps. A session can
    move if its owner has left, was removed or has handed it over; to the keeper's machine it can
    always move. Files are written to their old paths in the project; if another file is there,
    nothing is overwritten and nothing moves. Participants keep their keys where they are.

    Examples:
      moot machine move-here q-7
      moot machine move-here docs/naming.md
      moot machine move-here parl-20260210-001 --into docs/parliament
    """
    yield f"{moved.id} {'moved' if moved.moved else 'was already'} here"
    for stream in moved.moved[1:]:
        yield f"with it {stream}"
    for file in moved.files:
        yield f"wrote {visible(file)}"


@derive("machine.hand_over", session_owners.hand_over, """
    WHAT
    --to MACHINE  Its name in `moot machine list`.
""", group=machine)  # fmt: skip
def hand_over(given: session_owners.MovedSession) -> Iterator[str]:
    """Give a session that this machine owns to another machine.

    WHAT is its id, a debate's file or a parliament's folder. On the other machine `moot machine
    move-here` writes its files. The files here stay as they are; its steps cannot be recorded here.

    Examples:
      moot machine hand-over q-7 --to laptop
      moot machine hand-over docs/naming.md --to laptop
    """
    yield f"{given.id} {'now belongs' if given.moved else 'belonged already'} to {given.home}"
    yield f"there: moot machine move-here {given.id}"


@derive("machine.leave", leaving.leave_machine, group=machine)
def leave(left: leaving.LeftMachine) -> Iterator[str]:
    """Let this machine leave the ledger that another one keeps.

    Retires its active agents, releases what they hold, removes this machine from the keeper's
    list, and deletes its secret. The copy of the ledger stays here; you can read, export and
    verify it. Commands that record something then fail with `machine_left`, and hooks refuse edits
    (`moot hook uninstall TOOL` removes them). To join again, in the same folder:
    `moot init --join INVITATION`.

    Examples:
      moot machine leave
    """
    yield f"{left.machine} has left the ledger kept at {left.keeper}; its copy stays here"
    if left.retired:
        yield f"retired       {', '.join(left.retired)}"
    if left.still_holds:
        yield f"still held    {', '.join(map(visible, left.still_holds))}, until that is stale"
    if left.people:
        yield f"still people  {', '.join(left.people)}: their keys stay in this key folder"

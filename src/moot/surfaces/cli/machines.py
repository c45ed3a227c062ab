"""`moot keep`, `moot invite`, `moot machine`: one ledger for several machines."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click

from moot.api import machines as api
from moot.surfaces.terminal.answer import Answer, paint, print_line, say_aside, table, visible
from moot.surfaces.terminal.lazy import Entry, LazyGroup
from moot.surfaces.terminal.local_time import in_local_time
from moot.surfaces.terminal.shell import Shell, command

# Seconds. Python acts on a signal in its main thread alone, and one that another thread got, as
# after a stop, does not wake it.
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
@click.option("--address", metavar="HOST:PORT", help="What other machines reach it by.")
def keep(shell: Shell, listen: str, address: str | None) -> Answer:
    """Keep this workspace's ledger for other machines, until Ctrl-C.

    Agents on this machine work as before and need no keeper. A machine that is invited
    (`moot invite`) joins with `moot init --join INVITATION`: it gets a copy of the ledger,
    decides on it and signs with its own agents' keys; what it sends is decided again here before
    it is recorded. The keeper signs for nobody but the ledger. The line is TLS, and known by the
    fingerprint that the invitation holds.

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
    """Host and port; or the file of a socket, which takes their place."""
    host, colon, port = text.rpartition(":")
    if text.startswith("unix:") and text != "unix:":
        return api.LOOPBACK, api.PORT, Path(text.removeprefix("unix:"))
    if not colon:
        return text, api.PORT, None
    if not port.isdigit() or int(port) > 65535:
        raise click.UsageError(f"{text} is no address: HOST, HOST:PORT or unix:FILE")
    return host.strip("[]") or api.LOOPBACK, int(port), None


def _listen_for_end() -> threading.Event:
    """What is set by Ctrl-C, or when a service manager ends it."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    return ended


@command(None, "invite", "invite")
@click.option(
    "--hours",
    type=click.IntRange(1, 720),
    default=24,
    show_default=True,
    help="How long it is good.",
)
@click.option("--address", metavar="HOST:PORT", help="What that machine reaches the keeper by.")
def invite(shell: Shell, hours: int, address: str | None) -> Answer:
    """One word that lets one more machine join; it is good once, and expires.

    Whoever has it can join: send it as you would send a password. It holds the keeper's address
    and fingerprint, so that nobody else can answer in its place.

    Examples:
      moot invite
      moot invite --hours 1 --address build.example:7417
    """
    made = api.invite(shell.session, hours=hours, address=address)
    return Answer(made, lambda: _invitation_lines(made))


def _invitation_lines(made: api.InvitedMachine) -> Iterable[str]:
    only_here = api.is_reached_from_here_only(made.address)
    place = "on this machine, in another clone" if only_here else "on the other machine, in a clone"
    yield f"{place} of this repository:"
    yield f"  moot init --join {made.invitation}"
    yield f"good once, until {in_local_time(made.expires_at)}"
    if only_here:
        yield f"{made.address} is reached from this machine only; to let others in, end the keeper"
        yield f"and start it so: `moot keep --listen HOST:{api.PORT}`, HOST as others reach it"
    if not made.is_kept_now:
        yield NO_KEEPER


_HERE = "moot.surfaces.cli"
SECTIONS: dict[str, dict[str, Entry | str]] = {
    "Machines": {
        "list": "who shares this ledger, with how many agents",
        "revoke": "take a machine off",
        "leave": Entry(f"{_HERE}.machine_leave:leave", "let this machine leave the ledger"),
    },
    "Where a session is at home": {
        "move-here": Entry(
            f"{_HERE}.machine_homes:move_here", "bring a session and its files here"
        ),
        "hand-over": Entry(f"{_HERE}.machine_homes:hand_over", "give a session to another machine"),
    },
}


@click.command("machine", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def machine() -> None:
    """The machines that share this ledger."""


@command(machine, "list", "machine.list")
def list_machines(shell: Shell) -> Answer:
    """The machines that share this ledger, and how many agents each has.

    A machine that joined asks the keeper; if that does not answer it shows what it knows itself.

    Examples:
      moot machine list
    """
    shown = api.list_machines(shell.session)
    return Answer(shown, lambda: _list_lines(shown), says_if_old=True)


def _list_lines(shown: api.MachineList) -> Iterable[str]:
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
        gone = "left" if row.has_left else "taken off" if row.is_revoked else ""
        mark = gone or ("this one" if row.here else "")
        rows.append((row.name, str(row.agents), *times, row.version, mark))
    yield from table(rows)
    if shown.why_old is not None:
        yield f"there may be more: {visible(shown.why_old)}"


@command(machine, "revoke", "machine.revoke")
@click.argument("name")
def revoke(shell: Shell, name: str) -> Answer:
    """Take a machine off: from now on it can ask the keeper nothing.

    What its agents signed stays on record; if their keys may have been misused, revoke those as
    well (`moot agent revoke`).

    Examples:
      moot machine revoke laptop
    """
    gone = api.revoke_machine(shell.session, name)
    return Answer(gone, lambda: [f"{gone.name} is taken off this ledger"])

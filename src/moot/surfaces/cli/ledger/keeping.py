"""`moot doctor` and most of `moot ledger`: copy the record, diagnose it, and repair it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from moot.api.workspace import ledger, workspaces
from moot.core.text import plural
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, finding_line, paint
from moot.surfaces.terminal.derive import derive, with_progress
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.output import STDOUT
from moot.surfaces.terminal.shell import Shell, command


def examine(seen: ledger.Diagnosis) -> Iterator[str]:
    """Say what is wrong with this workspace and how to fix it. Changes nothing.

    Checks the ledger file, every chain of events, indexes, stored files, keys, git, the clock,
    the disk and the hooks of coding tools. The exit code is 1 if anything is seriously wrong.

    Examples:
      moot doctor
      moot doctor --json
      moot ledger doctor
    """
    yield from map(finding_line, seen.findings)
    end = paint("healthy", "green") if seen.healthy else paint("not healthy", "red")
    count = plural(len(seen.findings), "finding") if seen.findings else "no findings"
    yield f"{end}: {seen.checked} checks, {count}"


def _health_code(seen: ledger.Diagnosis) -> int:
    return DONE if seen.healthy else REFUSED


# The same command under two names.
doctor = derive("doctor", ledger.doctor, exits=_health_code)(examine)
ledger_doctor = derive("ledger.doctor", ledger.doctor, exits=_health_code)(examine)


@derive("ledger.rebuild", ledger.rebuild)
def rebuild(done: ledger.Rebuilt) -> Iterator[str]:
    """Recompute every index and snapshot from the events; replace them if they differ.

    Rebuilds also the tree of heads of the newest checkpoint, if that checkpoint signs its root;
    otherwise nothing is changed. Creates a missing index table if the events are intact. Never
    changes events. Keeps signs of life and delivery cursors: they are not in the events.

    Examples:
      moot ledger rebuild
    """
    lines = [finding_line(finding) for finding in done.findings]
    counts = ((done.events, "event"), (done.rows, "index row"), (done.snapshots, "snapshot"))
    count = ", ".join(plural(number, noun) for number, noun in counts)
    verdict = f"{plural(len(lines), 'difference')} fixed" if done.changed else "nothing to fix"
    yield from lines
    yield f"{verdict}: {count}"


@derive("ledger.checkpoint", ledger.checkpoint, """
    -o FILE:new- = file  Write the signed note to FILE; `-` prints it.
""")  # fmt: skip
def checkpoint(made: ledger.MadeCheckpoint, file: Path | None) -> Iterable[str]:
    """Sign everything that is on record now, with one signature.

    Keep the note on another machine: it shows later whether anything was removed since.

    Examples:
      moot ledger checkpoint
      moot ledger checkpoint -o ../elsewhere/checkpoint.txt
    """
    if file == STDOUT:
        return made.note.splitlines()
    verb = "made" if made.made else "is still the newest:"
    line = f"checkpoint {made.number} {verb} {plural(made.events, 'event')}"
    return [line] if file is None else [line, f"written to {file}"]


@derive("ledger.export", ledger.export, """
    -o FILE:new = file  Where to.
    [ID]... = ids(names)
""", within=with_progress("exporting"))  # fmt: skip
def export(made: ledger.Exported, file: Path) -> Iterator[str]:
    """Write the record, or parts of it, to a file that anyone can check offline.

    The keys it rests on and all cited files are always in it. A checkpoint is made first if its
    key is here; otherwise nothing proves that the newest events are all there.

    Examples:
      moot ledger export -o record.moot
      moot ledger export -o decision.moot debate/auth-cache
    """
    yield f"exported to {file}: {made.bytes} bytes, sha256 {made.sha256}"
    if made.rolled_back:
        yield "it proves only what is left: events that were here before are missing"
    if not made.complete:
        yield "no checkpoint could be made here, so its newest events are not proven complete"
    yield f"check it with `moot verify {file}`"


@derive("ledger.backup", ledger.backup, "FILE:new")
def backup(made: ledger.BackedUp, file: Path) -> Iterator[str]:
    """Copy the ledger file while others keep writing, and check the copy.

    An existing file is never overwritten. Files cited by the record are not in it: copy
    .moot/artifacts as well, or use `moot ledger export`.

    Examples:
      moot ledger backup ../backups/ledger-monday.db
    """
    copied = plural(made.events, "event")
    yield f"copied {copied} to {file}, and checked the copy"


@command(None, "move", "ledger.move")
@click.argument("to", metavar="URL|file")
def move(shell: Shell, to: str) -> Answer:
    """Move the ledger into a PostgreSQL database, or back into a file.

    Moot copies everything while no one else can write; the old place stays as it was and refuses
    further writes. The address goes into your key folder, because it may contain a password. Only
    the machine that keeps the ledger opens the database; other machines join it.

    Examples:
      moot ledger move postgresql://moot@db.example/ledgers
      moot ledger move file
    """
    from moot.api.hosts import ledger_moving

    moved = ledger_moving.move(shell.session, to)
    where = "a file" if moved.to == "file" else "the database"
    return Answer(moved, lambda: [f"{plural(moved.events, 'event')} now in {where}"])


@derive("ledger.accept_loss", ledger.accept_loss, "--reason TEXT  Why; kept on record.")
def accept(made: ledger.AcceptedLoss) -> Iterator[str]:
    """Continue from an older copy of the ledger, because the newest is lost for good.

    The missing checkpoint and the reason stay on record, and everyone can see them. If a person
    is registered here, one of them must unlock their key. Keys that were registered in the lost
    part are unknown from then on; a loss that leaves events resting on them is not accepted.

    Examples:
      moot ledger accept-loss --reason "the disk died; this is the backup of Monday"
    """
    yield f"the loss is on record; checkpoint {made.checkpoint} continues from here"


@derive("ledger.witness", ledger.witness, """
    FILE
""", within=with_progress("checking"),
   exits=lambda seen: DONE if seen.verdict == "agrees" else REFUSED)  # fmt: skip
def testify(seen: ledger.Witnessed) -> Iterator[str]:
    """Compare an export of another copy of this ledger with this one.

    If they have different events at the same position, and a key known here signed the other one,
    it is kept as proof: `moot verify` and every export show it from then on.

    Examples:
      moot ledger witness their-record.moot
    """
    word = paint("AGREES", "green") if seen.verdict == "agrees" else paint("FORKED", "red")
    counts = (
        f"{plural(seen.same, 'event')} alike, {seen.only_there} only there, {seen.differing} differ"
    )
    yield f"{word} · {counts}"
    if seen.forks:
        rows = [(fork.id, str(fork.seq), fork.kid[:8]) for fork in seen.forks]
        yield from listing(rows, ("ID", "EVENT", "SIGNED BY"))
        yield "kept as proof: the next `moot ledger export` carries it"
    elif seen.differing:
        yield "keys unknown here signed them, so nothing is kept as proof; ask the other side"


@derive("ledger.forget", workspaces.forget, "[FOLDER]")
def forget(gone: workspaces.ForgottenWorkspace) -> Iterator[str]:
    """Forget a workspace that was deleted on purpose.

    If `.moot` is missing where a workspace of yours was, hooks refuse every edit, because nothing
    can be checked. This ends that for FOLDER (default: this project). Nothing is removed: the
    keys stay where they are. For people only.

    Examples:
      moot ledger forget
      moot ledger forget /home/you/shop
    """
    yield f"no workspace is expected in {gone.folder} any more"

"""`moot log`, `verify`, `artifact` and `trust`: what is on record, and whether it is intact."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from moot.api.page.files import write_page
from moot.api.workspace import artifacts, ledger, verification
from moot.api.workspace import trust as trusted
from moot.surfaces.terminal.answer import Answer, table, visible
from moot.surfaces.terminal.derive import derive
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.output import STDOUT, output_option
from moot.surfaces.terminal.page import page_option
from moot.surfaces.terminal.progress import progress
from moot.surfaces.terminal.shell import Shell, command, document_bytes
from moot.surfaces.terminal.verdict import verdict_answer, verdict_page

if TYPE_CHECKING:
    from moot.pages import ProofFile

_LOG = """
    [ID] = name
    --limit 0..         How many of the newest to show; 0 for all.
    --type TYPE = kind  Only events of this type.
"""


def show_log(shown: ledger.StreamList | ledger.EventList, kind: str | None) -> Iterable[str]:
    """List everything on record (debates, threads, lists, ...), or the events of ID.

    Events are shown oldest first.

    Examples:
      moot log
      moot log presence
      moot ledger log registry --type registry.key_added --limit 5
    """
    if isinstance(shown, ledger.StreamList):
        return _stream_lines(shown)
    return _event_lines(shown, kind)


# The same command under two names.
log = derive("log", ledger.log, _LOG)(show_log)
ledger_log = derive("ledger.log", ledger.log, _LOG)(show_log)


def _stream_lines(shown: ledger.StreamList) -> Iterable[str]:
    rows = [(line.id, str(line.events), line.last_at or "") for line in shown.streams]
    yield from _left_out(shown.total - len(rows))
    yield from listing(rows, ("ID", "EVENTS", "LAST"))


def _event_lines(shown: ledger.EventList, kind: str | None) -> Iterable[str]:
    yield from _left_out(shown.total - len(shown.events) if kind is None else 0)
    if not shown.events:
        yield "no such events"
        return
    rows = [
        (
            str(event.seq),
            event.at or "",
            event.actor or "",
            event.type or "unreadable",
            event.unreadable or " ".join((*_mark(event), *_pairs(event.data))),
        )
        for event in shown.events
    ]
    yield from listing(rows, ("#", "AT", "BY", "TYPE", "WHAT"))


def _mark(event: ledger.LogEvent) -> Iterator[str]:
    if event.withdrawn is not msgspec.UNSET:
        yield f"[{event.withdrawn}]"


def _pairs(data: dict[str, Any] | msgspec.UnsetType) -> Iterator[str]:
    for key, value in (data or {}).items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if value is not None:
            yield f"{key}={text}"


def _left_out(count: int) -> Iterator[str]:
    if count > 0:
        yield f"… {count} earlier; `--limit 0` shows all"


@click.argument("what", metavar="[ID|FILE]", required=False)
@click.option(
    "--trust",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Use this trust file (default: the one in your key folder).",
)
@click.option(
    "--checkpoint",
    "kept",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="NOTE",
    help="Require everything that this checkpoint covers; `-` reads standard input.",
)
@click.option("--jobs", type=click.IntRange(1, 64), default=1, help="Processes to check with.")
@page_option
def check(
    shell: Shell,
    what: str | None,
    trust: Path | None,
    kept: Path | None,
    jobs: int,
    output: Path | None,
) -> Answer:
    """Check that the record is intact, signed by known keys, and complete.

    Without an argument: this workspace, as it is now. With an ID: one decision, debate, thread,
    trace, ... of it. With a FILE: an export, which needs no workspace. Checking writes nothing.
    The exit code is 0 if everything holds, 1 if not, 3 if nothing proves that the newest events
    are there, 4 if the file is neither an export nor a receipt.

    A checkpoint that you kept (`moot ledger checkpoint -o NOTE`) shows whether events were removed
    since. Moot compares its number, the number of events and histories, and, if number or events
    are the same, its root. Only an export kept from that time can show that a newer checkpoint
    continues the same history.

    Examples:
      moot verify
      moot verify q-1
      moot verify decision.moot --trust trust.json
      moot verify decision.moot --trust trust.json --checkpoint checkpoint.txt
      moot verify decision.moot -o verdict.html
      moot ledger verify --jobs 4
    """
    with progress("checking") as report:
        note = None if kept is None else document_bytes(str(kept))
        verdict = verification.verify(
            shell.session, what, trust=trust, checkpoint=note, jobs=jobs, progress=report
        )
    if output is not None:
        title = Path(what).name if what else "The record of this workspace"
        write_page(output, verdict_page(verdict, title, _proof(what)))
    return verdict_answer(verdict)


verify = command(None, "verify", "verify")(check)
ledger_verify = command(None, "verify", "ledger.verify")(check)


def _proof(what: str | None) -> ProofFile | None:
    """Describe the export that was checked; None for a workspace, which is not one file."""
    from moot.pages import ProofFile

    if what is None or not verification.names_file(what):
        return None
    with open(what, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return ProofFile(Path(what).name, digest, f"moot verify {Path(what).name} --trust trust.json")


_ARTIFACT_COMMANDS = {
    "Commands": {
        "show": "a stored file, checked against its hash",
        "erase": "remove a stored file for good",
    },
}


@click.command("artifact", cls=LazyGroup, sections=_ARTIFACT_COMMANDS, no_args_is_help=False)
def artifact() -> None:
    """Files that the record cites by their hash: outputs, evidence, long texts."""


@derive("artifact.show", artifacts.show, """
    SHA = sha256(sha)
    -o FILE:new = file  Write its bytes to FILE.
""", group=artifact)  # fmt: skip
def show_artifact(shown: artifacts.StoredArtifact) -> Iterable[str]:
    """Show a stored file, checked against its hash. 8 digits of it are enough if they are unique.

    Examples:
      moot artifact show 3f786850
      moot artifact show 3f786850 -o output.txt
    """
    if shown.file is not None:
        return [f"{shown.size} bytes written to {shown.file}"]
    if not isinstance(shown.text, str):
        return [f"{shown.size} bytes, not a short text: `-o FILE` writes them"]
    return [visible(line) for line in shown.text.splitlines()]


@derive("artifact.erase", artifacts.erase, """
    SHA = sha256(sha)
    --reason TEXT  Why; kept on record.
""", group=artifact)  # fmt: skip
def erase(erased: artifacts.ErasedArtifact) -> Iterator[str]:
    """Remove a stored file for good. Its hash and the reason stay on record.

    Erasing again changes nothing. Copies in backups and exports stay.

    Examples:
      moot artifact erase 3f786850 --reason "held an access token"
    """
    outcome = (
        "erased" if erased.recorded else "was recorded as erased before; nothing is left of it"
    )
    yield f"{erased.sha256[:12]}… {outcome}"


_TRUST_COMMANDS = {
    "Commands": {
        "show": "the fingerprint, to be read over the phone, and the keys",
        "export": "the file with which others check this record",
    },
}


@click.command("trust", cls=LazyGroup, sections=_TRUST_COMMANDS, no_args_is_help=False)
def trust() -> None:
    """The two public keys that everything on record is checked against."""


@derive("trust.show", trusted.show, "[FILE]", group=trust)
def show_trust(keys: trusted.TrustedKeys) -> Iterable[str]:
    """Show the fingerprint, to be read over the phone, and both public keys.

    Two people who read the same digits have the same ledger, with the same keys. With a FILE: the
    keys in a trust file that you were given; needs no workspace.

    Examples:
      moot trust show
      moot trust show trust.json
    """
    rows = [
        ("fingerprint", keys.fingerprint),
        ("root key", keys.root),
        ("checkpoint key", keys.checkpoint),
    ]
    return table(rows)


@command(trust, "export", "trust.export")
@output_option("Where to; `-` prints it.", required=True, printable=True)
@click.option("--minimum", is_flag=True, help="Accept nothing older than today's checkpoint.")
def export_trust(shell: Shell, output: Path, minimum: bool) -> Answer:
    """Write the trust file with which others check exports of this record.

    Send it over another channel than the exports, or compare the fingerprint over the phone.

    Examples:
      moot trust export -o trust.json
      moot trust export -o trust.json --minimum
    """
    if output == STDOUT:
        text, number = trusted.trust_file(shell.session, minimum=minimum)
        fingerprint = trusted.show(shell.session).fingerprint
        shown = trusted.ExportedTrust(str(STDOUT), number, fingerprint)
        return Answer(shown, text.decode().splitlines)
    made = trusted.export(shell.session, output, minimum=minimum)
    return Answer(made, lambda: [f"written to {output}", f"fingerprint  {made.fingerprint}"])

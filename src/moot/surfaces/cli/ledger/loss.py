"""`moot ledger accept-loss` and `witness`: when there is more than one history."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import Tampered, Unavailable
from moot.core.plural import plural
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, paint
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.people import a_person, require_no_agent
from moot.surfaces.terminal.progress import progress
from moot.surfaces.terminal.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.engine.witness import Witnessed
    from moot.verify import Verdict


@command(None, "accept-loss", "ledger.accept_loss")
@click.option("--reason", required=True, help="Why; kept on record for ever.")
def accept(shell: Shell, reason: str) -> Answer:
    """Go on from an older copy of the ledger, because the newest is lost for good.

    The missing checkpoint and the reason stay on record, and everyone can see them. If a person
    is registered here, one of them must unlock their key. Keys that were registered in the lost
    part are unknown from then on; a loss that leaves events resting on them is not accepted.

    Examples:
      moot ledger accept-loss --reason "the disk died; this is the backup of Monday"
    """
    from moot.core.names import REGISTRY
    from moot.workspace.loss import accept_loss

    shell.workspace.engine.load_anew(REGISTRY)  # what is left of it says who must sign
    require_no_agent(shell, "accepting a loss")
    person = a_person(shell)
    reason = text_argument(reason)
    made = accept_loss(shell.workspace, reason, person)
    number = made.checkpoint.number
    data = {"checkpoint": number, "by": person.kid if person else None, "reason": reason}
    return Answer(data, lambda: [f"the loss is on record; checkpoint {number} goes on from here"])


@command(None, "witness", "ledger.witness")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def testify(shell: Shell, file: Path) -> Answer:
    """Compare an export of another copy of this ledger with this one.

    Where both hold a different event for the same position, and the other one is signed by a key
    known here, it is kept as proof: `moot verify` says so from then on, and every export shows it.

    Examples:
      moot ledger witness their-record.moot
    """
    from moot.engine.witness import witness
    from moot.verify.receipt import opened

    verdict = _sound(shell, file)
    with file.open("rb") as other:
        found = witness(shell.workspace.engine, opened(other).file)
    agrees = found.differing == 0
    data = {
        "verdict": "agrees" if agrees else "forked",
        "same": found.same,
        "only_there": found.ahead,
        "differing": found.differing,
        "forks": [
            {"id": fork.stream, "seq": fork.seq, "kid": fork.kid, "hash": fork.hash.hex()}
            for fork in found.forks
        ],
        "other": verdict.verdict,
    }
    return Answer(data, lambda: _lines(found, data), DONE if agrees else REFUSED)


def _sound(shell: Shell, file: Path) -> Verdict:
    """The other copy must hold by itself, and be of this ledger."""
    from moot.workspace.check import How, check_file

    space = shell.workspace
    with progress("checking") as tell:
        verdict = check_file(file, How(shell.folder, space.path / "trust.json", progress=tell))
    if verdict.verdict == "tampered":
        raise Tampered(
            f"{file.name} is damaged itself and proves nothing",
            hint=f"`moot verify {file.name}` says where; obtain it again",
        )
    if verdict.origin != space.trust.origin:
        raise Unavailable(
            "another_ledger", f"{file.name} is of another ledger", hint="compare like with like"
        )
    return verdict


def _lines(found: Witnessed, data: dict[str, Any]) -> Iterable[str]:
    word = paint("AGREES", "green") if data["verdict"] == "agrees" else paint("FORKED", "red")
    counts = (
        f"{plural(found.same, 'event')} alike, {found.ahead} only there, {found.differing} differ"
    )
    yield f"{word} · {counts}"
    if found.forks:
        rows = [(fork.stream, str(fork.seq), fork.kid[:8]) for fork in found.forks]
        yield from listing(rows, ("ID", "EVENT", "SIGNED BY"))
        yield "kept as proof: the next `moot ledger export` carries it"
    elif found.differing:
        yield "signed by keys unknown here: kept as nothing; ask whoever wrote the other copy"

"""Checks an exported ledger from its bytes alone; it shares nothing with the code that writes one.

The norm is docs/format.md; every check names its section. A tour, from the bytes up:

- `canonical`, `crypto`, `fields`: canonical JSON within limits; signatures, hashes; single fields.
- `records`, `template`: one event from its line (steps 1 to 3): all that needs no other line.
- `parallel`: the same in several processes.
- `keys`, `shapes`: the registry, a pure object that holds only what was proved (step 5).
- `chain`, `spool`: the streams and their hashes (step 4), in memory that does not grow.
- `artifacts`, `heads`, `proofs`, `tree`, `note`: what follows the events (steps 6 and 7).
- `attribution`: whether each author's key was valid.
- `bundle`, `check`, `ending`: the lines in order, and the proof over them, as section 7 numbers it.
- `claim`: whether a file is to be judged at all.
- `receipt`: a bundle inside of a receipt, and what it must cite (section 8).
- `state`, `marks`, `failure`: what a check knows so far, and what it found wrong.
- `verdict`, `report`, `sentences`, `findings`: a result that explains itself.
- `trust`, `policy`: what the caller brings: whom to believe, and a protocol's own rules.

`standalone.py` is a second checker, written from the norm alone; the two must agree.

    verdict = verify_bundle("decision.moot", load_trust("trust.json"))
    if not verdict:
        print(verdict, *verdict.findings, sep="\\n")
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

from moot.verify.bundle import lines_of
from moot.verify.check import check, read_here
from moot.verify.claim import NotAnExport, require_claim
from moot.verify.parallel import Workers
from moot.verify.policy import AllOf, Contribution, Policy, Record
from moot.verify.receipt import opened
from moot.verify.report import report
from moot.verify.state import Demands, Kept, Progress, Says
from moot.verify.trust import Trust, TrustError, keeping, load_trust, parse_trust
from moot.verify.verdict import Check, Finding, Place, Verdict

__all__ = [
    "AllOf",
    "Check",
    "Contribution",
    "Finding",
    "NotAnExport",
    "Place",
    "Policy",
    "Record",
    "Trust",
    "TrustError",
    "Verdict",
    "Workers",
    "keeping",
    "load_trust",
    "parse_trust",
    "verify_bundle",
    "verify_records",
]


def verify_bundle(
    path: str | PathLike[str],
    trust: Trust | None,
    jobs: int = 1,
    policy: Policy | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Check a bundle or a receipt; whatever is in either, the answer is a verdict.

    Raises OSError if the file cannot be read, and `NotAnExport` if it does not even claim to be one
    of the two. `progress` is told (lines read, lines promised).
    """
    with open(path, "rb") as file:
        require_claim(file)
        inside = opened(file)
        return verify_records(
            lines_of(inside.file), trust, jobs, policy, progress, says=inside.says
        )


def verify_records(
    lines: Iterable[bytes],
    trust: Trust | None,
    jobs: int = 1,
    policy: Policy | None = None,
    progress: Progress | None = None,
    kept: Kept = (),
    kept_complete: bool = False,
    workers: Workers | None = None,
    says: Says | None = None,
) -> Verdict:
    """Check the lines of a bundle as they come, for example from a live export.

    `kept` are (stream, seq, hash in hex) that were seen before: one that is gone makes the verdict
    `rolled-back`, one that differs `forked`. A kept stream that the lines do not hold counts only
    if `kept_complete`. With `workers` those are used and stay open; else `jobs` says how many to
    start, none for 1. `says` is what the receipt says from which the lines were taken.
    """
    demands = Demands(trust, policy, progress, tuple(kept), kept_complete, says)
    if workers is not None:
        return report(check(lines, demands, workers.read))
    if jobs <= 1:
        return report(check(lines, demands, read_here))
    with Workers(jobs) as started:
        return report(check(lines, demands, started.read))

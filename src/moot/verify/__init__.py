r"""Checks an exported ledger from its bytes alone; it shares nothing with the code that writes one.

    bundle.py            the lines of a bundle (section 6): reading them within limits, and
                         telling the kinds apart
    canonical.py         canonical JSON (section 1), checked with the standard library's parser
                         and writer
    chain.py             the streams of a bundle (step 4): each from 0, contiguous, every event
                         naming the one before
    check.py             the proof of section 7, step by step, over lines that are seen once and
                         in order
    check_state.py       what a check was asked and what it knows so far: filled by `check`,
                         judged by `ending`, told by `report`
    checkpoints.py       the checkpoint of section 5: a C2SP signed note with one signature, by
                         the checkpoint key
    crypto.py            the building blocks of section 2: kid, PAE, frame, signature, weak
                         keys, canonical base64
    event_reader.py      one event (section 3): from the bytes of its line to a value, in the
                         order of section 7
    parallel.py          reading events in several processes: batches of raw lines out, small
                         tuples back, in order
    receipt.py           A receipt (section 8): one line around a bundle, and what the bundle
                         must cite at its end
    report.py            from what a check found to the verdict that is handed out: places,
                         checks, and the assembly
    standalone.py        checks a Moot bundle or receipt: `python standalone.py FILE [--trust
                         FILE] [--checkpoint NOTE]`
    trust.py             the trust file (section 6): what a verdict rests on; it comes by
                         another way than the bundle
    trusted_registry.py  the trusted registry (section 4): a pure object that holds only keys
                         whose chain was proved
    verdict.py           the result of a check: a verdict that explains itself

The norm is docs/format.md; every check names its section. A tour, from the bytes up:

- `canonical`, `crypto`, `field_rules`: canonical JSON, signatures and hashes, single fields.
- `event_reader`, `body_template`: one event from its line (steps 1 to 3), without any other.
- `parallel`: the same in several processes.
- `trusted_registry`, `registry_fields`: the registry: holds only what was proved (step 5).
- `chain`, `spool`: the streams and their hashes (step 4), in memory that does not grow.
- `artifacts`, `heads`, `proofs`, `head_tree`, `checkpoint_note`: after the events (steps 6, 7).
- `attribution`: whether each author's key was valid.
- `bundle`, `check`, `after_last_line`: the lines in order, and the proof as section 7 numbers it.
- `claim`: whether a file is to be judged at all.
- `receipt`, `seals`: a bundle inside of a receipt, what it must cite, sealed answers (8, 9).
- `check_state`, `verdict_marks`, `step_failure`: what is known so far, and what is wrong.
- `verdict`, `report`, `sentences`, `findings`: a result that explains itself.
- `trust`, `policy`: what the caller brings: whom to believe, and a protocol's own rules.

`standalone.py` is a second checker, written from the norm alone; the two must agree.

    verdict = verify_bundle("decision.moot", load_trust("trust.json"))
    if not verdict:
        print(verdict, *verdict.findings, sep="\n")
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

from moot.verify.bundle import lines_of
from moot.verify.check import check_lines, read_in_this_process
from moot.verify.check_state import (
    AllPolicies,
    CallerDemands,
    Contribution,
    Progress,
    ProvenRecord,
    ReceiptStatement,
    RecordPolicy,
    SeenEvents,
)
from moot.verify.parallel import Workers
from moot.verify.receipt import NotAnExport, open_receipt, require_claim
from moot.verify.report import report_verdict
from moot.verify.trust import (
    TrustedLedger,
    TrustError,
    load_trust,
    parse_trust,
    with_kept_checkpoint,
)
from moot.verify.verdict import BundlePlace, BundleVerdict, VerdictCheck, VerdictFinding

__all__ = [
    "AllPolicies",
    "BundlePlace",
    "BundleVerdict",
    "Contribution",
    "NotAnExport",
    "ProvenRecord",
    "RecordPolicy",
    "TrustError",
    "TrustedLedger",
    "VerdictCheck",
    "VerdictFinding",
    "Workers",
    "load_trust",
    "parse_trust",
    "verify_bundle",
    "verify_records",
    "with_kept_checkpoint",
]


def verify_bundle(
    path: str | PathLike[str],
    trust: TrustedLedger | None,
    jobs: int = 1,
    policy: RecordPolicy | None = None,
    progress: Progress | None = None,
) -> BundleVerdict:
    """Check a bundle or a receipt; whatever is in either, the answer is a verdict.

    Raises OSError if the file cannot be read, and `NotAnExport` if it does not even claim to be one
    of the two. `progress` is told (lines read, lines promised).
    """
    # LDG-095: standalone.py answers the same question with code of its own.
    with open(path, "rb") as file:
        require_claim(file)
        inside = open_receipt(file)
        return verify_records(
            lines_of(inside.file), trust, jobs, policy, progress, says=inside.says
        )


def verify_records(
    lines: Iterable[bytes],
    trust: TrustedLedger | None,
    jobs: int = 1,
    policy: RecordPolicy | None = None,
    progress: Progress | None = None,
    kept: SeenEvents = (),
    kept_complete: bool = False,
    workers: Workers | None = None,
    says: ReceiptStatement | None = None,
) -> BundleVerdict:
    """Check the lines of a bundle as they come, for example from a live export.

    `kept` are (stream, seq, hash in hex) that were seen before: one that is gone makes the verdict
    `rolled-back`, one that differs `forked`. A kept stream that the lines do not hold counts only
    if `kept_complete`. With `workers` those are used and stay open; else `jobs` says how many to
    start, none for 1. `says` is what the receipt says from which the lines were taken.
    """
    demands = CallerDemands(trust, policy, progress, tuple(kept), kept_complete, says)
    if workers is not None:
        return report_verdict(check_lines(lines, demands, workers.read))
    if jobs <= 1:
        return report_verdict(check_lines(lines, demands, read_in_this_process))
    with Workers(jobs) as started:
        return report_verdict(check_lines(lines, demands, started.read))

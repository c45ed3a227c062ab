"""`moot ledger ...`: the record as a whole. Each command is loaded only when it is used."""

from __future__ import annotations

from moot.surfaces.terminal.lazy import Entry, LazyGroup

_CLI = "moot.surfaces.cli"

ledger = LazyGroup(
    "ledger",
    help="The record as a whole: read it, check it, copy it, keep it healthy.",
    no_args_is_help=False,
    sections={
        "Read and check": {
            "log": Entry(f"{_CLI}.ledger.log:ledger_log", "what is on record"),
            "verify": Entry(f"{_CLI}.ledger.verify:ledger_verify", "is it intact and complete?"),
            "doctor": Entry(
                f"{_CLI}.ledger.care:ledger_doctor", "what is wrong, and how to mend it"
            ),
        },
        "Copy": {
            "checkpoint": Entry(f"{_CLI}.ledger.copy:checkpoint", "one signature over everything"),
            "export": Entry(f"{_CLI}.ledger.copy:export", "a file that anyone can check offline"),
            "backup": Entry(f"{_CLI}.ledger.copy:backup", "a checked copy of the ledger file"),
            "move": Entry(f"{_CLI}.ledger.copy:move", "into a PostgreSQL database, or back"),
        },
        "Mend": {
            "rebuild": Entry(f"{_CLI}.ledger.care:rebuild", "make every index anew"),
            "accept-loss": Entry(f"{_CLI}.ledger.loss:accept", "go on from an older copy"),
            "witness": Entry(f"{_CLI}.ledger.loss:testify", "compare with another copy"),
            "forget": Entry(f"{_CLI}.ledger.loss:forget", "one that is gone and not wanted back"),
        },
    },
)

"""`moot debate ...`: the table of its commands; each lives in a module of its own."""

from __future__ import annotations

import click

from moot.surfaces.terminal.lazy import Entry, LazyGroup

_DEBATE = "moot.surfaces.cli.debate"
SECTIONS: dict[str, dict[str, Entry]] = {
    "Argue": {
        "new": Entry(f"{_DEBATE}.write:new", "begin a session: a file that each agent appends to"),
        "add": Entry(
            f"{_DEBATE}.write:add", "append an entry; its id, turn and time are filled in"
        ),
        "add-context": Entry(f"{_DEBATE}.write:add_context", "add a subsection to the context"),
        "run": Entry(f"{_DEBATE}.run:run", "let participants argue until it is over"),
        "sign": Entry(f"{_DEBATE}.write:sign", "sign entries of yours that were only observed"),
    },
    "Read": {
        "status": Entry(f"{_DEBATE}.read:status", "whose turn it is, until when, who stands where"),
        "consensus": Entry(f"{_DEBATE}.read:consensus", "does a round agree, and how surely?"),
        "summary": Entry(f"{_DEBATE}.read:summary", "a session in short, as markdown"),
        "report": Entry(f"{_DEBATE}.read:report", "how it went, as a page"),
        "watch": Entry(f"{_DEBATE}.proof:watch", "follow a session as it is written"),
    },
    "Check": {
        "check": Entry(f"{_DEBATE}.read:check", "a file against every rule, to the line"),
        "compare": Entry(f"{_DEBATE}.read:compare", "is NEW only OLD with something appended?"),
        "verify": Entry(f"{_DEBATE}.proof:verify", "is every byte signed, or observed?"),
    },
    "Time and end": {
        "tick": Entry(f"{_DEBATE}.write:tick", "let a turn that has timed out take effect"),
        "resume": Entry(
            f"{_DEBATE}.write:resume", "go on with a session that waits for its operator"
        ),
        "close": Entry(f"{_DEBATE}.write:close", "end a session"),
    },
}


@click.command("debate", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def debate() -> None:
    """Argue in turns in one markdown file, and see whether all agree."""

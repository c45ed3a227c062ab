"""`moot parliament ...`: the table of its commands, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click

from moot.core.findings import Finding
from moot.surfaces.terminal.answer import Answer, remarks, visible
from moot.surfaces.terminal.lazy import Entry, LazyGroup
from moot.surfaces.terminal.shell import document

_HERE = "moot.surfaces.cli.parliament"
SECTIONS: dict[str, dict[str, Entry]] = {
    "Sit": {
        "new": Entry(f"{_HERE}.session:new", "call a parliament on a problem"),
        **{
            name: Entry(f"{_HERE}.short_forms:{name}", text)
            for name, text in {
                "statement": "make a seat's opening statement",
                "draft": "write the bill, or its next version",
                "ask": "ask another seat a question",
                "answer": "answer the question that waits for a seat",
                "amend": "propose a change to the bill",
                "endorse": "endorse an amendment, in an answer",
                "oppose": "oppose an amendment, in an answer",
                "abstain": "take no side on an amendment, in an answer",
                "motion": "ask the speaker for something",
                "vote": "vote YES or NO on the bill",
                "rule": "rule as the speaker: rounds, votes, order",
            }.items()
        },
        "template": Entry(f"{_HERE}.session:template", "a message of a type, to be filled in"),
        "submit": Entry(f"{_HERE}.session:submit", "bring any message as JSON"),
        "run": Entry(f"{_HERE}.run:run", "let participants take the seats"),
    },
    "The bill": {
        "drafter": Entry(f"{_HERE}.bill:drafter", "choose who drafts it"),
        "incorporate": Entry(
            f"{_HERE}.bill:incorporate", "work an amendment into it, as its next version"
        ),
        "withdraw": Entry(f"{_HERE}.bill:withdraw", "take back an amendment of yours"),
        "conclude": Entry(f"{_HERE}.bill:conclude", "end the discussion of an amendment"),
        "tally": Entry(f"{_HERE}.bill:tally", "count the votes and announce the result"),
        "decide": Entry(f"{_HERE}.bill:decide", "the prime minister's word: a person's"),
        "final": Entry(f"{_HERE}.files:final", "write the final document and close the session"),
    },
    "Read": {
        "status": Entry(f"{_HERE}.session:status", "where a session stands"),
        "next": Entry(f"{_HERE}.session:next_steps", "who is expected to do what, and how"),
        "context": Entry(f"{_HERE}.files:context", "what a participant is given to read"),
        "history": Entry(f"{_HERE}.bill:history", "every version of the bill"),
        "summarize": Entry(f"{_HERE}.files:summarize", "tell a round that has ended better"),
    },
    "The four files": {
        "check": Entry(f"{_HERE}.files:check", "are they sound? every field, reference and tally"),
        "import": Entry(f"{_HERE}.files:import_files", "go on with a session from elsewhere"),
        "export": Entry(f"{_HERE}.files:export", "write them again from the record"),
    },
}


@click.command("parliament", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def parliament() -> None:
    """Representatives draft, debate, amend and vote; a person decides.

    DIR is the folder of a session; its id, such as parl-20260210-001, does as well.
    """


def folder_argument(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """DIR: the session's folder, or its id."""
    return click.argument(
        "folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR"
    )(function)


def json_source(file: str) -> Path | str:
    """JSON is in a file, or comes from standard input (`-`); `@FILE` is a file as well."""
    return document(file) if file == "-" else Path(file.removeprefix("@"))


def lines_with_remarks(lines: Iterable[str], findings: Iterable[Finding]) -> list[str]:
    """What was done, and what is to be remarked on it."""
    return [*map(visible, lines), *remarks(findings)]

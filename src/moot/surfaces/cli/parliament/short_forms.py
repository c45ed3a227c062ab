"""Messages of a seat or the speaker, typed as options: one row of a table for each command.

`protocols/parliament/short_forms.py` turns the options into a message and fills in the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from moot.api.parliaments import sessions
from moot.surfaces.cli.parliament.session import folder_argument, lines_with_remarks, message_line
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.shell import Shell, command, text_argument

Decorator = Callable[[Callable[..., Answer]], Callable[..., Answer]]


def _say(form: str, text: str, *parameters: Decorator) -> click.Command:
    """Make the command of a form; `text` is its help."""

    def act(shell: Shell, folder: Path, sender: str | None = None, **words: Any) -> Answer:
        given = {name: _read(value) for name, value in words.items() if value}
        said = sessions.say(shell.session, folder, form, given, sender=sender)
        lines = map(message_line, said.messages)
        return Answer(said, lambda: lines_with_remarks(lines, said.findings))

    act.__doc__ = text
    for decorate in reversed((folder_argument, *parameters)):
        decorate(act)
    return command(None, form, f"parliament.{form}")(act)


def _read(value: Any) -> Any:
    return (
        text_argument(value) if isinstance(value, str) else [text_argument(text) for text in value]
    )


def _text(option: str, text: str, name: str | None = None, required: bool = False) -> Decorator:
    """An option that takes a text."""
    names = (option, name) if name else (option,)
    return click.option(*names, metavar="TEXT", required=required, help=text)


def _texts(option: str, name: str, text: str, metavar: str = "TEXT") -> Decorator:
    """An option that may be given several times."""
    return click.option(option, name, multiple=True, metavar=metavar, help=f"{text} Repeatable.")


def _word(name: str, metavar: str, *choices: str, required: bool = True) -> Decorator:
    """An argument; with choices, one of them in any case."""
    kind = click.Choice(choices, case_sensitive=False) if choices else None
    return click.argument(name, metavar=metavar, type=kind, required=required)


_FROM = click.option(
    "--from", "sender", metavar="SEAT", help="Who speaks (default: the acting agent's seat)."
)
_SCORE = _texts("--score", "scores", "How well the bill serves a motive, 1 to 5; N alone: all.",
                "MOTIVE=N")  # fmt: skip
_RE = click.option("--re", metavar="MSG", help="The question, if several wait.")
_STANCE = click.option(
    "--stance",
    type=click.Choice(["maintain", "soften", "concede", "challenge"]),
    help="Whether the seat changed its mind (default: maintain).",
)
_CONCESSIONS = _text("--concede", "What the seat gives up.", "concessions")
_BECAUSE = _text("--because", "Why the seat's motives ask for it.")
_POSITION = (_word("amendment", "AMENDMENT"), _text("--reason", "Why."), _SCORE, _RE, _STANCE,
             _CONCESSIONS, _FROM)  # fmt: skip

statement = _say(
    "statement",
    """Make a seat's opening statement: what it would do, and what it knows.

    The approach takes 3 to 5 sentences, the principle one.

    Examples:
      moot parliament statement uploads --from rep_1 --approach @approach.txt \\
        --principle "Measure first." --fact "A page takes 2 s."
    """,
    _text("--approach", "What the seat would do.", required=True),
    _text("--principle", "The idea behind it.", required=True),
    _text("--trade-offs", "What it costs."),
    _texts("--fact", "facts", "What is known."),
    _texts("--constraint", "constraints", "What must hold."),
    _texts("--precedent", "precedents", "What was done before."),
    _texts("--open-question", "open_questions", "What should be found out."),
    _FROM,
)
draft = _say(
    "draft",
    """Write the bill, or its next version: parts that you omit stay as they are (the drafter).

    The first draft needs a title, the problem and the solution.

    Examples:
      moot parliament draft uploads --from rep_1 --title "Parts" \\
        --problem "Large uploads fail." --solution "Send them in parts."
      moot parliament draft uploads --from rep_1 --implementation @plan.md
    """,
    _text("--title", "What the bill is called."),
    _text("--summary", "In a sentence or two."),
    _text("--problem", "What is wrong."),
    _text("--solution", "What is done."),
    _text("--implementation", "How and when."),
    _texts("--in-scope", "in_scope", "What it covers."),
    _texts("--out-of-scope", "out_of_scope", "What it leaves alone."),
    _texts("--assume", "assumptions", "What it rests on."),
    _texts("--define", "definitions", "What a word means in it."),
    _FROM,
)
ask = _say(
    "ask",
    """Ask another seat a question.

    Examples:
      moot parliament ask uploads rep_2 "What may it cost?" --from rep_1
      moot --as amber-otter parliament ask uploads rep_2 "Do you endorse amend-001?"
    """,
    _word("to", "SEAT"),
    _word("question", "QUESTION"),
    _text("--topic", "What it is about (default: the first words of QUESTION)."),
    _BECAUSE,
    _FROM,
)
answer = _say(
    "answer",
    """Answer the question that waits for a seat, and score its motives.

    A motive that is not scored keeps its last score; the first answer needs one.

    Examples:
      moot parliament answer uploads "Ten euros a month." --score cost=4 --from rep_2
      moot parliament answer uploads "You are right." --stance concede --score 5 --re msg-012
    """,
    _word("answer", "ANSWER"),
    _SCORE,
    _STANCE,
    _CONCESSIONS,
    _RE,
    _FROM,
)
endorse = _say(
    "endorse",
    """Endorse an amendment, in answer to the question that waits for the seat.

    A position is part of an answer: another seat asks for it first (`moot parliament ask`).

    Examples:
      moot parliament endorse uploads amend-001 --reason "It is cheap." --from rep_2
    """,
    *_POSITION,
)
oppose = _say(
    "oppose",
    """Oppose an amendment, in answer to the question that waits for the seat.

    Examples:
      moot parliament oppose uploads amend-001 --reason "Too slow." --score speed=2 --from rep_1
    """,
    *_POSITION,
)
abstain = _say(
    "abstain",
    """Take no side on an amendment, in answer to the question that waits for the seat.

    Examples:
      moot parliament abstain uploads amend-001 --from rep_3
    """,
    *_POSITION,
)
amend = _say(
    "amend",
    """Propose a change to a section of the bill; it gets the next free id.

    To remove a text, quote it exactly. A modification may leave the wording to the drafter.

    Examples:
      moot parliament amend uploads add solution "Every part carries its digest." --from rep_2
      moot parliament amend uploads modify scope --describe "Only small files" --from rep_3
    """,
    _word("action", "add|modify|remove|replace", "add", "modify", "remove", "replace"),
    _word("section", "SECTION", "problem", "scope", "solution", "implementation"),
    _word("text", "[TEXT]", required=False),
    _text("--describe", "What changes (default: the first words of TEXT).", "description"),
    _BECAUSE,
    _FROM,
)
motion = _say(
    "motion",
    """Ask the speaker for something: a vote, a pause, an amendment, order, a compromise.

    Examples:
      moot parliament motion uploads call_vote --reason "We have heard enough." --from rep_2
    """,
    _word(
        *("motion", "MOTION", "call_vote", "table_discussion", "request_amendment"),
        *("point_of_order", "request_compromise"),
    ),
    _text("--reason", "Why.", required=True),
    _FROM,
)
vote = _say(
    "vote",
    """Vote on the bill. A NO should say what would change it.

    A motive that is not scored keeps its last score.

    Examples:
      moot parliament vote uploads YES --reason "It helps." --from rep_1
      moot parliament vote uploads NO --reason "Too slow." --condition "Two seconds at most." \\
        --score speed=2 --from rep_2
    """,
    _word("vote", "YES|NO", "YES", "NO"),
    _text("--reason", "Why; kept on record.", required=True),
    _SCORE,
    _text("--reservation", "With a YES: what still speaks against the bill.", "reservations"),
    _texts("--condition", "conditions", "What would change the vote."),
    _FROM,
)
rule = _say(
    "rule",
    """Rule as the speaker: start or end a round, call the vote, give the floor, keep order.

    redirect, quiet and next_speaker need --target.

    Examples:
      moot parliament rule uploads round_start
      moot parliament rule uploads quiet --target rep_2 --text "You had your say."
      moot parliament rule uploads call_vote
    """,
    _word(
        *("action", "ACTION", "round_start", "round_end", "call_vote", "next_speaker", "redirect"),
        *("quiet", "deadlock_warning", "progress_note"),
    ),
    click.option("--target", metavar="SEAT", help="Whom it concerns."),
    _text("--text", "The ruling in words (default: a standard sentence)."),
)

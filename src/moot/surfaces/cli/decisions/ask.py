"""`moot ask`: a question to several participants, a short debate, a result for you to judge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from moot.api.decisions import operations
from moot.core.errors import Malformed
from moot.surfaces.cli.decisions import rulings
from moot.surfaces.cli.runs.live import watching
from moot.surfaces.cli.runs.running import ShellTerminal, exit_code, limit_options, limits_of
from moot.surfaces.terminal.answer import DONE, Answer
from moot.surfaces.terminal.derive import options
from moot.surfaces.terminal.shell import Shell, command, text_argument

# The wait is the session's own rule, set when it was opened.
_PATIENCE = (
    "Ctrl-C keeps everything, `moot ask --resume {}` continues; "
    "`--turn-seconds N` of a new question limits this wait"
)


@command(None, "ask", "ask")
@click.argument("question", required=False)
@click.option(
    "--with",
    "participants",
    multiple=True,
    metavar="[NAME=]SPEC,...",
    help="Who is asked: cmd:COMMAND, llm:PROVIDER/MODEL, script:FILE, rules:NAME, human.",
)
@options("""
    --context T            What they should know (- or @file).
    --option T = options   An answer to choose from.
    --rule majority|weighted|unanimous  When they agree; majority, unless your own moot.toml \
                                        says otherwise.
    --rounds 1..100        Rounds of arguments; with 1, no objection gets an answer.
    --chamber debate|parliament  Where it is argued.
    --motive NAME=T[,T] = motives  NAME's motives in a parliament (default: it states its own).
    --choose most-frequent|plurality|borda|condorcet  How to pick the motion if answers differ \
                                                      (default: the most frequent answer).
    --quorum 1..           How many must take part in the last vote (default: more than half of \
                           those asked).
    --motion N             With --resume: pick answer N yourself.
    --resume ID            Continue a question that was interrupted.
""")
@limit_options
def ask(
    shell: Shell,
    question: str | None,
    participants: tuple[str, ...],
    context: str = "",
    options: tuple[str, ...] = (),
    rule: str | None = None,
    rounds: int = 2,
    chamber: str = "debate",
    motives: tuple[str, ...] = (),
    choose: str | None = None,
    quorum: int | None = None,
    motion: int | None = None,
    resume: str | None = None,
    **limits: Any,
) -> Answer:
    """Ask several participants: first answers, a debate about the most frequent, a result.

    Each answers alone first. Where answers differ, each ranks all of them, without names. The
    answer given most often becomes the motion, or the one that `--choose` picks from the rankings;
    they argue and vote on it. The result waits for your ruling: `moot decide`. Participants
    without a name get a new one, with a key of its own. Without `--with`, `ask.participants` in
    your own moot.toml says who is asked.

    Examples:
      moot ask "Queue: Postgres or Kafka?" --with "cmd:claude -p,cmd:codex exec"
      moot ask "Ship it?" --with "rules:approve,rules:sceptic,rules:majority" --context @notes.md
      moot ask "Which cache?" --chamber parliament --with "ann-lee=cmd:claude -p,cmd:codex exec"
          --motive ann-lee=cost,safety
      moot ask "Which cache?" --choose condorcet --with "claude,codex,opencode"
      moot ask --resume q-7
    """
    if (question is None) == (resume is None):
        raise click.UsageError("give a QUESTION, or --resume ID")
    if motion is not None and resume is None:
        raise click.UsageError("--motion N goes with --resume ID")
    question_asked = operations.Question(
        text=text_argument(question or ""),
        participants=participants,
        context=text_argument(context),
        options=options,
        rule=rule or "",
        rounds=rounds,
        chamber=chamber,
        motives=_read_motives(motives),
        choose=choose or "",
        quorum=quorum or 0,
    )
    act = (
        partial(operations.ask, question=question_asked)
        if resume is None
        else partial(operations.resume, decision=resume, participants=participants, motion=motion)
    )
    with watching("") as watch, _missing_participants_as_usage():
        done = act(
            shell.session,
            limits=limits_of(limits),
            watch=watch,
            terminal=ShellTerminal(shell),
            begun=lambda decision, title: watch.entitle(
                f"{decision}: {title}", _PATIENCE.format(decision)
            ),
        )
    code = DONE if done.run is None else exit_code(done.run)
    return Answer(done, lambda: rulings.asked(done), code)


@contextmanager
def _missing_participants_as_usage() -> Iterator[None]:
    """Report missing participants as wrong usage, like a missing option."""
    try:
        yield
    except Malformed as error:
        if error.code == "nobody_named":
            raise click.UsageError(f"{error}: {error.hint}") from None
        raise


def _read_motives(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Read `NAME=cost,safety`, each name once."""
    motives: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, listed = text.partition("=")
        if not equals or name.strip() in motives:
            raise click.UsageError(f"--motive {text!r}: NAME=MOTIVE[,MOTIVE], each NAME once")
        motives[name.strip()] = tuple(motive.strip() for motive in listed.split(","))
    return motives

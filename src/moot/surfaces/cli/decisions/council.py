"""`moot council`: a question to agents at work, which each of them answers with its own key."""

from __future__ import annotations

from collections.abc import Iterable

import click

from moot.api import councils
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.shell import Shell, command, text_argument

SECTIONS = {
    "Council": {
        "ask": "put a question to agents at work",
        "answer": "your answer to a question you were asked",
        "result": "where a question stands",
    }
}


@click.command("council", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def council() -> None:
    """Agents that are at work decide a question together; nobody starts or asks them.

    Each finds the question in its agenda and answers alone first. The answer given most often is
    argued in a debate and voted on. What comes out waits for a person: `moot decide`.
    """


@command(council, "ask", "council.ask")
@click.argument("text", metavar="QUESTION")
@click.option("--with", "agents", required=True, metavar="NAME,...", help="Who is asked.")
@click.option("--context", default="", metavar="T", help="What they should know (- or @file).")
@click.option("--option", "options", multiple=True, metavar="T", help="An answer to choose from.")
@click.option(
    "--rule",
    type=click.Choice(["majority", "weighted", "unanimous"]),
    default="majority",
    show_default=True,
    help="When they agree.",
)
@click.option(
    "--rounds", type=click.IntRange(1, 100), default=2, show_default=True, help="At most so many."
)
@click.option("--key", metavar="KEY", help="Asked once, however often this is repeated.")
def ask(
    shell: Shell,
    text: str,
    agents: str,
    context: str,
    options: tuple[str, ...],
    rule: str,
    rounds: int,
    key: str | None,
) -> Answer:
    """Put QUESTION to agents that are registered here. Whoever is silent too long is passed over.

    Examples:
      moot council ask "Which cache?" --with amber-otter,teal-crane
    """
    names = tuple(filter(None, (name.strip() for name in agents.split(","))))
    return _answer(
        councils.ask(
            shell.session,
            text_argument(text),
            names,
            context=text_argument(context),
            options=options,
            rule=rule,
            rounds=rounds,
            key=key,
        )
    )


@command(council, "answer", "council.answer")
@click.argument("decision", metavar="ID")
@click.argument("text")
@click.option("--why", default="", metavar="TEXT", help="Your reasons, in a few sentences.")
@click.option("--key", metavar="KEY", help="Answered once, however often this is repeated.")
def answer(shell: Shell, decision: str, text: str, why: str, key: str | None) -> Answer:
    """Answer a question you were asked, before you hear the others.

    TEXT is the answer itself in one short sentence. Once all have answered, `moot agenda` says
    when it is your turn to argue.

    Examples:
      moot council answer q-7 "Postgres" --why "We run it already"
    """
    said = text_argument(text)
    return _answer(councils.answer(shell.session, decision, said, why=text_argument(why), key=key))


@command(council, "result", "council.result")
@click.argument("decision", metavar="ID")
def result(shell: Shell, decision: str) -> Answer:
    """Where a question stands, after what others and the time have settled has taken effect.

    Examples:
      moot council result q-7
    """
    return _answer(councils.result(shell.session, decision))


def _answer(standing: councils.QuestionStanding) -> Answer:
    return Answer(standing, lambda: _lines(standing))


def _lines(standing: councils.QuestionStanding) -> Iterable[str]:
    decision = standing.decision
    yield f"{decision.id}: {visible(decision.title)}"
    if decision.motion is not None:
        yield f"motion: {visible(decision.motion.text)}"
    if decision.result is not None:
        yield f"{decision.result.result}: {visible(decision.result.summary)}"
    elif standing.waits_for:
        yield f"waits for {', '.join(standing.waits_for)}"
    if standing.next is not None:
        yield f"next: {standing.next}"

"""`moot decide`: a person's word on a decision."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.people import a_persons_name, require_no_agent
from moot.surfaces.terminal.shell import Shell, command, document, text_argument

if TYPE_CHECKING:
    from moot.protocols.decision.model import State


@command(None, "decide", "decide")
@click.argument("decision", metavar="ID")
@click.argument("word", type=click.Choice(["approve", "veto", "amend"]))
@click.option("--reason", required=True, metavar="T", help="Why (- or @file).")
@click.option("--text", metavar="FILE|-", help="The text that stands instead, for amend.")
@click.option("--anew", is_flag=True, help="A veto also ends what was sent back just now.")
def decide(
    shell: Shell, decision: str, word: str, reason: str, text: str | None, anew: bool
) -> Answer:
    """Approve, veto or amend what came out. This is a person's act, under a person's key.

    A veto begins another decision with your reason in its context; a parliament goes on itself,
    with your reason as guidance. Amend puts your own text in the place of what came out; of a
    parliament's bill it is the solution, or JSON with the parts that change. What was argued and
    who disagreed stays on record either way. The same veto twice is one; --anew ends a session
    that was sent back before it is argued further, and another decision begins.

    Examples:
      moot decide q-7 approve --reason "The cheaper one, and we know it."
      moot decide q-7 veto --reason "No new servers this year."
      moot decide q-7 amend --reason "With a limit." --text decision.md
    """
    from moot.flows.decisions import decide as deciding
    from moot.flows.decisions.questions import id_of, question_of, state_of

    space, decision = shell.workspace, id_of(decision)
    question_of(space, decision)
    if (text is not None) != (word == "amend"):
        raise click.UsageError("--text belongs to amend, and amend needs it")
    if anew and word != "veto":
        raise click.UsageError("--anew belongs to veto")
    why = text_argument(reason)
    instead = document(text) if text is not None else ""
    require_no_agent(shell, "a decision")
    given = instead if text is not None else None
    vote = deciding.require_open(space, decision, deciding.WORDS[word], why, given, anew)
    person = a_persons_name(shell, "a decision")
    follower: str | None = None
    if word == "approve":
        deciding.approve(space, decision, person, why, vote)
    elif word == "amend":
        deciding.amend(space, decision, person, why, instead, vote)
    else:
        follower = deciding.veto(space, decision, person, why, vote, anew)
    state = state_of(space, decision)
    return Answer(_data(decision, state), lambda: _lines(decision, state, follower))


def _data(decision: str, state: State) -> dict[str, Any]:
    from moot.protocols.decision.views import describe_decision

    return {"decision": describe_decision(decision, state)}


def _lines(decision: str, state: State, follower: str | None) -> Iterable[str]:
    word = state.word
    if word is None:  # a parliament takes a veto as guidance and goes on
        yield f"{decision}: vetoed; it goes on with your reason: moot ask --resume {decision}"
        return
    from moot.protocols.decision.views import describe_approval_against_result

    how = "" if word.attended else " (unattended: the passphrase came from a file)"
    said = f"{word.word.value} {describe_approval_against_result(state)}".strip()
    yield f"{decision}: {said} by {word.by}{how}: {visible(word.reason)}"
    if state.verdict is not None and state.verdict.dissent:
        yield f"dissent kept: {', '.join(state.verdict.dissent)}"
    from moot.surfaces.cli.decisions.ask_lines import costs, notes

    yield from notes(state)
    yield from costs(state)
    if follower is not None:
        yield f"{follower} supersedes it; go on: moot ask --resume {follower}"

"""`moot decide`: a person's word on a decision."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import Refused
from moot.surfaces.cli.answer import Answer, visible
from moot.surfaces.cli.people import require_no_agent
from moot.surfaces.cli.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.decision.model import State


@command(None, "decide", "decide")
@click.argument("decision", metavar="ID")
@click.argument("word", type=click.Choice(["approve", "veto", "amend"]))
@click.option("--reason", required=True, metavar="T", help="Why (- or @file).")
@click.option("--text", metavar="FILE|-", help="The text that stands instead, for amend.")
def decide(shell: Shell, decision: str, word: str, reason: str, text: str | None) -> Answer:
    """Approve, veto or amend what came out. This is a person's act, under a person's key.

    A veto begins another decision with your reason in its context; amend puts your own text in
    the place of what came out. What was argued and who disagreed stays on record either way.

    Examples:
      moot decide q-7 approve --reason "The cheaper one, and we know it."
      moot decide q-7 veto --reason "No new servers this year."
      moot decide q-7 amend --reason "With a limit." --text decision.md
    """
    from moot.flows import asking

    space = shell.workspace
    asking.state_of(space, decision)
    if (text is not None) != (word == "amend"):
        raise click.UsageError("--text belongs to amend, and amend needs it")
    why = text_argument(reason)
    instead = text_argument(text if text == "-" else f"@{text}") if text is not None else ""
    person = _person(shell)
    follower: str | None = None
    if word == "approve":
        asking.approve(space, decision, person, why)
    elif word == "amend":
        asking.amend(space, decision, person, why, instead)
    else:
        follower = asking.veto(space, decision, person, why)
    state = asking.state_of(space, decision)
    return Answer(_data(decision, state), lambda: _lines(decision, state, follower))


def _person(shell: Shell) -> str:
    """A person whose key can be unlocked here."""
    require_no_agent(shell, "a decision")
    for key in shell.workspace.engine.registry().humans():
        mine = shell.acting in (None, key.name)
        if mine and shell.workspace.keys.find(key.name, key.kid) is not None:
            return key.name
    raise Refused(
        "human_key_required",
        "only a person decides, and no person's key can be unlocked here",
        hint="run it at a terminal; `moot agent register operator --human` makes such a key",
    )


def _data(decision: str, state: State) -> dict[str, Any]:
    from moot.decision.views import as_json

    return {"decision": as_json(decision, state)}


def _lines(decision: str, state: State, follower: str | None) -> Iterable[str]:
    word = state.word
    assert word is not None
    how = "" if word.attended else " (unattended: the passphrase came from a file)"
    yield f"{decision}: {word.word.value} by {word.by}{how}: {visible(word.reason)}"
    if state.verdict is not None and state.verdict.dissent:
        yield f"dissent kept: {', '.join(state.verdict.dissent)}"
    if follower is not None:
        yield f"{follower} supersedes it; go on: moot ask --resume {follower}"
